//! Lanes that see each other: shuffles, votes, matches, reductions; and specials that tell a lane its place.

use super::Forms;

/// The operands of a lane's warp, and its number in it.
fn warp(rows: &[[u64; 4]], row: usize) -> (&[[u64; 4]], usize) {
    let first = row / 32 * 32;
    (&rows[first..first + 32], row - first)
}

fn bits(lanes: impl Iterator<Item = bool>) -> u64 {
    lanes.enumerate().fold(0, |all, (lane, bit)| all | u64::from(bit) << lane)
}

#[test]
fn shuffles() {
    let mut forms = Forms::default();
    // PTX 9.7.9.6: the lane, whether it is in range, by `b` and the clamp and segment in `c`.
    let source = |mode: &str, lane: i64, b: u64, c: u64| -> (usize, bool) {
        let (b, clamp, segment) = ((b & 31) as i64, (c & 31) as i64, (c >> 8 & 31) as i64);
        let most = lane & segment | clamp & !segment;
        let least = lane & segment;
        let (from, inside) = match mode {
            "up" => (lane - b, lane - b >= most),
            "down" => (lane + b, lane + b <= most),
            "bfly" => (lane ^ b, lane ^ b <= most),
            _ => (least | b & !segment, (least | b & !segment) <= most),
        };
        (if inside { from as usize } else { lane as usize }, inside)
    };
    for mode in ["up", "down", "bfly", "idx"] {
        for c in [0x1f, 0, 0x1c03, 0x1807, 0x100f, 0x10] {
            for (sync, mask) in [(".sync", ", 0xffffffff"), ("", "")] {
                // A distance for the whole warp: the third lane's.
                let text = format!(
                    "// %r\nshfl.sync.idx.b32 %r5, %r2, 3, 31, -1;\n\
                     shfl{sync}.{mode}.b32 %r0|%p0, %r1, %r5, {c}{mask};"
                );
                forms.among(text, move |rows, row| {
                    let (warp, lane) = warp(rows, row);
                    let (from, inside) = source(mode, lane as i64, warp[3][1], c);
                    (warp[from][0], inside)
                });
            }
        }
    }
    forms.check();
}

#[test]
fn questions() {
    let mut forms = Forms::default();
    // Among the lanes whose third operand is even or odd, as a lane's own is; everyone names its own half.
    let halves = "vote.sync.ballot.b32 %r5, %p3, -1; @!%p3 not.b32 %r5, %r5; and.b32 %r6, %r1, 3;";
    let same = |rows: &[[u64; 4]], row: usize| -> (Vec<bool>, usize, Vec<u64>) {
        let (warp, lane) = warp(rows, row);
        let half = warp[lane][2] & 1;
        (warp.iter().map(|row| row[2] & 1 == half).collect(), lane, warp.iter().map(|row| row[0]).collect())
    };
    type Asked = fn(&[bool], usize, &[u64]) -> (u64, bool);
    let mut add = |text: &str, judge: Asked| {
        let text = format!("// %{}\n{halves}\n@%p3 bra ODD;\n{text}\nbra DONE;\nODD:\n{text}\nDONE:", {
            if text.contains("%p0, %p1") { 'p' } else { 'r' }
        });
        forms.among(text, move |rows, row| {
            let (members, lane, values) = same(rows, row);
            judge(&members, lane, &values)
        });
    };
    add("vote.sync.all.pred %p0, %p1, %r5;", |members, _, values| {
        (members.iter().zip(values).all(|(member, value)| !member || value & 1 == 1).into(), false)
    });
    add("vote.sync.any.pred %p0, %p1, %r5;", |members, _, values| {
        (members.iter().zip(values).any(|(member, value)| *member && value & 1 == 1).into(), false)
    });
    add("vote.sync.uni.pred %p0, %p1, %r5;", |members, lane, values| {
        (members.iter().zip(values).all(|(member, value)| !member || (value ^ values[lane]) & 1 == 0).into(), false)
    });
    add("vote.sync.ballot.b32 %r0, !%p1, %r5;", |members, _, values| {
        (bits(members.iter().zip(values).map(|(member, value)| *member && value & 1 == 0)), false)
    });
    add("activemask.b32 %r0;", |members, _, _| (bits(members.iter().copied()), false));
    add("match.any.sync.b32 %r0, %r6, %r5;", |members, lane, values| {
        (bits(members.iter().zip(values).map(|(member, value)| *member && (value ^ values[lane]) & 3 == 0)), false)
    });
    add("match.all.sync.b32 %r0|%p0, %r6, %r5;", |members, lane, values| {
        let all = members.iter().zip(values).all(|(member, value)| !member || (value ^ values[lane]) & 3 == 0);
        (if all { bits(members.iter().copied()) } else { 0 }, all)
    });
    add("elect.sync %r0|%p0, %r5;", |members, lane, _| {
        let leader = members.iter().position(|member| *member).unwrap_or(0);
        (leader as u64, leader == lane)
    });
    macro_rules! reduction {
        ($text:literal, $f:expr) => {
            add($text, |members, _, values| {
                let values = members.iter().zip(values).filter(|(member, _)| **member).map(|(_, value)| *value as u32);
                (u64::from(values.reduce($f).unwrap_or(0)), false)
            });
        };
    }
    reduction!("redux.sync.add.u32 %r0, %r1, %r5;", |a, b| a.wrapping_add(b));
    reduction!("redux.sync.min.u32 %r0, %r1, %r5;", |a, b| a.min(b));
    reduction!("redux.sync.max.s32 %r0, %r1, %r5;", |a, b| (a as i32).max(b as i32) as u32);
    reduction!("redux.sync.and.b32 %r0, %r1, %r5;", |a, b| a & b);
    reduction!("redux.sync.or.b32 %r0, %r1, %r5;", |a, b| a | b);
    reduction!("redux.sync.xor.b32 %r0, %r1, %r5;", |a, b| a ^ b);
    forms.check();
}

