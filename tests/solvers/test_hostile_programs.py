"""Programs that misbehave in every way a program can: each is handled, soon, and nothing of it is left."""

import os
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairbox.encoder.errors import FairboxError, SolverFailure
from fairbox.solvers import smtlib
from fairbox.solvers.pipe import PipeBackend, PipeSession
from fairbox.solvers.protocols import Answer, Status
from fairbox.solvers.registry import get_backend
from tests.solvers.formulas import HARD
from tests.solvers.processes import eventually, is_running, running_with

SCRIPT = "(set-logic QF_LIRA)(declare-const b Bool)"
TIMEOUT = Answer(Status.UNKNOWN, "timeout")

# A program that behaves, but where `{do}` says what it does on each line; `say` prints and flushes.
PROGRAM = """
import os, signal, sys, time
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
for line in sys.stdin:
    if line.startswith("(echo"):
        say(line[6:-2] + chr(10))
        continue
{do}
"""
ASKED = 'if "check-sat" in line: '

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Writes a program, gives its command line; afterwards nothing of it may run."""

    def write_program(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(text)
        return shlex.join([sys.executable, "-I", "-S", str(path)])

    yield write_program
    program = str(tmp_path / "program.py")
    gone = eventually(lambda: not running_with(program))
    for pid in running_with(program):
        os.kill(pid, signal.SIGKILL)
    assert gone, "processes were left behind"


@pytest.fixture
def program(write: Write) -> Callable[..., PipeBackend]:
    """The backend of a program that behaves but for the lines given, taken to be a good one."""

    def make(*lines: str) -> PipeBackend:
        body = textwrap.indent("\n".join(lines), "    ")
        return smtlib.unexamined(write(PROGRAM.replace("{do}", body)))

    return make


Program = Callable[..., PipeBackend]


@pytest.fixture(autouse=True)
def _soon() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 4.0, "it took too long"


def test_the_program_of_these_tests_is_a_good_one_to_begin_with(program: Program) -> None:
    values = "if 'get-value' in line: say('((b true))\\n')"
    statistics = "if 'statistics' in line: say('(:steps 3 :time 0.5 :mood \"good\")\\n')"
    backend = program(ASKED + "say('sat\\n')", values, statistics)
    with backend.open(SCRIPT) as session:
        for _ in range(3):
            assert session.check_values(["b"], 1.0) == (Answer(Status.SAT), {"b": True})
            session.block(["b"])
        counters = session.statistics()
        assert (counters["session.checks"], counters["session.starts"]) == (3, 1)
        assert (counters["steps"], counters["time"], counters["mood"]) == (3, 0.5, "good")


WRONG_ANSWERS = {
    "a word": ("say('maybe\\n')", r"said: maybe"),
    "an open bracket": ("say('(sat\\n'); sys.exit(3)", r"\(sat'.*exit code 3"),
    "a bracket too many": ("say('sat)\\n')", "bracket too many"),
    "half a line": ("say('sa'); os._exit(0)", "sa'.*exit code 0"),
    "an error": ("""say('(error "out of\\ncheese")\\n')""", "reported an error: out of cheese"),
    "unsupported": ("say('unsupported\\n')", "does not support"),
    "two answers": ("say('sat\\nsat\\n')", "more than it was asked"),
    "a list": ("say('(sat)\\n')", r"said: \(sat\)"),
    "a number": ("say('1\\n')", "said: 1"),
    "bytes": ("sys.stdout.buffer.write(bytes(range(128, 256)) + b'\\n'); say('')", "said"),
    "zeros": ("sys.stdout.buffer.write(bytes(9) + b'\\n'); say('')", "said"),
    "a death": ("sys.exit('too hard for me')", "exit code 1; its last words: too hard for me"),
    "a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "a closed pipe": ("os.close(1); time.sleep(60)", "closed its output"),
}


@pytest.mark.parametrize("how", WRONG_ANSWERS)
def test_a_wrong_answer_to_check_sat(program: Program, how: str) -> None:
    does, says = WRONG_ANSWERS[how]
    with program(ASKED + does).open(SCRIPT) as session:
        for _ in range(2):  # the second time by a new process
            with pytest.raises(SolverFailure, match=says) as raised:
                session.check(1.0)
            assert "\n" not in str(raised.value)
        assert session.pid is None


WRONG_VALUES = {
    "none": "say('()\\n')",
    "of another": "say('((c true))\\n')",
    "of two": "say('((b true) (b true))\\n')",
    "of another sort": "say('((b 3))\\n')",
    "no value": "say('((b b))\\n')",
    "an atom": "say('true\\n')",
    "an error": "say('(error \"no model\")\\n')",
    "a death": "os._exit(1)",
}


@pytest.mark.parametrize("how", WRONG_VALUES)
def test_a_wrong_answer_to_get_value(program: Program, how: str) -> None:
    does = WRONG_VALUES[how]
    with program(ASKED + "say('sat\\n')", f"if 'get-value' in line: {does}").open(SCRIPT) as session:
        assert session.check(1.0) == Answer(Status.SAT)
        with pytest.raises(SolverFailure):
            session.values(["b"])
        with pytest.raises(SolverFailure):
            session.check_values(["b"], 1.0)


def test_values_that_do_not_come(program: Program) -> None:
    with program(ASKED + "say('sat\\n')").open(SCRIPT) as session:
        assert session.check(1.0) == Answer(Status.SAT)
        with pytest.raises(SolverFailure, match="in time"):
            session.values(["b"], 0.2)
        assert session.check_values(["b"], 0.2) == (TIMEOUT, {})


def test_blank_lines_comments_and_success_are_skipped(program: Program) -> None:
    with program("say('\\n; well\\n success \\n\\n')", ASKED + "say('\\nunsat\\n\\n')").open(
        SCRIPT
    ) as session:
        assert session.check(1.0) == Answer(Status.UNSAT)
        assert session.check(1.0) == Answer(Status.UNSAT)


def test_an_answer_in_pieces(program: Program) -> None:
    does = "[(say(letter), time.sleep(0.02)) for letter in 'unsat\\n']"
    with program(ASKED + does).open(SCRIPT) as session:
        assert session.check(2.0) == Answer(Status.UNSAT)


@pytest.mark.parametrize("reason", ["timeout", "incomplete", "memout", "just because"])
def test_unknown_has_a_reason(program: Program, reason: str) -> None:
    told = f"if 'reason' in line: say('(:reason-unknown \"{reason}\")\\n')"
    with program(ASKED + "say('unknown\\n')", told).open(SCRIPT) as session:
        assert session.check(1.0) == Answer(Status.UNKNOWN, reason)


def test_unknown_without_a_reason_is_still_unknown(program: Program) -> None:
    with program(ASKED + "say('unknown\\n')").open(SCRIPT) as session:
        answer = session.check(1.0)
        assert answer.status is Status.UNKNOWN
        assert "in time" in str(answer.reason)


# Floods ----------------------------------------------------------------------------------------------


def test_a_flood_of_errors_does_not_block(program: Program) -> None:
    flood = "sys.stderr.write('x' * 1000 * 1000 + 'the end'); sys.stderr.flush()"
    with program(flood, ASKED + "say('sat\\n')").open(SCRIPT) as session:
        assert session.check(3.0) == Answer(Status.SAT)


def test_an_endless_flood_of_errors_ends_at_the_limit(program: Program) -> None:
    flood = "while True: sys.stderr.write('x' * 1000 + chr(10))"
    with program(flood).open(SCRIPT) as session:
        assert session.check(0.5) == TIMEOUT


@pytest.mark.parametrize(
    "piece", ["'x' * 1000", "'x' * 1000 + '\\n'", "'(' * 1000 + '\\n'", "'\"' + 'x\\n' * 1000"]
)
def test_an_endless_flood_of_output_is_no_answer(program: Program, piece: str) -> None:
    session = program(ASKED, f"    while True: say({piece})").open(SCRIPT)
    with pytest.raises(SolverFailure):
        session.check()


def test_a_flood_of_blank_lines_ends_at_the_limit(program: Program) -> None:
    with program(ASKED, "    while True: say('\\n' * 1000)").open(SCRIPT) as session:
        assert session.check(0.5) == TIMEOUT


def test_words_that_nobody_asked_for_are_not_the_next_answer(program: Program) -> None:
    late = "say('unsat\\n'); time.sleep(0.1); say('unsat\\n')"
    with program(ASKED + late).open(SCRIPT) as session:
        assert session.check(1.0) == Answer(Status.UNSAT)
        time.sleep(0.3)
        with pytest.raises(SolverFailure, match="more than it was asked"):
            session.check(1.0)


def test_a_flood_between_two_questions(program: Program) -> None:
    flood = "say('sat\\n'); time.sleep(0.1)\n    while True: say('\\n' * 60000)"
    with program(ASKED + "\n    " + flood).open(SCRIPT) as session:
        assert session.check(1.0) == Answer(Status.SAT)
        time.sleep(0.2)
        with pytest.raises(SolverFailure):  # "does not stop printing", or "in time" if it pauses for breath
            session.values(["b"], 0.3)


# Silence ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["import time\ntime.sleep(60)", "import sys\nfor line in sys.stdin: pass"])
def test_silence_ends_at_the_limit(write: Write, text: str) -> None:
    start = time.monotonic()
    with smtlib.unexamined(write(text)).open(SCRIPT) as session:
        assert session.check(0.3) == TIMEOUT
        assert time.monotonic() - start < 1.3
        assert session.check(0.1) == TIMEOUT


def test_a_program_that_reads_nothing_does_not_block_a_big_script(write: Write) -> None:
    backend = smtlib.unexamined(write("import time\ntime.sleep(60)"))
    start = time.monotonic()
    with backend.open(SCRIPT + "\n" + "(assert b)\n" * 500_000) as session:
        assert session.check(0.3) == TIMEOUT
    assert time.monotonic() - start < 1.5


def test_a_program_that_answers_while_it_is_still_being_told(write: Write) -> None:
    does = "import sys\nsys.stdin.read(10)\nprint('(error \"I saw enough\")', flush=True)\nsys.stdin.read()"
    session = smtlib.unexamined(write(does)).open(SCRIPT + "\n" + "(assert b)\n" * 500_000)
    with pytest.raises(SolverFailure, match="I saw enough"):
        session.check()


def test_a_program_that_ignores_every_signal(write: Write) -> None:
    text = """
