"""Processes that are forked from one whose threads have worked."""

import multiprocessing
import pathlib

import numpy as np
import pytest
import roundonce

CLI = pathlib.Path(__file__).resolve().parents[3] / "tests/cli"
SAXPY, TWO = (CLI / f"run.in/{name}.ptx" for name in ("saxpy", "two"))
COUNT = 32 * 128


def evaluate():
    x = np.full(200_000, 1.5, np.float32)
    return float(roundonce.eval("fma.rn.f32", x, x, x)[-1])


def run():
    x = np.ones(COUNT, np.float32)
    return float(roundonce.run(SAXPY, 32, 128, [COUNT, 1.5, x, x], threads=2)[3][-1])


def explain():
    x = np.ones(COUNT, np.float32)
    report = roundonce.why_kernel(SAXPY, 32, 128, [COUNT, 1.5, x, x], saw={3: np.full(COUNT, 2.5, np.float32)}, threads=2)
    return report.data["seen"][0]["outcome"]


def read():
    """A module whose text is long enough to be lowered and checked on two threads."""
    module = SAXPY.read_text() + "\n" + "// so long a comment\n" * 20_000
    return float(roundonce.run(module, args=[1, 1.5, *[np.ones(1, np.float32)] * 2])[3][0])


def put(queue, work):
    queue.put(work())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("work", [evaluate, run, explain, read])
def test_a_forked_process_has_threads_of_its_own(work):
    want = work()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=put, args=(queue, work))
    child.start()
    child.join(60)
    alive = child.is_alive()
    child.kill()
    assert not alive and queue.get() == want
