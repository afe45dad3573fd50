//! Expressions from choices, their text, and their values by exact rationals, which share no code with the product.

use crate::Choices;
use roundonce_oracle::{Direction, Layout, Shape, Spec, rational::judge};

/// An expression over `a`, `b` and `c`.
#[derive(Clone, Debug)]
pub enum Tree {
    Name(usize),
    Constant(u64),
    Neg(Box<Tree>),
    /// `+`, `-` or `*`.
    Binary(char, Box<Tree>, Box<Tree>),
    Fma([Box<Tree>; 3]),
}

pub const NAMES: [&str; 3] = ["a", "b", "c"];

/// An expression over the first `names` names.
pub fn generate(choices: &mut Choices<'_>, layout: Layout, names: usize, depth: usize) -> Tree {
    if depth == 0 || choices.is_empty() {
        return Tree::Name(choices.below(names));
    }
    let below = |choices: &mut Choices<'_>| Box::new(generate(choices, layout, names, depth - 1));
    match choices.below(8) {
        0 => Tree::Name(choices.below(names)),
        1 => Tree::Constant(*choices.pick(&[
            layout.one(),
            layout.one() + 1,
            layout.smallest_normal(),
            0,
            layout.sign() | layout.one(),
        ])),
        2 => Tree::Neg(below(choices)),
        3 => Tree::Fma([(); 3].map(|()| below(choices))),
        operator => Tree::Binary(['+', '-', '*', '*'][operator - 4], below(choices), below(choices)),
    }
}

/// The same expression with one thing written otherwise, which keeps its bits or not.
pub fn rewritten(choices: &mut Choices<'_>, tree: &Tree) -> Tree {
    let keep = choices.one_in(3);
    let minus = |tree: &Tree| Box::new(Tree::Neg(Box::new(tree.clone())));
    match tree {
        Tree::Binary(_, a, b) if choices.one_in(6) => {
            Tree::Binary(*choices.pick(&['+', '-', '*']), a.clone(), b.clone())
        }
        Tree::Neg(inner) if keep => Tree::Neg(Box::new(rewritten(choices, inner))),
        Tree::Binary(operator, a, b) if keep => match choices.one_in(2) {
            true => Tree::Binary(*operator, Box::new(rewritten(choices, a)), b.clone()),
            false => Tree::Binary(*operator, a.clone(), Box::new(rewritten(choices, b))),
        },
        Tree::Fma([a, b, c]) if keep => Tree::Fma([a.clone(), b.clone(), Box::new(rewritten(choices, c))]),
        // Fused, or regrouped.
        Tree::Binary(sign @ ('+' | '-'), product, c) if matches!(**product, Tree::Binary('*', ..)) => {
            let Tree::Binary(_, a, b) = &**product else { return tree.clone() };
            let c = if *sign == '-' { minus(c) } else { c.clone() };
            Tree::Fma([a.clone(), b.clone(), c])
        }
        Tree::Binary(operator @ ('+' | '*'), a, b) => match &**b {
            Tree::Binary(other, x, y) if other == operator && choices.one_in(2) => {
                Tree::Binary(*operator, Box::new(Tree::Binary(*operator, a.clone(), x.clone())), y.clone())
            }
            _ => Tree::Binary(*operator, b.clone(), a.clone()),
        },
        Tree::Binary(_, a, b) => Tree::Binary('+', a.clone(), minus(b)),
        Tree::Fma([a, b, c]) => match choices.below(3) {
            0 => Tree::Fma([b.clone(), a.clone(), c.clone()]),
            1 => Tree::Fma([minus(a), minus(b), c.clone()]),
            _ => Tree::Binary('+', Box::new(Tree::Binary('*', a.clone(), b.clone())), c.clone()),
        },
        tree => Tree::Neg(minus(tree)),
    }
}

impl Tree {
    pub fn text(&self, type_name: &str, width: u32) -> String {
        let text = |tree: &Tree| tree.text(type_name, width);
        match self {
            Tree::Name(at) => NAMES[*at].to_owned(),
            Tree::Constant(bits) => format!("0x{bits:0digits$x}:{type_name}", digits = width as usize / 4),
            Tree::Neg(inner) => format!("-({})", text(inner)),
            Tree::Binary(operator, a, b) => format!("({}){operator}({})", text(a), text(b)),
            Tree::Fma(all) => format!("fma({}, {}, {})", text(&all[0]), text(&all[1]), text(&all[2])),
        }
    }

    /// Every operation rounded to nearest even.
    pub fn value(&self, layout: Layout, inputs: &[u64; 3]) -> u64 {
        let value = |tree: &Tree| tree.value(layout, inputs);
        let result = |shape, negate_c, operands: [u64; 3]| {
            judge(&Spec { negate_c, ..Spec::new(shape, layout, Direction::Nearest) }, operands).bits
        };
        match self {
            Tree::Name(at) => inputs[*at],
            Tree::Constant(bits) => *bits,
            Tree::Neg(inner) => value(inner) ^ layout.sign(),
            Tree::Binary('*', a, b) => result(Shape::Mul, false, [value(a), value(b), 0]),
            Tree::Binary(operator, a, b) => result(Shape::Add, *operator == '-', [value(a), 0, value(b)]),
            Tree::Fma([a, b, c]) => result(Shape::MulAdd, false, [value(a), value(b), value(c)]),
        }
    }
}
