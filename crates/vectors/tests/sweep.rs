//! Sweeps: the digest against an independent judge's results, shards in any order, folders continued.

use std::path::Path;

use roundonce_oracle::{Direction, Layout, Shape, Spec, rational};
use roundonce_vectors::sweep::{Manifest, Sweep, Swept};

fn manifest(instruction: &str, spaces: &[&str], shard: u64) -> Result<Manifest, String> {
    let spaces: Vec<String> = spaces.iter().map(|space| (*space).to_owned()).collect();
    Manifest::new(instruction, None, &spaces, shard)
}

fn swept(folder: &Path, manifest: &Manifest) -> Swept {
    let sweep = Sweep::create(folder, manifest).unwrap();
    for shard in sweep.missing(&mut |_| ()) {
        sweep.run(shard).unwrap();
    }
    sweep.finish().unwrap()
}

/// What a digest is, said again.
fn digest(results: impl Iterator<Item = u64>) -> String {
    let scrambled = results.zip(0_u64..).map(|(bits, place)| {
        let mut z = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ bits;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    });
    format!("{:016x}", scrambled.fold(0, u64::wrapping_add))
}

#[test]
fn the_results_of_a_judge() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec { factors: Layout::BF16, ..Spec::new(Shape::MulAdd, Layout::F32, Direction::Zero) };
    // The last operand runs fastest; a list keeps its order.
    let addends = [0xbf80_0000, 0x0000_0001, 0x7f80_0000];
    let operands = (0x3f7f..=0x3f84).flat_map(|a| (0x0070..=0x0090).map(move |b| (a, b)));
    let triples = operands.flat_map(|(a, b)| addends.map(|c| [a, b, c]));
    let expected = digest(triples.map(|triple| rational::judge(&spec, triple).bits));
    let spaces = ["0x3f7f..0x3f84", "0x0070..0x0090", "-1.0,0x00000001,inf"];
    let found = swept(folder.path(), &manifest("fma.rz.f32.bf16", &spaces, 1000).unwrap());
    assert_eq!((found.count, found.digest.to_string()), (6 * 33 * 3, expected));
}

/// Any size of shard, any order, a shard twice, a half-done folder: the same digest.
#[test]
fn cut_anyhow() {
    let of = |shard| {
        let folder = tempfile::tempdir().unwrap();
        swept(folder.path(), &manifest("fma.rm.f32.f16", &["all", "0x3c00,0x0001", "0.5"], shard).unwrap())
    };
    let whole = of(1 << 20);
    assert_eq!(whole.count, 1 << 17);
    for shard in [999, 1 << 12, 50_001] {
        assert_eq!(of(shard), whole, "{shard}");
    }
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest("fma.rm.f32.f16", &["all", "0x3c00,0x0001", "0.5"], 1 << 12).unwrap();
    let sweep = Sweep::create(folder.path(), &manifest).unwrap();
    for shard in [31, 0, 5, 5, 17] {
        sweep.run(shard).unwrap();
    }
    assert_eq!(sweep.missing(&mut |_| ()).len(), 28);
    assert!(sweep.finish().unwrap_err().contains("shards/1.json"));
    // A record that is no record is made again.
    std::fs::write(folder.path().join("shards/5.json"), "{\"shard\":5,\"count\":").unwrap();
    std::fs::copy(folder.path().join("shards/0.json"), folder.path().join("shards/17.json")).unwrap();
    let again = Sweep::open(folder.path()).unwrap();
    assert_eq!(again.missing(&mut |_| ()).len(), 30);
    assert_eq!(swept(folder.path(), &manifest), whole);
    assert!(again.run(32).unwrap_err().contains("there is no shard 32"));
}

#[test]
fn against_another() {
    let folder = tempfile::tempdir().unwrap();
    let spaces = ["0x3f800000..0x3f80ffff".to_owned(), "1.5".to_owned(), "0x00000001".to_owned()];
    let manifest = |other: &str| Manifest::new("fma.rn.f32", Some(other), &spaces, 1 << 14).unwrap();
    let found = swept(&folder.path().join("same"), &manifest("FFMA"));
    assert_eq!((found.mismatches, found.first), (Some(0), None));
    let found = swept(&folder.path().join("other"), &manifest("fma.rp.f32"));
    // Ties to even and everything above the half go up with both; a tie to even below does not, nor does the addend alone.
    let spec = |direction| Spec::new(Shape::MulAdd, Layout::F32, direction);
    let differs = |a: &u64| {
        let judge = |direction| rational::judge(&spec(direction), [*a, 0x3fc0_0000, 1]).bits;
        judge(Direction::Nearest) != judge(Direction::Up)
    };
    let all: Vec<u64> = (0x3f80_0000..=0x3f80_ffff).filter(differs).collect();
    assert_eq!(found.mismatches, Some(all.len() as u64));
    assert_eq!(found.first.unwrap()[0], format!("{:#x}", all[0]));
}

#[test]
fn refusals() {
    let refused = |spaces: &[&str]| manifest("fma.rz.f32.bf16", spaces, 1).unwrap_err();
    assert_eq!(refused(&["all", "all"]), "`fma.rz.f32.bf16` takes 3 operands, found 2 spaces");
    assert_eq!(
        refused(&["all", "0x0002..0x0001", "0"]),
        "operand 2: `0x0002..0x0001` is empty: its bits run backwards"
    );
    let short = manifest("fma.rn.f32", &["0x3f80..0x3fff", "0", "0"], 1).unwrap_err();
    assert!(short.starts_with("operand 1: `0x3f80` has too few digits for 32 bits"), "{short}");
    assert!(refused(&["0x12345", "0", "0"]).starts_with("operand 1: `0x12345` does not fit"));
    assert_eq!(refused(&["all", "all", "all"]), "the space has more than 2^63 results");
    let packed = manifest("fma.rn.f32x2", &["all", "0", "0"], 1).unwrap_err();
    assert_eq!(packed, "`fma.rn.f32x2` has packed operands: sweep its one-component form");

    let folder = tempfile::tempdir().unwrap();
    let one = manifest("fma.rn.f32", &["0", "0", "0"], 1).unwrap();
    Sweep::create(folder.path(), &one).unwrap();
    let other = manifest("fma.rz.f32", &["0", "0", "0"], 1).unwrap();
    let problem = Sweep::create(folder.path(), &other).unwrap_err();
    assert!(problem.ends_with("manifest.json: another sweep is there: `fma.rn.f32 0 0 0` in shards of 1"), "{problem}");
    let mixed = Manifest::new("fma.rn.f32", Some("add.f32"), &["0".to_owned(), "0".to_owned(), "0".to_owned()], 1);
    assert_eq!(mixed.unwrap_err(), "`add.f32` and `fma.rn.f32` have other operands or results");
    assert!(Sweep::open(&folder.path().join("nothing")).unwrap_err().contains("manifest.json"));
}
