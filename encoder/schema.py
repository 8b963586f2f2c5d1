"""Space files: reading and writing the TOML form of an input space."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fairbox.encoder.errors import SpaceError
from fairbox.encoder.numbers import exact, show
from fairbox.encoder.space import (
    Attribute,
    InputSpace,
    boolean,
    categorical,
    continuous,
    integer,
    tier,
)

_ATTRIBUTE_KEYS = ("name", "type", "min", "max", "values", "sensitive", "codes")
MAX_CODES = 100_000
SAFE_INTEGER = 2**53
"""Up to here every reader holds an integer exactly."""
_TIER_KEYS = ("name", "columns", "sensitive", "drop_first", "position")


def read_schema(path: Path) -> InputSpace:
    """The input space a TOML file describes; SpaceError names the file and the fault."""
    try:
        with path.open("rb") as file:
            data = tomllib.load(file, parse_float=str)
    except FileNotFoundError as error:
        raise SpaceError(f"space file {path} does not exist: check the path") from error
    except OSError as error:
        raise SpaceError(f"space file {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpaceError(f"space file {path} is not valid TOML: {error}") from error
    return space_from_dict(data, f"space file {path}")


def space_from_dict(data: Mapping[str, Any], where: str) -> InputSpace:
    """The input space of a parsed space file; `where` starts every error message."""
    entries, tiers = data.get("attribute", []), data.get("tier", [])
    for key, found in (("attribute", entries), ("tier", tiers)):
        if not isinstance(found, list) or not all(isinstance(entry, Mapping) for entry in found):
            raise SpaceError(f"{where}: {key!r} must be a list of tables; write [[{key}]]")
    if not entries and not tiers:
        raise SpaceError(f"{where}: has no [[attribute]] and no [[tier]]: list the model's inputs in order")
    try:
        singles = [_attribute(entry, f"entry {i}") for i, entry in enumerate(entries, 1)]
        groups = [_tier(entry, f"tier {i}") for i, entry in enumerate(tiers, 1)]
        attributes = _merge_tiers(singles, groups)
        order = data.get("columns") or _column_order(singles, attributes)
        if not isinstance(order, list | tuple) or not all(isinstance(c, str) for c in order):
            raise SpaceError("columns must be a list of the model's columns, in its order")
        return InputSpace(tuple(attributes), tuple(order))
    except SpaceError as error:
        raise SpaceError(f"{where}: {error}") from error


def space_to_dict(space: InputSpace) -> dict[str, Any]:
    """The parsed form of a space file that describes `space` (exact numbers as strings)."""
    attributes = [_entry(a) for a in space.attributes if a.kind != "tier"]
    tiers = [
        {"name": a.name, "columns": list(a.columns), "sensitive": a.sensitive, "drop_first": a.allow_none}
        | {"position": position}
        for position, a in enumerate(space.attributes)
        if a.kind == "tier"
    ]
    columns = {"columns": list(space.columns)}
    return columns | {"attribute": attributes} | ({"tier": tiers} if tiers else {})


def _entry(attribute: Attribute) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": attribute.name, "type": attribute.kind}
    if attribute.ordered:
        assert attribute.lower is not None and attribute.upper is not None
        entry["min"], entry["max"] = (_portable(bound) for bound in (attribute.lower, attribute.upper))
    elif attribute.kind == "categorical":
        entry["values"] = list(attribute.codes)
    entry["sensitive"] = attribute.sensitive
    if attribute.labels:
        entry["codes"] = {str(code): label for code, label in attribute.labels.items()}
    return entry


def _portable(bound: Fraction) -> int | str:
    """A bound as every reader of JSON and TOML takes it exactly: text where a double could not hold it."""
    return int(bound) if bound.denominator == 1 and abs(bound) <= SAFE_INTEGER else show(bound)


def _attribute(entry: Mapping[str, Any], where: str) -> Attribute:
    name = _text(entry, "name", where)
    where = f"attribute {name!r}"
    _check_keys(entry, _ATTRIBUTE_KEYS, where)
    kind = _text(entry, "type", where)
    options = {"sensitive": _flag(entry, "sensitive", where), "labels": _labels(entry, where)}
    if kind == "integer":
        return integer(name, _whole(entry, "min", where), _whole(entry, "max", where), **options)
    if kind == "continuous":
        return continuous(name, _number(entry, "min", where), _number(entry, "max", where), **options)
    if kind == "boolean":
        return boolean(name, **options)
    if kind == "categorical":
        return categorical(name, _codes(entry, where), **options)
    raise SpaceError(
        f"{where}: unknown type {kind!r}; use integer, categorical, continuous or boolean "
        "(one-hot columns go into a [[tier]])"
    )


def _tier(entry: Mapping[str, Any], where: str) -> tuple[Attribute, int | None]:
    name = _text(entry, "name", where)
    where = f"tier {name!r}"
    _check_keys(entry, _TIER_KEYS, where)
    columns = entry.get("columns")
    if not isinstance(columns, list) or not columns or not all(isinstance(c, str) for c in columns):
        raise SpaceError(f'{where}: needs columns = ["…", …], the 0/1 model columns it stands for')
    position = entry.get("position")
    if position is not None and (not isinstance(position, int) or isinstance(position, bool) or position < 0):
        raise SpaceError(f"{where}: position must be a number of attributes that come before it")
    return tier(
        name,
        columns,
        allow_none=_flag(entry, "drop_first", where),
        sensitive=_flag(entry, "sensitive", where),
    ), position


def _merge_tiers(singles: list[Attribute], tiers: list[tuple[Attribute, int | None]]) -> list[Attribute]:
    """Tiers take the place of the [[attribute]] entries that describe their columns, else their position."""
    order = list(singles)
    for attribute, position in tiers:
        names = [a.name for a in order]
        described = [names.index(column) for column in attribute.columns if column in names]
        if described and len(described) != len(attribute.columns):
            missing = [c for c in attribute.columns if c not in names]
            raise SpaceError(
                f"tier {attribute.name!r}: column {missing[0]!r} has no [[attribute]] entry although others have; "
                "describe all of its columns or none"
            )
        if described:
            order[min(described)] = replace(
                attribute, sensitive=attribute.sensitive or any(order[i].sensitive for i in described)
            )
            order = [a for i, a in enumerate(order) if i not in described or i == min(described)]
        else:
            order.insert(len(order) if position is None else position, attribute)
    return order


def _column_order(singles: list[Attribute], attributes: list[Attribute]) -> tuple[str, ...]:
    """Columns with an [[attribute]] entry keep the order of the entries, whatever tier they belong to."""
    rank = {attribute.name: i for i, attribute in enumerate(singles)}
    columns = [column for attribute in attributes for column in attribute.columns]
    described = iter(sorted((c for c in columns if c in rank), key=rank.__getitem__))
    return tuple(next(described) if column in rank else column for column in columns)


def _check_keys(entry: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Extra keys are documentation, but one that is nearly a known key is a slip of the pen."""
    for key in entry:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.8)
        if key not in known and near:
            raise SpaceError(f"{where}: unknown key {key!r}; did you mean {near[0]!r}?")
    if entry.get("missing"):
        raise SpaceError(f"{where}: missing values are not supported; remove the key 'missing'")


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise SpaceError(f'{where}: needs {key} = "…"')
    return value


