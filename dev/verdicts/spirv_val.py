"""spirv-val as the judge of modules, and the record of what it said."""

import json
import os
import pathlib
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "vectors/edge/spirv"


class Judge:
    """Records verdicts in vectors/edge/spirv/NAME.jsonl. `arguments` may name the folder of spirv-as and spirv-val."""

    def __init__(self, arguments, name):
        self.folder = arguments[0] if arguments else ""
        self.path = FOLDER / f"{name}.jsonl"

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.out = open(self.path, "w")
        version = subprocess.run([self.tool("spirv-val"), "--version"], capture_output=True, text=True, check=True).stdout
        # "SPIRV-Tools v2025.5 …"
        self.name = f"spirv-val {version.split()[1].lstrip('v')}"
        return self

    def __exit__(self, *_):
        self.out.close()
        self.scratch.cleanup()

    def tool(self, name):
        return os.path.join(self.folder, name)

    def assembled(self, environment, text):
        """A binary of the environment's version, with instructions of later ones too; None where it cannot be written."""
        source, binary = (os.path.join(self.scratch.name, name) for name in ("module.spvasm", "module.spv"))
        pathlib.Path(source).write_text(text)
        assembler = [self.tool("spirv-as"), "--target-env", "spv1.6", "--preserve-numeric-ids", source, "-o", binary]
        if subprocess.run(assembler, capture_output=True, check=False).returncode:
            return None
        minor = {"vulkan1.1": 3, "vulkan1.3": 6, "opencl2.2": 2}.get(environment) or int(environment[-1])
        words = bytearray(pathlib.Path(binary).read_bytes())
        words[5] = minor
        pathlib.Path(binary).write_bytes(words)
        return binary

    def record(self, case, environment, text):
        """The verdict, `ok` or `val-error`, and the first line said. A text that is not read is no case."""
        binary = self.assembled(environment, text)
        if not binary:
            return
        asked = [self.tool("spirv-val"), "--target-env", environment, binary]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        verdict, message = "val-error" if answer.returncode else "ok", (answer.stdout + answer.stderr).strip().split("\n")[0]
        line = {"case": case, "env": environment, "verdict": verdict, "message": message, "judge": self.name, "spvasm": text}
        self.out.write(json.dumps(line) + "\n")
