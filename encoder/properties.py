"""The questions: fairness and robustness, with tolerance and confidence (SEMANTICS, section 3)."""

import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self, get_args

from fairbox.encoder.errors import QuestionError
from fairbox.encoder.numbers import Number, exact, show
from fairbox.encoder.space import InputSpace

Ties = Literal["none", "library"]
Arithmetic = Literal["deployed", "exact"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What fairness and robustness have in common.

    `tolerance_rate` r gives ε_i = r * (upper - lower) on integer and continuous attributes;
    `tolerance` overrides it by attribute name. Only inputs of confidence greater than `confidence` count.
    `ties="library"` gives an input with margin 0 the class the library predicts there;
    `arithmetic="deployed"` decides as the library's own floating-point evaluation does.
    """

    tolerance_rate: Number = 0
    tolerance: Mapping[str, Number] = field(default_factory=dict, hash=False)
    confidence: Number = Fraction(1, 2)
    ties: Ties = "none"
    arithmetic: Arithmetic = "deployed"
    property: ClassVar[str]

    def __post_init__(self) -> None:
        rate = _exact(self.tolerance_rate, "tolerance rate")
        if rate < 0:
            raise QuestionError(f"tolerance rate {show(rate)} is negative: give 0 or more")
        kappa = _exact(self.confidence, "confidence")
        if not Fraction(1, 2) <= kappa < 1:
            raise QuestionError(
                f"confidence {show(kappa)} is outside [0.5, 1): no binary class is less sure than 1/2"
            )
        tolerance = {name: _exact(value, f"tolerance of {name!r}") for name, value in self.tolerance.items()}
        for name, value in tolerance.items():
            if value < 0:
                raise QuestionError(f"tolerance of {name!r} is negative ({show(value)}): give 0 or more")
        _check_choice("ties", self.ties, get_args(Ties))
        _check_choice("arithmetic", self.arithmetic, get_args(Arithmetic))
        object.__setattr__(self, "tolerance_rate", rate)
        object.__setattr__(self, "confidence", kappa)
        object.__setattr__(self, "tolerance", tolerance)

    @builtins.property
    def kappa(self) -> Fraction:
        """The confidence threshold κ, exact."""
        assert isinstance(self.confidence, Fraction)
        return self.confidence

    @builtins.property
    def rate(self) -> Fraction:
        """The tolerance rate r_ε, exact."""
        assert isinstance(self.tolerance_rate, Fraction)
        return self.tolerance_rate

    def sensitive_names(self, space: InputSpace) -> tuple[str, ...]:
        """The sensitive attributes S, in the space's order; none, unless the property has some."""
        return ()

    def for_space(self, space: InputSpace) -> Self:
        """The same question with every default that comes from the space written out."""
        return self

    def tolerances(self, space: InputSpace) -> tuple[Fraction, ...]:
        """ε of every attribute of `space`, in order; QuestionError where one makes no sense."""
        sensitive = self.sensitive_names(space)
        for name in self.tolerance:
            if name not in space.names:
                raise QuestionError(
                    f"tolerance for unknown attribute {name!r}; known: {', '.join(space.names)}"
                )
            attribute = space.attributes[space.index(name)]
            if not attribute.ordered:
                raise QuestionError(
                    f"tolerance on {attribute.kind} attribute {name!r} has no meaning: leave it out"
                )
            if name in sensitive:
                raise QuestionError(
                    f"tolerance on sensitive attribute {name!r} has no meaning: it may change freely"
                )
        return tuple(
            Fraction(0)
            if not attribute.ordered or attribute.name in sensitive
            else self._tolerance(attribute.name, attribute.lower, attribute.upper)
            for attribute in space.attributes
        )

    def _tolerance(self, name: str, lower: Fraction | None, upper: Fraction | None) -> Fraction:
        assert lower is not None and upper is not None
        if name in self.tolerance:
            return _exact(self.tolerance[name], name)
        return self.rate * (upper - lower)

    def to_dict(self) -> dict[str, Any]:
        """The question as plain JSON data, exact numbers as strings."""
        return {
            "property": self.property,
            "tolerance_rate": show(self.rate),
            "tolerance": {name: show(_exact(value, name)) for name, value in sorted(self.tolerance.items())},
            "confidence": show(self.kappa),
            "ties": self.ties,
            "arithmetic": self.arithmetic,
        }


@dataclass(frozen=True, kw_only=True)
class Fairness(Question):
    """ε-κ-fairness: x is unfair when an x' near it outside `sensitive`, and different inside, has the
    opposite class (paper, section 2.1). An empty `sensitive` means the attributes that the space flags.
    """

    sensitive: tuple[str, ...] | list[str] = ()
    property: ClassVar[str] = "fairness"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.sensitive, str):
            raise QuestionError(f"sensitive must be a list of names: write [{self.sensitive!r}]")
        object.__setattr__(self, "sensitive", tuple(dict.fromkeys(self.sensitive)))

    def sensitive_names(self, space: InputSpace) -> tuple[str, ...]:
        """The sensitive attributes S, in the space's order; QuestionError when there is none."""
        for name in self.sensitive:
            if name not in space.names:
                raise QuestionError(
                    f"unknown sensitive attribute {name!r}; the space has: {', '.join(space.names)}"
                )
        chosen = self.sensitive or space.sensitive
        if not chosen:
            raise QuestionError(
                "fairness needs a sensitive attribute: name one, flag one in the space file, or ask for robustness"
            )
        return tuple(name for name in space.names if name in chosen)

    def for_space(self, space: InputSpace) -> "Fairness":
        return replace(self, sensitive=self.sensitive_names(space))

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "sensitive": list(self.sensitive)}


@dataclass(frozen=True, kw_only=True)
class Robustness(Question):
    """ε-κ-robustness: x is not robust when an x' near it has the opposite class (paper, section 2.1).

    Sensitive flags of the space are ignored.
    """

    property: ClassVar[str] = "robustness"


def question_from_dict(data: Mapping[str, Any]) -> Question:
    """The inverse of `Question.to_dict`."""
    options = {key: value for key, value in data.items() if key != "property"}
    kinds: dict[str, type[Question]] = {"fairness": Fairness, "robustness": Robustness}
    if data.get("property") not in kinds:
        raise QuestionError(f"unknown property {data.get('property')!r}: use {' or '.join(kinds)}")
    return kinds[data["property"]](**options)


def parse_tolerances(items: Iterable[str]) -> dict[str, Fraction]:
    """`NAME=VALUE` texts, as the command line takes them."""
    found = {}
    for item in items:
        name, separator, value = item.rpartition("=")
        if not separator or not name:
            raise QuestionError(f"tolerance {item!r} is not NAME=VALUE")
        found[name] = _exact(value, f"tolerance of {name!r}")
    return found


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise QuestionError(f"{what} = {value!r} is unknown: use {' or '.join(known)}")


def _exact(value: Number, what: str) -> Fraction:
    try:
        return exact(value)
    except ValueError as error:
        raise QuestionError(f"{what}: {error}") from error
