"""Input spaces: measures, and space files with everything that may be wrong with them."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from fairbox.encoder.errors import FairboxError, SpaceError
from fairbox.encoder.schema import space_to_dict
from fairbox.encoder.space import InputSpace, boolean, categorical, continuous, integer, tier
from tests import oracle
from tests.strategies import spaces

GOOD = """
title = "extra keys are documentation"
sensitive = ["sex"]

[[attribute]]
name = "age"
type = "integer"
min = 17
max = 90
data_min = 18

[[attribute]]
name = "rate"
type = "continuous"
min = 0.1
max = "7/10"

[[attribute]]
name = "race"
type = "categorical"
min = 0
max = 4
sensitive = true
codes = { "0" = "White", "1" = "Black" }

[[attribute]]
name = "sex"
type = "boolean"

[[tier]]
name = "job"
columns = ["job_a", "job_b"]
drop_first = true
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "space.toml"
    path.write_text(text)
    return path


def test_a_space_file(tmp_path: Path) -> None:
    """0.1 is 1/10; the tier is one attribute of three categories; T_X = 74 * 3/5 * 5 * 2 * 3 = 1332."""
    space = InputSpace.from_schema(write(tmp_path, GOOD))
    assert space.names == ("age", "rate", "race", "sex", "job")
    assert space.columns == ("age", "rate", "race", "sex", "job_a", "job_b")
    age, rate, race, sex, job = space.attributes
    assert (age.kind, age.lower, age.upper, age.measure) == ("integer", 17, 90, 74)
    assert (rate.kind, rate.lower, rate.upper) == ("continuous", Fraction(1, 10), Fraction(7, 10))
    assert rate.measure == Fraction(3, 5)
    assert (race.codes, race.sensitive, dict(race.labels)) == (
        (0, 1, 2, 3, 4),
        True,
        {0: "White", 1: "Black"},
    )
    assert (sex.kind, sex.codes) == ("boolean", (0, 1))
    assert (job.kind, job.codes, job.allow_none) == ("tier", (-1, 0, 1), True)
    assert space.sensitive == ("race",)
    assert space.total == 1332
    assert isinstance(space.total, int)


@given(spaces())
def test_the_total_is_exact_and_counts_what_is_there(space: InputSpace) -> None:
    total = Fraction(1)
    for attribute in space.attributes:
        if attribute.kind == "continuous":
            assert attribute.lower is not None and attribute.upper is not None
            total *= attribute.upper - attribute.lower
        else:
            total *= len(oracle.counted_values(attribute))
    assert space.total == total
    assert isinstance(space.total, int) == (total.denominator == 1)


@given(spaces())
def test_spaces_survive_a_round_trip_through_plain_data(space: InputSpace) -> None:
    """Also where the columns of a tier do not stand side by side in the model."""
    back = InputSpace.from_dict(json.loads(json.dumps(space_to_dict(space))))
    assert back == space
    assert back.columns == space.columns


def attribute(**keys: Any) -> dict[str, Any]:
    """A space of one attribute and, where it is not already so, of one that is fine."""
    return {"attribute": [{"name": "fine", "type": "boolean"}, {"name": "bad", **keys}]}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "attribute"),
    "no list": ({"attribute": {"name": "a"}}, "[[attribute]]"),
    "no list of tiers": ({"tier": ["a"]}, "[[tier]]"),
    "min > max": (attribute(type="integer", min=3, max=2), "min 3"),
    "min > max, real": (attribute(type="continuous", min=0.5, max=0.25), "min"),
    "min > max, categorical": (attribute(type="categorical", min=3, max=2), "min 3"),
    "no length": (attribute(type="continuous", min=1, max=1), "length"),
    "unknown type": (attribute(type="ordinal", min=0, max=1), "ordinal"),
    "no type": (attribute(min=0, max=1), "type"),
    "no name": ({"attribute": [{"type": "boolean"}]}, "name"),
    "empty name": ({"attribute": [{"name": "", "type": "boolean"}]}, "name"),
    "NaN": (attribute(type="continuous", min=float("nan"), max=1), "nan"),
    "infinite": (attribute(type="continuous", min=0, max=float("inf")), "inf"),
    "NaN text": (attribute(type="continuous", min="nan", max=1), "nan"),
    "not whole": (attribute(type="integer", min=0.5, max=3), "whole"),
    "not whole, categorical": (attribute(type="categorical", min=0, max=2.5), "whole"),
    "no max": (attribute(type="integer", min=0), "max"),
    "a word": (attribute(type="integer", min="low", max=3), "low"),
    "a truth value": (attribute(type="integer", min=True, max=3), "number"),
    "a list": (attribute(type="integer", min=[0], max=3), "number"),
    "sensitive is no flag": (attribute(type="boolean", sensitive="yes"), "sensitive"),
    "code twice": (attribute(type="categorical", values=[1, 2, 1]), "twice"),
    "no code": (attribute(type="categorical", values=[]), "value"),
    "codes that are no numbers": (attribute(type="categorical", values=["a", "b"]), "codes"),
    "labels without codes": (attribute(type="categorical", min=0, max=1, codes=["a", "b"]), "codes"),
    "label of a word": (attribute(type="categorical", min=0, max=1, codes={"a": "b"}), "codes"),
    "too many codes": (attribute(type="categorical", min=0, max=10**12), "integer"),
    "missing": (attribute(type="integer", min=0, max=3, missing=True), "missing"),
    "misspelt key": (attribute(type="integer", min=0, max=3, sensitiv=True), "sensitive"),
    "misspelt max": (attribute(type="integer", min=0, maxx=3), "max"),
    "same name twice": ({"attribute": [{"name": "a", "type": "boolean"}] * 2}, "'a'"),
    "tier without columns": ({"tier": [{"name": "t"}]}, "columns"),
    "tier of no column": ({"tier": [{"name": "t", "columns": []}]}, "columns"),
    "tier of numbers": ({"tier": [{"name": "t", "columns": [1, 2]}]}, "columns"),
    "tier with a column twice": ({"tier": [{"name": "t", "columns": ["x", "x"]}]}, "'x'"),
    "tiers overlap": (
        {"tier": [{"name": "t", "columns": ["x", "y"]}, {"name": "u", "columns": ["y", "z"]}]},
        "'y'",
    ),
    "tiers overlap in described columns": (
        {
            "attribute": [{"name": name, "type": "boolean"} for name in ("x", "y", "z")],
            "tier": [{"name": "t", "columns": ["x", "y"]}, {"name": "u", "columns": ["y", "z"]}],
        },
        "'y'",
    ),
    "tier half described": (
        {"attribute": [{"name": "x", "type": "boolean"}], "tier": [{"name": "t", "columns": ["x", "y"]}]},
        "'y'",
    ),
    "tier named as an attribute": (
        {"attribute": [{"name": "t", "type": "boolean"}], "tier": [{"name": "t", "columns": ["x"]}]},
        "'t'",
    ),
    "misspelt tier key": ({"tier": [{"name": "t", "columns": ["x"], "drop_frist": True}]}, "drop_first"),
    "columns that are no list": (attribute(type="boolean") | {"columns": 2}, "columns"),
    "columns in one text": (attribute(type="boolean") | {"columns": "fine"}, "columns"),
    "columns of numbers": (attribute(type="boolean") | {"columns": [1, 2]}, "columns"),
    "columns that are not all": (attribute(type="boolean") | {"columns": ["fine"]}, "bad"),
    "tier at a bad position": ({"tier": [{"name": "t", "columns": ["x"], "position": -1}]}, "position"),
}


