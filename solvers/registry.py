"""Backends by name: those that distributions register as entry points, and any program by its command line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from fairbox.encoder.errors import BackendError
from fairbox.solvers import smtlib
from fairbox.solvers.protocols import Backend, Probe, Session

GROUP = "fairbox.backends"
"""The entry-point group. Each entry is a name and the `Backend` object behind it."""


def list_backends() -> tuple[Backend, ...]:
    """Every registered backend, by name; also those that cannot be used here: `probe` says why."""
    return tuple(_registered().values())


def get_backend(name: str) -> Backend:
    """The backend of a registered name, or of `smtlib:COMMAND`.

    Raises BackendError when there is none of this name, or when it cannot be used here.
    """
    if name.startswith(smtlib.PREFIX):
        backend: Backend | None = smtlib.backend(name.removeprefix(smtlib.PREFIX))
    else:
        backend = _registered().get(name)
    if backend is None:
        raise BackendError(f"there is no backend {name!r}; take {_choice()}")
    probe = backend.probe()
    if not probe.available:
        raise BackendError(
            f"backend {name!r} cannot be used here: {probe.why_not} (or take {_choice(without=name)})"
        )
    return backend


def _choice(without: str = "") -> str:
    here = [b.name for b in list_backends() if b.name != without and b.probe().available]
    return ", ".join([*here, f"or {smtlib.PREFIX}COMMAND"])


@cache
def _registered() -> Mapping[str, Backend]:
    found: dict[str, Backend] = {}
    # A development install can show one entry twice; two different ones of a name are a conflict.
    for entry in sorted(set(entry_points(group=GROUP)), key=lambda entry: (entry.name, entry.value)):
        backend = _load(entry)
        if entry.name in found:
            backend = Unusable(
                entry.name, f"two distributions register it, one as {entry.value}; uninstall one"
            )
        found[entry.name] = backend
    return MappingProxyType(found)


def _load(entry: EntryPoint) -> Backend:
    try:
        backend = entry.load()
    except Exception as error:  # a stranger's module may fail in any way; the others are still good
        return Unusable(entry.name, f"{entry.value} cannot be loaded: {type(error).__name__}: {error}")
    if not isinstance(backend, Backend):
        return Unusable(entry.name, f"{entry.value} is not a fairbox.solvers.protocols.Backend")
    return backend


@dataclass(frozen=True)
class Unusable:
    """A registered backend that cannot be used, and why."""

    name: str
    why_not: str
    capabilities: frozenset[str] = frozenset()
    missing: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    def probe(self) -> Probe:
        """See Backend."""
        return Probe(False, why_not=self.why_not)

    def open(
        self,
        script: str,
        *,
        seed: int = 0,
        interrupted: Callable[[], bool] | None = None,
        unsat_assumptions: bool = False,
    ) -> Session:
        """Raises BackendError."""
        raise BackendError(f"backend {self.name!r} cannot be used here: {self.why_not}")
