"""The README's picture: `python examples/one_rounding.py` writes docs/one-rounding.svg.

A product and an addend of f32, aligned bit by bit, summed with one rounding and with two. The bits are computed here with
integers; a test of the Python package compares both results with what the package computes.
"""

import pathlib
from fractions import Fraction

FILE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "one-rounding.svg"
A = B = 0x3F800001
C = 0xBF800002
PRECISION = 24

CELL, ROW, LEFT, TOP = 15, 26, 92, 84
STYLE = """
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
  .card { fill: #ffffff; stroke: #d0d7de } .kept { fill: #ddf4ff } .lost { fill: #ffebe9 }
  .head { font-weight: bold; font-size: 15px } .small { font-size: 11px; fill: #59636e } .zero, .none { fill: #8c959f }
  .one { font-weight: bold } .right { text-anchor: end } .bits, .middle { text-anchor: middle }
  .good { fill: #0550ae; font-weight: bold } .bad { fill: #a40e26; font-weight: bold } .rule { stroke: #8c959f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .card { fill: #0d1117; stroke: #30363d } .kept { fill: #10294b } .lost { fill: #4a1a1e }
    .small { fill: #9198a1 } .zero, .none { fill: #6e7681 } .good { fill: #79c0ff } .bad { fill: #ff9b94 }
  }
"""


def value(bits):
    """A normal f32, exactly."""
    magnitude = Fraction(bits & 0x7FFFFF | 0x800000, 1 << 23) * Fraction(2) ** ((bits >> 23 & 0xFF) - 127)
    return -magnitude if bits >> 31 else magnitude


def exponent(number):
    """The power of two at or below a magnitude."""
    number, power = abs(number), 0
    while number >= 2:
        number, power = number / 2, power + 1
    while number < 1:
        number, power = number * 2, power - 1
    return power


def rounded(number):
    """To 24 bits, to nearest, ties to even, with no bound on the exponent."""
    if number == 0:
        return number
    unit = Fraction(2) ** (exponent(number) - PRECISION + 1)
    return round(number / unit) * unit


def f32(number):
    """The bits of a number that f32 holds as a normal number or zero."""
    if number == 0:
        return 0
    power = exponent(number)
    fraction = abs(number) / Fraction(2) ** power * (1 << 23)
    assert fraction.denominator == 1
    return int(number < 0) << 31 | (power + 127) << 23 | int(fraction) - (1 << 23)


def once(a, b, c):
    """a × b + c, rounded at the end."""
    return rounded(a * b + c)


def twice(a, b, c):
    """a × b rounded, + c rounded."""
    return rounded(rounded(a * b) + c)


class Picture:
    """Rows of bits, one column for each power of two from 2^0 down to the product's last."""

    def __init__(self, columns):
        self.columns, self.parts, self.y = columns, [], TOP

    def x(self, column):
        return LEFT + 24 + CELL * column

    def text(self, x, kind, text):
        self.parts.append(f'<text x="{x}" y="{self.y}" class="{kind}">{text}</text>')

    def head(self, text, note):
        self.text(24, "head", text)
        self.text(self.x(self.columns) - CELL // 2, "small right", note)
        self.y += ROW

    def band(self, kind, first, last):
        """Columns `first` to `last`, the last one left out."""
        x, width = self.x(first) - CELL // 2 - 1, CELL * (last - first)
        self.parts.append(f'<rect x="{x}" y="{self.y - 15}" width="{width}" height="21" rx="3" class="{kind}"/>')

    def bits(self, label, number, width):
        """A number's bits in the first `width` columns; dots in the others."""
        scaled = abs(number) * 2 ** (width - 1)
        assert scaled.denominator == 1
        digits = f"{int(scaled):0{width}b}" + "·" * (self.columns - width)
        self.text(LEFT - 12, "right", label)
        self.text(LEFT + 6, "middle", "−" if number < 0 else "+")
        for digit, kind in (("1", "one"), ("0", "zero"), ("·", "none")):
            places = [self.x(column) for column, found in enumerate(digits) if found == digit]
            if places:
                self.text(" ".join(map(str, places)), f"bits {kind}", digit * len(places))
        self.y += ROW

    def sum(self):
        y = self.y - 16
        self.parts.append(f'<path d="M{LEFT} {y}H{self.x(self.columns) - CELL // 2}" class="rule"/>')
        self.y += 4

    def result(self, kind, bits, number, note):
        shown = "0" if number == 0 else f"2^{exponent(number)}"
        self.text(LEFT + 2, kind, f"= {bits:#010x} = {shown}")
        self.text(LEFT + 212, "", note)
        self.y += ROW + 18


def picture():
    """The file's text."""
    a, b, c = value(A), value(B), value(C)
    product, columns = a * b, 47
    drawn = Picture(columns)
    for column in (0, PRECISION - 1, columns - 1):
        drawn.parts.append(f'<text x="{drawn.x(column)}" y="58" class="small middle">2^{-column}</text>')

    drawn.head("fma.rn.f32 d, a, b, c", "the product is exact; the sum is rounded once")
    drawn.band("kept", 0, columns)
    drawn.bits("a × b", product, columns)
    drawn.bits("c", c, PRECISION - 1)
    drawn.sum()
    drawn.bits("sum", product + c, columns)
    drawn.result("good", f32(once(a, b, c)), once(a, b, c), "no bit was rounded away")

    drawn.head("mul.rn.f32 t, a, b;  add.rn.f32 d, t, c", f"the product is rounded to {PRECISION} bits, then the sum")
    drawn.band("kept", 0, PRECISION)
    drawn.band("lost", PRECISION, columns)
    drawn.bits("a × b", product, columns)
    drawn.bits("t", rounded(product), PRECISION)
    drawn.bits("c", c, PRECISION - 1)
    drawn.sum()
    drawn.bits("sum", rounded(product) + c, PRECISION)
    drawn.result("bad", f32(twice(a, b, c)), twice(a, b, c), "what was left of the sum was in the bits rounded away")

    width, height = drawn.x(columns) + 18, drawn.y - 22
    title = f"a = b = {A:#010x} = 1 + 2^-23      c = {C:#010x} = −(1 + 2^-22)"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
            "<title>A fused multiply-add of f32 beside a multiplication and an addition, bit by bit</title>",
            f"<style>{STYLE}</style>",
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" class="card"/>',
            f'<text x="24" y="32" xml:space="preserve">{title}</text>',
            *drawn.parts,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
