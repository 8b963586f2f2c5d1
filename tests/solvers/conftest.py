"""The backends that the conformance suite runs over: every registered one, and programs by their command line."""

import shlex
from collections.abc import Callable, Iterator

import pytest

from fairbox.solvers.protocols import Backend, Session
from fairbox.solvers.registry import get_backend, list_backends

REGISTERED = {backend.name: backend for backend in list_backends()}


def _by_command_line(name: str) -> Callable[[], Backend]:
    return lambda: get_backend(f"smtlib:{shlex.join(REGISTERED[name].probe().command)}")


BACKENDS: dict[str, Callable[[], Backend]] = {
    **{name: (lambda name=name: get_backend(name)) for name in REGISTERED},
    "smtlib-z3": _by_command_line("z3"),
}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each backend; one that is not installed here is skipped with its own reason."""
    name = request.param.removeprefix("smtlib-")
    probe = REGISTERED[name].probe()
    if not probe.available:
        pytest.skip(f"{name}: {probe.why_not}")
    return BACKENDS[request.param]()


@pytest.fixture
def opened(backend: Backend) -> Iterator[Callable[..., Session]]:
    """Opens sessions of the backend; they are closed after the test."""
    sessions: list[Session] = []

    def open_session(script: str, **options: object) -> Session:
        sessions.append(backend.open(script, **options))  # type: ignore[arg-type]
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()
