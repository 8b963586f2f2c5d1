"""The driver: a session with any program that speaks SMT-LIB 2 on a pipe, and the backend that opens it.

The state of a session is its log: the commands of every open level. The process is only a cache of it. So a
process may be ended at any moment, for a limit or an error, and the next question goes to a new one that is
fed the log again. Commands wait until a question needs them: a check costs one write and one read.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import Self

from fairbox.encoder.errors import BackendError, FormulaError, SolverFailure
from fairbox.solvers.commands import check_assumptions, check_commands
from fairbox.solvers.process import Interrupted, SolverProcess, TimeUp
from fairbox.solvers.protocols import Answer, Capability, Probe, Status, Value
from fairbox.solvers.replies import counters, error_words, info_text, named_assumptions, standard_reason
from fairbox.solvers.sexpr import Expr, render, shown, string_text
from fairbox.solvers.values import declared_sorts, differs, read_values

REPLY_SECONDS = 10.0
"""How long a solver may take for what needs no search: the values of a model."""

_INFO_SECONDS = 2.0
_GRACE_SECONDS = 0.5
"""What a solver with a limit of its own gets beyond it before its process is ended."""

_REASON_SECONDS = 0.3
_STATUS_BYTES = 1 << 20
_REPLY_BYTES = 1 << 26
_READY = "fairbox-ready"


@dataclass(frozen=True)
class Dialect:
    """How one program is spoken to, beyond SMT-LIB 2."""

    options: str = ""
    """Commands sent first."""
    seed: str = "(set-option :random-seed {seed})"
    limit: str | None = None
    """Sets the solver's own limit for each check, as in `(set-option :timeout {ms})`."""
    unlimited: int = 0
    """The number of milliseconds that means: no limit."""
    end: str = ""
    """Marks where a batch of commands ends, for programs that read batches."""


@dataclass(frozen=True)
class PipeBackend:
    """A backend whose sessions are dialogues with a program.

    `locate` says where the program is and how it is started, or why it cannot be; it may be called often.
    """

    name: str
    locate: Callable[[], Probe]
    capabilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    dialect: Dialect = Dialect()

    def probe(self) -> Probe:
        """See Backend."""
        return self.locate()

    def open(
        self,
        script: str,
        *,
        seed: int = 0,
        interrupted: Callable[[], bool] | None = None,
        unsat_assumptions: bool = False,
    ) -> "PipeSession":
        """See Backend."""
        probe = self.probe()
        if not probe.available:
            raise BackendError(f"backend {self.name!r} cannot be used here: {probe.why_not}")
        if unsat_assumptions and Capability.UNSAT_ASSUMPTIONS not in self.capabilities:
            why = self.missing.get(Capability.UNSAT_ASSUMPTIONS, "it does not say it can")
            raise BackendError(f"backend {self.name!r} cannot name unsat assumptions: {why}")
        return PipeSession(self, probe.command, script, seed, interrupted, unsat_assumptions)


