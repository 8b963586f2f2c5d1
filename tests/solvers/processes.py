"""Looking at processes, by /proc."""

import os
import time
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def running_with(text: str) -> list[int]:
    """The processes with a text in their command line, but this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if text.encode() in command and is_running(int(entry.name)):
                found.append(int(entry.name))
    return found


def eventually(condition: object, seconds: float = 3.0) -> bool:
    """Whether a condition (a function of nothing) becomes true in time."""
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
