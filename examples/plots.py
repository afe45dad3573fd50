"""Pictures of how two computations differ: `python examples/plots.py` draws those of docs/gallery.md.

Text and axes are of a grey that shows on light and on dark pages; the background is left out.
"""

import pathlib

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import roundonce

GREY, BLUE = "#7d8590", "#2f81f7"
MAP = "viridis"

plt.rcParams.update(
    {
        "figure.constrained_layout.use": True,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.transparent": True,
        "axes.edgecolor": GREY,
        "axes.labelcolor": GREY,
        "axes.titlecolor": GREY,
        "xtick.color": GREY,
        "ytick.color": GREY,
        "text.color": GREY,
        "font.size": 10,
        "svg.hashsalt": "roundonce",
    }
)


def numbers(count, exponents, seed):
    """f32 of every sign and fraction whose exponents are spread evenly over a range."""
    rng = np.random.default_rng(seed)
    fields = rng.integers(exponents[0] + 127, exponents[1] + 128, count).astype(np.uint32)
    return (rng.integers(0, 1 << 32, count, np.uint32) & 0x807F_FFFF | fields << 23).view(np.float32)


def exponent(x):
    """The power of two at or below each magnitude."""
    return np.frexp(x.astype(np.float64))[1] - 1


def ulp_histogram(axes, one, other, title):
    """How many elements lie how many units in the last place apart, on a logarithmic scale."""
    bars = roundonce.diff(one, other).data["histogram"]
    labels = [f"{bar['from']:+d}" if bar["from"] == bar["to"] else f"{bar['from']:+d}…{bar['to']:+d}" for bar in bars]
    axes.bar(labels, [bar["count"] for bar in bars], color=BLUE)
    axes.set_yscale("log")
    axes.tick_params("x", rotation=90)
    axes.set(title=title, xlabel="distance in ulp", ylabel="elements")


def exponent_heat_map(axes, x, y, differ, title, xlabel, ylabel):
    """The share of elements that differ, by the exponents of two quantities; places without elements stay empty."""
    low_x, low_y = x.min(), y.min()
    shape = (y.max() - low_y + 1, x.max() - low_x + 1)
    all_there, different = np.zeros(shape), np.zeros(shape)
    np.add.at(all_there, (y - low_y, x - low_x), 1)
    np.add.at(different, (y - low_y, x - low_x), differ)
    share = np.divide(100 * different, all_there, out=np.full(shape, np.nan), where=all_there > 0)
    extent = (low_x - 0.5, x.max() + 0.5, low_y - 0.5, y.max() + 0.5)
    image = axes.imshow(share, origin="lower", extent=extent, aspect="auto", cmap=MAP, vmin=0, vmax=100)
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    bar = axes.figure.colorbar(image, ax=axes, label="% that differ")
    bar.outline.set_edgecolor(GREY)


def fused_and_not(count=400_000):
    """a, b, c, the fused and the unfused results, none of them near the ends of the range."""
    a, b, c = (numbers(count, (-8, 8), seed) for seed in (1, 2, 3))
    return a, b, c, roundonce.fma(a, b, c), roundonce.add(roundonce.mul(a, b), c)


def fusing_by_exponents(axes):
    a, b, c, fused, unfused = fused_and_not()
    differ = fused.view(np.uint32) != unfused.view(np.uint32)
    title = "a·b + c fused and not: where the bits differ"
    exponent_heat_map(axes, exponent(a * b), exponent(c), differ, title, "exponent of a·b", "exponent of c")


def fusing_by_ulps(axes):
    *_, fused, unfused = fused_and_not()
    ulp_histogram(axes, fused, unfused, "a·b + c unfused, from the fused result")


def flushing_by_exponents(axes):
    a, b = numbers(400_000, (-85, -55), 4), numbers(400_000, (-85, -55), 5)
    kept, flushed = roundonce.mul(a, b), roundonce.mul(a, b, ftz=True)
    differ = kept.view(np.uint32) != flushed.view(np.uint32)
    title = "a·b with .ftz and without: where the bits differ"
    exponent_heat_map(axes, exponent(a), exponent(b), differ, title, "exponent of a", "exponent of b")


def old_and_new(axes):
    """sm_1x's mad truncates the product; on operands of like size that is seen most."""
    a, b, c = (numbers(400_000, (-2, 2), seed) for seed in (6, 7, 8))
    ulp_histogram(axes, roundonce.fma(a, b, c), roundonce.mad(a, b, c, target="sm_13"), "mad of sm_13, from fma")


GALLERY = {
    "fused-exponents": fusing_by_exponents,
    "fused-ulps": fusing_by_ulps,
    "ftz-exponents": flushing_by_exponents,
    "mad-ulps": old_and_new,
}


def main():
    matplotlib.use("svg")
    folder = pathlib.Path(__file__).resolve().parents[1] / "docs/gallery"
    folder.mkdir(exist_ok=True)
    for name, draw in GALLERY.items():
        figure, axes = plt.subplots(figsize=(6.4, 3.6))
        draw(axes)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
