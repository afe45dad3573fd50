"""Holds the model of the proofs against the code: every line of the example `results` of crates/arith.

    cargo run --release -p roundonce-arith --example results -- 20000 | python3 dev/proofs/agree.py
"""

import sys

import model
from bits import Number, Plain


def main():
    tools, count = Plain(), 0
    for line in sys.stdin:
        name, rounding, *numbers = line.split()
        a, b, c, result, inexact = (int(number, 16) for number in numbers)
        operands = [Number(x, 64) for x in (a, b, c)]
        # Without and with the short cut: the code takes it for f32 and f64.
        for function in (model.mul_add, model.mul_add_fast_path):
            bits, found_inexact = function(tools, model.FORMATS[name], rounding, *operands)
            if (bits.value, int(found_inexact)) != (result, inexact):
                print(f"{line.strip()}: the model says {bits.value:x} {int(found_inexact)}")
                return 1
        count += 1
    print(f"the model agrees with the code on {count} triples")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
