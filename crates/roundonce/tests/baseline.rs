//! Where a run parts from an earlier one: the least time decides, then floats before others, then the order of the run.

use roundonce::why_kernel::{Baseline, BufferDigest, InstructionDigest};

fn instruction(line: u32, is_float: bool, digests: &[&str]) -> InstructionDigest {
    InstructionDigest {
        line,
        source: String::new(),
        instruction: format!("i{line}"),
        is_float,
        results: 64,
        digests: digests.iter().map(|digest| (*digest).to_owned()).collect(),
    }
}

fn run(content: &str, instructions: Vec<InstructionDigest>) -> Baseline {
    let buffers = vec![BufferDigest { name: "y".to_owned(), bytes: 4, digest: content.to_owned() }];
    Baseline {
        schema: 1,
        kernel: "k".to_owned(),
        grid: [1; 3],
        block: [64, 1, 1],
        buffers,
        addresses: false,
        instructions,
    }
}

#[test]
fn the_first_divergent_instruction() {
    let all = |[address, product, sum]: [&[&str]; 3]| {
        vec![instruction(1, false, address), instruction(2, true, product), instruction(3, true, sum)]
    };
    let earlier = run("0", all([&["a0"], &["m0", "m1", "m2"], &["s0", "s1", "s2"]]));
    let part = |later: [&[&str]; 3]| {
        let comparison = earlier.compare(&run("1", all(later))).unwrap();
        let divergent = comparison.first_divergent.unwrap();
        assert!(!comparison.equal);
        (divergent.line, divergent.times)
    };
    // The product of line 2 takes the sum of line 3 of the time before: it differs later, though it stands first.
    assert_eq!(part([&["a0"], &["m0", "x1", "x2"], &["y0", "y1", "y2"]]), (3, [1, 1]));
    assert_eq!(part([&["a0"], &["m0", "m1", "x2"], &["s0", "s1", "y2"]]), (2, [3, 4]));
    // Addresses may differ from compiler to compiler; where floats do, they are what is asked about.
    assert_eq!(part([&["b0"], &["m0", "m1", "m2"], &["s0", "y1", "y2"]]), (3, [2, 2]));
    assert_eq!(part([&["b0"], &["m0", "m1", "m2"], &["s0", "s1", "s2"]]), (1, [1, 1]));
    // The same values from other instructions, in another order.
    let mut later = run("0", earlier.instructions.iter().rev().cloned().collect());
    let comparison = earlier.compare(&later).unwrap();
    assert!(comparison.equal && comparison.first_divergent.is_none());
    later.block = [32, 1, 1];
    assert!(earlier.compare(&later).unwrap_err().contains("--block 64,1,1"));
}

#[test]
fn what_is_read() {
    let text = run("0", Vec::new()).json();
    assert_eq!(Baseline::read(&text), Ok(run("0", Vec::new())));
    assert!(Baseline::read(&text.replace("\"schema\": 1", "\"schema\": 2")).unwrap_err().contains("version 2"));
    assert!(Baseline::read("{}").unwrap_err().contains("is no baseline"));
}
