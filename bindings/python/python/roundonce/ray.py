"""Verification and sweeps on Ray: ``pip install roundonce[ray]``.

The work is cut the same way whatever the cluster is, so that no result depends on the number of workers. Workers read
files and write ledgers themselves: paths must be good on every machine of the cluster.
"""

from __future__ import annotations

import glob
import io
import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import ray
import ray.data

from . import _native
from .vectors import Verified

Path = Union[str, "os.PathLike[str]"]

SHARD = 1 << 27
"""Results of a shard of a sweep, unless said otherwise: a second or a few. The command's default."""

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
            report, bad = _native.verify(
                _content(part), part["path"], part["rows_before"], instruction, target, version, profile
            )
        except (_native.Error, OSError) as error:
            return {"place": part["place"], "report": "", "bad": "", "error": str(error)}
        return {"place": part["place"], "report": report, "bad": json.dumps(bad), "error": ""}

    items = [{**part, "place": place} for place, part in enumerate(parts)]
    # A block a part: each is one task, and the order of their ends is no matter.
    dataset = ray.data.from_items(items, override_num_blocks=max(len(items), 1))
    rows = sorted(dataset.map(judge).iter_rows(), key=lambda row: row["place"])
    for row in rows:
        if row["error"]:
            raise _native.Error(row["error"])
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
    limit = in_flight or 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
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


def _start() -> None:
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
