"""Verification and sweeps on a local cluster of two worker processes. `test.sh --ray` installs what this wants."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import processes
import pytest
import roundonce
from roundonce import _native

ray = pytest.importorskip("ray", reason="Ray is not installed: it is large")
pq = pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")
import roundonce.ray  # noqa: E402

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("cluster")]

INSTRUCTION = "fma.rz.f32.bf16"
SPACE = ["all", "0x3f00..0x3fff", "0x3f800000"]
COUNT = 1 << 24


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The same space on one thread, in shards of another size."""
    sweep = _native.Sweep.create(str(tmp_path_factory.mktemp("sweep")), INSTRUCTION, None, SPACE, 5_000_001)
    for shard in sweep.missing():
        sweep.run(shard)
    return json.loads(sweep.finish())


def records(folder):
    return sorted(pathlib.Path(folder, "shards").glob("*.json"))


def test_a_worker_is_killed(tmp_path, undisturbed):
    killed = []
    watch = threading.Thread(
        target=lambda: killed.append(processes.kill_one("ray::_run_shard", lambda: len(records(tmp_path)) >= 3))
    )
    watch.start()
    swept = roundonce.ray.sweep(INSTRUCTION, SPACE, tmp_path, shard=1 << 19)
    watch.join()
    assert killed == [True] and swept == undisturbed
    assert swept["count"] == COUNT and len(records(tmp_path)) == 32


DRIVER = """
import sys, ray, roundonce.ray
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
roundonce.ray.sweep(sys.argv[1], sys.argv[3:], sys.argv[2], shard=1 << 17)
"""


def test_the_driver_is_killed_and_another_goes_on(tmp_path, undisturbed):
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, INSTRUCTION, tmp_path, *SPACE])
    while len(records(tmp_path)) < 5 and driver.poll() is None:
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL, "it was done before it could be killed"
    time.sleep(1)
    left = {path: path.stat().st_mtime_ns for path in records(tmp_path)}
    assert 5 <= len(left) < 128
    sweep = _native.Sweep(str(tmp_path))
    # Half of the rest here, as the command does it, the other half by Ray.
    for shard in sweep.missing()[::2]:
        sweep.run(shard)
    assert roundonce.ray.sweep(INSTRUCTION, SPACE, tmp_path, shard=1 << 17) == undisturbed
    assert all(path.stat().st_mtime_ns == when for path, when in left.items())
    with pytest.raises(roundonce.Error, match="another sweep is there"):
        roundonce.ray.sweep(INSTRUCTION, SPACE, tmp_path, shard=1 << 18)


def test_against_another_instruction(tmp_path):
    swept = roundonce.ray.sweep(INSTRUCTION, ["0x3f80..0x3f8f", "all", "1.0"], tmp_path, against="fma.rn.f32.bf16")
    x = np.arange(0x3F80, 0x3F90, dtype=np.uint16)[:, None]
    y = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    one, other = (roundonce.eval(f"fma.{rnd}.f32.bf16", x, y, 1.0).view(np.uint32) for rnd in ("rz", "rn"))
    assert swept["mismatches"] == (one != other).sum() > 0


def vectors(count, seed, machine):
    a, b, c = np.random.default_rng(seed).integers(0, 1 << 32, (3, count), np.uint32)
    d = machine(*(x.view(np.float32) for x in (a, b, c))).view(np.uint32)
    return {"instruction": ["fma.rn.f32"] * count, "a": a, "b": b, "c": c, "d": d}


def unfused(a, b, c):
    return roundonce.add(roundonce.mul(a, b), c)


def test_verify(tmp_path):
    right = vectors(30_000, 1, roundonce.fma)
    wrong = vectors(25_000, 2, unfused)
    pq.write_table(pa.table(right), tmp_path / "a.parquet", row_group_size=7_000, compression="zstd")
    pq.write_table(pa.table(wrong), tmp_path / "b.parquet", row_group_size=10_000, compression="snappy")
    found = roundonce.ray.verify(tmp_path)
    assert found.data["vectors"] == 55_000 and found.data["bad"] == 0 and not found.clean
    whole = json.loads(_native.verify(str(tmp_path / "b.parquet"), "b", 0, None, None, None)[0])
    assert found.data["failed"] == whole["failed"] > 0
    cause = found.data["causes"][0]
    assert cause["cause"] == whole["causes"][0]["cause"] == "rounding the product before the sum (unfused)"
    assert cause["first"] == {**whole["causes"][0]["first"], "file": str(tmp_path / "b.parquet")}
    assert "unfused" in str(found) and "b.parquet, row" in str(found)
    assert roundonce.ray.verify(tmp_path / "a.parquet").clean


def test_verify_other_formats(tmp_path):
    rows = [{"instruction": "fma.rn.f32", "a": "3f800001", "b": "3f800001", "c": "bf800002", "d": "28800000"}] * 3
    lines = [json.dumps(row) for row in rows]
    lines.insert(1, '{"instruction": "fma.rn.f32"}')
    (tmp_path / "captured.jsonl").write_text("\n".join(lines) + "\n")
    without = vectors(100, 3, roundonce.fma)
    del without["instruction"]
    np.savez(tmp_path / "other.npz", **without)
    found = roundonce.ray.verify([tmp_path / "captured.jsonl", str(tmp_path / "oth*.npz")], instruction="fma.rn.f32")
    assert (found.data["vectors"], found.data["failed"], found.data["bad"]) == (103, 0, 1)
    assert [(os.path.basename(file), row) for file, row, _ in found.bad_rows] == [("captured.jsonl", 2)]
    assert not found.clean
    with pytest.raises(FileNotFoundError):
        roundonce.ray.verify(tmp_path / "nowhere.parquet")
    with pytest.raises(roundonce.Error, match="there is no instruction `nop`"):
        roundonce.ray.verify(tmp_path / "other.npz", instruction="nop")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(roundonce.Error, match="broken.parquet"):
        roundonce.ray.verify(tmp_path / "broken.parquet")