import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE): signal.signal(number, signal.SIG_IGN)
while True: time.sleep(1)
"""
    with smtlib.unexamined(write(text)).open(SCRIPT) as session:
        assert session.check(0.2) == TIMEOUT


# Families --------------------------------------------------------------------------------------------

FORKS = "if 'declare' in line and os.fork() == 0: time.sleep(60)"


def test_children_are_ended_with_their_parent(program: Program, tmp_path: Path) -> None:
    session = program(FORKS, ASKED + "say('sat\\n')").open(SCRIPT)
    assert session.check(1.0) == Answer(Status.SAT)
    assert len(running_with(str(tmp_path))) == 2
    session.close()
    # Killed is not yet gone: the kernel takes its time with a child that is not ours to reap.
    assert eventually(lambda: not running_with(str(tmp_path)))


def test_a_child_that_outlives_its_parent_does_not_hide_the_death(program: Program) -> None:
    session = program(FORKS, ASKED + "os._exit(7)").open(SCRIPT)
    with pytest.raises(SolverFailure, match="exit code 7"):
        session.check()


def test_a_child_that_floods_after_its_parent_s_death(program: Program) -> None:
    flood = "if 'declare' in line and os.fork() == 0:\n    while True: os.write(2, b'x' * 1000)"
    session = program(flood, ASKED + "os._exit(7)").open(SCRIPT)
    with pytest.raises(SolverFailure, match="exit code 7"):
        session.check()


# Owners ----------------------------------------------------------------------------------------------


def test_a_forgotten_session_ends_its_process() -> None:
    session = get_backend("z3").open(SCRIPT)
    pid = session.pid  # type: ignore[attr-defined]
    assert is_running(pid)
    del session
    assert eventually(lambda: not is_running(pid))


@pytest.mark.parametrize("name", ["z3", "cvc5", "yices"])
def test_no_solver_survives_an_owner_that_is_killed(name: str) -> None:
    owner = f"""
