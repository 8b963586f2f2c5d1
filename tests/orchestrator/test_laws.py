"""Laws of the any-time bounds, after every event, in any order of tasks, whatever mood the engine is in."""

import random
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.ensemble import Ensemble
from fairbox.encoder.loading import load_model
from fairbox.encoder.problem import Problem, build_problem
from fairbox.encoder.properties import Fairness
from fairbox.encoder.space import InputSpace, boolean, integer
from fairbox.orchestrator.bounds import CLASSES, Bounds
from fairbox.orchestrator.quantify import Event, Run, Status
from fairbox.orchestrator.settings import Settings
from fairbox.orchestrator.tasks import Kind, State
from tests import oracle
from tests.orchestrator.brute import BruteEnumerator, ShuffledPool
from tests.strategies import booster, cases
from tests.test_oracle import grow

settings_options = st.fixed_dictionaries(
    {
        "decomposition": st.booleans(),
        "priority": st.booleans(),
        "box_blocking": st.booleans(),
        "blocking_limit": st.integers(1, 6),
        "worker_split": st.none() | st.just({"kappa": 1, "not_kappa": 1, "violations": 2}),
    }
)


def start(problem: Problem, seed: int, options: dict, **mood) -> Run:
    enumerator = BruteEnumerator(
        problem, random.Random(seed), box_blocking=options.get("box_blocking", True), **mood
    )
    return Run(problem, Settings(**options), ShuffledPool(problem, enumerator))


def loaded(ensemble: Ensemble) -> Ensemble:
    """The ensemble as xgboost stores it, so that the library itself can replay witnesses."""
    return load_model(booster(ensemble))


def small_problem() -> Problem:
    """Three trees over two integers and a sensitive flag, with violations on both sides."""
    trees = (
        grow((0, 3, (2, 1, -1.0, 0.5), 1.0)),
        grow((1, 2, -0.75, (0, 6, 0.25, -0.5))),
        grow((2, 1, 0.125, -0.25)),
    )
    space = InputSpace((integer("a", 0, 9), integer("b", 0, 4), boolean("s", sensitive=True)))
    return build_problem(loaded(Ensemble(trees, 0.0, 3)), space, Fairness(tolerance_rate="0.2"))


def check_laws(bounds: Bounds, truth: oracle.Totals, earlier: Bounds) -> None:
    """Bounds contain the truth, never move back, and their parts add up."""
    measure = truth.measure
    assert bounds.lower <= measure <= bounds.upper
    assert earlier.lower <= bounds.lower and bounds.upper <= earlier.upper
    assert bounds.undecided >= 0 and bounds.unsorted >= 0
    shown = bounds.to_dict()["measure"]
    assert Fraction(shown["lower_float"]) <= bounds.lower and bounds.upper <= Fraction(shown["upper_float"])
    parts = bounds.not_confident + sum(bounds.fair.values()) + sum(bounds.unfair.values())
    assert parts + bounds.undecided == bounds.total == truth.space
    for label in CLASSES:
        confident, unfair = bounds.confident_range(label), bounds.unfair_range(label)
        assert confident.lower <= truth.confident[label] <= confident.upper
        assert unfair.lower <= truth.unfair[label] <= unfair.upper


def follow(run: Run, truth: oracle.Totals) -> list[Event]:
    """Run to the end, checking the laws after every event."""
    events: list[Event] = []

    def on_event(event: Event) -> None:
        check_laws(event.bounds, truth, events[-1].bounds if events else Bounds(run.problem.total))
        events.append(event)

    run.on_event(on_event)
    for bounds in run:
        check_laws(bounds, truth, Bounds(run.problem.total))
    return events


@given(cases(), settings_options, st.integers(0, 2**32))
def test_bounds_obey_the_laws_and_meet_at_the_truth(case, options, seed):
    ensemble, space, question = case
    truth = oracle.answer(ensemble, space, question)
    run = start(build_problem(loaded(ensemble), space, question), seed, options, chance=0.3)
    follow(run, truth)
    assert run.status is Status.CONVERGED
    assert run.bounds.lower == run.bounds.upper == truth.measure
    assert run.bounds.confident == truth.confident
    assert run.bounds.unfair == truth.unfair
    assert run.bounds.vacuous == (sum(truth.confident.values()) == 0)


