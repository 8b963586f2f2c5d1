"""Finding a solver's program, wherever pip or the system has put it, and asking its version."""

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from fairbox.solvers.protocols import Probe
from fairbox.solvers.sexpr import shown

_VERSION_SECONDS = 10.0


@cache
def probe_program(program: str, distribution: str, options: tuple[str, ...], how_to_get: str) -> Probe:
    """The program that a Python distribution ships, else one on PATH.

    `options`: what makes it read commands from its standard input. `how_to_get`: what to do where it is missing.
    """
    path = next(_places(program, distribution), None)
    if path is None:
        return Probe(False, why_not=f"there is no program {program}; {how_to_get}")
    version, problem = _version(path)
    if problem is not None:
        return Probe(False, why_not=f"{path} does not run: {problem}; {how_to_get}")
    return Probe(True, version=version, command=(path, *options))


def _places(program: str, distribution: str) -> Iterator[str]:
    """The environment's own programs first, then where the distribution was put, then PATH."""
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    try:
        installed = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        pass
    else:
        folders += [Path(str(f.locate())).parent for f in installed.files or () if f.name == program]
        folders.append(
            Path(str(installed.locate_file("bin")))
        )  # pip install --target, which records another place
    for path in (*map(str, folders), None):
        if found := shutil.which(program, path=path):
            yield found


def _version(path: str) -> tuple[str | None, str | None]:
    """Its version, and what is wrong with it; the version may be None where it does not tell."""
    try:
        run = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if run.returncode != 0:
        return None, f"exit code {run.returncode}, {shown(run.stderr or run.stdout)}"
    number = re.search(r"\d+(?:\.\d+)+", run.stdout)
    return (number[0] if number else None), None
