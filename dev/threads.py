#!/usr/bin/env python3
"""Asks `roundonce why` every question of tests/threads/threads.jsonl and judges the answers.

    dev/threads.py [ROUNDONCE]           # target/release/roundonce by default; exit 1 where an answer got worse
    dev/threads.py [ROUNDONCE] --page    # writes the table of docs/threads.md

A line of the file is one public thread:

- `expression`, `values` and `options`: the question as its author would type it. An array is its type and its runs, a
  term and how often it follows.
- `saw`: each seen value, who saw it (`by`), and what a careful engineer says it comes from: `cause` in words,
  `departures` as `why` would name them (a kind, or a kind and what it is about; none for "as written"; null for a cause
  that is not among them), and `recompute`, a Python expression that computes the value with exact rationals. It is null
  for NaN, infinities, signed zeros, and where the source does not say how the value came about.
- `lacks`: what the question needs and the language has not.
- `judgement`: what the answer was when the line was written, and `why`.

The judge shares no code with the product. Needs Python alone.
"""

import collections
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parents[1]
THREADS = ROOT / "tests/threads/threads.jsonl"
PAGE = ROOT / "docs/threads.md"
JUDGEMENTS = ["right", "partial", "wrong", "silent", "out of scope"]

# Digits of the significand, the least exponent of a normal number, bits.
TYPES = {"f16": (11, -14, 16), "bf16": (8, -126, 16), "f32": (24, -126, 32), "f64": (53, -1022, 64)}


# Rounding, exactly.


def exponent(value):
    """The e of 2^e <= |value| < 2^(e+1)."""
    high, low = abs(value.numerator), value.denominator
    e = high.bit_length() - low.bit_length()
    return e if abs(value) >= Fraction(2) ** e else e - 1


def nearest_even(scaled):
    return round(scaled)


def nearest_away(scaled):
    return int(math.copysign(math.floor(abs(scaled) + Fraction(1, 2)), scaled))


def toward_zero(scaled):
    return math.trunc(scaled)


def rounder(digits, least=None, rule=nearest_even):
    def rounded(value):
        value = Fraction(value)
        if value == 0:
            return value
        e = exponent(value)
        unit = Fraction(2) ** ((e if least is None else max(e, least)) - digits + 1)
        return rule(value / unit) * unit

    return rounded


FUNCTIONS = {name: rounder(digits, least) for name, (digits, least, _) in TYPES.items()}
FUNCTIONS |= {
    "x87": rounder(64),  # The registers of the x87 and C's long double there; their exponent range is never left here.
    "r24": rounder(24),  # As if the exponent had no end.
    "tf32": rounder(11, -126, nearest_away),  # cvt.rna.tf32.f32.
    "bf16z": rounder(8, -126, toward_zero),
    "cut": lambda value: Fraction(math.trunc(value)),  # C's cast to an integer.
}


def ftz(least):
    return lambda value: Fraction(0) if abs(value) < Fraction(2) ** least else value


FUNCTIONS |= {"ftz32": ftz(-126), "ftz64": ftz(-1022)}


# Sums of arrays of f32 or f64: two operands' sum in f64 rounded to f32 is that rounded once (2 x 24 + 2 <= 53).


def forward(array):
    total = array.round(0.0)
    for term in array.terms:
        total = array.round(total + term)
    return total


def lanes(array, count):
    """`count` partial sums, each of every `count`th term, then added in order."""
    totals = [forward(Array(array.format, array.terms[lane::count])) for lane in range(count)]
    return forward(Array(array.format, totals))


def numpy_sum(array):
    """As NumPy documents its add.reduce: halves, down to blocks of at most 128 terms with eight partial sums."""
    terms = array.terms
    if len(terms) > 128:
        half = len(terms) // 2
        half -= half % 8
        parts = (numpy_sum(Array(array.format, part)) for part in (terms[:half], terms[half:]))
        return array.round(sum(parts))
    whole = len(terms) - len(terms) % 8
    r = [forward(Array(array.format, terms[lane:whole:8])) for lane in range(8)]
    while len(r) > 1:
        r = [array.round(low + high) for low, high in zip(r[::2], r[1::2])]
    return forward(Array(array.format, r + terms[whole:]))


class Array:
    def __init__(self, format, terms):
        self.format, self.terms = format, terms

    def round(self, value):
        return struct.unpack("<f", struct.pack("<f", value))[0] if self.format == "f32" else value

    def write(self, path):
        code = {"f32": "f", "f64": "d"}[self.format]
        descr = "{'descr': '<%s', 'fortran_order': False, 'shape': (%d,), }" % (
            {"f": "f4", "d": "f8"}[code], len(self.terms))
        data = struct.pack("<%d%s" % (len(self.terms), code), *self.terms)
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + descr.encode().ljust(117) + b"\n" + data)


