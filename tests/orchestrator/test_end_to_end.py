"""Real solvers, both encodings, random small problems: the run ends at the oracle's numbers."""

import os
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st

from fairbox.encoder.ensemble import Ensemble
from fairbox.encoder.loading import load_model
from fairbox.encoder.problem import build_problem
from fairbox.encoder.properties import Fairness, Robustness
from fairbox.encoder.space import InputSpace, boolean, continuous, integer, tier
from fairbox.orchestrator.jobs import Job
from fairbox.orchestrator.quantify import Run, Status
from fairbox.orchestrator.settings import Settings
from fairbox.orchestrator.tasks import Kind
from fairbox.orchestrator.workers import ProcessPool, write_order
from fairbox.solvers.enumerator import Budget
from fairbox.solvers.registry import get_backend, list_backends
from tests import oracle
from tests.orchestrator.test_laws import follow, loaded, small_problem
from tests.strategies import booster, cases
from tests.test_oracle import grow

BACKENDS = [backend.name for backend in list_backends() if backend.probe().available]
VARIANTS = {
    "all enhancements": {},
    "no box blocking": {"box_blocking": False},
    "no decomposition": {"decomposition": False},
    "no priority": {"priority": False},
    "split early": {"blocking_limit": 2},
}
encodings = st.sampled_from(["paper", "cells"])


def ends_at_the_truth(case: tuple, **options: object) -> None:
    ensemble, space, question = case
    truth = oracle.answer(ensemble, space, question)
    run = Run(build_problem(loaded(ensemble), space, question), Settings(**options))
    follow(run, truth)
    assert run.status is Status.CONVERGED, run.undecided_reasons
    assert (run.bounds.confident, run.bounds.unfair) == (truth.confident, truth.unfair)
    assert run.bounds.lower == run.bounds.upper == truth.measure


@given(cases(max_trees=3), encodings, st.sampled_from(list(VARIANTS.values())))
@settings(max_examples=40)
def test_random_problems_with_z3(case, encoding, options):
    ends_at_the_truth(case, backend="z3", encoding=encoding, **options)


@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
@given(cases(), encodings, st.sampled_from(list(VARIANTS.values())))
@settings(max_examples=150)
def test_random_problems_with_every_backend(backend, case, encoding, options):
    ends_at_the_truth(case, backend=backend, encoding=encoding, **options)


