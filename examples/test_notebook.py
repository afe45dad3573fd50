"""The notebook runs through."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("nbclient", reason="pip install 'roundonce[examples]'")


def test_every_cell():
    script = pathlib.Path(__file__).with_name("notebook.py")
    run = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
