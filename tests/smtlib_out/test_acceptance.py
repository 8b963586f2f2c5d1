"""Every reader takes the files, strict ones too, and all give the expected answer."""

import shutil
import subprocess
import sys
from pathlib import Path

import cvc5
import pytest
import z3
from pysmt.environment import Environment
from pysmt.logics import QF_LIRA

from fairbox.smtlib_out.header import Header
from fairbox.smtlib_out.reader import read_script
from fairbox.smtlib_out.writer import save_script
from tests.smtlib_out.formulas import corpus

CORPUS = corpus()


@pytest.fixture(params=CORPUS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A file, and its answer."""
    answer, formulas = CORPUS[request.param]
    path = tmp_path / "script.smt2"
    save_script(path, [request.param, *formulas], Header(f"test: {request.param}", "CC0-1.0"))
    return path, answer


def _program(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        pytest.skip(f"the program {name} is not installed")
    return found


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def test_z3_program(case: tuple[Path, str]) -> None:
    path, answer = case
    assert _said([_program("z3"), "-smt2", str(path)]) == answer + "\n"


def test_z3_library(case: tuple[Path, str]) -> None:
    path, answer = case
    solver = z3.Solver()
    solver.from_file(str(path))
    assert str(solver.check()) == answer


def test_yices_program(case: tuple[Path, str]) -> None:
    path, answer = case
    assert _said([_program("yices-smt2"), "--incremental", str(path)]) == answer + "\n"


def test_cvc5_parsing_strictly(case: tuple[Path, str]) -> None:
    path, answer = case
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("strict-parsing", "true")
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, str(path))
    said = []
    while not (command := parser.nextCommand()).isNull():
        said.append(command.invoke(solver, parser.getSymbolManager()))
    assert "".join(said) == answer + "\n"


def test_pysmt_parser(case: tuple[Path, str]) -> None:
    path, answer = case
    script = read_script(path, Environment())
    with script.environment.factory.Solver(name="z3", logic=QF_LIRA) as solver:
        assert solver.is_sat(script.formula) == (answer == "sat")
