"""The options that several commands share, and what they set for the whole program."""

from pathlib import Path
from typing import Annotated

import typer

import fairbox


class _Program:
    """What holds for the whole program: when it started, and whether errors show their tracebacks."""

    started = 0.0
    debug = False


program = _Program()


def _set_debug(value: bool) -> None:
    program.debug = program.debug or value


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
Strategy = Annotated[
    str, typer.Option("--strategy", metavar="auto|paths", help="How the answer is searched for.")
]
BackendName = Annotated[
    str, typer.Option("--backend", metavar="NAME", help="Who answers: see `fairbox solvers`.")
]
Workers = Annotated[
    int, typer.Option("--workers", metavar="N", help="How many questions are worked on at a time.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="Stop then, loading included, with what is proven. [default: none]",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The solvers' random seed.")]
NoBoxBlocking = Annotated[bool, typer.Option("--no-box-blocking", help="Block pairs one by one.")]
NoDecomposition = Annotated[bool, typer.Option("--no-decomposition", help="Never split a task.")]
NoPriority = Annotated[bool, typer.Option("--no-priority", help="Take tasks as they come.")]
BlockingLimit = Annotated[
    int, typer.Option("--blocking-limit", metavar="N", help="Blocking clauses at which a task is split.")
]
ResultFolder = Annotated[
    Path | None,
    typer.Option("--output", metavar="DIR", help="Also write the result and all regions there."),
]
FilesFolder = Annotated[
    Path, typer.Option("--output", metavar="DIR", help="The folder that the files go to.")
]
Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
]
DataPath = Annotated[
    Path, typer.Argument(metavar="DATA.csv", help="A table with one column per input of the model.")
]
Flagged = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="NAME", help="A column to flag as sensitive; repeat for several."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical", metavar="NAME", help="A column whose numbers are codes; repeat for several."
    ),
]
Label = Annotated[
    str | None,
    typer.Option("--label", metavar="NAME", help="The column that is not an input but the answer."),
]
DraftPath = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Where to write. [default: stdout]")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file.")]
