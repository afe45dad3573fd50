"""Judges what the command writes for programs: SARIF by the schema of OASIS and by what a service does with it, JSON by
docs/schema (that of `why` is judged by the Python package's tests).

Every example of crates/roundonce/src/rules that is checked, and every verdict of `why` there, is written as SARIF. Each log
is validated; its rules lead to a heading of the book; its regions lie in the file; its fixes, applied here, give what
`check --fix=determinacy` writes. The schema is the one that the crate serde-sarif carries; cargo fetches it, and nothing is built.

    pip install 'jsonschema[format-nongpl]'
    python3 dev/formats.py [ROUNDONCE]
"""

import copy
import glob
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.parse

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/roundonce").resolve()
SCHEMA = "serde-sarif", "0.8.0", "src/schema.json"


def schema():
    name, version, path = SCHEMA
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    found = lambda: glob.glob(str(home / f"registry/src/*/{name}-{version}" / path))
    if not found():
        subprocess.run(["cargo", "info", "--quiet", f"{name}@{version}"], check=True, stdout=subprocess.DEVNULL)
    return json.loads(pathlib.Path(found()[0]).read_text())


def examples():
    """Arguments of the command, a file's name and its text."""
    for table in sorted((ROOT / "crates/roundonce/src/rules").glob("*.txt")):
        for entry in table.read_text().split("=== ")[1:]:
            code, _, rest = entry.partition("\n")
            command, _, text = rest.partition("\n")
            if command.startswith(("$ roundonce check ", "$ roundonce why ")):
                yield code, shlex.split(command)[2:], text


def run(arguments, folder):
    ran = subprocess.run([COMMAND, *arguments], cwd=folder, capture_output=True, text=True)
    assert ran.returncode in (0, 1), (arguments, ran.stderr)
    return ran.stdout


def offset(lines, line, column):
    """Of a line and a column in code points, both from 1."""
    assert 1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1, (line, column)
    return sum(map(len, lines[: line - 1])) + column - 1


def span(lines, region):
    start = offset(lines, region["startLine"], region["startColumn"])
    end = offset(lines, region.get("endLine", region["startLine"]), region.get("endColumn", region["startColumn"]))
    assert start <= end, region
    return start, end


def headings(page):
    return {heading.lower() for heading in re.findall(r"^## (\S+)$", (ROOT / page).read_text(), re.M)}


def judge(log, text):
    """Whether rules, places and fixes are what they say; the text with all fixes."""
    (only,) = log["runs"]
    rules = only["tool"]["driver"]["rules"]
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    edits = set()
    for result in only["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result
        for place in result.get("locations", []):
            span(lines, place["physicalLocation"]["region"])
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                for edit in change["replacements"]:
                    edits.add((*span(lines, edit["deletedRegion"]), edit["insertedContent"]["text"]))
    for rule in rules:
        page, anchor = rule["helpUri"].split("/blob/main/")[1].split("#")
        assert anchor in headings(page), rule["helpUri"]
        assert rule["shortDescription"]["text"] and rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for start, end, inserted in sorted(edits, reverse=True):
        text = text[:start] + inserted + text[end:]
    return text, len(edits)


def lines(schema, *arguments, folder=ROOT, stdin=""):
    """How many objects a command writes; each has the schema's form, and no other has."""
    ran = subprocess.run([COMMAND, *arguments, "--format", "json"], cwd=folder, input=stdin, capture_output=True, text=True)
    schema = json.loads((ROOT / "docs/schema" / schema).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    for value in found:
        validator.validate(value)
        assert not validator.is_valid({**value, "more": 1}) and not validator.is_valid(dict(list(value.items())[1:]))
    return len(found)


EVALUATED = """fma.rn.f32 1 1 1
FFMA.CC 1 1 1
mad.lo.cc.u32 1 1 1
cvt.rn.satfinite.e4m3x2.f32 1 1
OpFmaKHR.v2f16 0x3c003c00 0x3c003c00 0x00000000
OpFmaKHR.f32 1 1 1 --allowed
OpFmaKHR.f32 1 2 3 --allowed --saw 5
OpFmaKHR.f32 1 2 3 --allowed --saw 6
"""


def objects():
    """Of every kind that docs/schema describes."""
    count = lines("forms.json", "forms")
    assert count > 150
    for line in EVALUATED.splitlines():
        count += lines("eval.json", "eval", *line.split())
    count += lines("eval.json", "eval", "-", stdin=EVALUATED + "no instruction\n")
    for code, arguments, text in examples():
        count += lines("rule.json", "explain", code)
        if name := next((word for word in arguments if word.startswith(code + ".")), None):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / name).write_text(text)
                options = [word for word in arguments if word not in ("--fix", "--format", "json")]
                count += lines("check.json", "check", *options, folder=folder)
    for pair in (("fma.rn.f32", "mad.rn.f32"), ("fma(a,b,c)", "a*b+c"), ("a*3", "a+a+a", "--type", "f64")):
        count += lines("diff.json", "diff", *pair)
    for other in ("sm_86", "sm_90"):
        count += lines("diff.json", "diff", "--arch", "sm_80", other, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    hazards = lines("check.json", "check", "tests/cli/maxwell.in/hazard.cubin", "--check-hazards")
    assert hazards
    return count + hazards


def main():
    print(f"JSON: {objects()} objects have the form of their schema, and no other")
    validator = jsonschema.Draft7Validator(schema(), format_checker=jsonschema.FormatChecker())
    logs = results = fixes = 0
    for code, arguments, text in examples():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            name = next((word for word in arguments if word.startswith(code + ".")), None)
            # A name that a URI cannot hold as it is.
            path = folder / f"ä b%{name}"
            options = [str(path.name) if word == name else word for word in arguments if not word.startswith("--f")]
            options = [word for word in options if word != "sarif"]
            if name:
                path.write_text(text)
            log = json.loads(run([*options, "--format", "sarif"], folder))
            validator.validate(log)
            broken = copy.deepcopy(log)
            broken["runs"][0]["tool"]["driver"]["help"] = "no such key"
            assert not validator.is_valid(broken)
            found = log["runs"][0]["results"]
            assert any(result["ruleId"] == code for result in found) or code == "SPV0007", (code, found)
            for place in (place for result in found for place in result.get("locations", [])):
                uri = place["physicalLocation"]["artifactLocation"]["uri"]
                assert urllib.parse.unquote(uri) == path.name, uri
            fixed, edits = judge(log, text)
            if edits:
                run([*options, "--fix=determinacy"], folder)
                assert path.read_text() == fixed, f"{code}: the fixes of the log\n{fixed}\n--fix\n{path.read_text()}"
            logs, results, fixes = logs + 1, results + len(found), fixes + edits
    print(f"SARIF: {logs} logs with {results} results are valid, {fixes} fixes are what --fix=determinacy writes")
    assert logs >= 90 and fixes >= 30


main()
