"""S-expressions: splitting what a solver prints into atoms and lists, and judging whether text is complete."""

import re
from collections.abc import Iterator

from fairbox.encoder.errors import SolverFailure

Expr = str | list["Expr"]
"""An atom as it was printed (`|a b|` and `"text"` keep their marks), or a list."""

_TOKEN = re.compile(r'[()]|\|[^|]*\||"(?:[^"]|"")*"|;[^\n]*|[^\s()|";]+')
_MARKED = re.compile(r'"[^"]*"|\|[^|]*\||;[^\n]*')


def parse(text: str) -> list[Expr]:
    """All expressions of a complete text. Raises SolverFailure when brackets or quotes do not match."""
    top: list[Expr] = []
    here, outer = top, []
    for token in _TOKEN.findall(text):
        if token == "(":
            inner: list[Expr] = []
            here.append(inner)
            outer.append(here)
            here = inner
        elif token == ")":
            if not outer:
                raise SolverFailure(f"not an S-expression, a bracket too many: {shown(text)}")
            here = outer.pop()
        elif token[0] != ";":
            here.append(token)
    if outer:
        raise SolverFailure(f"not an S-expression, a bracket is missing: {shown(text)}")
    return top


def is_complete(text: str) -> bool:
    """Whether no bracket, quotation or quoted symbol is left open. (A bracket too many counts as complete.)"""
    text = without_marked(text)
    return "|" not in text and '"' not in text and text.count("(") <= text.count(")")


def is_balanced(text: str) -> bool:
    """Whether as many brackets close as open, and no quotation or quoted symbol is left open."""
    text = without_marked(text)
    return "|" not in text and '"' not in text and text.count("(") == text.count(")")


def without_marked(text: str) -> str:
    """The text without comments, quotations and quoted symbols, so that every bracket left in it counts."""
    return _MARKED.sub(" ", text) if "|" in text or '"' in text or ";" in text else text


def heads(text: str) -> Iterator[str]:
    """The first atom of every expression of the outermost level of a complete text."""
    depth, fresh = 0, False
    for token in _TOKEN.findall(text):
        if token == "(":
            depth += 1
            fresh = depth == 1
        elif token == ")":
            depth -= 1
        elif fresh and token[0] != ";":
            yield token
            fresh = False


def render(expr: Expr) -> str:
    """An expression as text."""
    return expr if isinstance(expr, str) else f"({' '.join(map(render, expr))})"


def unquoted(symbol: str) -> str:
    """A symbol without its bars, for comparing: `|x!1|` and `x!1` are one symbol."""
    return symbol[1:-1] if symbol.startswith("|") else symbol


def string_text(atom: str) -> str:
    """What a string literal says, without its quotes; inside them a doubled quote stands for one."""
    return atom[1:-1].replace('""', '"') if atom.startswith('"') else atom


def shown(text: str, length: int = 200) -> str:
    """A text for a message: on one line, cut to a length."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
