"""A solver's process and the pipes to it: nothing that it does or leaves undone blocks or fills its owner.

Every wait has a deadline; stderr is drained, and its end kept for messages; an answer has a maximal length;
the end of the process is noticed even while a child of it still holds the pipes. Ending it means ending its
whole process group, at once.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from fairbox.encoder.errors import BackendError, SolverFailure
from fairbox.solvers.sexpr import Expr, is_complete, parse, shown

POLL_SECONDS = 0.04
"""How often a wait looks at the clock, at `interrupted` and at whether the process is alive."""

_CHUNK = 1 << 16
_LAST_WORDS = 4096
_REAP_SECONDS = 1.0
_UNASKED_READS = 64
_LAUNCHER = str(Path(__file__).with_name("launcher.py"))


class TimeUp(SolverFailure):
    """The deadline passed before the solver answered."""


class Interrupted(SolverFailure):
    """The owner no longer wants the answer."""


class SolverProcess:
    """One run of a solver program, in a process group of its own. `name` is for messages."""

    def __init__(self, command: Sequence[str], name: str) -> None:
        self.name = name
        self._popen = _start([sys.executable, "-I", "-S", _LAUNCHER, str(os.getpid()), *command])
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._in, self._out, self._err = (pipe.fileno() for pipe in pipes)
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._idle = select.poll()
        self._idle.register(self._out, select.POLLIN)
        self._unsent = memoryview(b"")
        self._waits_to_write = False
        self._heard: list[bytes] = []
        self._heard_size = 0
        self._replies: deque[Expr] = deque()
        self._words = b""
        self._end = weakref.finalize(self, _end_group, self._popen, os.getpid())

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._popen.pid

    def is_ready(self) -> bool:
        """Between two questions: False when the process has ended.

        Raises SolverFailure when it says something although nothing was asked: that would be taken for the
        answer to the next question.
        """
        for _ in range(_UNASKED_READS):
            if not self._idle.poll(0):
                return not self._has_ended()
            chunk = _read(self._out)
            if chunk == b"":
                return False
            self._hear(chunk)
            self.expect_silence()
        raise SolverFailure(f"{self.name} does not stop printing although nothing was asked")

    def send(self, text: str) -> None:
        """Hand over commands. What the pipe does not take at once is written while `receive` waits."""
        self._unsent = memoryview(bytes(self._unsent) + text.encode())
        self._write()

    def receive(self, deadline: float | None, interrupted: Callable[[], bool] | None, max_bytes: int) -> Expr:
        """The next expression the process prints, before `deadline` (None, or a time by time.monotonic()).

        Raises TimeUp and Interrupted, and SolverFailure when the process ends, prints what is no S-expression,
        or prints more than `max_bytes` that do not end.
        """
        next_look = time.monotonic() + POLL_SECONDS
        while not self._replies:
            now = time.monotonic()
            if now >= next_look or (deadline is not None and now >= deadline):
                self._look(now, deadline, interrupted)
                next_look = now + POLL_SECONDS
            else:
                wake = next_look if deadline is None else min(next_look, deadline)
                self._exchange(wake - now)
            if self._heard_size > max_bytes:
                raise SolverFailure(
                    f"{self.name} printed {self._heard_size} bytes and no answer: {self._said()}"
                )
        return self._replies.popleft()

    def expect_silence(self) -> None:
        """Raise SolverFailure when there is more than the reply that was just received."""
        if self._replies or self._heard_size > _CHUNK:
            raise SolverFailure(f"{self.name} said more than it was asked: {self._said()}")

    def kill(self) -> None:
        """End the process group, now. May be called twice."""
        self._end()

    def ending(self) -> str:
        """How the process ended, and the last it printed on stderr, for messages. Ends what is left of it."""
        until = time.monotonic() + 5 * POLL_SECONDS
        while not (ended := self._has_ended()) and time.monotonic() < until:
            time.sleep(POLL_SECONDS / 10)  # its pipes close a moment before its end shows
        while chunk := _read(self._err):
            self._words = (self._words + chunk)[-_LAST_WORDS:]
        self.kill()
        how = _describe(self._popen.returncode) if ended else "it closed its output"
        words = shown(self._words.decode(errors="backslashreplace")[-400:], 400)
        return f"{how}; its last words: {words}" if words else how

    def _look(self, now: float, deadline: float | None, interrupted: Callable[[], bool] | None) -> None:
        """Is there a reason not to wait on?"""
        if interrupted is not None and interrupted():
            raise Interrupted(f"{self.name} was interrupted")
        if self._has_ended():
            self._hear_the_rest()
        elif deadline is not None and now >= deadline:
            raise TimeUp(f"{self.name} did not answer in time")

    def _exchange(self, seconds: float) -> None:
        """Wait for the pipes, then read and write what they hold and take."""
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._out:
                chunk = _read(self._out)
                if chunk == b"":
                    self._hear_the_rest()
                self._hear(chunk)
            elif descriptor == self._in:
                self._write()
            else:
                self._drain()

    def _write(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            # It reads no more. Why, is in what it says or in how it ends.
            self._unsent = memoryview(b"")
        if bool(self._unsent) != self._waits_to_write:
            self._waits_to_write = not self._waits_to_write
            if self._waits_to_write:
                self._poll.register(self._in, select.POLLOUT)
            else:
                self._poll.unregister(self._in)

    def _hear(self, chunk: bytes | None) -> None:
        """Keep a piece of output; it becomes replies once it ends a line and leaves no bracket open."""
        if not chunk:
            return
        self._heard.append(chunk)
        self._heard_size += len(chunk)
        if not chunk.endswith(b"\n"):
            return
        data = b"".join(self._heard)
        text = data.decode(errors="backslashreplace")
        if is_complete(text):
            self._heard.clear()
            self._heard_size = 0
            self._replies.extend(parse(text))
        else:
            self._heard = [data]

    def _hear_the_rest(self) -> None:
        """After the end: what it answered before that still counts. Raises SolverFailure when that is nothing."""
        for _ in range(1024):  # a child that it left behind might go on for ever
            chunk = _read(self._out)
            if not chunk:
                break
            self._hear(chunk)
        if not self._replies:
            said = f" after {self._said()!r}" if self._heard else ""
            raise SolverFailure(f"{self.name} ended without an answer{said}: {self.ending()}")

    def _drain(self) -> None:
        chunk = _read(self._err)
        if chunk == b"":
            self._poll.unregister(self._err)
        elif chunk:
            self._words = (self._words + chunk)[-_LAST_WORDS:]

    def _has_ended(self) -> bool:
        """Whether the process has ended. It is not reaped before its group is ended, so that the id stays its own."""
        if not self._end.alive:
            return True
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # reaped by others, as programs do that wait for any child
            return True

    def _said(self) -> str:
        heard = b"".join(self._heard)[:1000].decode(errors="backslashreplace")
        return shown(" ".join([*map(str, self._replies), heard]))


def _read(descriptor: int) -> bytes | None:
    """What is in a pipe: None when there is nothing now, empty at its end."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None


