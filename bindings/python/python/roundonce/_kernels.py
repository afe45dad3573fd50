"""Whole modules: run over a grid, and checked against the documents' rules."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, SupportsIndex, Tuple, Union

import numpy as np

from . import _native
from ._arrays import as_array, decimal, element_of, format_of, is_single, little
from ._native import Finding
from ._options import WORD, Extent, extent, flag, how, integer, numbers, text
from ._reports import Report

Binary = Union[bytes, bytearray, memoryview]
Module = Union[str, Binary, "os.PathLike[str]"]
"""A file, the text of one, or the words of a SPIR-V module."""

_LANGUAGES = {".ptx": "ptx", ".sass": "sass", ".spvasm": "spvasm", ".spv": "spv"}


def _module(kernel: Module) -> Tuple[str, str, Union[str, bytes]]:
    """What a module is called, its language, its text or words."""
    if isinstance(kernel, (bytes, bytearray, memoryview)):
        return "module", "spv", bytes(kernel)
    if isinstance(kernel, str) and "\n" in kernel:
        return "module", _native.language_of(kernel), kernel
    path = pathlib.Path(os.fspath(kernel))
    language = _LANGUAGES.get(path.suffix.lower())
    if language is None:
        raise ValueError(f"{os.fspath(kernel) or 'an empty text'}: expected a .ptx, .spv, .spvasm or .sass file, or the module's text of several lines")
    content = path.read_bytes()
    # As it stands, line ends too: places are those of the file.
    return str(path), language, content if language == "spv" else content.decode()


def _read(data: Optional[str]) -> Any:
    return None if data is None else json.loads(data)


class Run(Mapping[str, np.ndarray]):
    """What a kernel leaves: the arrays, by the names that they were given under; of a listing of SASS the registers."""

    def __init__(self, ran: Dict[str, Any], arrays: Dict[str, np.ndarray]) -> None:
        self._arrays = arrays
        self.kernel: str = ran["kernel"]
        """The kernel's name."""
        self.steps: int = ran["steps"]
        """Instructions that were run, counted by thread."""
        self.printed: str = ran["printed"]
        """What the kernel printed."""
        self.not_exact: Dict[str, int] = ran["not_exact"]
        """How often each approximate instruction ran: correctly rounded here, which the GPU need not do."""
        self.unordered: List[int] = ran["unordered"]
        """Lines of atomic float additions: here in the order of the threads, on a GPU in one that is left to chance."""
        self.undetermined: List[str] = ran["undetermined"]
        """What a SPIR-V module leaves open of the bits, and what was assumed."""
        self.fused_lines: List[int] = ran["fused_lines"]
        """Lines of the additions that contraction fuses."""
        self.differences: List[Dict[str, Any]] = ran["differences"]
        """Where contraction changes the results (`contract="report"`): parameter, words, first, unfused, fused."""
        self.lines: Dict[int, int] = ran["lines"]
        """How often each line ran, by thread (`profile=True`)."""
        self.trace: List[Dict[str, Any]] = ran["trace"]
        """The instructions of the thread traced: line, instruction, operands and results as (bits, width)."""
        self.exceptions: Optional[List[Dict[str, Any]]] = _read(ran["exceptions"])
        """NaN, infinite, subnormal and inexact results by instruction, the first to occur first (`exceptions=True`)."""
        self.shadow: Optional[Dict[str, Any]] = _read(ran["shadow"])
        """How far rounding has moved the results, by buffer and by instruction (`shadow="f64"`)."""

    def __getitem__(self, name: Union[str, int]) -> np.ndarray:
        try:
            return self._arrays[str(name)]
        except KeyError:
            known = ", ".join(self._arrays)
            raise KeyError(f"`{name}` is no array that the run was given: they are {known}, as `args` names them") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name}: {array.dtype.name}{array.shape}" for name, array in self._arrays.items())
        return f"<Run of {self.kernel}, {self.steps:,} steps; {arrays}>"


