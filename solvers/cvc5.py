"""cvc5: its Python library in a host process on a pipe, since the PyPI distribution ships no program."""

import importlib.util
import sys
from importlib import metadata
from pathlib import Path

from fairbox.solvers.pipe import Dialect, PipeBackend
from fairbox.solvers.protocols import Capability, Probe

_HOST = str(Path(__file__).with_name("hosts") / "cvc5_host.py")


def locate(strict: bool = False) -> Probe:
    """Where cvc5 is. `strict`: parse by the letter of SMT-LIB, as other programs may."""
    spec = importlib.util.find_spec("cvc5")
    if spec is None or spec.origin is None:
        return Probe(False, why_not="there is no Python package cvc5; install it with: pip install cvc5")
    try:
        version = metadata.version("cvc5")
    except metadata.PackageNotFoundError:  # a build of one's own, put on the path by hand
        version = None
    # -I -S: the host needs one folder only, and starts in half the time without the rest.
    folder = str(Path(spec.origin).parents[1])
    options = ("--strict",) if strict else ()
    return Probe(True, version=version, command=(sys.executable, "-I", "-S", _HOST, folder, *options))


def backend(strict: bool = False) -> PipeBackend:
    """The backend of cvc5, parsing leniently or strictly."""
    return PipeBackend(
        name="cvc5",
        locate=lambda: locate(strict),
        capabilities=frozenset(Capability),
        dialect=Dialect(
            options="(set-option :incremental true)\n",
            seed="(set-option :seed {seed})",
            limit="(set-option :tlimit-per {ms})",
            end=";!\n",  # cvc5_host.END
        ),
    )


BACKEND = backend()
