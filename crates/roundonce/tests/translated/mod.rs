//! Arguments of translated kernels.

use roundonce::exec::Arg;
use roundonce::translate::kernel::Argument;

/// What a launch of the translated kernel is given.
pub(crate) fn translated(arguments: &[Argument], args: &[Arg], declared: u32, shared: u32) -> Vec<Arg> {
    let one = |argument: &Argument| match *argument {
        Argument::Param(place) => args[place].clone(),
        Argument::DynamicShared => Arg::Scalar(shared.into()),
        Argument::AllShared => Arg::Scalar((declared + shared).into()),
        Argument::BufferBytes(place) => panic!("the bytes of argument {place}"),
    };
    arguments.iter().map(one).collect()
}
