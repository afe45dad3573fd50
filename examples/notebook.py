#!/usr/bin/env python3
"""Executes two_numbers.ipynb and writes its outputs; `--check` writes nothing and fails where a cell gives outputs of other
kinds than those written."""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

NOTEBOOK = pathlib.Path(__file__).with_name("two_numbers.ipynb")


def executed():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": NOTEBOOK.parent}}).execute()
    for cell in notebook.cells:
        # The time of each run is not kept.
        cell.metadata.pop("execution", None)
    return notebook


def kinds(notebook):
    """Of each cell's outputs: text, tables in colours, pictures."""
    return [[sorted(output.get("data", ["text"])) for output in cell.get("outputs", [])] for cell in notebook.cells]


if __name__ == "__main__":
    fresh = executed()
    if "--check" not in sys.argv:
        nbformat.write(fresh, NOTEBOOK)
    elif kinds(fresh) != kinds(nbformat.read(NOTEBOOK, as_version=4)):
        sys.exit(f"{NOTEBOOK} gives other outputs than it keeps: python examples/notebook.py")