def run(
    kernel: Module,
    grid: Extent = 1,
    block: Optional[Extent] = None,
    args: Union[Mapping[Any, Any], Sequence[Any]] = (),
    *,
    entry: Optional[str] = None,
    contract: str = "none",
    assume: str = "nvidia",
    spec: Optional[Mapping[int, Any]] = None,
    push: Union[str, Binary, np.ndarray, None] = None,
    textures: Optional[Mapping[Any, Any]] = None,
    shared: SupportsIndex = 0,
    threads: Optional[SupportsIndex] = None,
    check_races: bool = False,
    trace: Optional[SupportsIndex] = None,
    exceptions: bool = False,
    shadow: Optional[str] = None,
    expect: Optional[Mapping[Any, Any]] = None,
    profile: Union[bool, str] = False,
    arch: Optional[str] = None,
    step_limit: SupportsIndex = 1 << 30,
    memory_limit: SupportsIndex = 16 << 30,
) -> Run:
    """Runs a kernel over a grid, bit for bit, and gives back the arrays as it leaves them; those given stay as they are.

    `kernel` is a .ptx, .spv, .spvasm or .sass file, the text of one (several lines), or the words of a SPIR-V module as
    bytes; `entry` names one of several kernels. `grid` (blocks) and `block` (threads of a block; where the kernel says
    how many it wants, that is the default, otherwise 1) are one to three numbers. `args` are the parameters by name or
    position, or a sequence of all: an array of any type and shape is memory, or a structure passed by value, of which
    ``"p+8"`` names the member that stands 8 bytes into it; numbers are Python's, text as the command reads it, or NumPy's:
    floats of the declared type, integers where an integer is declared, and for a float its bits as an unsigned integer of
    its width. A buffer of SPIR-V is named by set and binding, ``"0.1"``. Of a straight-line listing of SASS they are
    registers, predicates and words of constant banks
    (``"R1"``, ``"c[0x3][0x140]"``), a number for every lane or an array of 32-bit elements with one a lane; the registers
    written come back as uint32, one a lane; a predicate is 0 or 1, and there is neither a grid nor anything else of kernels.

    `contract` is what is done with PTX's unmodified mul and add: none, fuse, or report (both, with `differences`);
    `assume` what is done where a SPIR-V module leaves bits open: nvidia, strict or flush; `spec` its specialisation
    constants by SpecId, numbers as in `args`; `push` all its push constants as one block (bytes, hexadecimal digits or an
    array, which may be padded to the block's alignment and no further).
    `textures` has textures, surfaces and images by parameter or by the name that the module declares: an array, its axes
    depth, height, width and components, or a pair of an array and the words of its sampler,
    ``(pixels, "linear,clamp,normalized")``. An image or a sampler that the module declares as one may stand in `args` too,
    the sampler as its words. `profile` is what the documents leave open, as for `eval`; ``True`` counts instructions by
    line. `arch` is the machine whose matrix multiply-add it is (``"sm_90"``), a PTX module's own target unless told.
    `shared` is bytes of dynamic shared memory. `trace` records one thread, counted through the grid from 0;
    `exceptions` counts NaN, infinite, subnormal and inexact results by instruction. `shadow` (f64, or long: 1,024 bits)
    carries a wider number beside every float: how far rounding has moved each result; `expect` has what arrays should
    hold, in arrays of their types by the names of their parameters, and tells whether rounding explains the difference.
    `check_races` makes data races on shared memory an error. `threads` are workers, one a core unless told; the
    interpreter is free meanwhile. `step_limit` bounds the instructions of one group of blocks, `memory_limit` the bytes
    of memory.

    Raises `Error` (the module, with its `findings`; a parameter; the profile), `KernelError` (what the kernel did wrong, with the
    line, block and thread), TypeError (an array or number of another type than the kernel's; an option of another type),
    ValueError (an option out of its range), OSError.

    Source: PTX ISA; the SPIR-V specification; docs/decisions.md.

    >>> add = \"\"\"
    ... .version 7.0
    ... .target sm_80
    ... .address_size 64
    ... .visible .entry add(.param .u64 x, .param .f32 y) {
    ...     .reg .b32 %i; .reg .b64 %p, %o; .reg .f32 %a, %b;
    ...     ld.param.u64 %p, [x];
    ...     ld.param.f32 %b, [y];
    ...     mov.u32 %i, %tid.x;
    ...     mul.wide.u32 %o, %i, 4;
    ...     add.u64 %p, %p, %o;
    ...     ld.global.f32 %a, [%p];
    ...     add.rz.f32 %a, %a, %b;
    ...     st.global.f32 [%p], %a;
    ...     ret;
    ... }\"\"\"
    >>> run(add, block=3, args={"x": np.arange(3, dtype=np.float32), "y": 0.5})["x"]
    array([0.5, 1.5, 2.5], dtype=float32)
    """
    asked_how = how(
        contract=contract,
        shared=shared,
        threads=threads,
        step_limit=step_limit,
        memory_limit=memory_limit,
        check_races=check_races,
        trace=trace,
        exceptions=exceptions,
        shadow=shadow,
        expect=expect,
        profile=profile,
        arch=arch,
    )
    asked, arrays = _asked(kernel, grid, block, args, entry, assume, spec, asked_how, push, textures)
    if asked["language"] == "sass":
        for place, array in arrays.items():
            if array.dtype.itemsize != 4:
                raise TypeError(f"{place} is a register of 32 bits: found an array of {array.dtype.name}")
        ran = _native.run_sass(asked)
        return Run(ran, {place: data.view("<u4") for place, data in ran["arrays"]})
    ran = _native.run(asked)
    return Run(ran, {place: _like(arrays[place], data) for place, data in ran["arrays"]})