/// Lanes that a guard leaves out of an instruction among lanes are with the others again at the next one.
#[test]
fn guarded_questions() {
    let mut forms = Forms::default();
    for first in ["vote.ballot.b32 %r5, %p1;", "shfl.idx.b32 %r5, %r1, 0, 31;"] {
        forms.among(format!("// %r\n@%p3 {first}\nvote.ballot.b32 %r0, %p1;"), |rows, row| {
            (bits(warp(rows, row).0.iter().map(|row| row[0] & 1 == 1)), false)
        });
    }
    forms.among("// %r\n@!%p3 vote.ballot.b32 %r0, %p1;\n@%p3 vote.ballot.b32 %r0, %p1;", |rows, row| {
        let (warp, lane) = warp(rows, row);
        (bits(warp.iter().map(|row| row[0] & 1 == 1 && row[2] & 1 == warp[lane][2] & 1)), false)
    });
    forms.check();
}

/// `redux` on floats: a NaN gives way, or with `.NaN` wins; the result is some lane's number.
#[test]
fn extrema_of_floats() {
    let mut forms = Forms::default();
    for (max, abs, nan) in (0..8).map(|all| (all & 1 == 1, all & 2 == 2, all & 4 == 4)) {
        let name = format!(
            "redux.sync.{}{}{}.f32",
            if max { "max" } else { "min" },
            if abs { ".abs" } else { "" },
            if nan { ".NaN" } else { "" }
        );
        forms.among(format!("{name} %f0, %f1, -1;"), move |rows, row| {
            let values = warp(rows, row).0.iter().map(|row| f32::from_bits(row[0] as u32));
            let values: Vec<f32> = values.map(|value| if abs { value.abs() } else { value }).collect();
            let numbers = values.iter().copied().filter(|value| !value.is_nan());
            let best = numbers.reduce(|a, b| if (a.total_cmp(&b).is_gt()) == max { a } else { b });
            let bits = match best {
                Some(best) if !(nan && values.iter().any(|value| value.is_nan())) => best.to_bits(),
                _ => 0x7fff_ffff,
            };
            (bits.into(), false)
        });
        // Each lane alone.
        forms.add(format!("// %f\nmov.u32 %r5, %lanemask_eq; {name} %f0, %f1, %r5;"), move |[a, ..]| {
            let value = f32::from_bits(a as u32);
            let value = if abs { value.abs() } else { value };
            if value.is_nan() { 0x7fff_ffff } else { value.to_bits().into() }
        });
    }
    forms.check();
}

#[test]
fn places() {
    let mut forms = Forms::default();
    let mut add = |register: &str, judge: fn(usize) -> usize| {
        forms.among(format!("mov.u32 %r0, %{register};"), move |_, row| (judge(row) as u64, false));
    };
    add("tid.x", |row| row % 256);
    add("tid.y", |_| 0);
    add("ntid.x", |_| 256);
    add("ntid.z", |_| 1);
    add("ctaid.x", |row| row / 256);
    add("nctaid.x", |_| super::ROWS / 256);
    add("clusterid.x", |row| row / 256);
    add("nclusterid.x", |_| super::ROWS / 256);
    add("cluster_ctaid.x", |_| 0);
    add("cluster_nctaid.x", |_| 1);
    add("laneid", |row| row % 32);
    add("warpid", |row| row % 256 / 32);
    add("nwarpid", |_| 8);
    add("lanemask_eq", |row| 1 << (row % 32));
    add("lanemask_lt", |row| (1 << (row % 32)) - 1);
    add("lanemask_le", |row| (2 << (row % 32)) - 1);
    add("lanemask_gt", |row| 0xffff_ffff ^ ((2 << (row % 32)) - 1));
    add("lanemask_ge", |row| 0xffff_ffff ^ ((1 << (row % 32)) - 1));
    add("total_smem_size", |_| 65536);
    add("dynamic_smem_size", |_| 0);
    forms.check();
}
