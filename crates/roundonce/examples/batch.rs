//! The batch evaluation from Rust, for `bindings/python/benches/batch.py`: for each line of stdin, an instruction and a
//! number of elements, one evaluation into a slice that is there already; prints the processor's nanoseconds.

use std::io::BufRead;

use roundonce::array::{Operand, Results, eval_into};

/// The processor's time of all threads.
fn time() -> std::io::Result<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        sum += text.split_whitespace().next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(sum)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); 4];
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (spelling, count) = line.split_once(' ').ok_or("expected an instruction and a number")?;
        let instruction = roundonce::instruction(spelling, &Default::default()).map_err(|found| found.to_string())?;
        let count: usize = count.parse()?;
        for (seed, column) in columns.iter_mut().enumerate().filter(|(_, column)| column.len() != count) {
            // Ordinary numbers of all fractions.
            let fraction = |at: usize| (at as u32).wrapping_mul(0x9e37_79b9).wrapping_add(seed as u32) & 0x007f_ffff;
            *column = (0..count).map(|at| 0x3f80_0000 | fraction(at)).collect();
        }
        let [a, b, c, out] = columns.as_mut_slice() else { return Err("four columns".into()) };
        let operands = [Operand::U32(a), Operand::U32(b), Operand::U32(c)];
        let arity = instruction.recipe.operation.op.arity();
        let before = time()?;
        eval_into(&instruction, &Default::default(), &operands[..arity], Results::U32(out))
            .map_err(|found| found.to_string())?;
        println!("{}", time()? - before);
    }
    Ok(())
}
