"""Asks NVIDIA's assembler for whole modules and records its answers: what declarations.py and statements.py share."""

import concurrent.futures
import datetime
import os
import resource
import subprocess
import tempfile

from ptxas import NEWEST, PACKAGES, VERSIONS, install

# The version and the target of modules that are asked for at one of each, by assembler.
PLACES = {"12.9": ("8.8", "90"), "13.5": ("9.5", "90")}


def number(version):
    return [int(part) for part in version.split(".")]


def text(version, target, items):
    """A module; `\\n` and `\\xe9` in it stand for a line's end and a byte. One that begins with `.version` is whole."""
    items = items.replace("\\n", "\n")
    if not items.startswith(".version"):
        has_size = number(version) >= [2, 3] and "address_size" not in items
        size = ".address_size 64\n" if has_size else ""
        items = f".version {version}\n.target sm_{target}\n{size}{items}"
    return items.replace("\\xe9", "\xe9").encode("latin-1") + b"\n"


def limit():
    """Ten seconds and 3 GiB: ptxas 12.9 has no end with some sums, `mov.pred p, p+4`."""
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def taken(tool, version, target, items):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "x.ptx")
        with open(source, "wb") as file:
            file.write(text(version, target, items))
        architecture = f"sm_{max(int(target), 50) if target.isdigit() else target}"
        # What is .extern may stay open, from the version on that has such modules.
        alone = ["-c"] if number(version) >= [3, 1] else []
        arguments = [tool, *alone, "-arch", architecture, "-O0", source, "-o", os.path.join(folder, "x")]
        code = subprocess.run(arguments, capture_output=True, preexec_fn=limit).returncode
        # Where it crashed, or was stopped, it has no answer.
        return None if code < 0 else code == 0


def at_versions(lines):
    """A target and a module a line, at every version that an assembler has with it."""
    for line in lines:
        target, items = line.split(" ", 1)
        for version in VERSIONS:
            tool = "12.9" if number(version) <= number(NEWEST["12.9"]) else "13.5"
            if tool == "12.9" or int(target) >= 75:
                yield tool, version, target, items


def record(path, what, script, asked):
    tools = install()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda case: taken(tools[case[0]], *case[1:]), asked))
    places, modules = {}, {}
    for (_, version, target, items), answer in zip(asked, answers):
        place = places.setdefault((target, version), len(places))
        modules.setdefault(items, {})[place] = answer
    with open(path, "w") as out:
        out.write(f"# Which {what} NVIDIA's assembler takes,\n")
        out.write(f"# ptxas {PACKAGES['12.9'].split('==')[1]} (to PTX 8.8) and {PACKAGES['13.5'].split('==')[1]}:\n")
        out.write(f"# dev/verdicts/{script}, {datetime.date.today()}.\n")
        out.write("# place: a target and a PTX version. A module: where it is taken, where it is refused.\n")
        for target, version in places:
            out.write(f"place\t{target} {version}\n")
        for items, verdicts in modules.items():
            columns = [runs([place for place, answer in verdicts.items() if answer is wanted]) for wanted in (True, False)]
            if any(columns):
                out.write("\t".join([*columns, items]) + "\n")
    print(f"{len(asked)} cases, {answers.count(True)} taken, {answers.count(None)} without an answer")


def runs(numbers):
    found = []
    for each in numbers:
        if found and found[-1][1] == each - 1:
            found[-1][1] = each
        else:
            found.append([each, each])
    return " ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in found)
