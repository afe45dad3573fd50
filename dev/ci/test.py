"""Runs the action and the hooks of this checkout as their services do, on a repository made here.

action.yml and .pre-commit-hooks.yaml are validated by the schemas of their services; the action's own steps run with the
variables that a runner sets, and pre-commit runs the hooks from a clone.

    pip install check-jsonschema pre-commit
    python3 dev/ci/test.py [ROUNDONCE]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/roundonce").resolve()
BIN = pathlib.Path(sys.executable).parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())

GOOD = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k () { ret; }\n"
WRONG = ".version 3.2\n.target sm_20\n.entry k () { .reg .f32 f<4>; mad.f32 f0, f1, f2, f3; ret; }\n"
OPEN = (
    ".version 9.0\n.target sm_90\n.address_size 64\n.entry k (.param .u64 out)\n{\n.reg .f32 f<5>;\n.reg .u64 q;\n"
    "ld.param.u64 q, [out];\nmul.f32 f4, f1, f2;\nadd.f32 f4, f4, f3;\nst.global.f32 [q], f4;\nret;\n}\n"
)


def filled(text, inputs, outputs):
    """The expressions of a step, of which there are two kinds."""
    text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)
    text = re.sub(r"\$\{\{ steps\.check\.outputs\.(\w+) \}\}", lambda found: outputs[found[1]], text)
    assert "${{" not in text, text
    return text


def action(folder, **given):
    """The steps' exit status, the log that is uploaded, and everything printed."""
    inputs = {name: known.get("default", "") for name, known in ACTION["inputs"].items()}
    assert set(given) <= set(inputs)
    inputs.update(given)
    outputs, uploaded, printed = {}, None, ""
    for step in ACTION["runs"]["steps"]:
        if "uses" in step:
            assert step["if"] == "inputs.upload == 'true' && steps.check.outputs.sarif != ''"
            if inputs["upload"] == "true" and outputs["sarif"]:
                uploaded = json.loads((folder / filled(step["with"]["sarif_file"], inputs, outputs)).read_text())
            continue
        with tempfile.NamedTemporaryFile("r") as written:
            env = {name: filled(value, inputs, outputs) for name, value in step["env"].items()}
            env = dict(os.environ, GITHUB_OUTPUT=written.name, GITHUB_ACTION_PATH=str(ROOT), ROUNDONCE=str(COMMAND), **env)
            script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            ran = subprocess.run(script, cwd=folder, env=env, capture_output=True, text=True)
            outputs.update(line.rstrip("\n").split("=", 1) for line in written)
        printed += ran.stdout + ran.stderr
        if ran.returncode:
            return ran.returncode, uploaded, printed
    return 0, uploaded, printed


def codes(log):
    return sorted(result["ruleId"] for result in log["runs"][0]["results"])


def test_action(folder):
    status, log, printed = action(folder)
    assert (status, codes(log)) == (1, ["PTX0022", "PTX0050"]), (status, log, printed)
    assert "wrong one.ptx:3:" in printed and "error" in printed, printed
    names = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in log["runs"][0]["results"]}
    assert names == {"wrong%20one.ptx", "deep/er/open.ptx"}, names
    assert action(folder, files="deep/**/*.ptx")[0] == 0
    assert action(folder, files="deep/**/*.ptx", deny="warnings")[0] == 0
    assert action(folder, files="deep/**/*.ptx", deny="notes")[0] == 1
    status, log, _ = action(folder, files="deep/**/*.ptx\ngood.ptx", deny="notes", determinacy="false")
    assert (status, codes(log)) == (0, [])
    (folder / "wrong.sass").write_text("FFMA R0, R1, R2;\n")
    status, log, printed = action(folder, files="**/*.sass")
    assert (status, codes(log)) == (1, ["SASS0006"]) and "wrong.sass:1:" in printed, (status, log, printed)
    assert codes(action(folder, files="**/*.sass\ndeep/**/*.ptx")[1]) == ["PTX0050", "SASS0006"]
    status, log, printed = action(folder, files="*.nothing")
    assert (status, log) == (0, None) and "::notice" in printed
    status, log, printed = action(folder, files="README")
    assert (status, log) == (2, None) and "expected a .ptx" in printed
    assert action(folder, upload="false")[:2] == (1, None)


def hook(folder, name, expected):
    env = dict(os.environ, ROUNDONCE=str(COMMAND), PRE_COMMIT_HOME=str(folder / ".git/pre-commit"), PATH=f"{BIN}:{os.environ['PATH']}")
    command = [BIN / "pre-commit", "try-repo", str(ROOT), name, "--all-files", "--color", "never"]
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert (ran.returncode == 0) == expected, ran.stdout + ran.stderr
    return ran.stdout


def git(folder, *arguments):
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_hooks(folder):
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    assert "error[PTX0022]" in hook(folder, "roundonce-check", False)
    assert "note[PTX0050]" in hook(folder, "roundonce-determinacy", False)
    # It edits, and pre-commit calls that a failure.
    hook(folder, "roundonce-fix", False)
    assert "mad.rn.f32 f0" in (folder / "wrong one.ptx").read_text()
    git(folder, "commit", "--quiet", "--all", "--message", "fixed")
    hook(folder, "roundonce-fix", True)
    hook(folder, "roundonce-check", True)


def test_release(folder):
    """Without a command, that of the release is taken."""
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    # As dev/release.sh names it.
    archive = folder / f"v{version}/roundonce-{version}-{os.uname().machine}-unknown-linux-musl.tgz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(COMMAND, f"roundonce-{version}/roundonce")
    # No cargo: nothing is built.
    tools = folder / "tools"
    tools.mkdir()
    for tool in "bash dirname sed head uname tr rm mkdir curl tar gzip find mv".split():
        (tools / tool).symlink_to(shutil.which(tool))
    env = dict(ROUNDONCE_RELEASES=archive.parents[1].as_uri(), ROUNDONCE_CI_ROOT=str(folder / "root"), PATH=str(tools))
    for _ in range(2):
        ran = subprocess.run([ROOT / "dev/ci/command.sh"], env=env, capture_output=True, text=True)
        assert ran.stdout == f"{folder / 'root/bin/roundonce'}\n", ran.stderr
        archive.unlink(missing_ok=True)
    shown = subprocess.run([ran.stdout.strip(), "--version"], capture_output=True, text=True).stdout
    assert shown == f"roundonce {version}\n", shown
    ran = subprocess.run([ROOT / "dev/ci/command.sh"], env=dict(env, ROUNDONCE_CI_ROOT=str(folder / "other")), capture_output=True, text=True)
    assert ran.returncode and "building roundonce" in ran.stderr, ran.stderr


def main():
    subprocess.run([BIN / "check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml"], check=True)
    subprocess.run([BIN / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"], check=True)
    for test in (test_action, test_hooks, test_release):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made).resolve()
            (folder / "deep/er").mkdir(parents=True)
            (folder / "good.ptx").write_text(GOOD)
            (folder / "wrong one.ptx").write_text(WRONG)
            (folder / "deep/er/open.ptx").write_text(OPEN)
            (folder / "README").write_text("no module\n")
            test(folder)
    print("the action, the hooks and the release's command do what is said of them")


main()
