"""What an instruction gives, by Berkeley SoftFloat over arrays, from nothing but its spelling. Shares no code with the
package: SoftFloat computes and rounds, NumPy does the rest on bits.

Rules: as judge.py's, which reads the spelling.
"""

import ctypes
import datetime
import json
import os
import pathlib
import subprocess
from typing import List

import numpy as np
from judge import FORMATS, Format, Meaning

ROOT = pathlib.Path(__file__).resolve().parents[3]
MUL_ADD, ADD, MUL = 0, 1, 3
# As dev/oracle numbers them.
DIRECTIONS = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}


def record(spelling: str, cases: int) -> None:
    """A line of evidence, for the file that ROUNDONCE_RECORD names, that so many cases agreed."""
    if "ROUNDONCE_RECORD" in os.environ:
        date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        line = {"date": date, "arith": state(), "judge": "SoftFloat", "spelling": spelling, "cases": cases, "mismatches": 0}
        with open(os.environ["ROUNDONCE_RECORD"], "a") as file:
            file.write(json.dumps(line) + "\n")


def state() -> str:
    """Git's name for the contents of crates/arith, with a `+` where they are changed, as dev/oracle's records have it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "crates/arith")
    return git("rev-parse", "--short=12", "HEAD:crates/arith") + ("+" if changed else "")


class SoftFloat:
    """dev/oracle's SoftFloat, as a C library."""

    def __init__(self) -> None:
        build = ["cargo", "build", "--release", "--locked", "-p", "roundonce-oracle", "--example", "softfloat"]
        said = subprocess.run(
            [*build, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        built = [json.loads(line) for line in said.splitlines()]
        library = next(it for it in built if it.get("target", {}).get("name") == "softfloat")["filenames"][0]
        self._many = ctypes.CDLL(library).roundonce_softfloat_many
        column = np.ctypeslib.ndpointer(np.uint64, flags="C_CONTIGUOUS")
        self._many.argtypes = [ctypes.c_uint8] * 3 + [ctypes.c_size_t] + [column] * 4
        self._many.restype = None

    def __call__(self, form: Format, operation: int, direction: str, a, b, c) -> np.ndarray:
        columns = [np.ascontiguousarray(np.broadcast_to(column, a.shape), np.uint64) for column in (a, b, c)]
        out = np.empty(a.shape, np.uint64)
        self._many(form.width, operation, DIRECTIONS[direction], a.size, *columns, out)
        return out

    def deliver(self, form: Format, operation: int, direction: str, a, b, c) -> np.ndarray:
        """Flushed where the result is subnormal when rounded with exponents that have no end."""
        bits = self(form, operation, direction, a, b, c)
        result = flushed(form, bits)
        edge = np.flatnonzero(bits & np.uint64(form.sign - 1) == np.uint64(1 << form.fraction))
        x, y, z = a[edge], b[edge], c[edge]
        infinity = np.uint64(form.infinity)

        def fourfold(column: np.ndarray) -> np.ndarray:
            return np.where(column & infinity == 0, column, column + np.uint64(2 << form.fraction))

        # Four times the value is normal, and so rounded at full precision.
        if operation == ADD:
            x, z = fourfold(x), fourfold(z)
        else:
            smaller = x & infinity <= y & infinity
            x, y = np.where(smaller, fourfold(x), x), np.where(smaller, y, fourfold(y))
            z = fourfold(z)
        unbounded = self(form, operation, direction, x, y, z)
        tiny = unbounded & np.uint64(form.sign - 1) < np.uint64(3 << form.fraction)
        result[edge] = np.where(tiny, bits[edge] & np.uint64(form.sign), bits[edge])
        return result

    def judge(self, what: Meaning, operands: List[np.ndarray]) -> np.ndarray:
        """The bits of each component, of operands as columns of 64 bits."""
        form = FORMATS[what.result]
        given = [widen(name, what.result, bits) for name, bits in zip(what.operands, operands)]
        if what.flush:
            given = [flushed(form, bits) for bits in given]
        if what.kind == "sub":
            # A NaN keeps its sign.
            given[1] = np.where(is_nan(form, given[1]), given[1], given[1] ^ np.uint64(form.sign))
        bits = nans(form, given, self._evaluate(what, form, given))
        if what.dominance:
            bits = self._dominated(what, form, given, bits)
        # Only a `mad` of sm_1x with an addend is flushed by what is delivered.
        if what.flush and what.kind == "mad":
            bits = flushed(form, bits)
        if what.out_of_bounds:
            # A factor is the pattern of an out-of-bounds read, of either sign.
            outside = np.any([column & np.uint64(0x7FFF) == np.uint64(0x7FF7) for column in operands[:2]], axis=0)
            bits = np.where(outside, np.uint64(0), bits)
        if what.relu:
            canonical = np.where(is_nan(form, bits), np.uint64(form.sign - 1), bits)
            bits = np.where(canonical & np.uint64(form.sign) != 0, np.uint64(0), canonical)
        if what.saturate:
            one = form.infinity >> 1 & form.infinity
            low = is_nan(form, bits) | (bits & np.uint64(form.sign) != 0)
            bits = np.where(low, np.uint64(0), np.minimum(bits, np.uint64(one)))
        return bits

    def _evaluate(self, what: Meaning, form: Format, given: List[np.ndarray]) -> np.ndarray:
        zero = np.zeros_like(given[0])
        compute = self.deliver if what.flush else self
        if what.kind in ("add", "sub"):
            return compute(form, ADD, what.rounding, given[0], zero, given[1])
        if what.kind == "mul":
            return compute(form, MUL, what.rounding, given[0], given[1], zero)
        a, b, c = given
        if what.kind == "fma":
            return compute(form, MUL_ADD, what.rounding, a, b, c)
        return self._truncating(what, form, a, b, c)

    def _truncating(self, what: Meaning, form: Format, a, b, c) -> np.ndarray:
        """sm_1x's mad: the product cut to the format's precision, with exponents that have no end, unless c is zero."""
        sign, hidden = np.uint64(form.sign), np.uint64(1 << form.fraction)
        ordinary = np.ones(a.shape, bool)
        for bits in (a, b):
            exponent = bits & np.uint64(form.infinity)
            ordinary &= (exponent != 0) & (exponent != form.infinity)
        fields = [(bits & np.uint64(form.infinity)) >> np.uint64(form.fraction) for bits in (a, b)]
        wholes = [bits & (hidden - np.uint64(1)) | hidden for bits in (a, b)]
        product = wholes[0] * wholes[1]
        carry = product >> np.uint64(2 * form.fraction + 1)
        cut = product >> (np.uint64(form.fraction) + carry)
        # As a number of the format times a power of two: the exponents' sum in two fields, each of a normal number.
        most = (1 << form.exponent) - 2
        total = np.minimum(fields[0] + fields[1] + carry, np.uint64(2 * most))
        first = np.minimum(total - np.minimum(total, np.uint64(1)), np.uint64(most))
        shift = np.uint64(form.fraction)
        x = (a ^ b) & sign | first << shift | cut & (hidden - np.uint64(1))
        y = (total - first) << shift
        sum_of_cut = self(form, MUL_ADD, what.rounding, np.where(ordinary, x, a), np.where(ordinary, y, b), c)
        rounded = self.deliver(form, MUL, "rn", a, b, np.zeros_like(a))
        sum_of_rounded = self(form, ADD, what.rounding, rounded, a, c)
        return np.where(ordinary & (c & ~sign == 0), sum_of_rounded, sum_of_cut)

    def _dominated(self, what: Meaning, form: Format, given: List[np.ndarray], bits: np.ndarray) -> np.ndarray:
        """With zero dominance a zero factor makes the product +0, whatever the other is."""
        sign = np.uint64(form.sign)
        zero = (given[0] & ~sign == 0) | (given[1] & ~sign == 0)
        nothing = np.zeros_like(bits)
        if len(given) < 3:
            return np.where(zero, nothing, bits)
        alone = nans(form, [given[2]], self(form, ADD, what.rounding, nothing, nothing, given[2]))
        return np.where(zero, alone, bits)


def is_nan(form: Format, bits: np.ndarray) -> np.ndarray:
    return bits & np.uint64(form.sign - 1) > np.uint64(form.infinity)


def flushed(form: Format, bits: np.ndarray) -> np.ndarray:
    return np.where(bits & np.uint64(form.infinity) == 0, bits & np.uint64(form.sign), bits)


def widen(small: str, large: str, bits: np.ndarray) -> np.ndarray:
    if small == large:
        return bits
    if small == "bf16":
        return bits << np.uint64(16)
    assert (small, large) == ("f16", "f32")
    return bits.astype(np.uint16).view(np.float16).astype(np.float32).view(np.uint32).astype(np.uint64)


def nans(form: Format, given: List[np.ndarray], bits: np.ndarray) -> np.ndarray:
    """NVIDIA's NaNs for SoftFloat's: in f64 an operand's payload, made quiet, of b, c and a the first; else one pattern."""
    if form.width < 64:
        return np.where(is_nan(form, bits), np.uint64(form.sign - 1), bits)
    quiet = np.uint64(1 << (form.fraction - 1))
    chosen = np.full_like(bits, form.sign | form.infinity | int(quiet))
    for operand in reversed(given[1:] + given[:1]):
        chosen = np.where(is_nan(form, operand), operand | quiet, chosen)
    return np.where(is_nan(form, bits), chosen, bits)


def columns(rng: np.random.Generator, what: Meaning, count: int, softfloat: SoftFloat) -> List[np.ndarray]:
    """Operands: random bits, near edges, of a middle size with few bits set; and addends that cancel the product, or
    nearly."""
    given = [_operands(rng, FORMATS[name], count) for name in what.operands]
    if len(given) == 3:
        form = FORMATS[what.result]
        wide = [widen(name, what.result, bits) for name, bits in zip(what.operands, given)]
        product = softfloat(form, MUL, "rz", wide[0], wide[1], wide[1])
        near = (product ^ np.uint64(form.sign)) + rng.integers(-2, 3, count).astype(np.uint64)
        chosen = rng.random(count) < 0.3
        given[2] = np.where(chosen, near & np.uint64(form.sign * 2 - 1), given[2])
    return given


def _operands(rng: np.random.Generator, form: Format, count: int) -> np.ndarray:
    mask, fraction = form.sign * 2 - 1, (1 << form.fraction) - 1
    anything = rng.integers(0, mask, count, np.uint64, endpoint=True)
    edges = [0, 1, 1 << form.fraction, form.infinity - 1, form.infinity, form.infinity + 1, form.infinity >> 1]
    edges = np.array(edges, np.uint64)
    edge = (rng.choice(edges, count) & np.uint64(form.infinity)) | rng.choice(edges, count)
    edge = (edge + rng.integers(-2, 3, count).astype(np.uint64)) & np.uint64(form.sign - 1)
    spread = form.fraction // 2
    middle = ((1 << (form.exponent - 1)) + rng.integers(-spread, spread + 1, count)).astype(np.uint64)
    few = np.uint64(mask) << rng.integers(0, form.fraction, count).astype(np.uint64)
    number = anything & few & np.uint64(fraction) | middle << np.uint64(form.fraction)
    sign = anything & np.uint64(form.sign)
    kind = rng.integers(0, 8, count)
    return np.where(kind < 2, anything, np.where(kind < 4, edge | sign, number | sign))