def _block_bytes(block: Union[str, Binary, np.ndarray, None]) -> Optional[bytes]:
    """The bytes of push constants: hexadecimal digits, bytes, or an array's."""
    if block is None or isinstance(block, bytes):
        return block
    if isinstance(block, str):
        try:
            return bytes.fromhex(block)
        except ValueError:
            raise ValueError(f"`push` is {block!r}: expected two hexadecimal digits a byte") from None
    if is_single(block):
        raise TypeError(f"`push` is {type(block).__name__}: expected bytes, hexadecimal digits or an array")
    return little(numbers("`push`", as_array(block))).tobytes()


def _asked(
    kernel: Any,
    grid: Extent,
    block: Optional[Extent],
    args: Any,
    entry: Optional[str],
    assume: str,
    spec: Optional[Mapping[int, Any]],
    asked_how: Dict[str, Any],
    push: Union[str, Binary, np.ndarray, None] = None,
    textures: Optional[Mapping[Any, Any]] = None,
) -> Tuple[Dict[str, Any], Dict[str, np.ndarray]]:
    """A module and its launch as the native part takes them, and the arrays among the arguments."""
    name, language, content = _module(kernel)
    pairs = args.items() if isinstance(args, Mapping) else enumerate(args)
    values = {str(place): value for place, value in pairs}
    arrays = {place: as_array(value, place) for place, value in values.items() if _is_array(value)}
    images = {str(place): value if isinstance(value, tuple) else (value, None) for place, value in (textures or {}).items()}
    arrays.update({place: as_array(array, place) for place, (array, _) in images.items()})
    asked = {
        "name": name,
        "language": language,
        "content": content,
        "entry": text("entry", entry),
        "assume": text("assume", assume) or "nvidia",
        "spec": [(integer("spec", id, WORD), _number(f"spec: the constant {id}", value)) for id, value in (spec or {}).items()],
        "grid": extent("grid", grid),
        "block": None if block is None else extent("block", block),
        "args": [(place, _argument(place, value, arrays.get(place))) for place, value in values.items()],
        "textures": [
            (place, _argument(place, None, arrays[place]), text(f"textures: the words of {place}", words))
            for place, (_, words) in images.items()
        ],
        "push": _block_bytes(push),
        "how": asked_how,
    }
    return asked, arrays


def why_kernel(
    kernel: Module,
    grid: Extent = 1,
    block: Optional[Extent] = None,
    args: Union[Mapping[Any, Any], Sequence[Any]] = (),
    *,
    saw: Union[Mapping[Any, Any], Sequence[Mapping[Any, Any]]],
    entry: Optional[str] = None,
    assume: str = "nvidia",
    spec: Optional[Mapping[int, Any]] = None,
    shared: SupportsIndex = 0,
    threads: Optional[SupportsIndex] = None,
    profile: Optional[str] = None,
    arch: Optional[str] = None,
    allow: str = "",
    toolchain: Optional[str] = None,
    step_limit: SupportsIndex = 1 << 30,
    memory_limit: SupportsIndex = 16 << 30,
) -> Report:
    """Which policy (contraction, flushing, another rounding) gives the arrays that a kernel left elsewhere, and where it
    parts from the kernel as written.

    `saw` has the buffers as they were afterwards, by parameter, of the type and shape that they came in with, or is a list
    of such, one a run, each explained by itself. `allow` and `toolchain` are as for `why`, the rest as for `run`; PTX and
    SPIR-V.

    Raises what `run` raises.
    """
    asked_how = how(
        shared=shared, threads=threads, step_limit=step_limit, memory_limit=memory_limit, profile=text("profile", profile), arch=arch
    )
    asked, _ = _asked(kernel, grid, block, args, entry, assume, spec, asked_how)
    if asked["language"] == "sass":
        raise ValueError(f"{asked['name']}: a listing of SASS is not searched here: the command's `why` does it")
    given = args if isinstance(args, Mapping) else {}
    seen = [[_seen(str(name), array, given.get(name)) for name, array in run.items()] for run in _runs(saw)]
    if not seen or not all(any(data for *_, data in run) for run in seen):
        raise ValueError("`saw` has no elements: there is nothing to compare")
    return Report(_native.why_kernel(asked, seen, text("allow", allow) or "", text("toolchain", toolchain)))


