"""The JSON beside the scripts: exact numbers as text, stable order of keys, a schema name that is checked."""

import json
import math
import os
import re
from collections.abc import Mapping
from fractions import Fraction
from numbers import Rational
from pathlib import Path
from typing import Any

from fairbox.encoder.errors import FormulaError
from fairbox.encoder.names import natural_key
from fairbox.encoder.numbers import Exact, plain, show
from fairbox.smtlib_out.atomic import atomic_open

_NUMBER = re.compile(r"-?[0-9]+(/[0-9]*[1-9][0-9]*)?")
_SAFE_INTEGER = 2**53
"""Up to here every JSON reader holds an integer exactly; larger ones must go as text."""


def encode_number(value: Exact) -> str:
    """`n` or `n/d` in lowest terms; FormulaError for floats, Booleans and everything else inexact."""
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise FormulaError(f"{value!r} is not an exact number; give an int or a Fraction")
    return show(Fraction(int(value.numerator), int(value.denominator)))


def decode_number(text: str) -> Exact:
    """The int or Fraction that `encode_number` wrote; FormulaError for any other text."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise FormulaError(f'{text!r} is not an exact number; write it as "n" or "n/d"')
    try:
        return plain(Fraction(text))
    except ValueError as error:  # more digits than Python reads
        raise FormulaError(f"a number of {len(text)} characters cannot be read: {error}") from error


def write_json(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write `content` as JSON, whole or not at all: ASCII, indented, keys in natural order, `schema` first.

    Fractions are written by `encode_number`. Raises FormulaError, saying where, for what JSON readers would
    lose or change: integers beyond 2**53, NaN and infinities, keys that are not strings, foreign types;
    OutputError when the file cannot be written.
    """
    text = json.dumps(_portable(content, "the object"), indent=1, allow_nan=False)
    with atomic_open(path) as file:
        file.write(text + "\n")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises FormulaError, with the path, for a file that cannot be read, is not JSON, holds something else
    than an object, or uses a key twice.
    """
    try:
        content = json.loads(
            Path(path).read_bytes(), object_pairs_hook=_unique_keys, parse_constant=_refuse_constant
        )
    except OSError as error:
        raise FormulaError(f"cannot read {os.fspath(path)}: {error.strerror}; check the path") from error
    except (ValueError, RecursionError) as error:
        raise FormulaError(
            f"{os.fspath(path)} is not a JSON file that fairbox wrote: {error}; write it again"
        ) from error
    if not isinstance(content, dict):
        raise FormulaError(
            f"{os.fspath(path)} holds a JSON {type(content).__name__}, not an object; is it the right file?"
        )
    return content


def expect_schema(content: Mapping[str, Any], schema: str, path: str | os.PathLike[str]) -> None:
    """Raise FormulaError unless `content["schema"]` is `schema`, saying what was found in which file."""
    found = content.get("schema")
    if found != schema:
        what = "no schema" if found is None else f"schema {found!r}"
        raise FormulaError(f"{os.fspath(path)} has {what}, not {schema!r}; give a file of that schema")


def _portable(value: Any, where: str) -> Any:
    """The value in types JSON knows, or FormulaError saying what at which place it does not."""
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise FormulaError(f"key {wrong[0]!r} of {where} is not a string; JSON keys are strings")
        keys = sorted(value, key=lambda key: (key != "schema", natural_key(key)))
        return {key: _portable(value[key], f"{where}[{key!r}]") for key in keys}
    if isinstance(value, list | tuple):
        return [_portable(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Fraction):
        return encode_number(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_INTEGER:
        raise FormulaError(f"{where} is {value}, beyond 2**53: some readers round it; use encode_number")
    if isinstance(value, float) and not math.isfinite(value):
        raise FormulaError(f"{where} is {value}, which JSON cannot hold; use None or a string")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise FormulaError(f"{where} is a {type(value).__name__}, which JSON cannot hold; convert it first")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise ValueError(f"key {twice!r} is there twice")
    return content


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")
