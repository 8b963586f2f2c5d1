"""Symbol names: which ones SMT-LIB and every reader accept, when to quote them, how to escape the rest."""

import re

from fairbox.encoder.errors import FormulaError

# What `encode_name` escapes: all but the characters of simple symbols, and of those `%` (the escape) and `!`
# (the joint).
_UNSAFE = re.compile(r"[^a-zA-Z0-9~@$^&*_\-+=<>.?/]")
_ESCAPED = re.compile("%([0-9A-F]{2})")
_SIMPLE = re.compile(r"[~!$%^&*_\-+=<>?/A-Za-z][~!@$%^&*_\-+=<>.?/A-Za-z0-9]*")
_NUMERAL_LIKE = re.compile(r"-?[0-9]")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_FORBIDDEN = re.compile(r"[^ -~]|[|\\]")

# Quoting does not free these: they belong to the theories (SMT-LIB 2.6, Core, Reals_Ints), or a widely
# used reader takes them for syntax even between bars.
_TAKEN = frozenset(
    """true false not and or xor => = distinct ite + - * / <= < >= > div mod abs divisible
    to_real to_int is_int Bool Int Real ! _ as let exists forall match par ( )""".split()  # noqa: SIM905  (words read best as words)
)
# Reserved words (SMT-LIB 2.6, section 3.1) that are good names between bars.
_RESERVED = frozenset(
    """BINARY DECIMAL HEXADECIMAL NUMERAL STRING assert check-sat check-sat-assuming declare-const
    declare-datatype declare-datatypes declare-fun declare-sort define-const define-fun define-fun-rec
    define-funs-rec define-sort echo exit get-assertions get-assignment get-info get-model get-option
    get-proof get-unsat-assumptions get-unsat-core get-value pop push reset reset-assertions set-info
    set-logic set-option""".split()  # noqa: SIM905
)


def encode_name(name: str) -> str:
    """`name` as one component of a symbol, in the characters of simple symbols only.

    Every other character becomes `%XX` for each byte of its UTF-8 form, and so do `%` itself and `!`, which
    is free to join components. The code works character by character and `decode_name` undoes it: different
    names never meet. Lone surrogates, which can come from JSON, are kept apart too.
    """
    return _UNSAFE.sub(_percent, name)


def decode_name(encoded: str) -> str:
    """The name that `encode_name` turned into `encoded`.

    Raises FormulaError for text that `encode_name` never gives.
    """
    try:
        data = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), encoded).encode("latin-1")
        name = data.decode("utf-8", "surrogatepass")
    except UnicodeError as error:
        raise FormulaError(f"{encoded!r} is not an encoded name: {error}; use encode_name") from error
    if encode_name(name) != encoded:
        raise FormulaError(
            f"{encoded!r} is not an encoded name; {name!r} is encoded as {encode_name(name)!r}"
        )
    return name


def symbol_name(*components: str) -> str:
    """The components, encoded and joined by `!`: `symbol_name("x", "age")` is `x!age`."""
    return "!".join(map(encode_name, components))


def symbol_components(name: str) -> tuple[str, ...]:
    """The components that `symbol_name` joined; raises FormulaError for any other name."""
    return tuple(map(decode_name, name.split("!")))


def check_name(name: str) -> None:
    """Raise FormulaError for a name that no quoting makes safe in every reader of SMT-LIB.

    These are names with a character that quoted symbols exclude, the names of the theories, names that look
    like a number (pySMT forgets the bars) and those the standard keeps for solvers (leading `@` or `.`).
    """
    if _FORBIDDEN.search(name):
        problem = "has a character that SMT-LIB symbols exclude"
    elif not name:
        problem = "is empty"
    elif name in _TAKEN:
        problem = "is a word of SMT-LIB itself"
    elif _NUMBER.fullmatch(name):
        problem = "reads as a number"
    elif name[0] in "@.":
        problem = "begins with @ or ., which SMT-LIB keeps for solvers"
    else:
        return
    raise FormulaError(
        f"symbol name {name!r} {problem}; build names with symbol_name and a prefix, as in 'x!age'"
    )


def is_simple(name: str) -> bool:
    """Whether every reader takes `name` for one symbol without bars around it."""
    return (
        _SIMPLE.fullmatch(name) is not None
        and name not in _RESERVED
        and name not in _TAKEN
        # z3 takes -5 for a number, although the standard makes it a symbol.
        and not _NUMERAL_LIKE.match(name)
    )


def symbol_token(name: str) -> str:
    """How `name` is written in a script: as it is where it is a simple symbol, else as `|name|`.

    Raises FormulaError as `check_name` does.
    """
    if is_simple(name):
        return name
    check_name(name)
    return f"|{name}|"


NaturalKey = tuple[tuple[tuple[int, str], ...], str]


def natural_key(name: str) -> NaturalKey:
    """A sort key by which `p!2` comes before `p!10`; different names have different keys."""
    parts = re.split("([0-9]+)", name)
    numbers = (part.lstrip("0") if index % 2 else "" for index, part in enumerate(parts))
    # Digits compare by length first, which orders numbers of any size without reading them.
    return tuple((len(n), n or part) for n, part in zip(numbers, parts, strict=True)), name


def printable(text: str) -> str:
    """`text` fit for comments and quoted header fields: what SMT-LIB excludes there becomes `%XX`.

    For people, not for `decode_name`: `%` stays as it is. Line breaks are kept.
    """
    return re.sub(r"[^ -~\n]|[|\\]", _percent, text)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))
