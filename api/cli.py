"""The command line: quantify, export, solvers, show, space.

Results go to standard output, everything else to standard error. Nothing heavy is imported before a command
needs it, so that help is there at once.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairbox import options
from fairbox.encoder.errors import FairboxError, OutputError, QuestionError, SolverFailure, SoundnessError
from fairbox.options import program

if TYPE_CHECKING:
    from rich.console import Console

    from fairbox.encoder.problem import Problem
    from fairbox.encoder.properties import Question
    from fairbox.orchestrator.settings import Settings
    from fairbox.result import Result

BAD_INPUT, FAILURE = 2, 1
# The root of what typer raises for a command line it cannot read; typer names only its children.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="fairbox",
    help="For what share of the input space does a sensitive attribute, or a small change, change a model's decision?",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _program(context: typer.Context, debug: options.Debug = False, version: options.Version = False) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def quantify(
    model: options.ModelPath,
    space: options.SpacePath,
    property: options.Property = "fairness",
    sensitive: options.Sensitive = None,
    tolerance_rate: options.Rate = "0",
    tolerance: options.Tolerance = None,
    confidence: options.Confidence = "0.5",
    ties: options.Ties = "none",
    arithmetic: options.Arithmetic = "deployed",
    encoding: options.Encoding = "paper",
    strategy: options.Strategy = "auto",
    backend: options.BackendName = "z3",
    workers: options.Workers = 1,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    no_box_blocking: options.NoBoxBlocking = False,
    no_decomposition: options.NoDecomposition = False,
    no_priority: options.NoPriority = False,
    blocking_limit: options.BlockingLimit = 100,
    format: options.Format = "text",
    output: options.ResultFolder = None,
    debug: options.Debug = False,
) -> None:
    """Bounds on the share of inputs whose decision is fair or robust, until they meet or time is up."""
    from fairbox.signals import interruption

    with interruption() as heard:
        _check_format(format)
        question = _question(property, sensitive, tolerance_rate, tolerance, confidence, ties, arithmetic)
        from fairbox.orchestrator.settings import Settings

        settings = Settings(
            strategy=strategy,
            backend=backend,
            encoding=encoding,
            workers=workers,
            time_limit=time_limit,
            seed=seed,
            box_blocking=not no_box_blocking,
            decomposition=not no_decomposition,
            priority=not no_priority,
            blocking_limit=blocking_limit,
        )
        result = _run(_load(model, space, question), settings, output, heard)
        _deliver(result, output, format)
    raise typer.Exit(heard.exit_code)


def _run(problem: "Problem", settings: "Settings", output: Path | None, heard: Any) -> "Result":
    from fairbox.progress import progress
    from fairbox.quantification import start
    from fairbox.smtlib_out.folder import writable_folder

    run = start(problem, settings, spent=time.monotonic() - program.started)
    if output is not None:
        writable_folder(output)
    heard.stops(run.stop)
    with progress(run, _console(stderr=True)):
        return run.result()


def _deliver(result: "Result", output: Path | None, format: str) -> None:
    """Write the files, then print; what cannot be written is still printed."""
    failure: OutputError | None = None
    if output is not None:
        from fairbox.output import write_result

        try:
            write_result(output, result)
        except OutputError as error:
            failure = error
    if format == "json":
        typer.echo(result.to_json())
    else:
        from fairbox.report import summary

        typer.echo(summary(result))
    if failure is not None:
        raise failure


@app.command()
def export(
    model: options.ModelPath,
    space: options.SpacePath,
    output: options.FilesFolder,
    property: options.Property = "fairness",
    sensitive: options.Sensitive = None,
    tolerance_rate: options.Rate = "0",
    tolerance: options.Tolerance = None,
    confidence: options.Confidence = "0.5",
    ties: options.Ties = "none",
    arithmetic: options.Arithmetic = "deployed",
    encoding: options.Encoding = "paper",
    debug: options.Debug = False,
) -> None:
    """The formulas of a question as SMT-LIB files. No solver is run."""
    question = _question(property, sensitive, tolerance_rate, tolerance, confidence, ties, arithmetic)
    problem = _load(model, space, question)
    from fairbox.smtlib_out.export import export_problem

    for path in export_problem(problem, encoding, output):
        typer.echo(path)


@app.command()
def solvers(format: options.Format = "text", debug: options.Debug = False) -> None:
    """The solvers at hand: version, what they can do, and for a missing one what to install."""
    _check_format(format)
    from fairbox.listings import solvers_data, solvers_table

    data = solvers_data()
    _print(data, solvers_table(data), format)


@app.command()
def show(model: options.ModelPath, format: options.Format = "text", debug: options.Debug = False) -> None:
    """What was loaded: trees, depth, columns tested, thresholds, base and link."""
    _check_format(format)
    from fairbox.encoder.loading import load_model
    from fairbox.inspection import model_details
    from fairbox.listings import model_table

    data = model_details(load_model(model))
    _print(data, model_table(data), format)


@app.command()
def space(
    data: options.DataPath,
    sensitive: options.Flagged = None,
    categorical: options.Categorical = None,
    label: options.Label = None,
    output: options.DraftPath = None,
    force: options.Force = False,
    debug: options.Debug = False,
) -> None:
    """A first draft of a space file from a data file. Read and correct it before you use it."""
    if output is not None and output.exists() and not force:
        raise OutputError(f"{output} exists: choose another name, or overwrite it with --force")
    from fairbox.draft import draft_text, guesses_from_file

    guesses = guesses_from_file(data, sensitive or (), categorical or (), label)
    for attribute, why in guesses:
        typer.echo(f"{attribute.name}: {attribute.kind}; {why}", err=True)
    text = draft_text(guesses, data.name)
    if output is None:
        typer.echo(text, nl=False)
        return
    from fairbox.smtlib_out.atomic import atomic_open

    with atomic_open(output) as file:
        file.write(text)


def _load(model: Path, space: Path, question: "Question") -> "Problem":
    from fairbox.formulas import ground

    return ground(model, space, question)


def _question(
    property: str,
    sensitive: Sequence[str] | None,
    rate: str,
    tolerances: Sequence[str] | None,
    confidence: str,
    ties: Any,
    arithmetic: Any,
) -> "Question":
    """The question that the options spell; numbers stay text until they are exact."""
    from fairbox.encoder.properties import Fairness, Robustness, parse_tolerances

    _check_choice("property", property, ("fairness", "robustness"))
    common: dict[str, Any] = {
        "tolerance_rate": rate,
        "tolerance": parse_tolerances(tolerances or ()),
        "confidence": confidence,
        "ties": ties,
        "arithmetic": arithmetic,
    }
    if property == "fairness":
        return Fairness(sensitive=tuple(sensitive or ()), **common)
    if sensitive:
        raise QuestionError(
            "robustness has no sensitive attribute: leave --sensitive out, or ask for fairness"
        )
    return Robustness(**common)


def _check_format(format: str) -> None:
    _check_choice("format", format, ("text", "json"))


def _check_choice(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise QuestionError(f"unknown {what} {value!r}: use {' or '.join(known)}")


def _print(data: dict[str, Any], table: Any, format: str) -> None:
    if format == "json":
        import json

        typer.echo(json.dumps(data, indent=2, allow_nan=False))
    else:
        _console().print(table)


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        # A file has no width; the default of 80 columns would break lines.
        console.width = max(console.width, 160)
    return console


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    program.started, program.debug = time.monotonic(), False
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that lacks a letter must not cost the answer.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _code(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone. Nothing more may be written, also not by the interpreter as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILURE
    sys.exit(code)


def _code(arguments: Sequence[str] | None) -> int:
    try:
        return int(app(args=arguments, prog_name="fairbox", standalone_mode=False) or 0)
    except FairboxError as error:
        return _refuse(error, FAILURE if isinstance(error, SolverFailure | SoundnessError) else BAD_INPUT)
    except _USAGE_ERROR as error:
        return _refuse(error, BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return 130


def _refuse(error: Exception, code: int) -> int:
    """One line that says what was wrong, where, and what to do."""
    if program.debug:
        import traceback

        traceback.print_exception(error)
    message = str(error)
    if isinstance(error, _USAGE_ERROR):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "fairbox"
        message = f"{error.format_message()} See `{command} --help`."
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return code


if __name__ == "__main__":
    main()
