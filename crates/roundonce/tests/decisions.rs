//! docs/decisions.md says what the profile says. `ROUNDONCE_BLESS=1 cargo test -p roundonce --test decisions` writes it.

use roundonce::Profile;
use roundonce::arith::{Machine, NanRule, Status, Tininess};

fn page() -> String {
    let mut text = String::from(
        "# What the documents leave open\n\n\
         Each decision is one field of `Profile` (`crates/arith/src/profile.rs`); a measurement changes one line. Written \
         from it by a test.\n\n\
         | field | decides | source of the default | status |\n|---|---|---|---|\n",
    );
    for decision in Profile::DECISIONS {
        let status = match decision.status {
            Status::Documented => "documented",
            Status::Measured => "measured",
            Status::Reported => "reported by others",
            Status::Unmeasured => "**unmeasured**",
        };
        text.push_str(&format!("| {} | {} | {} | {status} |\n", decision.field, decision.decides, decision.source));
    }
    text.push_str(
        "\n*Measured*: results of hardware that a test holds row by row; [evidence.md](evidence.md#hardware) has their \
         machines and sources. *Reported by others*: public, without all operands.\n\n\
         ## Other readings\n\n\
         `--profile` of `eval`, `explain`, `run`, `why`, `diff`, `vectors gen`, `vectors verify` and `vectors run` takes \
         machines by name and `FIELD=VALUE`, separated by commas; a machine is a whole profile, later changes win. A field \
         that was not measured on a machine has the default's value.\n\n\
         | machine | what it is | measured |\n|---|---|---|\n",
    );
    for machine in Machine::ALL {
        text.push_str(&format!("| {} | {} | {} |\n", machine.name, machine.title, machine.measured.join(", ")));
    }
    text.push_str(&format!(
        "\n| field | values |\n|---|---|\n\
         | tininess (or tiny), sm1x_tininess | {} |\n\
         | underflow | after-rounding, before-rounding |\n\
         | nan_f32, nan_f64, div_nan_f64, nan_small, dot_nan_f64 | {}: the first NaN operand in that order; the second operand of `add` and `sub` is c, that of `mul` b |\n\
         | sm1x_mad | truncate, fused-ftz |\n\
         | fmz_sat_nan | addend, zero |\n\
         | oob_nan | 16 bits in hexadecimal, with `0x` |\n\
         | dot_zero | floor: the row's own exponent, below the accumulator's; operand: a zero operand has the exponent -126, and \
         its product the sum of both exponents; absent: a zero term has none |\n\
         | dot_zero_sign | positive: +0; all-negative: -0 where every term is negative or -0, or a negative sum is cut away |\n\
         | dot_addend | as-products: as many bits as of a product; to-precision: as many as the accumulator's fraction has |\n\
         | turing_block | 8, 4: the products that a step adds |\n",
        Tininess::ALL.map(Tininess::name).join(", "),
        NanRule::ALL.map(NanRule::name).join(", ")
    ));
    text
}

#[test]
fn the_page_is_the_profile() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/decisions.md");
    if std::env::var_os("ROUNDONCE_BLESS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page(), "run this test with ROUNDONCE_BLESS=1");
}