FUNCTIONS |= {"forward": forward, "lanes": lanes, "numpy_sum": numpy_sum, "Fraction": Fraction}


# Numbers as people type them.


def number(text):
    """A decimal or a hexadecimal number without a type, as a rational."""
    hexadecimal = re.fullmatch(r"([-+]?)0x([0-9a-f]+)\.?([0-9a-f]*)p([-+]?\d+)", text.lower())
    if hexadecimal:
        sign, whole, fraction, power = hexadecimal.groups()
        scaled = Fraction(int(whole + fraction, 16), 16 ** len(fraction)) * Fraction(2) ** int(power)
        return -scaled if sign == "-" else scaled
    return Fraction(text)


def from_bits(bits, format):
    """The number of an encoding; None for NaN and infinities. An integer's are those of its type, `int32`."""
    integer = re.fullmatch(r"(u?)int(\d+)", format)
    if integer:
        unsigned, width = integer[1], int(integer[2])
        return Fraction(bits if unsigned or bits < 1 << (width - 1) else bits - (1 << width))
    digits, least, width = TYPES[format]
    hidden, largest = 1 << (digits - 1), (1 << (width - digits)) - 1
    field, sign = bits // hidden & largest, -1 if bits >> (width - 1) else 1
    if field == largest:
        return None
    mantissa = bits % hidden + (hidden if field else 0)
    return sign * mantissa * Fraction(2) ** (least + max(field, 1) - digits)


def typed(text, otherwise):
    """The value of a text and its type: `1.5f`, `0x3f800000`, `0x1p-3:f16`; `otherwise` for one that has none."""
    text, _, format = text.partition(":")
    if re.fullmatch(r"0x[0-9a-fA-F]+", text):
        format = format or {8: "f32", 16: "f64"}[len(text) - 2]
        return from_bits(int(text, 16), format), format
    if text.strip("-+") in ("inf", "nan"):
        return None, format or otherwise
    suffix = None if format else {"f": "f32", "h": "f16", "b": "bf16"}.get(text[-1])
    format = format or suffix or otherwise
    return FUNCTIONS[format or "f64"](number(text[:-1] if suffix else text)), format


def is_seen(text, value):
    """Whether a seen value is this one: exactly where it is typed, to the digits given where not."""
    exact, format = typed(text, None)
    if format or "p" in text:
        return exact == value
    place = re.fullmatch(r"[-+]?\d*\.?(\d*)(?:e([-+]?\d+))?", text.lower())
    unit = Fraction(10) ** (int(place[2] or 0) - len(place[1]))
    return abs(value - Fraction(text)) <= unit / 2


# Asking and judging.


def names_of(thread):
    """The names' values, for `recompute`: literals of the type that the values have, arrays as they are."""
    found = {}
    for name, value in thread.get("values", {}).items():
        if isinstance(value, dict):
            rounded = FUNCTIONS[value["type"]]
            terms = [[float(rounded(Fraction(term)))] * count for term, count in value["runs"]]
            found[name] = Array(value["type"], sum(terms, []))
        else:
            found[name] = typed(value, thread.get("type", "f64"))[0]
    return found


def recomputed(thread, seen, names):
    """What the expected cause gives, or None; an error where that is not what was seen."""
    if seen["recompute"] is None:
        return None
    value = Fraction(eval(seen["recompute"], {"__builtins__": {}}, FUNCTIONS | names))  # Our own file's text.
    if not is_seen(seen["value"], value):
        sys.exit(f"{thread['name']}: the cause of {seen['value']} gives {float(value)!r}")
    return value