@given(cases(), settings_options, st.integers(0, 2**32))
def test_an_engine_that_fails_or_does_not_know_costs_only_what_it_left_open(case, options, seed):
    ensemble, space, question = case
    truth = oracle.answer(ensemble, space, question)
    problem = build_problem(loaded(ensemble), space, question)
    run = start(
        problem, seed, options, chance=0.2, failing=0.2, reasons=("budget", "timeout", "incomplete", "memout")
    )
    follow(run, truth)
    assert run.status in (Status.CONVERGED, Status.UNDECIDED)
    assert (run.status is Status.UNDECIDED) == (run.bounds.undecided > 0)
    if run.status is Status.UNDECIDED:
        assert run.undecided_reasons


@given(cases(), st.integers(0, 2**32), st.integers(0, 30))
def test_a_run_that_is_stopped_keeps_valid_bounds(case, seed, when):
    ensemble, space, question = case
    truth = oracle.answer(ensemble, space, question)
    run = start(build_problem(loaded(ensemble), space, question), seed, {"blocking_limit": 2}, chance=0.5)
    seen = []
    run.on_event(lambda event: seen.append(event) or (run.stop() if len(seen) > when else None))
    follow(run, truth)
    assert run.status in (Status.CONVERGED, Status.INTERRUPTED)
    assert run.bounds.lower <= truth.measure <= run.bounds.upper


@given(cases(), settings_options, st.integers(0, 2**32))
def test_regions_are_disjoint_and_make_up_the_unfair_inputs(case, options, seed):
    ensemble, space, question = case
    truth = oracle.answer(ensemble, space, question)
    problem = build_problem(loaded(ensemble), space, question)
    run = start(problem, seed, options)
    run.finish()
    for label in CLASSES:
        assert sum(r.measure for r in run.regions if r.label == label) == truth.unfair[label]
    for i, region in enumerate(run.regions):
        assert region.measure == problem.measure(region.box) > 0
        for other in run.regions[:i]:
            assert any(not a & b for a, b in zip(region.box, other.box, strict=True))


@given(cases(), settings_options, st.integers(0, 2**32))
def test_open_tasks_of_a_kind_never_share_a_part(case, options, seed):
    problem = build_problem(loaded(case[0]), *case[1:])
    run = start(problem, seed, options, chance=0.4)

    def prefixes_differ(a: tuple, b: tuple) -> bool:
        return any(x != y for x, y in zip(a, b, strict=False))

    def on_event(event: Event) -> None:
        live = [task for task in run.tasks if task.state in (State.OPEN, State.RUNNING)]
        for i, task in enumerate(live):
            for other in live[:i]:
                if task.kind is other.kind and task.kind is not Kind.VIOLATIONS:
                    assert prefixes_differ(task.paths, other.paths)
                elif task.kind is other.kind and task.paths == other.paths:
                    assert any(not a & b for a, b in zip(task.part, other.part, strict=True))

    run.on_event(on_event)
    run.finish()
    assert run.graph.number_of_nodes() == len(list(run.tasks))


def test_every_split_task_has_children_and_every_search_was_found_first():
    run = start(small_problem(), 0, {"blocking_limit": 1})
    run.finish()
    assert any(task.state is State.SPLIT for task in run.tasks)
    for number, data in run.graph.nodes(data=True):
        why = {run.graph.edges[edge]["why"] for edge in run.graph.in_edges(number)}
        if data["task"].kind is Kind.VIOLATIONS:
            assert why <= {"found", "split"} and why
        if data["task"].state is State.SPLIT:
            assert run.graph.out_degree(number) > 0


def test_a_solver_that_always_fails_leaves_everything_undecided():
    run = start(small_problem(), 0, {}, failing=1.0)
    run.finish()
    assert run.status is Status.UNDECIDED
    assert (run.bounds.lower, run.bounds.upper) == (Fraction(0), Fraction(1))
    assert list(run.undecided_reasons) == ["failed: the engine was told to fail"]
