"""A space file drafted from a data file, for a person to read and correct."""

from collections.abc import Collection
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit

from fairbox.encoder.errors import SpaceError
from fairbox.encoder.frames import Guess, guess_attributes
from fairbox.encoder.numbers import show
from fairbox.encoder.space import Attribute

if TYPE_CHECKING:
    import pandas as pd


def guesses_from_file(
    data: Path, sensitive: Collection[str] = (), categorical: Collection[str] = (), label: str | None = None
) -> list[Guess]:
    """One attribute per column of a CSV file without its label column, each with what was seen.

    Raises SpaceError for a file that cannot be read as CSV and for what `guess_attributes` refuses.
    """
    frame = read_table(data)
    if label is not None:
        if label not in frame.columns:
            raise SpaceError(f"label column {label!r} is not in {data}; it has: {', '.join(frame.columns)}")
        frame = frame.drop(columns=label)
    try:
        return guess_attributes(frame, sensitive, categorical)
    except SpaceError as error:
        raise SpaceError(f"{data}: {error}") from error


def read_table(path: Path) -> "pd.DataFrame":
    """A CSV file (commas, a header line) as a data frame."""
    import pandas as pd

    try:
        frame = pd.read_csv(path)
    except FileNotFoundError as error:
        raise SpaceError(f"data file {path} does not exist: check the path") from error
    except OSError as error:
        raise SpaceError(f"data file {path} cannot be read: {error.strerror}") from error
    except (ValueError, pd.errors.ParserError) as error:
        reason = " ".join(str(error).split())
        raise SpaceError(
            f"data file {path} is not a CSV file with a header ({reason}): export it as CSV"
        ) from error
    if len(frame.columns) == 1 and any(mark in str(frame.columns[0]) for mark in ";\t|"):
        raise SpaceError(f"data file {path} is not separated by commas: export it as CSV with commas")
    return frame


def draft_text(guesses: Collection[Guess], origin: str) -> str:
    """A space file (TOML) with a comment at every attribute that says why it was made so."""
    document = tomlkit.document()
    for line in (
        f"First draft of an input space, guessed from the columns of {_one_line(origin)}.",
        "Check every entry: min and max are the values seen, not the values possible; whether a number is a",
        "quantity or only a code cannot be seen. One-hot columns belong together in a [[tier]].",
    ):
        document.add(tomlkit.comment(line))
    entries = tomlkit.aot()
    for attribute, why in guesses:
        entries.append(_entry(attribute, why))
    document.append("attribute", entries)
    return tomlkit.dumps(document)


def _entry(attribute: Attribute, why: str) -> Any:
    entry = tomlkit.table()
    entry.add("name", attribute.name)
    entry.add("type", tomlkit.string(attribute.kind).comment(why))
    if attribute.lower is not None and attribute.upper is not None:
        entry.add("min", _number(attribute.lower))
        entry.add("max", _number(attribute.upper))
    elif attribute.kind == "categorical":
        codes = attribute.codes
        if codes == tuple(range(codes[0], codes[-1] + 1)):
            entry.add("min", codes[0])
            entry.add("max", codes[-1])
        else:
            entry.add("values", list(codes))
    if attribute.sensitive:
        entry.add("sensitive", True)
    return entry


def _number(value: Fraction) -> Any:
    """A decimal where the number is one of few digits, which reads back as the same number; else a ratio."""
    if value.denominator == 1:
        return int(value)
    digits = repr(float(value))
    return tomlkit.float_(digits) if Fraction(digits) == value else show(value)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
