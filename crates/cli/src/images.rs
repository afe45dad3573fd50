//! Images and samplers as arguments of a kernel.

use std::collections::BTreeMap;

use clap::Args;
use roundonce::exec::Arg;
use roundonce::image::{self, sampler_for};
use roundonce::ir::{Kernel, Passing};
use roundonce::kernel;

use crate::Failure;
use crate::argument::Argument;
use crate::array::Array;
use crate::launch::split_pair;

/// An argument, and the array that came with it.
type Bound = (Arg, Option<Array>);

#[derive(Args)]
pub(crate) struct ImageArguments {
    /// A texture, a surface or an image, by position or by name: in.npy or zeros:f32:32x32, its axes depth, height, width
    /// and components (of a layered one layers, height, …); then how it is sampled: nearest or linear; clamp, border,
    /// border=black, border=white, repeat or mirror; normalized or unnormalized. `--texture t=in.npy,linear,clamp`
    #[arg(long, visible_alias = "image", value_name = "P=FILE[,WORD…]", value_parser = Argument::parser())]
    texture: Vec<Argument>,
    /// A sampler: the words of --texture, `--sampler 0.1=linear,repeat,normalized`
    #[arg(long, value_name = "P=WORD[,WORD…]", value_parser = Argument::parser())]
    sampler: Vec<Argument>,
}

impl ImageArguments {
    pub(crate) fn has_textures(&self) -> bool {
        !self.texture.is_empty()
    }
    pub(crate) fn has_samplers(&self) -> bool {
        !self.sampler.is_empty()
    }

    /// By the parameter's place.
    pub(crate) fn bind(&self, kernel: &Kernel) -> Result<BTreeMap<usize, Bound>, Failure> {
        let mut bound = BTreeMap::new();
        let textures = self.texture.iter().map(|given| ("--texture", given));
        for (option, given) in textures.chain(self.sampler.iter().map(|given| ("--sampler", given))) {
            let (name, value) = split_pair(option, given)?;
            let place = kernel::parameter(kernel, name).map_err(Failure::Input)?;
            let param = &kernel.params[place];
            let found = match option {
                "--texture" if param.passing != Passing::Sampler => texture(kernel, place, &value),
                "--sampler" if !matches!(param.passing, Passing::Sampler | Passing::Image(_)) => {
                    let called = kernel::called(kernel, place);
                    return Err(Failure::Input(format!("--sampler: {called} is no sampler")));
                }
                _ => sampler(kernel, place, &value),
            };
            if bound.insert(place, found?).is_some() {
                return Err(Failure::Input(format!("{option}: `{name}` is given twice")));
            }
        }
        Ok(bound)
    }
}

/// What a parameter that is an image or a sampler is given.
pub(crate) fn read(kernel: &Kernel, place: usize, value: &Argument) -> Result<Bound, Failure> {
    let is_sampler = kernel.params[place].passing == Passing::Sampler;
    if is_sampler { sampler(kernel, place, value) } else { texture(kernel, place, value) }
}

fn texture(kernel: &Kernel, place: usize, value: &Argument) -> Result<Bound, Failure> {
    let wrong = |problem| Failure::Input(format!("{}: {problem}", kernel::called(kernel, place)));
    let (file, words) = match value.text() {
        Ok(text) if text.starts_with("zeros:") => {
            let (zeros, words) = text.split_once(',').map_or((text, None), |(zeros, words)| (zeros, Some(words)));
            (Argument::from(zeros), words.map(str::to_owned))
        }
        _ => value.file_and_words(),
    };
    let sampler = sampler_for(&kernel.params[place], words.as_deref()).map_err(wrong)?;
    let mut array = match file.text().ok().and_then(Array::written) {
        Some(array) => array?,
        None if file.is_array() => Array::read(file.path())?,
        None => return Err(wrong(format!("expected an image, in.npy or zeros:f32:32x32, found `{value}`"))),
    };
    let bytes = std::mem::take(&mut array.bytes);
    let image = image::image(array.header.element(), &array.header.shape, &bytes, sampler).map_err(wrong)?;
    Ok((Arg::Image(image), Some(array)))
}

fn sampler(kernel: &Kernel, place: usize, value: &Argument) -> Result<Bound, Failure> {
    let wrong = |problem| Failure::Input(format!("{}: {problem}", kernel::called(kernel, place)));
    let found = sampler_for(&kernel.params[place], Some(value.text()?)).map_err(wrong)?;
    Ok((Arg::Sampler(found.unwrap_or_default()), None))
}
