"""Ctrl-C, SIGTERM and time limits: bounds so far printed and written, and no process left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.api.conftest import train

WAIT_SECONDS = 60

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes through /proc"
)


@pytest.fixture(scope="session")
def endless(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model and a space whose exact answer takes hours."""
    folder = tmp_path_factory.mktemp("endless")
    draw = np.random.default_rng(2)
    names = [f"a{i}" for i in range(12)]
    table = pd.DataFrame({name: draw.integers(0, 100, 2000) for name in names})
    label = (table["a0"] + table["a1"] - table["a2"] + draw.normal(0, 40, 2000) > 50).astype(int)
    model = train(table, label, 25, 4, folder / "endless.json")
    space = folder / "endless.toml"
    entry = '[[attribute]]\nname = "{}"\ntype = "integer"\nmin = 0\nmax = 99\nsensitive = {}\n'
    space.write_text("".join(entry.format(name, "true" if name == "a0" else "false") for name in names))
    return model, space


def command(endless: tuple[Path, Path], output: Path, *options: str) -> list[str]:
    model, space = endless
    question = ["quantify", str(model), "--space", str(space), "--tolerance-rate", "0.1"]
    rest = ["--format", "json", "--output", str(output), *options]
    return [sys.executable, "-m", "fairbox.cli", *question, *rest]


def living() -> dict[int, int]:
    """Every process that is not a zombie, and its parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if fields[0] != "Z":
                found[int(entry.name)] = int(fields[1])
    return found


def descendants(root: int) -> set[int]:
    """What a process has started, and what that has started. Solvers have sessions of their own."""
    parents = living()
    found, new = set(), {root}
    while new:
        found |= new
        new = {pid for pid, parent in parents.items() if parent in new}
    return found - {root}


@contextmanager
def started(command: list[str]) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()


def wait_until_solving(process: "subprocess.Popen[str]", solvers: int) -> set[int]:
    """Until solvers run; all processes by then."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        found = descendants(process.pid)
        if sum(is_solver(pid) for pid in found) >= solvers:
            return found
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.1)


def is_solver(pid: int) -> bool:
    try:
        words = (Path("/proc") / str(pid) / "cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return Path(os.fsdecode(words[0])).name == "z3"


def all_gone(processes: set[int]) -> bool:
    end = time.monotonic() + 5
    while processes & living().keys():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def check_answer(text: str, output: Path, status: str) -> None:
    content = json.loads(text)
    assert content["status"] == status and not content["converged"]
    low, high = (Fraction(content["measure"][end]) for end in ("lower", "upper"))
    assert 0 <= low <= high <= 1
    assert json.loads((output / "result.json").read_text()) == content
    assert len(pd.read_parquet(output / "regions.parquet")) == content["regions"]["count"]
    assert sorted(p.name for p in output.iterdir()) == ["regions.csv", "regions.parquet", "result.json"]


@pytest.mark.parametrize(
    ("number", "code", "workers"),
    [(signal.SIGTERM, 143, 1), (signal.SIGINT, 130, 2)],
    ids=["SIGTERM", "Ctrl-C with workers"],
)
def test_signal_ends_the_run_in_good_order(
    endless: tuple[Path, Path], tmp_path: Path, number: int, code: int, workers: int
) -> None:
    output = tmp_path / "out"
    with started(command(endless, output, "--workers", str(workers))) as process:
        processes = wait_until_solving(process, workers)
        time.sleep(0.5)
        processes |= descendants(process.pid)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # a terminal sends it to every process of the group
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == code, err
    check_answer(out, output, "interrupted")
    assert "Traceback" not in err
    assert all_gone(processes)


def test_second_signal_ends_at_once(endless: tuple[Path, Path], tmp_path: Path) -> None:
    with started(command(endless, tmp_path / "out")) as process:
        processes = wait_until_solving(process, 1)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode in (130, 143), err
    assert all_gone(processes)


def test_signal_before_the_run_leaves_bounds_that_say_nothing(
    endless: tuple[Path, Path], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    with started(command(endless, output)) as process:
        # By now it listens; xgboost, which takes its time to load, comes after numpy.
        end = time.monotonic() + WAIT_SECONDS
        while "numpy" not in (Path("/proc") / str(process.pid) / "maps").read_text():
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 143, err
    check_answer(out, output, "interrupted")
    assert json.loads(out)["measure"]["lower"] == "0"


def test_time_limit_counts_loading_and_leaves_no_process(endless: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "out"
    start = time.monotonic()
    processes: set[int] = set()
    with started(command(endless, output, "--time-limit", "5")) as process:
        while True:
            processes |= descendants(process.pid)
            assert time.monotonic() - start < 5 + WAIT_SECONDS
            with suppress(subprocess.TimeoutExpired):
                out, err = process.communicate(timeout=0.1)
                break
        took = time.monotonic() - start
    assert process.returncode == 0, err
    check_answer(out, output, "time_limit")
    assert json.loads(out)["settings"]["time_limit"] == 5.0
    assert took < 5 + 7  # some room for a busy machine
    assert processes and all_gone(processes)


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.6])
def test_ctrl_c_while_workers_start_ends_the_run(
    endless: tuple[Path, Path], tmp_path: Path, delay: float
) -> None:
    """A worker that dies of the signal before it has read its order must not leave its owner waiting."""
    output = tmp_path / "out"
    with started(command(endless, output, "--workers", "2")) as process:
        end = time.monotonic() + WAIT_SECONDS
        while len(descendants(process.pid)) < 2:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.01)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=15)
    assert process.returncode == 130, err
    check_answer(out, output, "interrupted")
    assert "Traceback" not in err
