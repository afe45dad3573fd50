"""What every reference needs: the cases, each with its files, and random numbers."""

import struct
from fractions import Fraction
from pathlib import Path

from exact import f32, f64

HERE = Path(__file__).resolve().parent.parent
CODES = {"f2": "H", "f4": "I", "f8": "Q", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
CASES = []


def save(path, dtype, values, columns=1):
    """A NumPy file; floats are given by their bits. `columns` may be the whole shape."""
    axes = columns if isinstance(columns, tuple) else (len(values),) if columns == 1 else (len(values) // columns, columns)
    shape = f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"
    kind = "|" if dtype in ("i1", "u1") else "<"
    header = f"{{'descr': '{kind}{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def case(name, grid, block, arguments, results, approximate=(), file=None, options=()):
    """Records a kernel. An argument is a scalar's text or an array (dtype, values, columns), of a texture or a surface
    with the words of its sampler behind them; a result is an array expected in the buffer of that argument afterwards.
    Arguments may go by names. A kernel may be run several times, each with options: `file` is its name."""
    command = ["run", f"{file or name}.ptx", "--grid", grid, "--block", block, *options]
    expected = {}
    named = arguments.items() if isinstance(arguments, dict) else enumerate(arguments)
    for index, argument in named:
        if isinstance(argument, str):
            command += ["--arg", f"{index}={argument}"]
        else:
            file = f"data/{name}/{index}.npy"
            save(HERE / file, *argument[:3])
            words = f",{argument[3]}" if len(argument) > 3 and argument[3] else ""
            command += ["--texture" if len(argument) > 3 else "--arg", f"{index}={file}{words}"]
    for index, result in results.items():
        file = f"data/{name}/{index}.expected.npy"
        save(HERE / file, *result)
        expected[str(index)] = file
    CASES.append({"name": name, "command": command, "expected": expected, "approximate": list(approximate)})


def numbers(random_state, count, low=-2.0, high=2.0):
    return [f32(Fraction(random_state.uniform(low, high))) for _ in range(count)]


def wide_numbers(random_state, count):
    return [f64(Fraction(random_state.uniform(-2.0, 2.0))) for _ in range(count)]
