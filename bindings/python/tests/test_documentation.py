"""The examples in the documentation."""

import doctest
import pathlib

import numpy as np
import pytest
import roundonce
from roundonce import _evaluate, _kernels, _reports

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("page", ["README.md", "bindings/python/README.md"])
def test_pages(page, monkeypatch):
    monkeypatch.chdir(ROOT / "bindings/python")
    options = doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=options)
    assert tried and not failed


@pytest.mark.parametrize("module", [roundonce, _evaluate, _kernels, _reports])
def test_docstrings(module):
    failed, tried = doctest.testmod(module, extraglobs={"np": np})
    assert tried and not failed