class PipeSession:
    """See Session."""

    def __init__(
        self,
        backend: PipeBackend,
        command: Sequence[str],
        script: str,
        seed: int = 0,
        interrupted: Callable[[], bool] | None = None,
        unsat_assumptions: bool = False,
    ) -> None:
        self._name = backend.name
        self._dialect = backend.dialect
        self._can = backend.capabilities
        self._command = tuple(command)
        self._interrupted = interrupted
        self._keeps_unsat_assumptions = unsat_assumptions
        self._prelude = _prelude(backend, seed, unsat_assumptions)
        self._levels: list[list[str]] = [[]]
        self._sorts: dict[str, str] = {}
        self._process: SolverProcess | None = None
        self._pending: list[str] = []
        self._greeted = False
        self._own_limit: int = self._dialect.unlimited
        self._status: Status | None = None
        self._model: dict[str, Value] = {}
        self._assumptions: tuple[str, ...] = ()
        self._closed = False
        self._counters = {"session.checks": 0, "session.starts": 0, "session.seconds": 0.0}
        self.add(script)
        self._start()

    @property
    def pid(self) -> int | None:
        """See Session."""
        return self._process.pid if self._process else None

    def add(self, commands: str) -> None:
        """See Session."""
        self._require_open()
        check_commands(commands)
        if "declare-" in commands:
            self._sorts.update(declared_sorts(commands))
        self._record(f"{commands}\n")
        self._levels[-1].append(f"{commands}\n")

    def push(self) -> None:
        """See Session."""
        self._require_open()
        self._record("(push 1)\n")
        self._levels.append([])

    def pop(self) -> None:
        """See Session."""
        self._require_open()
        if len(self._levels) == 1:
            raise FormulaError("pop without push: no level is open in this session")
        self._record("(pop 1)\n")
        self._levels.pop()

    def check(self, limit: float | None = None, assumptions: Sequence[str] = ()) -> Answer:
        """See Session."""
        return self.check_values((), limit, assumptions)[0]

    def check_values(
        self, symbols: Sequence[str], limit: float | None = None, assumptions: Sequence[str] = ()
    ) -> tuple[Answer, dict[str, Value]]:
        """See Session."""
        self._require_open()
        check_assumptions(assumptions)
        start = time.monotonic()
        self._counters["session.checks"] += 1
        self._status, self._model, self._assumptions = None, {}, tuple(assumptions)
        try:
            return self._check(symbols, start, _finite(limit), assumptions)
        except TimeUp:
            return Answer(Status.UNKNOWN, "timeout"), {}
        except Interrupted:
            return Answer(Status.UNKNOWN, "interrupted"), {}
        finally:
            self._counters["session.seconds"] += time.monotonic() - start

    def values(self, symbols: Sequence[str], limit: float = REPLY_SECONDS) -> dict[str, Value]:
        """See Session."""
        self._require_open()
        return self._values(symbols, time.monotonic() + limit)

    def block(self, symbols: Sequence[str]) -> None:
        """See Session."""
        self._require_open()
        missing = [symbol for symbol in symbols if symbol not in self._model]
        if missing or self._status is not Status.SAT:
            self.values(missing)
        current = {symbol: self._model[symbol] for symbol in symbols}
        self.add(f"(assert {differs(current)})")

    def unsat_assumptions(self) -> list[str]:
        """See Session."""
        self._require_open()
        if not self._keeps_unsat_assumptions:
            raise BackendError(f"open the {self._name} session with unsat_assumptions=True to ask for them")
        if self._status is not Status.UNSAT:
            raise SolverFailure(f"{self._name}: unsat assumptions are there after an answer unsat only")
        reply = self._ask_again("(get-unsat-assumptions)", time.monotonic() + REPLY_SECONDS)
        return named_assumptions(reply, self._assumptions)

    def statistics(self) -> dict[str, int | float | str]:
        """See Session."""
        self._require_open()
        found: dict[str, int | float | str] = dict(self._counters)
        if Capability.STATISTICS in self._can and self._status is not None:
            reply = self._ask_again("(get-info :all-statistics)", time.monotonic() + _INFO_SECONDS)
            found.update(counters(reply))
        return found

    def info(self, keyword: str) -> str:
        """What the solver says of itself after an answer, as to `:version` or `:name`."""
        self._require_open()
        return info_text(self._ask_again(f"(get-info {keyword})", time.monotonic() + _INFO_SECONDS))

    def close(self) -> None:
        """See Session."""
        self._closed = True
        self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The dialogue -------------------------------------------------------------------------------------

    def _check(
        self, symbols: Sequence[str], start: float, limit: float | None, assumptions: Sequence[str]
    ) -> tuple[Answer, dict[str, Value]]:
        if self._interrupted is not None and self._interrupted():
            return Answer(Status.UNKNOWN, "interrupted"), {}
        if limit is not None and limit <= 0:
            return Answer(Status.UNKNOWN, "timeout"), {}
        grace = _GRACE_SECONDS if self._dialect.limit else 0.0
        deadline = None if limit is None else start + limit + grace
        reply = self._ask(lambda: self._limit_text(limit) + self._question(assumptions), deadline)
        if reply not in tuple(Status):
            self._drop()
            raise SolverFailure(f"{self._name} was asked (check-sat) and said: {shown(render(reply))}")
        self._status = Status(str(reply))
        if self._status is Status.UNKNOWN:
            return Answer(Status.UNKNOWN, self._reason()), {}
        values = self._values(symbols, deadline) if symbols and self._status is Status.SAT else {}
        return Answer(self._status), values

    def _question(self, assumptions: Sequence[str]) -> str:
        if not assumptions:
            return "(check-sat)\n"
        if Capability.ASSUMPTIONS in self._can:
            return f"(check-sat-assuming ({' '.join(assumptions)}))\n"
        asserted = "".join(f"(assert {literal})\n" for literal in assumptions)
        return f"(push 1)\n{asserted}(check-sat)\n"

    def _limit_text(self, limit: float | None) -> str:
        if self._dialect.limit is None:
            return ""
        wanted = self._dialect.unlimited if limit is None else _milliseconds(limit)
        if wanted == self._own_limit:
            return ""
        self._own_limit = wanted
        return self._dialect.limit.format(ms=wanted) + "\n"

    def _values(self, symbols: Sequence[str], deadline: float | None) -> dict[str, Value]:
        if self._status is not Status.SAT:
            raise SolverFailure(f"{self._name} has no model: values are there after an answer sat only")
        if not symbols:
            return {}
        reply = self._ask_again(f"(get-value ({' '.join(symbols)}))", deadline)
        try:
            values = read_values(reply, symbols, self._sorts)
        except SolverFailure as failure:
            raise SolverFailure(f"{self._name}: {failure}") from failure
        self._model.update(values)
        return values

    def _reason(self) -> str:
        """Why the answer was unknown, in one of the four words or the solver's own."""
        try:
            reply = self._ask_again("(get-info :reason-unknown)", time.monotonic() + _REASON_SECONDS)
        except Interrupted:
            raise
        except SolverFailure as failure:  # the answer stands; that it could not say why is its reason
            return str(failure)
        return standard_reason(reply)

    def _ask(self, question: Callable[[], str], deadline: float | None) -> Expr:
        """Send what waits and a question to a process that is up to date; its answer.

        Whatever goes wrong, an interrupt by the user too, the process is ended: no later answer is mistaken.
        """
        try:
            process = self._running()
            process.send("".join([*self._pending, question(), self._dialect.end]))
            self._pending.clear()
            if not self._greeted:
                self._await_greeting(process, deadline)
            reply = self._receive(process, deadline, _STATUS_BYTES)
            if self._assumptions and Capability.ASSUMPTIONS not in self._can:
                self._pending.append("(pop 1)\n")
            return reply
        except BaseException:
            self._drop()
            raise

    def _ask_again(self, question: str, deadline: float | None) -> Expr:
        """Ask about the latest answer: the process that gave it, before any command that came after it."""
        try:
            if self._process is None or not self._process.is_ready():
                how = self._process.ending() if self._process else "its process was ended"
                raise SolverFailure(f"{self._name} ended after its answer: {how}")
            self._process.send(f"{question}\n{self._dialect.end}")
            return self._receive(self._process, deadline, _REPLY_BYTES)
        except BaseException:
            self._drop()
            raise

    def _receive(self, process: SolverProcess, deadline: float | None, max_bytes: int) -> Expr:
        reply = process.receive(deadline, self._interrupted, max_bytes)
        while reply == "success":  # a program that cannot be told to keep it to itself
            reply = process.receive(deadline, self._interrupted, max_bytes)
        if (words := error_words(reply)) is not None:
            raise SolverFailure(f"{self._name} reported an error: {words}")
        if reply == "unsupported":
            raise SolverFailure(f"{self._name} does not support one of the commands it was given")
        process.expect_silence()
        return reply

    def _await_greeting(self, process: SolverProcess, deadline: float | None) -> None:
        """Skip what it says of the options: one that it does not know is not essential."""
        while not self._greeted:
            reply = process.receive(deadline, self._interrupted, _STATUS_BYTES)
            if isinstance(reply, str) and string_text(reply) == _READY:
                self._greeted = True
            elif reply not in ("success", "unsupported"):
                words = error_words(reply) or render(reply)
                raise SolverFailure(
                    f"{self._name} does not answer as an SMT-LIB 2 program: {shown(words, 400)}"
                )

    # The process --------------------------------------------------------------------------------------

    def _running(self) -> SolverProcess:
        """A process that has been told all of the log, or will be by what is pending."""
        if self._process is None or not self._process.is_ready():
            self._drop()
            self._start()
        assert self._process is not None
        return self._process

    def _start(self) -> None:
        self._process = SolverProcess(self._command, self._name)
        self._counters["session.starts"] += 1
        log = "(push 1)\n".join("".join(level) for level in self._levels)
        self._pending = [self._prelude, log]

    def _record(self, commands: str) -> None:
        if self._process is not None:
            self._pending.append(commands)

    def _drop(self) -> None:
        """End the process; the log stays, and with it the session."""
        if self._process is not None:
            self._process.kill()
        self._process = None
        self._pending.clear()
        self._greeted = False
        self._own_limit = self._dialect.unlimited
        self._status, self._model = None, {}

    def _require_open(self) -> None:
        if self._closed:
            raise BackendError(f"the {self._name} session is closed; open another one")


def _prelude(backend: PipeBackend, seed: int, unsat_assumptions: bool) -> str:
    options = "(set-option :print-success false)\n(set-option :produce-models true)\n"
    if unsat_assumptions:
        options += "(set-option :produce-unsat-assumptions true)\n"
    if seed and Capability.SEED in backend.capabilities:
        options += backend.dialect.seed.format(seed=seed) + "\n"
    return f'{options}{backend.dialect.options}(echo "{_READY}")\n'


def _finite(limit: float | None) -> float | None:
    if limit is not None and math.isnan(limit):
        raise FormulaError("the limit of a check is a number of seconds, or None; not NaN")
    return None if limit == math.inf else limit


def _milliseconds(limit: float, digits: int = 3) -> int:
    """A limit for the solver itself, rounded down to few digits: one that changes little is not sent again."""
    exact = max(1, min(int(limit * 1000), 2**31 - 1))
    step: int = 10 ** max(0, len(str(exact)) - digits)
    return exact // step * step
