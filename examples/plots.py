"""Pictures of how two computations differ: `python examples/plots.py` draws those of docs/gallery.md.

They are what the command's `--plot` draws, and shares by exponents. They show on light and on dark pages.
"""

import pathlib

import numpy as np
import roundonce


def numbers(count, exponents, seed):
    """f32 of every sign and fraction whose exponents are spread evenly over a range."""
    rng = np.random.default_rng(seed)
    fields = rng.integers(exponents[0] + 127, exponents[1] + 128, count).astype(np.uint32)
    return (rng.integers(0, 1 << 32, count, np.uint32) & 0x807F_FFFF | fields << 23).view(np.float32)


def exponent(x):
    """The power of two at or below each magnitude."""
    return np.frexp(x.astype(np.float64))[1] - 1


def fused_and_not(count=400_000):
    """a, b, c, the fused and the unfused results, none of them near the ends of the range."""
    a, b, c = (numbers(count, (-8, 8), seed) for seed in (1, 2, 3))
    return a, b, c, roundonce.fma(a, b, c), roundonce.add(roundonce.mul(a, b), c)


def differ(one, other):
    return one.view(np.uint32) != other.view(np.uint32)


def fusing_by_exponents():
    a, b, c, fused, unfused = fused_and_not()
    axes = ("exponent of a·b", "exponent of c", "% that differ")
    title = "a·b + c fused and not: where the bits differ"
    return roundonce.plot_shares(exponent(a * b), exponent(c), differ(fused, unfused), title, axes)


def fusing_by_ulps():
    *_, fused, unfused = fused_and_not()
    return roundonce.plot(fused, unfused, "a·b + c unfused, from the fused result")


def flushing_by_exponents():
    a, b = numbers(400_000, (-85, -55), 4), numbers(400_000, (-85, -55), 5)
    kept, flushed = roundonce.mul(a, b), roundonce.mul(a, b, ftz=True)
    axes = ("exponent of a", "exponent of b", "% that differ")
    title = "a·b with .ftz and without: where the bits differ"
    return roundonce.plot_shares(exponent(a), exponent(b), differ(kept, flushed), title, axes)


def old_and_new():
    """sm_1x's mad truncates the product; on operands of like size that is seen most."""
    a, b, c = (numbers(400_000, (-2, 2), seed) for seed in (6, 7, 8))
    return roundonce.plot(roundonce.fma(a, b, c), roundonce.mad(a, b, c, target="sm_13"), "mad of sm_13, from fma")


GALLERY = {
    "fused-exponents": fusing_by_exponents,
    "fused-ulps": fusing_by_ulps,
    "ftz-exponents": flushing_by_exponents,
    "mad-ulps": old_and_new,
}


def main():
    folder = pathlib.Path(__file__).resolve().parents[1] / "docs/gallery"
    folder.mkdir(exist_ok=True)
    for name, draw in GALLERY.items():
        draw().save(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