@pytest.mark.parametrize(("data", "says"), BAD.values(), ids=BAD.keys())
def test_bad_spaces_are_refused(data: dict[str, Any], says: str) -> None:
    """On one line that names the fault."""
    with pytest.raises(SpaceError) as caught:
        InputSpace.from_dict(data)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[attribute]\n", "TOML"),
        ("\xff\xfe", "TOML"),
        ("", "attribute"),
        (GOOD.replace("17", "97"), "'age'"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, says: str) -> None:
    """And the message names the file."""
    path = tmp_path / "space.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SpaceError) as caught:
        InputSpace.from_schema(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(SpaceError) as caught:
            InputSpace.from_schema(path)
        assert str(path) in str(caught.value)


def test_toml_numbers_are_read_exactly(tmp_path: Path) -> None:
    """A TOML float is the decimal that stands there, however long, and NaN is not a number."""
    text = '[[attribute]]\nname = "a"\ntype = "continuous"\nmin = 0.1000000000000000055\nmax = {}\n'
    space = InputSpace.from_schema(write(tmp_path, text.format("1e0")))
    assert space.attributes[0].lower == Fraction("0.1000000000000000055")
    for bad in ("nan", "+inf", "0x10.0"):
        with pytest.raises(SpaceError):
            InputSpace.from_schema(write(tmp_path, text.format(bad)))


def test_described_columns_of_a_tier_become_one_attribute() -> None:
    """Where 0/1 columns have entries of their own, the tier takes their place and keeps their model order."""
    columns = [{"name": name, "type": "boolean"} for name in ("x", "a", "y")]
    space = InputSpace.from_dict({"attribute": columns, "tier": [{"name": "t", "columns": ["y", "x"]}]})
    assert space.names == ("t", "a")
    assert space.columns == ("x", "a", "y")
    assert space.attributes[0].columns == ("y", "x")
    assert space.total == 4


def test_spaces_made_in_python_are_checked_too() -> None:
    with pytest.raises(SpaceError):
        integer("a", 3, 2)
    with pytest.raises(SpaceError):
        continuous("a", 1, 1)
    with pytest.raises(SpaceError):
        categorical("a", [])
    with pytest.raises(SpaceError):
        InputSpace(())
    with pytest.raises(SpaceError):
        InputSpace((boolean("a"), boolean("a")))
    with pytest.raises(SpaceError):
        InputSpace((tier("t", ["x", "y"]), boolean("y")))
    with pytest.raises(SpaceError):
        InputSpace((boolean("a"), boolean("b")), ("a", "c"))
    with pytest.raises(SpaceError, match=r"known|has"):
        InputSpace((boolean("a"),)).index("b")


def test_errors_have_two_parents() -> None:
    assert issubclass(SpaceError, FairboxError)
    assert issubclass(SpaceError, ValueError)


@pytest.mark.shared
def test_reference_space_files_are_read_as_they_are(shared: Path) -> None:
    """Every schema file of the reference data, attributes in the order of its CSV's header."""
    files = sorted((shared / "data").glob("*.schema.toml"))
    assert files
    for path in files:
        space = InputSpace.from_schema(path)
        header = (
            path.with_name(path.name.replace(".schema.toml", ".csv")).open().readline().strip().split(",")
        )
        assert list(space.columns) == header[:-1], path.name
        assert space.sensitive, path.name