def ask(command, thread, names, folder):
    """The answer, or None where the question is refused, with the error."""
    line = [command, "why", thread["expression"], "--format", "json", *thread.get("options", [])]
    for name, value in names.items():
        if isinstance(value, Array):
            value.write(folder / f"{name}.npy")
            line.append(f"{name}={folder / name}.npy")
        else:
            line.append(f"{name}={thread['values'][name]}")
    line += [f"--saw={seen['value']}" for seen in thread["saw"]]
    run = subprocess.run(line, capture_output=True, text=True)
    if run.returncode == 2:
        return None, next(line for line in run.stderr.splitlines() if not line.startswith("note"))
    if run.returncode not in (0, 1):
        sys.exit(f"{thread['name']}: exit status {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout), None


def is_expected(departures, expected):
    def one(departure, text):
        kind, _, what = text.partition(" ")
        return departure["kind"] == kind and what in ("", departure.get("what", ""))

    return expected is not None and len(departures) == len(expected) and all(map(one, departures, expected))


def judge_value(answer, found, seen, exact):
    """The judgement of one seen value, and what was answered."""
    explanations = found.get("explanations", found.get("groups", []))
    said = [entry["sentence"] for entry in explanations]
    if found["outcome"] == "none":
        hint = found.get("also_possible") or {}
        hint = hint[0] if isinstance(hint, list) and hint else hint
        text = "no evaluation" + (f"; also possible: {hint['sentence']}" if hint else "")
        return ("partial" if hint and is_expected(hint["departures"], seen["departures"]) else "silent"), text

    def is_it(entry):
        bits = entry.get("bits")
        same = exact is None or bits is None or from_bits(int(bits, 16), entry.get("type", answer["type"])) == exact
        return same and is_expected(entry["departures"], seen["departures"])

    text = said[0] + (f" (and {len(said) - 1} more)" if len(said) > 1 else "")
    if is_it(explanations[0]):
        return "right", text
    return ("partial" if any(map(is_it, explanations)) else "wrong"), text


def judge(command, thread, folder):
    """The judgement of the answer to a thread's question, and what was said of each value."""
    names = names_of(thread)
    exact = [recomputed(thread, seen, names) for seen in thread["saw"]]
    answer, refusal = ask(command, thread, names, folder)
    if answer is None:
        return "out of scope", [refusal]
    pairs = zip(answer["seen"], thread["saw"], exact)
    judged = [judge_value(answer, found, seen, value) for found, seen, value in pairs]
    said = [f"{seen['value']}: {text}" for seen, (_, text) in zip(thread["saw"], judged)]
    each = [judgement for judgement, _ in judged]
    asked = [judgement for judgement, seen in zip(each, thread["saw"]) if seen["departures"] != []]
    if "wrong" in each:
        return "wrong", said
    if set(each) == {"right"}:
        return "right", said
    if "lacks" in thread:
        return "out of scope", said
    return ("silent" if set(asked) == {"silent"} else "partial"), said


def page(threads):
    """The table of docs/threads.md, from the file."""
    counts = collections.Counter(thread["judgement"] for thread in threads)
    lines = ["| judgement | threads |", "|---|---:|"]
    lines += [f"| {judgement} | {counts[judgement]} |" for judgement in JUDGEMENTS]
    lines += [f"| all | {len(threads)} |", "", "| thread | question | seen | cause | answer |", "|---|---|---|---|---|"]
    for thread in threads:
        year = f", {thread['year']}" if thread.get("year") else ""
        source = f"[{thread['source']}]({thread['url']})" if thread.get("url") else thread["source"]
        seen = "; ".join(f"`{seen['value']}` ({seen['by']})" for seen in thread["saw"])
        causes = "; ".join(dict.fromkeys(seen["cause"] for seen in thread["saw"]))
        question = " ".join([f"`{thread['expression']}`", *(f"`{option}`" for option in thread.get("options", []))])
        answer = f"**{thread['judgement']}**: {thread['why']}"
        lines.append(f"| {source}{year} | {question} | {seen} | {causes} | {answer} |")
    return "\n".join(["", *lines, "", ""])


def main(arguments):
    paths = [argument for argument in arguments if not argument.startswith("--")]
    command = str(pathlib.Path(paths[0] if paths else ROOT / "target/release/roundonce").resolve())
    threads = [json.loads(line) for line in THREADS.read_text().splitlines()]
    text = PAGE.read_text()
    head, table, tail = re.fullmatch(r"(.*<!-- table -->\n)(.*)(<!-- /table -->\n.*)", text, re.DOTALL).groups()
    if "--page" in arguments:
        PAGE.write_text(head + page(threads) + tail)
        return 0
    worse = table != page(threads)
    if worse:
        print("docs/threads.md is not made of tests/threads/threads.jsonl: dev/threads.py --page writes it")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for thread in threads:
            found, said = judge(command, thread, pathlib.Path(folder))
            counts[found] += 1
            changed = "" if found == thread["judgement"] else f" (recorded: {thread['judgement']})"
            print(f"{found:12} {thread['name']}{changed}")
            for line in said:
                print(f"             {line}")
            worse |= thread["judgement"] == "right" and found != "right"
    print("\n" + ", ".join(f"{counts[judgement]} {judgement}" for judgement in JUDGEMENTS) + f" of {len(threads)}")
    return int(worse)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