import os, signal, threading
from fairbox.solvers.registry import get_backend
from tests.solvers.formulas import HARD
session = get_backend({name!r}).open(HARD)
print(session.pid, flush=True)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
session.check()
"""
    run = subprocess.run(
        [sys.executable, "-c", owner],
        capture_output=True,
        text=True,
        timeout=10,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert eventually(lambda: not is_running(int(run.stdout)))


def test_a_solver_outlives_the_thread_that_started_it() -> None:
    sessions: list[PipeSession] = []

    def start() -> None:
        session = get_backend("z3").open(SCRIPT)
        assert isinstance(session, PipeSession)
        session.check()
        sessions.append(session)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    time.sleep(0.1)
    with sessions[0] as session:
        assert session.check() == Answer(Status.SAT)
        assert session.statistics()["session.starts"] == 1


def test_a_fork_of_the_owner_does_not_end_the_owner_s_solver() -> None:
    # In a program of its own: forking the test process, with its threads, is not safe.
    owner = f"""
import os
from fairbox.solvers.registry import get_backend
session = get_backend("z3").open({SCRIPT!r})
session.check()
child = os.fork()
if child == 0:
    session.close()
    own = get_backend("z3").open({SCRIPT!r})
    os._exit(own.check().status != "sat")
assert os.waitpid(child, 0)[1] == 0
assert session.check().status == "sat"
assert session.statistics()["session.starts"] == 1
"""
    run = subprocess.run(
        [sys.executable, "-c", owner], capture_output=True, text=True, timeout=10, check=False
    )
    assert run.returncode == 0, run.stderr


def test_sessions_in_threads_do_not_disturb_each_other() -> None:
    answers: list[object] = []

    def work() -> None:
        with get_backend("z3").open(HARD) as session:
            answers.append(session.check(0.3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [TIMEOUT] * 4


# The examination of a program ------------------------------------------------------------------------


def test_a_program_that_is_no_solver_is_refused_in_one_line(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smtlib, "TRIAL_SECONDS", 0.3)
    for text in ("", "print('hello')", "import time; time.sleep(60)", "import sys; sys.exit('no licence')"):
        smtlib.backend.cache_clear()
        with pytest.raises(FairboxError, match="dialogue of a session") as raised:
            get_backend(f"smtlib:{write(text)}")
        assert "\n" not in str(raised.value)


def test_a_solver_that_is_wrong_is_refused(program: Program) -> None:
    command = program(ASKED + "say('sat\\n')", "if 'get-value' in line: say('((b true) (r 0.5))\\n')").name
    with pytest.raises(FairboxError, match="where b is true and r is -1/3"):
        get_backend(command)
