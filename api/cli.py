"""The command line: quantify, export, solvers, show, space.

Results go to standard output, everything else to standard error. Nothing heavy is imported before a command
needs it, so that help is there at once.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fairbox
from fairbox.encoder.errors import FairboxError, OutputError, QuestionError, SolverFailure, SoundnessError

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


class _Program:
    """What holds for the whole program: when it started, and whether errors show their tracebacks."""

    started = 0.0
    debug = False


def _set_debug(value: bool) -> None:
    _Program.debug = _Program.debug or value


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"fairbox {fairbox.__version__}")
        raise typer.Exit


Debug = Annotated[
    bool, typer.Option("--debug", callback=_set_debug, is_eager=True, help="Show the traceback of an error.")
]
Format = Annotated[str, typer.Option("--format", metavar="text|json", help="What standard output gets.")]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file: XGBoost JSON or UBJ.")]
SpacePath = Annotated[Path, typer.Option("--space", metavar="FILE", help="The space file (TOML).")]
Property = Annotated[str, typer.Option("--property", metavar="fairness|robustness", help="What is asked.")]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive", metavar="NAME", help="A sensitive attribute; repeat for several. [default: as flagged]"
    ),
]
Rate = Annotated[
    str, typer.Option("--tolerance-rate", metavar="R", help="Tolerance as a share of each attribute's range.")
]
Tolerance = Annotated[
    list[str] | None,
    typer.Option("--tolerance", metavar="NAME=VALUE", help="Tolerance of one attribute; repeat for several."),
]
Confidence = Annotated[
    str,
    typer.Option("--confidence", metavar="K", help="Only inputs of greater confidence count; in [0.5, 1)."),
]
Ties = Annotated[str, typer.Option("--ties", metavar="none|library", help="The class of margin 0.")]
Arithmetic = Annotated[
    str,
    typer.Option("--arithmetic", metavar="deployed|exact", help="Sums as the model makes them, or exact."),
]
Encoding = Annotated[str, typer.Option("--encoding", metavar="paper|cells", help="How formulas are written.")]


@app.callback(invoke_without_command=True)
def _program(
    context: typer.Context,
    debug: Debug = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def quantify(
    model: ModelPath,
    space: SpacePath,
    property: Property = "fairness",
    sensitive: Sensitive = None,
    tolerance_rate: Rate = "0",
    tolerance: Tolerance = None,
    confidence: Confidence = "0.5",
    ties: Ties = "none",
    arithmetic: Arithmetic = "deployed",
    encoding: Encoding = "paper",
    strategy: Annotated[
        str, typer.Option(metavar="auto|paths", help="How the answer is searched for.")
    ] = "auto",
    backend: Annotated[str, typer.Option(metavar="NAME", help="Who answers: see `fairbox solvers`.")] = "z3",
    workers: Annotated[
        int, typer.Option(metavar="N", help="How many questions are worked on at a time.")
    ] = 1,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Stop then, loading included, with what is proven. [default: none]"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The solvers' random seed.")] = 0,
    no_box_blocking: Annotated[
        bool, typer.Option("--no-box-blocking", help="Block pairs one by one.")
    ] = False,
    no_decomposition: Annotated[bool, typer.Option("--no-decomposition", help="Never split a task.")] = False,
    no_priority: Annotated[bool, typer.Option("--no-priority", help="Take tasks as they come.")] = False,
    blocking_limit: Annotated[
        int, typer.Option(metavar="N", help="Blocking clauses at which a task is split.")
    ] = 100,
    format: Format = "text",
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the result and all regions there.")
    ] = None,
    debug: Debug = False,
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

    run = start(problem, settings, spent=time.monotonic() - _Program.started)
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
    model: ModelPath,
    space: SpacePath,
    output: Annotated[Path, typer.Option(metavar="DIR", help="The folder that the files go to.")],
    property: Property = "fairness",
    sensitive: Sensitive = None,
    tolerance_rate: Rate = "0",
    tolerance: Tolerance = None,
    confidence: Confidence = "0.5",
    ties: Ties = "none",
    arithmetic: Arithmetic = "deployed",
    encoding: Encoding = "paper",
    debug: Debug = False,
) -> None:
    """The formulas of a question as SMT-LIB files. No solver is run."""
    question = _question(property, sensitive, tolerance_rate, tolerance, confidence, ties, arithmetic)
    problem = _load(model, space, question)
    from fairbox.smtlib_out.export import export_problem

    for path in export_problem(problem, encoding, output):
        typer.echo(path)


@app.command()
def solvers(format: Format = "text", debug: Debug = False) -> None:
    """The solvers at hand: version, what they can do, and for a missing one what to install."""
    _check_format(format)
    from fairbox.listings import solvers_data, solvers_table

    data = solvers_data()
    _print(data, solvers_table(data), format)


@app.command()
def show(model: ModelPath, format: Format = "text", debug: Debug = False) -> None:
    """What was loaded: trees, depth, columns tested, thresholds, base and link."""
    _check_format(format)
    from fairbox.encoder.loading import load_model
    from fairbox.inspection import model_details
    from fairbox.listings import model_table

    data = model_details(load_model(model))
    _print(data, model_table(data), format)


@app.command()
def space(
    data: Annotated[
        Path, typer.Argument(metavar="DATA.csv", help="A table with one column per input of the model.")
    ],
    sensitive: Sensitive = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A column whose numbers are codes; repeat for several."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column that is not an input but the answer.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write. [default: stdout]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    debug: Debug = False,
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
    _Program.started, _Program.debug = time.monotonic(), False
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
    if _Program.debug:
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
