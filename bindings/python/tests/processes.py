"""Processes to kill: those below this one, by what they call themselves."""

import os
import pathlib
import signal
import time
from typing import Callable, List


def below(name: str) -> List[int]:
    """The descendants of this process whose command line begins with a name."""
    parents, lines = {}, {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                lines[int(folder.name)] = (folder / "cmdline").read_bytes()
            except OSError:
                continue
    found = {os.getpid()}
    while True:
        more = {process for process, parent in parents.items() if parent in found} - found
        if not more:
            return [process for process in found if lines.get(process, b"").startswith(name.encode())]
        found |= more


def kill_one(name: str, when: Callable[[], bool], seconds: float = 600) -> bool:
    """Kills one of these as soon as it may be; whether there was one."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if when():
            for process in below(name):
                os.kill(process, signal.SIGKILL)
                return True
        time.sleep(0.01)
    return False
