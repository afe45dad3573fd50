//! Images and samplers as arguments: the words that say how one is sampled, and an array as an image.

use roundonce_arith::Format;
use roundonce_exec::{Arg, Buffer, Image, ImageUse};
use roundonce_ir::{AddressMode, Border, ImageShape, Param, Passing, Sampler, Scalar};

/// What a sampler may be told.
pub const SAMPLER_WORDS: &str =
    "nearest or linear; clamp, border, border=black, border=white, repeat or mirror; normalized or unnormalized";
/// Texels along each axis of an image that is made by type.
const ZERO_TEXELS: u64 = 64;

/// A sampler, from its words with commas in between: [`SAMPLER_WORDS`]. What is not said is `nearest`, `clamp` and
/// `unnormalized`; address modes with slashes in between are those of x, y and z.
///
/// # Errors
/// A word that is none, or that contradicts another.
///
/// ```
/// use roundonce::image::sampler;
/// use roundonce::ir::AddressMode;
/// let found = sampler("linear,repeat/clamp,normalized")?;
/// assert_eq!(found.address, [AddressMode::Repeat, AddressMode::Clamp, AddressMode::Clamp]);
/// assert!(sampler("repeat").is_err());
/// # Ok::<(), String>(())
/// ```
pub fn sampler(words: &str) -> Result<Sampler, String> {
    let mut sampler = Sampler::default();
    let mut said = [false; 3];
    for word in words.split(',').map(str::trim) {
        let kind = match word {
            "nearest" | "linear" => {
                sampler.linear = word == "linear";
                0
            }
            "normalized" | "unnormalized" => {
                sampler.normalized = word == "normalized";
                1
            }
            _ => {
                address_modes(word, &mut sampler)?;
                2
            }
        };
        if std::mem::replace(&mut said[kind], true) {
            return Err(format!("`{words}`: `{word}` says again what was said: {SAMPLER_WORDS}"));
        }
    }
    let repeats = |mode: &AddressMode| matches!(mode, AddressMode::Repeat | AddressMode::Mirror);
    if !sampler.normalized && sampler.address.iter().any(repeats) {
        return Err(format!("`{words}`: only normalized coordinates repeat: add `normalized`"));
    }
    Ok(sampler)
}

fn address_modes(word: &str, sampler: &mut Sampler) -> Result<(), String> {
    let modes: Vec<&str> = word.split('/').collect();
    let unknown = || format!("`{word}` is no word of a sampler: expected {SAMPLER_WORDS}");
    if modes.len() > 3 {
        return Err(unknown());
    }
    for (axis, place) in sampler.address.iter_mut().enumerate() {
        *place = match modes[axis.min(modes.len() - 1)] {
            "clamp" => AddressMode::Clamp,
            "repeat" => AddressMode::Repeat,
            "mirror" => AddressMode::Mirror,
            "border" => AddressMode::Border,
            "border=black" => {
                sampler.border = Border::Black;
                AddressMode::Border
            }
            "border=white" => {
                sampler.border = Border::White;
                AddressMode::Border
            }
            _ => return Err(unknown()),
        };
    }
    Ok(())
}

/// The sampler of a parameter, from its words; none where it needs none and nothing is said.
///
/// # Errors
/// As [`sampler`]; where a sampler is wanted and not said, or not whether its coordinates are normalized.
pub fn sampler_for(param: &Param, words: Option<&str>) -> Result<Option<Sampler>, String> {
    let declared = match param.passing {
        Passing::Sampler => true,
        Passing::Image(ty) => ty.sampled,
        _ => false,
    };
    let has_range = |words: &&str| words.split(',').any(|word| word.trim().ends_with("normalized"));
    if declared && words.as_ref().is_none_or(|words| !has_range(words)) {
        return Err("a sampler is wanted, and whether its coordinates are normalized: such as linear,clamp,normalized"
            .to_owned());
    }
    words.map(sampler).transpose()
}

/// An array as an image: by NumPy's name of the element without a byte order (`f4`, `u1`), and in the order of C.
///
/// # Errors
/// If the element is none that a texel has.
pub fn image(element: &str, shape: &[u64], bytes: &[u8], sampler: Option<Sampler>) -> Result<Image, String> {
    let int = |bits, signed| Scalar::Int { bits, signed };
    let element = match element {
        "f2" => Scalar::Float(Format::F16),
        "f4" => Scalar::Float(Format::F32),
        "u1" => int(8, false),
        "u2" => int(16, false),
        "u4" => int(32, false),
        "u8" => int(64, false),
        "i1" => int(8, true),
        "i2" => int(16, true),
        "i4" => int(32, true),
        "i8" => int(64, true),
        other => return Err(format!("an image has texels of f2, f4, u1 to u8 or i1 to i8, not of {other}")),
    };
    Ok(Image { shape: shape.to_vec(), element, data: Buffer::from_bytes(bytes), sampler })
}

/// An image of zeros for a parameter. Integers are read only from integers; floats from either.
pub(crate) fn zeros(ImageUse { ty, component }: ImageUse) -> Arg {
    let shape = ty.shape.unwrap_or(ImageShape { dims: 2, arrayed: false });
    let integer = component.filter(|scalar| matches!(scalar, Scalar::Int { .. }));
    let (element, channels) = ty.format.unwrap_or((integer.unwrap_or(Scalar::Float(Format::F32)), 4));
    let mut axes = vec![ZERO_TEXELS; shape.coordinates()];
    axes.push(channels.into());
    let bytes = axes.iter().product::<u64>() * u64::from(element.bits() / 8);
    let sampler = ty.sampled.then(Sampler::default);
    Arg::Image(Image { shape: axes, element, data: Buffer::zeros(bytes as usize), sampler })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let found = sampler("border=white,linear").unwrap();
        let expected =
            Sampler { linear: true, address: [AddressMode::Border; 3], border: Border::White, ..Sampler::default() };
        assert_eq!(found, expected);
        for wrong in ["", "linear,nearest", "bilinear", "mirror", "repeat,unnormalized", "clamp/clamp/clamp/clamp"] {
            assert!(sampler(wrong).is_err(), "{wrong}");
        }
    }
}
