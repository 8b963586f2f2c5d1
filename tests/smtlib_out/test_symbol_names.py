"""Names: escaped reversibly, quoted where needed, refused where nothing helps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.errors import FormulaError
from fairbox.encoder.names import (
    check_name,
    decode_name,
    encode_name,
    is_simple,
    natural_key,
    printable,
    symbol_components,
    symbol_name,
    symbol_token,
)
from tests.smtlib_out.formulas import ODD_NAMES

# Every string, lone surrogates too.
ANY = st.text(st.characters(exclude_categories=())) | st.text("a!%|\\ 0é\ud800\udc00")


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("age", "age"),
        ("credit amount", "credit%20amount"),
        ("50%", "50%25"),
        ("a!b", "a%21b"),
        ("a|b\\c", "a%7Cb%5Cc"),
        ("é", "%C3%A9"),
        ("κ̄", "%CE%BA%CC%84"),
        ("😀", "%F0%9F%98%80"),
        ("\ud800", "%ED%A0%80"),
        ("\n\x00\x7f", "%0A%00%7F"),
        ("sex=male", "sex=male"),
        ("", ""),
    ],
)
def test_table_of_codes(name: str, encoded: str) -> None:
    assert encode_name(name) == encoded
    assert decode_name(encoded) == name


@given(ANY)
def test_decoding_undoes_encoding(name: str) -> None:
    assert decode_name(encode_name(name)) == name


@given(st.text("abAB0129%!|é", max_size=8))
def test_no_two_texts_decode_alike(encoded: str) -> None:
    try:
        name = decode_name(encoded)
    except FormulaError:
        return
    assert encode_name(name) == encoded


@given(ANY, ANY)
def test_the_code_goes_character_by_character(first: str, second: str) -> None:
    assert encode_name(first + "." + second) == encode_name(first) + "." + encode_name(second)


@given(st.lists(ANY, min_size=1, max_size=4))
def test_components_come_back(components: list[str]) -> None:
    assert symbol_components(symbol_name(*components)) == tuple(components)


@given(ANY)
def test_a_prefixed_name_is_a_simple_symbol(name: str) -> None:
    symbol = symbol_name("x", name)
    assert is_simple(symbol)
    assert symbol_token(symbol) == symbol


@pytest.mark.parametrize("encoded", ["%", "a%2", "%zz", "%c3%a9", "%41", "%C3", "%FF", "a b", "a!b", "é"])
def test_text_that_encoding_never_gives_is_refused(encoded: str) -> None:
    with pytest.raises(FormulaError, match="not an encoded name"):
        decode_name(encoded)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("x!age", "x!age"),
        ("~!@$%^&*_-+=<>.?/", "~!@$%^&*_-+=<>.?/"),
        ("a b", "|a b|"),
        ("5a", "|5a|"),
        ("-5", "|-5|"),
        ("-a", "-a"),
        ("assert", "|assert|"),
        ("(x)", "|(x)|"),
        ('"', '|"|'),
    ],
)
def test_only_what_needs_bars_gets_them(name: str, token: str) -> None:
    assert symbol_token(name) == token


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_but_legal_names_are_accepted(name: str) -> None:
    check_name(name)
    assert symbol_token(name) in (name, f"|{name}|")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is empty"),
        ("a|b", "character"),
        ("a\\b", "character"),
        ("é", "character"),
        ("a\tb", "character"),
        ("a\n", "character"),
        ("\x7f", "character"),
        ("true", "word of SMT-LIB"),
        ("<=", "word of SMT-LIB"),
        ("_", "word of SMT-LIB"),
        ("Int", "word of SMT-LIB"),
        ("(", "word of SMT-LIB"),
        ("5", "reads as a number"),
        ("2.50", "reads as a number"),
        ("@x", "keeps for solvers"),
        (".x", "keeps for solvers"),
    ],
)
def test_names_that_no_quoting_saves_are_refused(name: str, why: str) -> None:
    with pytest.raises(FormulaError, match=why):
        symbol_token(name)
    symbol_token(symbol_name("x", name))


def test_natural_order() -> None:
    names = ["p!10", "p!2", "p!2!b", "p", "q!1", "p!02", "p!0", "p!00", "x!" + "9" * 5000, "x!7"]
    expected = ["p", "p!0", "p!00", "p!02", "p!2", "p!2!b", "p!10", "q!1", "x!7", "x!" + "9" * 5000]
    assert sorted(names, key=natural_key) == expected


@given(st.lists(st.text("p!019", max_size=6), unique=True))
def test_natural_order_separates_all_names(names: list[str]) -> None:
    assert len({natural_key(name) for name in names}) == len(names)


def test_printable_keeps_lines_and_percent_signs() -> None:
    assert printable("50% of |é|\nnext\t\\") == "50% of %7C%C3%A9%7C\nnext%09%5C"
