//! Which options go with what is asked about. One that means nothing there is refused, so that none is ignored.

use std::fmt::Display;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use roundonce::answers::is_spelling;
use roundonce::matrix;

use crate::Failure;
use crate::argument::Argument;
use crate::cuda::CudaSource;
use crate::modules::Language;

/// The options that stand on the command line, by their long names. It is the first field of a verb's arguments: the others take
/// theirs away.
pub(crate) struct Given(Vec<String>);

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }
    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, Error> {
        let given = matches.ids().map(clap::Id::as_str);
        let given = given.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
        Ok(Given(given.map(|id| id.replace('_', "-")).collect()))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What may be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Expression,
    /// Of PTX or SASS, whose meaning may depend on the machine.
    Instruction,
    SpirvInstruction,
    Matrix,
    /// A file of results.
    Results,
    /// A program of the reader's own.
    Program,
    /// A published case.
    Case,
    Ptx,
    Cuda,
    Spirv,
    MachineCode,
    /// Straight-line SASS, without a whole kernel.
    Listing,
    /// Words of SASS in a file, without a cubin around them.
    Words,
    /// The same of 128 bits.
    ModernWords,
    /// A word a line.
    WordLines,
    /// The same of 128 bits.
    ModernWordLines,
}

use Kind::{
    Case, Cuda, Expression, Instruction, Listing, MachineCode, Matrix, ModernWordLines, ModernWords, Program, Ptx,
    Results, Spirv, SpirvInstruction, WordLines, Words,
};

impl Kind {
    /// Of a file with kernels; none of other files.
    pub(crate) fn of_module(path: &Path) -> Result<Option<Kind>, Failure> {
        Ok(Language::read(path)?.map(|language| match language {
            Language::Ptx if CudaSource::of(path).is_some() => Cuda,
            Language::Ptx => Ptx,
            Language::Spirv | Language::SpirvText => Spirv,
            Language::Sass => Listing,
            Language::Cubin => MachineCode,
        }))
    }

    /// Of a text that is no file's name.
    pub(crate) fn of_text(text: &str) -> Kind {
        match text {
            _ if matrix::is_matrix(text) => Matrix,
            _ if !is_spelling(text) => Expression,
            _ if text.starts_with("Op") => SpirvInstruction,
            _ => Instruction,
        }
    }

    /// Of a file or of a text.
    pub(crate) fn of(argument: &Argument) -> Result<Kind, Failure> {
        Ok(match Kind::of_module(argument.path())? {
            Some(kind) => kind,
            None if argument.is_array() => Results,
            None => Kind::of_text(argument.text()?),
        })
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Expression => "an expression",
            Instruction => "an instruction",
            SpirvInstruction => "an instruction of SPIR-V",
            Matrix => "a matrix multiply-add",
            Results => "a file of results",
            Program => "a program",
            Case => "a published case",
            Ptx => "PTX",
            Cuda => "CUDA C++",
            Spirv => "SPIR-V",
            MachineCode => "machine code",
            Listing => {
                "a straight-line listing: its registers are --reg and --cbank, its target stands in it (`.target sm_90`)"
            }
            Words => "words of SASS",
            ModernWords => "words of 128 bits",
            WordLines => "a word a line",
            ModernWordLines => "a word of 128 bits a line",
        }
    }
}

/// What an option is for.
pub(crate) struct Use {
    kinds: &'static [Kind],
    name: &'static str,
}

/// Options and what they are for; those that are for everything stand in no table.
pub(crate) type Table = &'static [(&'static str, &'static Use)];

const EXPRESSIONS: &Use = &Use { kinds: &[Expression], name: "expressions" };
const COMPUTATIONS: &Use =
    &Use { kinds: &[Expression, Instruction, SpirvInstruction], name: "expressions and instructions" };
const KERNELS: &Use =
    &Use { kinds: &[Ptx, Cuda, Spirv, MachineCode], name: "kernels (.ptx, .spv, .spvasm, .sass, .cubin or .cu)" };
const RUNS: &Use = &Use { kinds: &[Ptx, Cuda, Spirv, MachineCode, Listing], name: KERNELS.name };
const PTX: &Use = &Use { kinds: &[Ptx, Cuda], name: "PTX" };
const CUDA: &Use = &Use { kinds: &[Cuda], name: "CUDA C++" };
const SPIRV: &Use = &Use { kinds: &[Spirv], name: "SPIR-V" };
const LISTINGS: &Use = &Use { kinds: &[Listing], name: "straight-line listings of SASS" };

/// Those of a kernel that is launched.
const LAUNCH: Table = &[
    ("entry", RUNS),
    ("arch", PTX),
    ("grid", RUNS),
    ("block", RUNS),
    ("arg", KERNELS),
    ("texture", KERNELS),
    ("sampler", KERNELS),
    ("push", SPIRV),
    ("reg", LISTINGS),
    ("cbank", LISTINGS),
    ("compiler-flags", CUDA),
    ("spec", SPIRV),
    ("assume", SPIRV),
    ("shared", KERNELS),
    ("stack", PTX),
    ("heap", PTX),
    ("threads", RUNS),
    ("step-limit", RUNS),
    ("memory-limit", RUNS),
    ("limit-instructions", KERNELS),
    ("limit-compile", RUNS),
];

