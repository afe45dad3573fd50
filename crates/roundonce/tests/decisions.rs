//! docs/decisions.md says what the profile says. `ROUNDONCE_BLESS=1 cargo test -p roundonce --test decisions` writes it.

use roundonce::Profile;
use roundonce::arith::Status;

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
            Status::Reported => "reported by others",
            Status::Unmeasured => "**unmeasured**",
        };
        text.push_str(&format!("| {} | {} | {} | {status} |\n", decision.field, decision.decides, decision.source));
    }
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
