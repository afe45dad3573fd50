"""Verification, sweeps and kernels on Ray: ``pip install roundonce[ray]``.

The work is cut the same way whatever the cluster is, so that no result depends on the number of workers. Workers read
files and write ledgers themselves: paths must be good on every machine of the cluster.
"""

from __future__ import annotations

import glob
import io
import json
import os
import pathlib
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, SupportsIndex, Tuple, Union

import numpy as np
import ray
import ray.data

from . import _native
from ._arrays import little
from ._kernels import Binary, Module, Run, _asked, _like
from ._options import WORD, Extent, how, integer
from .vectors import Verified

Path = Union[str, "os.PathLike[str]"]

SHARD = 1 << 27
"""Results of a shard of a sweep, unless said otherwise: a second or a few. The command's default."""

SLICED = 1 << 16
"""Bytes of an array of which a part is sent a slice, at least."""

OVERLAP = 1.5
"""How many times as large as an array all slices of it may be together, at most. Otherwise all parts share it."""

RETRIES = 5
"""How often a shard or a part is begun anew because its worker died."""


def verify(
    paths: Union[Path, Sequence[Path]],
    *,
    instruction: Optional[str] = None,
    target: Optional[str] = None,
    version: Optional[str] = None,
    profile: Optional[str] = None,
) -> Verified:
    """Verifies files of captured results on all workers, by way of Ray Data: Parquet a row group at a time, other
    formats (.npz, JSON Lines, TestFloat's text) a file at a time.

    `paths` are files, folders of Parquet files, or patterns with ``*``. `instruction` is that of rows that name none;
    `target`, `version` and `profile` are as for `eval`. Failures are grouped by cause in each part, and the groups added up; the
    first of a cause has its file and row.

    Raises `Error` (a file that cannot be read, a spelling), FileNotFoundError (no such file), and Ray's own errors.
    """
    parts = [part for path in _files(paths) for part in _parts(path)]
    _start()

    def judge(part: Dict[str, Any]) -> Dict[str, Any]:
        try:
            report, bad, notes = _native.verify(
                _content(part), part["path"], part["rows_before"], instruction, target, version, profile
            )
        except (_native.Error, OSError) as error:
            return {"place": part["place"], "report": "", "bad": "", "notes": "[]", "error": str(error)}
        return {"place": part["place"], "report": report, "bad": json.dumps(bad), "notes": json.dumps(notes), "error": ""}

    items = [{**part, "place": place} for place, part in enumerate(parts)]
    # A block a part: each is one task, and the order of their ends is no matter.
    dataset = ray.data.from_items(items, override_num_blocks=max(len(items), 1))
    rows = sorted(dataset.map(judge).iter_rows(), key=lambda row: row["place"])
    for row in rows:
        if row["error"]:
            raise _native.Error(row["error"])
    # Once for a file, whatever parts it has.
    for note in dict.fromkeys(f"{parts[row['place']]['path']}: {note}" for row in rows for note in json.loads(row["notes"])):
        warnings.warn(note, stacklevel=2)
    bad_rows = [
        (parts[row["place"]]["path"], number, problem) for row in rows for number, problem in json.loads(row["bad"])
    ]
    return Verified([row["report"] for row in rows], bad_rows)


def _files(paths: Union[Path, Sequence[Path]]) -> Iterator[str]:
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        text = os.fspath(path)
        found = sorted(glob.glob(text)) if "*" in text else [text]
        if not found:
            raise FileNotFoundError(f"no file is like {text}")
        for name in found:
            if os.path.isdir(name):
                yield from sorted(map(str, pathlib.Path(name).rglob("*.parquet")))
            elif os.path.exists(name):
                yield os.path.abspath(name)
            else:
                raise FileNotFoundError(name)


