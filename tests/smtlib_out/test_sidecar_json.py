"""The JSON of sidecars: exact, stable, checked."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.errors import FormulaError, OutputError
from fairbox.smtlib_out.sidecar import decode_number, encode_number, expect_schema, read_json, write_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-7, "-7"),
        (Fraction(4, 2), "2"),
        (Fraction(-1, 3), "-1/3"),
        (2**70, str(2**70)),
        (np.int64(5), "5"),
    ],
)
def test_table_of_numbers(value: Fraction, text: str) -> None:
    assert encode_number(value) == text
    assert decode_number(text) == value


@given(st.integers() | st.fractions())
def test_numbers_come_back(value: int | Fraction) -> None:
    back = decode_number(encode_number(value))
    assert back == value
    assert isinstance(back, int) == (value.denominator == 1)


@pytest.mark.parametrize("value", [0.5, True, "1", None, 1j])
def test_inexact_numbers_are_refused(value: object) -> None:
    with pytest.raises(FormulaError, match="not an exact number"):
        encode_number(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "1.5", "1e3", " 1", "1/0", "1/00", "1/-2", "+1", "1_0", "٣", "1/2\n", 5, None]
)
def test_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(FormulaError, match='write it as "n" or "n/d"'):
        decode_number(text)


def test_numbers_beyond_reading_are_refused() -> None:
    with pytest.raises(FormulaError, match="5000 characters"):
        decode_number("9" * 5000)


def test_keys_are_ordered_naturally_with_the_schema_first(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    paths = {"p!10": ["κ", 2], "p!9": Fraction(1, 3)}
    write_json(path, {"paths": paths, "a": None, "schema": "s/1", "b": (True, 0.1, -(2**53))})
    text = path.read_text("ascii")
    assert json.loads(text) == {
        "schema": "s/1",
        "a": None,
        "b": [True, 0.1, -(2**53)],
        "paths": {"p!9": "1/3", "p!10": ["κ", 2]},
    }
    assert list(json.loads(text)) == ["schema", "a", "b", "paths"]
    assert list(json.loads(text)["paths"]) == ["p!9", "p!10"]
    assert text.endswith("}\n")


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    write_json(first, {"a": 1, "b": {"y": 2, "x": 3}})
    write_json(second, {"b": {"x": 3, "y": 2}, "a": 1})
    assert first.read_bytes() == second.read_bytes()
    code = (
        "import sys; from fairbox.smtlib_out.sidecar import write_json\n"
        "write_json(sys.argv[1], {k: dict.fromkeys({'y', 'x', 'z'}, 1) for k in {'c', 'b', 'a'}})"
    )
    contents = set()
    for seed in ("1", "2"):
        subprocess.run([sys.executable, "-c", code, first], env={"PYTHONHASHSEED": seed}, check=True)
        contents.add(first.read_bytes())
    assert len(contents) == 1


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_content_comes_back(tmp_path_factory: pytest.TempPathFactory, content: dict[str, object]) -> None:
    path = tmp_path_factory.getbasetemp() / "content.json"
    write_json(path, content)
    assert read_json(path) == content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": [1, {"b": 2**53 + 1}]}, r"the object\['a'\]\[1\]\['b'\] is 9007199254740993, beyond 2\*\*53"),
        ({"a": float("nan")}, r"\['a'\] is nan, which JSON cannot hold"),
        ({"a": -float("inf")}, r"\['a'\] is -inf"),
        ({"a": {1: 2}}, r"key 1 of the object\['a'\] is not a string"),
        ({"a": np.int64(1)}, r"\['a'\] is a int64"),
        ({"a": {1, 2}}, r"\['a'\] is a set"),
    ],
)
def test_what_json_would_change_is_refused(content: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(FormulaError, match=message):
        write_json(tmp_path / "a.json", content)
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_place_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="create it first"):
        write_json(tmp_path / "none" / "a.json", {})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "is not a JSON file"),
        (b"", "is not a JSON file"),
        (b"\xff\xfe\xfa", "is not a JSON file"),
        (b"[1]", "holds a JSON list, not an object"),
        (b'{"a": 1, "a": 2}', "key 'a' is there twice"),
        (b'{"a": NaN}', "NaN is not a number of JSON"),
        (b"[" * 100_000, "is not a JSON file"),
    ],
)
def test_bad_files_are_refused_with_their_path(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(FormulaError, match=message) as caught:
        read_json(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormulaError, match=r"cannot read .*none\.json: No such file"):
        read_json(tmp_path / "none.json")


def test_the_schema_is_checked() -> None:
    expect_schema({"schema": "fairbox.sidecar/1"}, "fairbox.sidecar/1", "a.json")
    with pytest.raises(FormulaError, match=r"a\.json has schema 'x/1', not 'fairbox.sidecar/1'"):
        expect_schema({"schema": "x/1"}, "fairbox.sidecar/1", "a.json")
    with pytest.raises(FormulaError, match=r"a\.json has no schema, not 'fairbox.sidecar/1'"):
        expect_schema({}, "fairbox.sidecar/1", Path("a.json"))