def _describe(returncode: int | None) -> str:
    if returncode is None:
        return "it cannot be ended"
    if returncode < 0:
        with contextlib.suppress(ValueError):
            return f"ended by signal {signal.Signals(-returncode).name}"
        return f"ended by signal {-returncode}"
    return f"exit code {returncode}"


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    # The kernel ties a child to the *thread* that started it (launcher.py): one that lasts as long as the process.
    if threading.current_thread() is threading.main_thread():
        return _popen(command)
    return _starter().submit(_popen, command).result()


def _popen(command: Sequence[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        # A session of its own: Ctrl-C at the terminal is for the owner, and the group can be ended as a whole.
        return subprocess.Popen(
            command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in the command
        raise BackendError(f"cannot start {' '.join(command[5:])!r}: {error}") from error


@cache
def _starter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="fairbox-solver-starter")


os.register_at_fork(after_in_child=_starter.cache_clear)  # threads do not survive a fork


def _end_group(popen: subprocess.Popen[bytes], owner: int) -> None:
    """End a process group, reap its leader, close the pipes."""
    if os.getpid() != owner:  # a fork of the owner drops its copy; the solver is not its own
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone already
        os.killpg(popen.pid, signal.SIGKILL)
    for pipe in (popen.stdin, popen.stdout, popen.stderr):
        if pipe is not None:
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel: it ends when that lets it go
        popen.wait(_REAP_SECONDS)
