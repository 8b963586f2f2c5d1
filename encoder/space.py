"""The input space X: attributes, their domains and measures (SEMANTICS, section 2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from fairbox.encoder.errors import SpaceError
from fairbox.encoder.numbers import Exact, plain

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["integer", "categorical", "boolean", "continuous", "tier"]
KINDS: tuple[str, ...] = get_args(Kind)
NONE_CODE = -1
"""The code of a tier's extra category in which no column is 1 (an encoder that drops a first category)."""


@dataclass(frozen=True)
class Attribute:
    """One attribute of the inputs.

    integer: every integer from `lower` to `upper`; continuous: every real of the closed interval;
    categorical and boolean: the `codes`; tier: one code per 0/1 column, and `NONE_CODE` first where
    `allow_none`. `labels` are names for codes and nothing more.
    """

    name: str
    kind: Kind
    lower: Fraction | None = None
    upper: Fraction | None = None
    codes: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    sensitive: bool = False
    labels: Mapping[int, str] = field(default_factory=dict, hash=False)
    allow_none: bool = False

    def __post_init__(self) -> None:
        if not self.columns:
            object.__setattr__(self, "columns", (self.name,))
        _check_attribute(self)

    @property
    def measure(self) -> Exact:
        """Number of values (int), or length for a continuous attribute (int or Fraction)."""
        if self.kind == "integer":
            assert self.lower is not None and self.upper is not None
            return int(self.upper - self.lower) + 1
        if self.kind == "continuous":
            assert self.lower is not None and self.upper is not None
            return plain(self.upper - self.lower)
        return len(self.codes)

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers along an axis, so that a tolerance makes sense."""
        return self.kind in ("integer", "continuous")


def integer(name: str, lower: int, upper: int, **options: Any) -> Attribute:
    """An integer attribute `lower`..`upper`, both included."""
    return Attribute(name, "integer", Fraction(lower), Fraction(upper), **options)


def continuous(name: str, lower: Fraction | int, upper: Fraction | int, **options: Any) -> Attribute:
    """A real attribute on the closed interval [lower, upper]."""
    return Attribute(name, "continuous", Fraction(lower), Fraction(upper), **options)


def categorical(name: str, codes: Iterable[int], **options: Any) -> Attribute:
    """A categorical attribute with the given codes."""
    return Attribute(name, "categorical", codes=tuple(sorted(codes)), **options)


def boolean(name: str, **options: Any) -> Attribute:
    """An attribute with the values 0 and 1."""
    return Attribute(name, "boolean", codes=(0, 1), **options)


def tier(name: str, columns: Iterable[str], *, allow_none: bool = False, **options: Any) -> Attribute:
    """One categorical attribute spread over several 0/1 model columns (one-hot)."""
    columns = tuple(columns)
    codes = ((NONE_CODE,) if allow_none else ()) + tuple(range(len(columns)))
    return Attribute(name, "tier", codes=codes, columns=columns, allow_none=allow_none, **options)


@dataclass(frozen=True)
class InputSpace:
    """The product of the attributes' domains; the total measure is exact.

    `column_order` is the order of the model's columns, where it is not simply attribute by attribute;
    `notes` says what was guessed when the space was made from data.
    """

    attributes: tuple[Attribute, ...]
    column_order: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.attributes:
            raise SpaceError("input space has no attribute: give at least one [[attribute]] or [[tier]]")
        _check_unique("attribute", [a.name for a in self.attributes])
        columns = tuple(column for attribute in self.attributes for column in attribute.columns)
        _check_unique("model column", columns)
        if not self.column_order:
            object.__setattr__(self, "column_order", columns)
        elif sorted(self.column_order) != sorted(columns):
            raise SpaceError(
                f"column order {self.column_order} does not list the attributes' columns {columns}"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The model columns, in the model's order."""
        return self.column_order

    @property
    def total(self) -> Exact:
        """T_X, the measure of the whole space."""
        product: Exact = 1
        for attribute in self.attributes:
            product *= attribute.measure
        return plain(product)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names flagged sensitive: the default for a fairness question that names none."""
        return tuple(a.name for a in self.attributes if a.sensitive)

    def index(self, name: str) -> int:
        """Position of an attribute; SpaceError with the known names when there is none of that name."""
        if name not in self.names:
            raise SpaceError(f"no attribute {name!r} in the input space; it has: {', '.join(self.names)}")
        return self.names.index(name)

    @classmethod
    def from_schema(cls, path: str | Path) -> "InputSpace":
        """Read a space file (TOML; docs/reference/space.md)."""
        from fairbox.encoder import schema

        return schema.read_schema(Path(path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "InputSpace":
        """The space described by the parsed form of a space file."""
        from fairbox.encoder import schema

        return schema.space_from_dict(data, "input space")

    @classmethod
    def from_frame(
        cls, frame: "pd.DataFrame", sensitive: Iterable[str] = (), categorical: Iterable[str] = ()
    ) -> "InputSpace":
        """Guess a space from the columns of a data frame; `notes` says what was guessed."""
        from fairbox.encoder import frames

        return frames.space_from_frame(frame, tuple(sensitive), tuple(categorical))


def _check_unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SpaceError(f"{what} {name!r} appears twice in the input space: every name must be unique")
        seen.add(name)


def _check_attribute(attribute: Attribute) -> None:
    where = f"attribute {attribute.name!r}"
    if attribute.kind not in KINDS:
        raise SpaceError(f"{where}: unknown type {attribute.kind!r}; use one of {', '.join(KINDS)}")
    if attribute.ordered:
        _check_bounds(where, attribute)
    elif not attribute.codes:
        raise SpaceError(f"{where}: has no value; give min and max, or a list of values")
    elif len(set(attribute.codes)) != len(attribute.codes):
        raise SpaceError(f"{where}: a value is listed twice")


def _check_bounds(where: str, attribute: Attribute) -> None:
    if attribute.lower is None or attribute.upper is None:
        raise SpaceError(f"{where}: needs min and max")
    if attribute.lower > attribute.upper:
        raise SpaceError(f"{where}: min {attribute.lower} is greater than max {attribute.upper}; swap them")
    if attribute.kind == "integer":
        for bound in (attribute.lower, attribute.upper):
            if bound.denominator != 1:
                raise SpaceError(f"{where}: bound {float(bound)} of an integer attribute is not whole")
    elif attribute.lower == attribute.upper:
        raise SpaceError(
            f"{where}: min = max = {attribute.lower} leaves a continuous attribute no length; "
            "use type = 'integer' or a categorical attribute with one value"
        )