def _flag(entry: Mapping[str, Any], key: str, where: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise SpaceError(f"{where}: {key} must be true or false, not {value!r}")
    return value


def _number(entry: Mapping[str, Any], key: str, where: str) -> Fraction:
    value = entry.get(key)
    if value is None:
        raise SpaceError(f"{where}: needs {key}")
    if not isinstance(value, int | float | str | Fraction) or isinstance(value, bool):
        raise SpaceError(f"{where}: {key} must be a number, not {value!r}")
    try:
        return exact(value)
    except ValueError as error:
        raise SpaceError(f"{where}: {key}: {error}") from error


def _whole(entry: Mapping[str, Any], key: str, where: str) -> int:
    value = _number(entry, key, where)
    if value.denominator != 1:
        raise SpaceError(f"{where}: {key} = {entry[key]} is not a whole number")
    return int(value)


def _codes(entry: Mapping[str, Any], where: str) -> list[int]:
    listed = entry.get("values")
    if listed is None:
        lower, upper = _whole(entry, "min", where), _whole(entry, "max", where)
        if lower > upper:
            raise SpaceError(f"{where}: min {lower} is greater than max {upper}; swap them")
        if upper - lower >= MAX_CODES:
            raise SpaceError(
                f"{where}: {upper - lower + 1} codes are too many for a categorical; use type integer"
            )
        return list(range(lower, upper + 1))
    if not isinstance(listed, list) or not all(
        isinstance(v, int) and not isinstance(v, bool) for v in listed
    ):
        raise SpaceError(f"{where}: values must be a list of integer codes")
    if any(abs(code) > SAFE_INTEGER for code in listed):
        raise SpaceError(f"{where}: codes beyond 2^53 cannot be told apart by a model; use smaller ones")
    return listed


def _labels(entry: Mapping[str, Any], where: str) -> dict[int, str]:
    labels = entry.get("codes", {})
    try:
        return {int(code): str(label) for code, label in labels.items()}
    except (AttributeError, ValueError) as error:
        raise SpaceError(f"{where}: codes must map integer codes to names") from error
