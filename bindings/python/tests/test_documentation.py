"""The examples in the documentation."""

import doctest
import importlib.util
import pathlib

import numpy as np
import pytest
import roundonce
from roundonce import _convert, _evaluate, _functions, _kernels, _matrix, _numpy, _reports, testing

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("page", ["docs/python.md", "bindings/python/README.md"])
def test_pages(page, monkeypatch):
    monkeypatch.chdir(ROOT / "bindings/python")
    options = doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=options)
    assert tried and not failed


@pytest.mark.parametrize("module", [roundonce, _convert, _evaluate, _functions, _kernels, _matrix, _numpy, _reports, testing])
def test_docstrings(module):
    failed, tried = doctest.testmod(module, extraglobs={"np": np, "roundonce": roundonce})
    assert tried and not failed


def test_picture():
    """The README's picture is what its script draws, and shows what the package computes."""
    spec = importlib.util.spec_from_file_location("one_rounding", ROOT / "examples/one_rounding.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.FILE.read_text(encoding="utf-8") == script.picture()
    bits = (script.A, script.B, script.C)
    a, b, c = (np.uint32(operand).view(np.float32) for operand in bits)
    exact = [script.value(operand) for operand in bits]
    fused = roundonce.eval("fma.rn.f32", a, b, c)
    assert fused.view(np.uint32) == script.f32(script.once(*exact))
    unfused = roundonce.eval("add.rn.f32", roundonce.eval("mul.rn.f32", a, b), c)
    assert unfused.view(np.uint32) == script.f32(script.twice(*exact))