def _runs(saw: Any) -> List[Mapping[Any, Any]]:
    """What was seen of each run."""
    runs = list(saw) if isinstance(saw, (list, tuple)) else [saw]
    for run in runs:
        if not isinstance(run, Mapping):
            raise TypeError(f"`saw` is {type(run).__name__}: expected arrays by parameter, as saw={{name: array}}, or a list of such")
    return runs


def _seen(name: str, value: Any, given: Any) -> Tuple[str, Optional[str], int, Tuple[int, ...], bytes]:
    array = as_array(value, name)
    if array.dtype.itemsize not in (1, 2, 4, 8) or array.dtype.hasobject:
        raise TypeError(f"saw `{name}`: an array of {array.dtype.name}: expected floats or integers")
    if isinstance(given, np.ndarray) and given.dtype.itemsize != array.dtype.itemsize:
        raise TypeError(f"saw `{name}` is {array.dtype.name}, and the array that the kernel was given {given.dtype.name}")
    return name, format_of(array.dtype), array.dtype.itemsize, array.shape, little(array).tobytes()


def _is_array(value: Any) -> bool:
    return not isinstance(value, (str, int, float, complex, np.generic))


def _argument(place: str, value: Any, array: Optional[np.ndarray]) -> Any:
    if array is None:
        return _number(f"`{place}`", value)
    data = little(numbers(f"`{place}`", array)).reshape(-1).view(np.uint8)
    return format_of(array.dtype), data, element_of(array.dtype), array.shape


def _number(what: str, value: Any) -> Any:
    """A number, with its type where it has one."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.bool_)):
        return decimal(int(value))
    if isinstance(value, np.integer):
        return f"{value.dtype.kind}{8 * value.itemsize}", str(value)
    if isinstance(value, float) and not isinstance(value, np.generic):
        return float(value)
    format = format_of(value.dtype) if isinstance(value, np.generic) else None
    if format is None:
        raise TypeError(f"{what} is {type(value).__name__}: expected a number or text")
    return format, int(as_array(value).view(f"uint{8 * value.itemsize}"))


def _like(given: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Bytes as an array of the shape and type that was given."""
    return data.view(given.dtype.newbyteorder("<")).reshape(given.shape).astype(given.dtype, copy=False)


def check(module: Module, *, determinacy: bool = False, target_env: str = "spv1.6") -> List[Finding]:
    """What the documents' rules have against a module: nothing, if it is valid.

    `module` is as for `run`. With `determinacy`, which is for PTX and SPIR-V, every unmodified mul of PTX that feeds an
    unmodified add or sub, whose bits are left open, is a note, and so is what a SPIR-V module leaves open; such a finding
    has a `witness`, the smallest input found on which the results differ, and `edits` that settle the choice. `target_env`
    is the environment of SPIR-V, as spirv-val names it.

    Raises `Error` (an environment that is none), ValueError (a file of another kind, `determinacy` of SASS), OSError.

    >>> [finding] = check("FFMA R0, R1, R2;\\n")
    >>> finding.level, finding.code, finding.place
    ('error', 'SASS0006', (0, 15))
    """
    name, language, content = _module(module)
    if flag("determinacy", determinacy) and language == "sass":
        raise ValueError(f"{name}: `determinacy` is for PTX and SPIR-V: found machine code, whose bits are determined")
    return _native.check(language, content, determinacy, text("target_env", target_env) or "spv1.6")