def _parts(path: str) -> Iterator[Dict[str, Any]]:
    """What is verified by one task: a row group (-1: the whole file), and the rows before it."""
    with open(path, "rb") as file:
        parquet = file.read(4) == b"PAR1"
    if not parquet:
        yield {"path": path, "group": -1, "rows_before": 0}
        return
    import pyarrow.parquet

    try:
        metadata = pyarrow.parquet.read_metadata(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise _native.Error(f"{path}: {error}") from None
    rows = 0
    for group in range(metadata.num_row_groups):
        yield {"path": path, "group": group, "rows_before": rows}
        rows += metadata.row_group(group).num_rows
    if not metadata.num_row_groups:
        yield {"path": path, "group": -1, "rows_before": 0}


def _content(part: Dict[str, Any]) -> Union[str, bytes]:
    if part["group"] < 0:
        return part["path"]
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(part["path"]).read_row_group(part["group"])
    whole = io.BytesIO()
    pyarrow.parquet.write_table(table, whole, compression="none", use_dictionary=["instruction"])
    return whole.getvalue()


def sweep(
    instruction: str,
    space: Sequence[str],
    out: Path,
    *,
    against: Optional[str] = None,
    shard: int = SHARD,
    in_flight: Optional[int] = None,
) -> Dict[str, Any]:
    """Evaluates an instruction over every operand of a space on all workers, in a folder that a later call, or the
    command's ``sweep``, continues: they share manifest and ledger, and one finishes what the other began.

    `space` has the values of each operand: ``"all"``, a range of bits ``"0x0000..0x7fff"`` (the last included), or
    values with commas between. `out` is a folder that every worker reaches. `against` is an instruction that must give
    the same bits everywhere. `shard` is how many results a worker computes at a time, each a small record written whole
    or not at all: what is lost when a worker or this process is killed are the shards that were running. At most
    `in_flight` shards are handed out at a time, twice the cluster's processors unless told.

    Returns `count`, `digest`, `mismatches` and, of these, the operands of the `first`; the digest depends on the space
    alone, not on shards, workers or order.

    Raises `Error` (a spelling, a space; the folder holds another sweep), OSError, and Ray's own errors.
    """
    folder = os.path.abspath(os.fspath(out))
    begun = _native.Sweep.create(folder, instruction, against, list(space), shard)
    _start()
    limit = in_flight or 2 * _processors()
    running: List[Any] = []
    for number in begun.missing():
        if len(running) >= limit:
            done, running = ray.wait(running)
            ray.get(done)
        running.append(_run_shard.remote(folder, number))
    ray.get(running)
    return json.loads(begun.finish())


@ray.remote(num_cpus=1, max_retries=RETRIES)
def _run_shard(folder: str, number: int) -> None:
    _native.Sweep(folder).run(number)


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
    threads: int = 1,
    check_races: bool = False,
    trace: Optional[SupportsIndex] = None,
    profile: Union[bool, str] = False,
    arch: Optional[str] = None,
    step_limit: SupportsIndex = 1 << 30,
    memory_limit: SupportsIndex = 16 << 30,
    parts: Optional[int] = None,
    in_flight: Optional[int] = None,
) -> Run:
    """Runs a kernel over a grid as `roundonce.run` does, its blocks spread over all workers: the same arrays, steps and
    trace, whatever the cluster is.

    The grid is cut into `parts` ranges of blocks, one for each processor unless told; each is a task of `threads`
    processors. Of a large array a task is sent the range that its blocks are expected to access, where the kernel's code
    tells that; other arrays all tasks share by Ray's object store. It gives back the bytes that it wrote. A task whose
    blocks access more of an array is run again with all of them. At most `in_flight` tasks are handed out at a time,
    twice the cluster's processors unless told. One whose worker died is begun anew. The other arguments are those of
    `roundonce.run`, each task with a `memory_limit` of its own: beside what it has of the arrays it has marks of as many
    bytes for what is written, and as many again for what is read of arrays that the kernel writes. `contract` is none or
    fuse. What observes a whole run in one thread (`exceptions`, `shadow`, `expect`) is not offered.

    Parts do not see each other, so a launch whose blocks may depend on one another is refused by a `KernelError` of
    the kind ``"dependence"``, whatever the number of parts: atomics on memory that blocks share, fences, loops that wait
    for another block, `printf`, clocks and stores to images, with the line and the instruction. So is a run in which
    a part wrote a byte of an array or a variable that another one wrote or read, with the byte and the blocks of both.
    Blocks of one part that write the same byte are not looked for: on one machine their order is not determined either.

    Raises that, what `roundonce.run` raises (of several faults that of the lowest block), ValueError (a listing of
    SASS), and Ray's own errors.

    ::

        ray.init()
        roundonce.ray.run("saxpy.ptx", grid=1 << 20, block=256, args=[n, 2.0, x, y], parts=64)["3"]
    """
    asked_how = how(
        contract=contract,
        shared=shared,
        threads=integer("threads", threads, WORD, 1),
        step_limit=step_limit,
        memory_limit=memory_limit,
        check_races=check_races,
        trace=trace,
        profile=profile,
        arch=arch,
    )
    asked, arrays = _asked(kernel, grid, block, args, entry, assume, spec, asked_how, push, textures)
    if asked["language"] == "sass":
        raise ValueError(f"{asked['name']}: a listing of SASS has no blocks: `roundonce.run` runs it")
    for option, value in (("parts", parts), ("in_flight", in_flight)):
        if value is not None:
            integer(option, value, WORD, 1)
    # What the code shows is refused before anything is sent.
    _native.parts(asked, 1)
    _start()
    ranges = _native.parts(asked, parts or max(1, _processors() // threads))
    limit = in_flight or 2 * _processors()
    whole = {
        name: little(array).reshape(-1).view(np.uint8).copy()
        for name, array in arrays.items()
    }
    shares, slices = _shares(asked, ranges)
    common, all_of_it = ray.put(shares), None
    task = _run_part.options(num_cpus=threads)
    ran: Dict[int, Dict[str, Any]] = {}
    running: Dict[Any, int] = {}
    next_part, failed = 0, len(ranges)
    while running or next_part < min(len(ranges), failed):
        while next_part < min(len(ranges), failed) and len(running) < limit:
            running[task.remote(common, *ranges[next_part], slices(next_part))] = next_part
            next_part += 1
        for done in ray.wait(list(running))[0]:
            number = running.pop(done)
            part = ray.get(done)
            if number > failed:
                continue
            if getattr(part["fault"], "kind", "") == "absent":
                all_of_it = ray.put(asked) if all_of_it is None else all_of_it
                running[task.remote(all_of_it, *ranges[number], {})] = number
                continue
            for name, marked, data in part["written"]:
                _native.copy_part(whole[name], *marked, data)
            part["written"] = [name for name, _, _ in part["written"]]
            if part["fault"] is not None:
                # Parts before it still run: the lowest fault is the one of a run of all blocks.
                failed = min(failed, number)
            ran[number] = part
    left = _together(asked["name"], ranges, ran, failed)
    return Run(left, {name: _like(arrays[name], whole[name]) for name in ran[0]["written"]})


Slices = Dict[str, Tuple[int, np.ndarray]]
"""By array the first byte of a slice, and its bytes."""


def _shares(asked: Dict[str, Any], ranges: List[Tuple[int, int]]) -> Tuple[Dict[str, Any], Callable[[int], Slices]]:
    """The launch with what all parts share, its other arrays without their contents, and each part's slices of these."""
    footprints = _native.footprints(asked, ranges)
    given = dict(asked["args"])

    def is_sliced(name: str) -> bool:
        size, found = given[name][1].nbytes, [part[name] for part in footprints if name in part]
        together = sum(end - start for start, end in found)
        return len(found) == len(footprints) and size >= SLICED and together <= OVERLAP * size

    sliced = {name for name in footprints[0] if is_sliced(name)}
    shared = [(name, (value[0], value[1].nbytes) if name in sliced else value) for name, value in asked["args"]]

    def slices(number: int) -> Slices:
        found = footprints[number]
        return {name: (found[name][0], given[name][1][slice(*found[name])]) for name in sliced}

    return {**asked, "args": shared}, slices


@ray.remote(max_retries=RETRIES)
def _run_part(asked: Dict[str, Any], first: int, end: int, slices: Slices) -> Dict[str, Any]:
    def argument(name: str, value: Any) -> Any:
        if name not in slices:
            return value
        (format, size), (start, data) = value, slices[name]
        return format, data, start, size

    asked = {**asked, "args": [(name, argument(name, value)) for name, value in asked["args"]]}
    try:
        return _native.run_part(asked, first, end)
    except _native.Error as error:
        return {"ran": None, "fault": error, "written": [], "accesses": []}


def _together(
    name: str, ranges: List[Tuple[int, int]], ran: Dict[int, Dict[str, Any]], failed: int
) -> Dict[str, Any]:
    """What the parts left but arrays, up to the first that failed, where none depends on another."""
    known = sorted(number for number in ran if number <= failed)
    all_left = [ran[number]["ran"] for number in known if ran[number]["ran"] is not None]
    fault = ran[failed]["fault"] if failed in ran else None
    kernel = all_left[0]["kernel"] if all_left else getattr(fault, "kernel", "")
    _native.check_parts(name, kernel, [(ranges[number], ran[number]["accesses"]) for number in known])
    if fault is not None:
        raise fault
    left = dict(all_left[0])
    for other in all_left[1:]:
        left["steps"] += other["steps"]
        left["trace"] = left["trace"] + other["trace"]
        for counts in ("not_exact", "lines"):
            for what, times in other[counts].items():
                left[counts][what] = left[counts].get(what, 0) + times
    return left


def _processors() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _start() -> None:
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
