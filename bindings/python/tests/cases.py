"""The project's kernels and shaders; the references are exact rationals'."""

import json
import pathlib

import numpy as np
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[3] / "tests"


def cases(folder):
    """A folder's, as parameters of a test: the folder, and a line of its table."""
    lines = (TESTS / folder / "cases.jsonl").read_text().splitlines()
    return [pytest.param(folder, json.loads(line), id=json.loads(line)["name"]) for line in lines]


def asked(folder, case):
    """The module, and its launch as `roundonce.run` takes it."""
    folder = TESTS / folder
    _, file, *options = case["command"]
    args, textures, spec = {}, {}, {}
    how = {"args": args, "textures": textures, "spec": spec}
    for option, value in zip(options[::2], options[1::2]):
        if option in ("--arg", "--buffer"):
            name, text = value.split("=", 1)
            if text.startswith("zeros:f32:"):
                args[name] = np.zeros(int(text.split(":")[2]), np.float32)
            else:
                args[name] = np.load(folder / text) if text.endswith(".npy") else text
        elif option == "--texture":
            name, text = value.split("=", 1)
            file_of, _, words = text.partition(".npy")
            array = np.load(folder / f"{file_of}.npy")
            textures[name] = (array, words[1:]) if words else array
        elif option == "--spec":
            spec[int(value.split("=")[0])] = value.split("=")[1]
        elif option in ("--grid", "--block"):
            how[option[2:]] = [int(length) for length in value.split(",")]
        elif option == "--push":
            how["push"] = value
        else:
            how[option[2:]] = int(value) if value.isdigit() else value
    return folder / file, how


def expected(folder, case):
    """What the arrays hold afterwards, by their names."""
    return {name: np.load(TESTS / folder / file) for name, file in case["expected"].items()}
