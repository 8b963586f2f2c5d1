"""Who does the jobs: this process, or a pool of processes fed with SMT-LIB text and a sidecar.

A pool has one method to hand jobs in and one to collect reports. Jobs that were under way when a worker
died come back as failed reports: nothing is lost but the work.
"""

import json
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from fairbox.encoder.formula import build_encoding
from fairbox.encoder.problem import Problem
from fairbox.orchestrator.jobs import Job, Report, answer
from fairbox.orchestrator.settings import Settings
from fairbox.smtlib_out.instance import instance_text, problem_from_instance
from fairbox.solvers.enumerator import FAILED, SIDES, Line, PathEnumerator, SessionEnumerator, base_scripts
from fairbox.solvers.registry import get_backend


@dataclass(frozen=True)
class WorkOrder:
    """All a process needs to answer jobs, as text: SMT-LIB scripts, and the JSON that describes the problem."""

    scripts: Mapping[Line, str]
    sidecar: str
    encoding: str
    backend: str
    box_blocking: bool
    seed: int


class Pool(Protocol):
    """Workers. `free` is how many batches can be handed in before reports must be collected."""

    @property
    def free(self) -> int: ...

    def submit(self, batch: Sequence[Job]) -> None:
        """Hand in jobs that one worker answers one after the other."""
        ...

    def collect(self, timeout: float) -> list[Report]:
        """Reports that have come in; waits up to `timeout` seconds for the first."""
        ...

    def close(self) -> None:
        """End all work at once; jobs under way are lost."""
        ...


class SerialPool:
    """Jobs are answered in this process, while `collect` is called."""

    def __init__(self, problem: Problem, enumerator: PathEnumerator) -> None:
        self._problem = problem
        self._enumerator = enumerator
        self._waiting: deque[Job] = deque()

    @property
    def free(self) -> int:
        return 0 if self._waiting else 1

    def submit(self, batch: Sequence[Job]) -> None:
        self._waiting.extend(batch)

    def collect(self, timeout: float) -> list[Report]:
        end = time.monotonic() + timeout
        reports: list[Report] = []
        while self._waiting and (not reports or time.monotonic() < end):
            reports.append(answer(self._problem, self._enumerator, self._waiting.popleft()))
        return reports

    def close(self) -> None:
        self._enumerator.close()


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes started in this block have SIGINT blocked from their first instruction on: they inherit the mask.

    Ctrl-C reaches every process of the terminal, and it is for the owner to decide what it means. A signal
    for the owner itself is delivered when the block ends.
    """
    from multiprocessing import resource_tracker

    from loky.backend import resource_tracker as loky_tracker

    # These start a process of their own at first use, and lift the mask when they have.
    resource_tracker.ensure_running()
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessPool:
    """A pool of processes (loky), each with sessions of its own.

    The work order goes to them as files: a start message has to fit into a pipe, or its sender hangs when
    the worker dies before it has read it.
    """

    def __init__(self, order: WorkOrder, workers: int) -> None:
        self._files = tempfile.TemporaryDirectory(prefix="fairbox-")
        _write_order(order, Path(self._files.name))
        self._order = replace(order, scripts={}, sidecar="")
        self._workers = workers
        self._futures: dict[Future[list[Report]], Sequence[Job]] = {}
        self._undelivered: list[Report] = []
        self._executor = self._start()

    @property
    def free(self) -> int:
        # One batch waits for each worker, so that none stands idle while reports are read.
        return 2 * self._workers - len(self._futures)

    def submit(self, batch: Sequence[Job]) -> None:
        try:
            future = self._start_batch(batch)
        except BrokenProcessPool:  # a worker died while it had nothing to do
            self._undelivered += self._restart()
            try:
                future = self._start_batch(batch)
            except BrokenProcessPool:  # and the next one does not live either
                self._undelivered += [_lost(job) for job in batch]
                return
        self._futures[future] = batch

    def _start_batch(self, batch: Sequence[Job]) -> "Future[list[Report]]":
        # Workers are started here, the first time and after one was lost.
        with _deaf_to_ctrl_c():
            future: Future[list[Report]] = self._executor.submit(_answer_batch, tuple(batch))
            return future

    def collect(self, timeout: float) -> list[Report]:
        reports, self._undelivered = self._undelivered, []
        done, _ = wait(self._futures, 0 if reports else timeout, FIRST_COMPLETED)
        broken = False
        for future in done:
            batch = self._futures.pop(future)
            try:
                reports += future.result()
            except BrokenProcessPool:
                broken = True
                reports += [_lost(job) for job in batch]
        if broken:
            reports += self._restart()
        return reports

    def close(self) -> None:
        self._executor.shutdown(wait=True, kill_workers=True)
        self._files.cleanup()

    def _start(self) -> Any:
        from loky import ProcessPoolExecutor

        return ProcessPoolExecutor(
            max_workers=self._workers,
            initializer=_start_worker,
            initargs=(self._order, self._files.name, os.getpid()),
        )

    def _restart(self) -> list[Report]:
        lost = [_lost(job) for batch in self._futures.values() for job in batch]
        self._futures.clear()
        self._executor.shutdown(wait=True, kill_workers=True)
        self._executor = self._start()
        return lost


def _lost(job: Job) -> Report:
    return Report(job.task, reason=f"{FAILED}the worker process died")


def write_order(problem: Problem, settings: Settings) -> WorkOrder:
    """What the settings ask of a worker."""
    return WorkOrder(
        base_scripts(build_encoding(problem, settings.encoding)),
        instance_text(problem),
        settings.encoding,
        settings.backend,
        settings.box_blocking,
        settings.seed,
    )


def make_enumerator(
    problem: Problem, order: WorkOrder, interrupted: Callable[[], bool] | None = None
) -> PathEnumerator:
    """The path enumerator that a work order asks for."""
    encoding = build_encoding(problem, order.encoding)
    return SessionEnumerator(
        encoding,
        get_backend(order.backend),
        order.scripts,
        box_blocking=order.box_blocking,
        seed=order.seed,
        interrupted=interrupted,
    )


_worker: tuple[Problem, PathEnumerator] | None = None
"""What a worker process was started for."""


def _write_order(order: WorkOrder, folder: Path) -> None:
    for line, script in order.scripts.items():
        (folder / f"{line}.smt2").write_text(script, encoding="utf-8")
    (folder / "sidecar.json").write_text(order.sidecar, encoding="utf-8")


def _read_order(order: WorkOrder, folder: Path) -> WorkOrder:
    scripts = {line: (folder / f"{line}.smt2").read_text(encoding="utf-8") for line in SIDES}
    return replace(order, scripts=scripts, sidecar=(folder / "sidecar.json").read_text(encoding="utf-8"))


def _start_worker(order: WorkOrder, folder: str, owner: int) -> None:
    global _worker
    # Ctrl-C reaches every process of the terminal; the owner decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_owner, args=(owner, folder), daemon=True).start()
    order = _read_order(order, Path(folder))
    problem = problem_from_instance(json.loads(order.sidecar))
    _worker = problem, make_enumerator(problem, order)


def _end_with_owner(owner: int, folder: str) -> None:
    """A worker whose owner was killed clears up its order and ends itself, and with it its solvers."""
    while os.getppid() == owner:
        time.sleep(0.5)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _answer_batch(batch: tuple[Job, ...]) -> list[Report]:
    assert _worker is not None
    problem, enumerator = _worker
    return [answer(problem, enumerator, job) for job in batch]
