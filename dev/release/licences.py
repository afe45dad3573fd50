#!/usr/bin/env python3
"""Prints the licences of what is linked with a package: every crate, its licence, the texts that it comes with.

    dev/release/licences.py                              of the Python package, which the command is part of
    dev/release/licences.py MANIFEST PACKAGE TARGET      of another one
"""

import json
import pathlib
import subprocess
import sys

TEXTS = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "COPYRIGHT*", "UNLICENSE*")
# What the linker adds to it.
OTHERS = """\
The Rust standard library: MIT OR Apache-2.0, https://github.com/rust-lang/rust
musl (of the static binaries): MIT, https://musl.libc.org, Copyright (C) 2005-2020 Rich Felker, et al.
LLVM's libunwind and compiler-rt: Apache-2.0 WITH LLVM-exception, https://llvm.org
"""


def linked(manifest: str, root: str, target: str = "x86_64-unknown-linux-musl") -> dict:
    """The packages that `root` is linked with, by id: no dependency of a build or a test."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--all-features", "--manifest-path", manifest]
    command += ["--filter-platform", target]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    open_ids = [key for key, package in packages.items() if package["name"] == root]
    found = set(open_ids)
    while open_ids:
        for dependency in nodes[open_ids.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in found:
                found.add(dependency["pkg"])
                open_ids.append(dependency["pkg"])
    # Those of the repository have no source.
    return {key: packages[key] for key in found if packages[key]["source"]}


def main() -> None:
    packages = linked(*(sys.argv[1:] or ["Cargo.toml", "roundonce-python"]))
    # The same text under several crates is printed once.
    texts: dict = {}
    print("roundonce is linked with these; their licences follow.\n")
    print(OTHERS)
    for package in sorted(packages.values(), key=lambda package: (package["name"], package["version"])):
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license']}, {package['repository'] or 'no repository is named'}")
        folder = pathlib.Path(package["manifest_path"]).parent
        files = {path for pattern in TEXTS for path in folder.glob(pattern) if path.is_file()}
        for path in sorted(files):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            texts.setdefault(text, []).append(f"{name}, {path.name}")
    for text, owners in texts.items():
        print(f"\n{'-' * 80}\n" + "\n".join(owners) + f"\n\n{text}")


if __name__ == "__main__":
    main()