@pytest.mark.parametrize("encoding", ["paper", "cells"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_kind_of_attribute_on_every_backend(backend, encoding):
    trees = (
        grow((0, 3, (2, 1, -1.0, 0.5), (4, 0.5, 1.0, -0.25))),
        grow((1, 0.25, -0.75, (0, 6, 0.25, (3, 1, -0.5, 0.75)))),
        grow((5, 0.5, 0.125, -0.25)),
    )
    space = InputSpace(
        (
            integer("a b|c", 0, 9),
            continuous("größe", 0, 1),
            tier("colour", ["red", "green"], allow_none=True),
            boolean("s", sensitive=True),
            boolean("t"),
        )
    )
    question = Fairness(sensitive=["s", "colour"], tolerance_rate="0.15")
    ends_at_the_truth((Ensemble(trees, 0.0, 6), space, question), backend=backend, encoding=encoding)


def test_processes_agree_with_one_process():
    alone, together = (Run(small_problem(), Settings(workers=workers)) for workers in (1, 2))
    assert alone.finish().to_dict() == together.finish().to_dict()
    assert alone.status is together.status is Status.CONVERGED


def test_a_worker_that_dies_costs_nothing():
    run = Run(small_problem(), Settings(workers=2, blocking_limit=2))
    killed = []

    def kill_one(event):
        if not killed and isinstance(run._pool, ProcessPool):
            # The pool's own processes: loky keeps them by process number.
            victim = next(iter(run._pool._executor._processes))
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    run.on_event(lambda event: kill_one(event) if event.what == "reported" else None)
    run.finish()
    assert killed and run.status is Status.CONVERGED
    assert run.counts.failures > 0
    assert run.bounds.to_dict() == Run(small_problem(), Settings()).finish().to_dict()


def test_a_worker_that_dies_idle_is_replaced():
    problem = small_problem()
    pool = ProcessPool(write_order(problem, Settings()), 1)
    job = Job(0, Kind.KAPPA, (), problem.full, (), Budget(1000, 10.0, 10.0))
    try:
        for _ in range(2):
            pool.submit([job])
            while not (reports := pool.collect(1.0)):
                pass
            assert [report.finished for report in reports] == [True]
            for victim in list(pool._executor._processes):
                os.kill(victim, signal.SIGKILL)
            time.sleep(0.5)
    finally:
        pool.close()


def turncoat(folder: Path, deed: str) -> str:
    """A command that speaks for z3, and from its tenth check on does `deed` instead of asking it."""
    script = folder / "turncoat.py"
    script.write_text(TURNCOAT.format(z3=get_backend("z3").probe().command, deed=deed))
    return f"smtlib:{sys.executable} {script}"


TURNCOAT = r"""
import os, subprocess, sys, time
z3 = subprocess.Popen({z3!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
checks = 0
stale = ""
def ask(line):
    z3.stdin.write(line + '(echo "end")\n')
    z3.stdin.flush()
    answer = ""
    while True:
        part = z3.stdout.readline()
        if part.strip().strip('"') == "end":
            return answer
        answer += part
for line in sys.stdin:
    checks += line.count("(check-sat")
    if checks >= 10 and ("(check-sat" in line or "(get-value" in line):
        {deed}
    else:
        answer = ask(line)
        if "(get-value" in line:
            stale = answer
        print(answer, end="", flush=True)
"""


def test_no_limit_is_overrun_by_a_solver_that_hangs(tmp_path):
    backend = turncoat(tmp_path, "time.sleep(600)")
    run = Run(small_problem(), Settings(backend=backend, time_limit=2.5))
    run.finish()
    # Ended after its slice and started anew, it may even get to the end.
    assert run.status in (Status.TIME_LIMIT, Status.CONVERGED)
    assert run.seconds < 4
    assert run.bounds.lower <= truth_of_the_small_problem() <= run.bounds.upper


@pytest.mark.parametrize(
    "deed",
    [
        "print('sat' if '(check-sat' in line else stale, flush=True)",
        "print('(error \"out of ideas\")', flush=True)",
        "print('perhaps', flush=True)",
        "print('unknown', flush=True)",
        "os._exit(3)",
    ],
    ids=["lies", "errs", "talks nonsense", "does not know", "dies"],
)
def test_a_solver_gone_bad_costs_only_what_it_left_undecided(tmp_path, deed):
    run = Run(small_problem(), Settings(backend=turncoat(tmp_path, deed), time_limit=30))
    run.finish()
    assert run.bounds.lower <= truth_of_the_small_problem() <= run.bounds.upper
    assert run.status in (Status.CONVERGED, Status.UNDECIDED)
    assert run.counts.failures > 0 or run.undecided_reasons


def truth_of_the_small_problem() -> Fraction:
    problem = small_problem()
    return oracle.answer(problem.ensemble, problem.space, problem.question).measure


@pytest.mark.parametrize(
    ("leaves", "arithmetic", "confident"),
    [
        ((1.0, 2.0**-25, -1.0), "deployed", {1: 0, -1: 0}),
        ((1.0, 2.0**-25, -1.0), "exact", {1: 2, -1: 0}),
        ((1e-7,), "deployed", {1: 2, -1: 0}),
        # expf(1e-7) + 1 lies halfway between two float32 numbers and rounds to 2: a tie.
        ((-1e-7,), "deployed", {1: 0, -1: 0}),
        ((-2e-7,), "deployed", {1: 0, -1: 2}),
        ((2.0**-24,), "deployed", {1: 0, -1: 0}),
        ((-(2.0**-24),), "deployed", {1: 0, -1: 0}),
        ((2.0**-24,), "exact", {1: 2, -1: 0}),
        ((-(2.0**-24),), "exact", {1: 0, -1: 2}),
    ],
)
def test_margins_near_zero_are_decided_as_the_library_does(leaves, arithmetic, confident):
    library = booster(Ensemble(tuple(map(grow, leaves)), 0.0, 1))
    if arithmetic == "deployed":
        likely = library.predict(xgboost.DMatrix(np.zeros((1, 1), np.float32)))[0]
        assert confident == {1: 2 * (likely > 0.5), -1: 2 * (likely < 0.5)}
    ensemble = load_model(library)
    problem = build_problem(ensemble, InputSpace((boolean("a"),)), Robustness(arithmetic=arithmetic))
    run = Run(problem, Settings())
    run.finish()
    assert run.status is Status.CONVERGED
    assert run.bounds.confident == confident
