"""What the orchestrator costs: its solutions per second against a bare loop on the z3 API, on one formula.

    python benchmarks/overhead.py [MODEL SPACE] [--sensitive NAME] [--repeat 3]

The formula is Φ_κ, whose solutions are the confident path tuples. The bare loop parses the very text that the
backend is fed, and then only checks, reads the path variables and blocks them. The orchestrator does the same
through tasks, jobs, a solver process, decomposition, replay of every tuple and bounds after every event. Its
other searches are cancelled as they open, so that both sides enumerate the same set. The aim is a ratio of at
least 0.8; above 1, splitting tasks gains more than everything else costs.
"""

import argparse
import statistics
import time
from pathlib import Path

import z3

import fairbox as fb
from fairbox.encoder.formula import build_encoding
from fairbox.encoder.formula.queries import phi_kappa
from fairbox.encoder.problem import Problem, build_problem
from fairbox.orchestrator.quantify import Event, Run
from fairbox.orchestrator.settings import Settings
from fairbox.orchestrator.tasks import Kind, State
from fairbox.smtlib_out.writer import session_script

CREDIT = Path(__file__).resolve().parents[1] / "examples" / "credit"


def bare_loop(problem: Problem, encoding: str) -> tuple[int, float]:
    """Solutions and seconds of check, read, block on the z3 API, in this process."""
    query = phi_kappa(build_encoding(problem, encoding))
    text = session_script(query.assertions, symbols=query.symbols)
    start = time.perf_counter()
    solver = z3.Solver()
    solver.from_string(text)
    declared = {str(symbol): symbol for symbol in z3_symbols(solver)}
    paths = [declared[symbol.symbol_name()] for symbol in query.projection]
    solutions = 0
    while solver.check() == z3.sat:
        solutions += 1
        model = solver.model()
        solver.add(z3.Or([path != model.eval(path, model_completion=True) for path in paths]))
    return solutions, time.perf_counter() - start


def z3_symbols(solver: z3.Solver) -> list[z3.ExprRef]:
    """The constants that the assertions of a solver mention."""
    found: dict[int, z3.ExprRef] = {}
    seen: set[int] = set()
    stack = list(solver.assertions())
    while stack:
        term = stack.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found[term.get_id()] = term
        stack.extend(term.children())
    return list(found.values())


def orchestrated(problem: Problem, settings: Settings) -> tuple[int, float]:
    """Solutions and seconds of a run whose searches other than Φ_κ are cancelled."""
    run = Run(problem, settings)
    searches = 0

    def heard(event: Event) -> None:
        nonlocal searches
        if event.task.kind is not Kind.KAPPA:
            if event.what == "opened":
                event.task.state = State.CANCELLED
        elif event.what == "opened":
            searches += 1
        elif event.what in ("split", "done", "cancelled"):
            searches -= 1
        if event.what in ("done", "cancelled") and not searches:
            run.stop()

    run.on_event(heard)
    start = time.perf_counter()
    run.finish()
    return run.counts.tuples, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", type=Path, default=CREDIT / "model.json")
    parser.add_argument("space", nargs="?", type=Path, default=CREDIT / "space.toml")
    parser.add_argument("--sensitive", action="append")
    parser.add_argument("--confidence", default="0.5")
    parser.add_argument("--encoding", default="paper", choices=["paper", "cells"])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()

    # Under exact arithmetic the two sides have the same solutions, with no band to replay away.
    question = fb.Fairness(
        sensitive=options.sensitive or ["sex"], confidence=options.confidence, arithmetic="exact"
    )
    space = fb.InputSpace.from_schema(options.space)
    problem = build_problem(fb.load_model(options.model), space, question)
    settings = Settings(backend="z3", encoding=options.encoding)

    rates: dict[str, list[float]] = {"bare z3 loop": [], "orchestrator": []}
    for _ in range(options.repeat):
        counts = set()
        for name, (solutions, seconds) in (
            ("bare z3 loop", bare_loop(problem, options.encoding)),
            ("orchestrator", orchestrated(problem, settings)),
        ):
            counts.add(solutions)
            rates[name].append(solutions / seconds)
            print(
                f"{name:13} {solutions:7} solutions {seconds:8.2f} s {solutions / seconds:9.1f} per s",
                flush=True,
            )
        if len(counts) != 1:
            raise SystemExit(f"the two sides found different numbers of solutions: {sorted(counts)}")
    bare, whole = (statistics.median(values) for values in rates.values())
    print(f"median: {bare:.1f} and {whole:.1f} per s, ratio {whole / bare:.2f}")


if __name__ == "__main__":
    main()
