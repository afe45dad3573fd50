#!/usr/bin/env python3
"""Executes two_numbers.ipynb anew and keeps its outputs; `--check` keeps nothing and says whether every cell still gives
outputs of the kinds that it keeps."""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

NOTEBOOK = pathlib.Path(__file__).with_name("two_numbers.ipynb")


def executed():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": NOTEBOOK.parent}}).execute()
    for cell in notebook.cells:
        # When each ran is nobody's business.
        cell.metadata.pop("execution", None)
    return notebook


def kinds(notebook):
    """Of each cell's outputs: text, tables in colours, pictures."""
    return [[sorted(output.get("data", ["text"])) for output in cell.get("outputs", [])] for cell in notebook.cells]


if __name__ == "__main__":
    anew = executed()
    if "--check" not in sys.argv:
        nbformat.write(anew, NOTEBOOK)
    elif kinds(anew) != kinds(nbformat.read(NOTEBOOK, as_version=4)):
        sys.exit(f"{NOTEBOOK} gives other outputs than it keeps: python examples/notebook.py")