/// Of each verb, with those that it shares.
pub(crate) const RUN: &[Table] = &[
    &[
        ("contract", &Use { kinds: &[Ptx, Cuda, Spirv], name: "PTX and SPIR-V, which leave it open" }),
        ("check-races", KERNELS),
        ("check-hazards", &Use { kinds: &[MachineCode], name: "machine code of whole kernels" }),
        ("expect", KERNELS),
    ],
    LAUNCH,
];
pub(crate) const WHY: &[Table] = &[
    &[
        ("reassociate", &Use { kinds: &[Expression, Case], name: EXPRESSIONS.name }),
        ("type", EXPRESSIONS),
        ("as", EXPRESSIONS),
        ("plot", EXPRESSIONS),
        ("saw", &Use { kinds: &[Expression, Ptx, Cuda, Spirv, MachineCode, Listing], name: EXPLAINED.name }),
        ("allow", EXPLAINED),
        ("toolchain", EXPLAINED),
        ("threads", EXPLAINED),
        ("compiled", PTX),
    ],
    LAUNCH,
];
const EXPLAINED: &Use =
    &Use { kinds: &[Expression, Case, Ptx, Cuda, Spirv, MachineCode, Listing], name: "expressions and kernels" };
pub(crate) const DIFF: &[Table] = &[
    &[
        // The page and the package give a type whatever is compared.
        ("type", COMPUTATIONS),
        ("data", COMPUTATIONS),
        (
            "threads",
            &Use {
                kinds: &[Expression, Instruction, SpirvInstruction, Ptx, Cuda, Spirv, MachineCode, Listing],
                name: "computations and kernels",
            },
        ),
        ("tries", &Use { kinds: &[Expression, Instruction, SpirvInstruction, Matrix], name: COMPUTATIONS.name }),
        (
            "nan-bits",
            &Use {
                kinds: &[Expression, Instruction, SpirvInstruction, Results, Ptx, Cuda, Spirv, MachineCode, Listing],
                name: "what has NaNs of its own",
            },
        ),
        (
            "plot",
            &Use {
                kinds: &[Results, Ptx, Cuda, Spirv, MachineCode, Listing],
                name: "two .npy files, or two kernels: it draws how results differ",
            },
        ),
        ("target", INSTRUCTIONS),
        ("ptx", INSTRUCTIONS),
        ("arch", &Use { kinds: &[Instruction, Matrix, Ptx, Cuda], name: "instructions and PTX" }),
        (
            "profile",
            &Use {
                kinds: &[Expression, Instruction, SpirvInstruction, Matrix, Ptx, Cuda, Spirv, MachineCode, Listing],
                name: "what computes",
            },
        ),
    ],
    LAUNCH,
];
const INSTRUCTIONS: &Use = &Use { kinds: &[Instruction, Matrix], name: "instructions" };
pub(crate) const TRANSLATE: &[Table] = &[&[
    ("type", EXPRESSIONS),
    ("from", EXPRESSIONS),
    (
        "contract",
        &Use {
            kinds: &[Expression, Ptx, Cuda, Spirv, MachineCode, Listing],
            name: "expressions and kernels: an instruction says itself what it rounds",
        },
    ),
    ("entry", RUNS),
    ("verify", RUNS),
    ("runs", RUNS),
    ("step-limit", RUNS),
    ("allow", RUNS),
    ("ptx", RUNS),
    ("target-env", RUNS),
    ("fma-khr", RUNS),
    ("assume", SPIRV),
    ("spec", SPIRV),
]];
pub(crate) const CHECK: &[Table] = &[&[
    ("determinacy", &Use { kinds: &[Ptx, Spirv], name: "PTX and SPIR-V" }),
    ("check-hazards", &Use { kinds: &[MachineCode], name: "machine code" }),
]];
const SASS: &Use = &Use { kinds: &[MachineCode, Words, ModernWords, WordLines, ModernWordLines], name: "SASS" };
pub(crate) const DISASM: &[Table] = &[&[
    ("arch", SASS),
    ("style", SASS),
    (
        "schedule",
        &Use { kinds: &[MachineCode, Words, ModernWords, ModernWordLines], name: "words with their scheduling" },
    ),
    ("words", &Use { kinds: &[MachineCode, Words, ModernWords], name: "files of SASS" }),
    ("no-control", &Use { kinds: &[Words], name: "words of SASS of 64 bits" }),
    ("output", &Use { kinds: &[MachineCode, Words, ModernWords, Spirv], name: "files" }),
]];

impl Given {
    /// That every option is for one of the kinds: those of what is asked about, the first of which has a name.
    pub(crate) fn check(&self, tables: &[Table], kinds: &[Kind], name: impl Display) -> Result<(), Failure> {
        let Some(first) = kinds.first() else { return Ok(()) };
        for option in &self.0 {
            let found = tables.iter().copied().flatten().find(|(known, _)| known == option);
            if let Some((_, used)) = found.filter(|(_, used)| !kinds.iter().any(|kind| used.kinds.contains(kind))) {
                let message = format!("--{option} is for {}, and `{name}` is {}", used.name, first.name());
                return Err(Failure::Input(message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{CHECK, DIFF, DISASM, RUN, TRANSLATE, Table, WHY};

    /// An option is looked for by its id, which is its long name, and every one of a table is the verb's.
    #[test]
    fn the_tables_name_options_of_their_verbs() {
        let verbs: [(&str, &[Table]); 6] = [
            ("run", RUN),
            ("why", WHY),
            ("diff", DIFF),
            ("translate", TRANSLATE),
            ("check", CHECK),
            ("disasm", DISASM),
        ];
        for (verb, tables) in verbs {
            let command = crate::Arguments::command();
            let verb = command.find_subcommand(verb).unwrap();
            for (id, long) in verb.get_arguments().filter_map(|arg| Some((arg.get_id().as_str(), arg.get_long()?))) {
                assert_eq!(id.replace('_', "-"), long, "{}", verb.get_name());
            }
            for (option, _) in tables.iter().copied().flatten() {
                assert!(verb.get_arguments().any(|arg| arg.get_long() == Some(option)), "{option}");
            }
        }
    }
}
