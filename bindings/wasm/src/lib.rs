//! roundonce in a browser: each verb as a function of a request in JSON that gives a reply in JSON. What the command prints
//! with `--format json` stands in the reply as the same text.

mod reply;
mod run;
mod verbs;

use wasm_bindgen::prelude::wasm_bindgen;

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident => $verb:path;)*) => {$(
        $(#[$doc])*
        #[wasm_bindgen]
        pub fn $name(request: &str) -> String {
            reply::text(request, $verb)
        }
    )*};
}

verbs! {
    /// `{value}`: a number taken apart.
    bits => verbs::bits;
    /// `{instruction, operands, target?, ptx?, profile?}`: a result.
    evaluate => verbs::eval;
    /// The same with its steps and pictures.
    explain => verbs::explain;
    /// `{expression, inputs, saw, type?, as?, allow?, toolchain?, reassociate?, verbose?, profile?}`: which evaluation.
    why => verbs::why;
    /// `{}`: the published cases.
    cases => verbs::cases;
    /// `{first, second, type?, tries?, nan_bits?, target?, ptx?, profile?}`: are two computations equal.
    diff => verbs::diff;
    /// `{file, text, determinacy?, target_env?}`: what is wrong in a module.
    check => verbs::check;
    /// `{pattern?}`: the table of forms.
    forms => verbs::forms;
    /// `{file, text, entry?, grid?, block?, args?, contract?, profile?}`: a kernel's run.
    run => run::run;
    /// `{file, text, saw, entry?, grid?, block?, args?, profile?}`: which policy gives the buffers that were seen.
    why_kernel => run::why_kernel;
}
