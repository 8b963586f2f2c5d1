"""Scripts: header, declarations and one `(assert …)` per formula, as text or as files.

Equal input gives equal bytes, in every process.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from pysmt.fnode import FNode

from fairbox.encoder.names import printable
from fairbox.smtlib_out.atomic import atomic_open
from fairbox.smtlib_out.header import FOOTER, Header, header_text, survey
from fairbox.smtlib_out.printer import Printer

Items = Iterable[FNode | str]
"""Formulas to assert, in order; a string among them is a comment that names the group after it."""


def write_script(
    file: TextIO,
    items: Items,
    header: Header = Header(),  # noqa: B008  (immutable)
    *,
    symbols: Sequence[FNode] | None = None,
    printer: Printer | None = None,
) -> None:
    """Write a whole script to an open text file, formula by formula.

    Each formula becomes one `(assert …)`, split no further. `symbols` gives the order of declarations and
    may name more than the formulas use (`header.survey`). `printer` may be shared between scripts.
    Raises FormulaError before anything is written when a formula, a symbol or the projection is unfit.
    """
    file.writelines(_base(items, header, symbols, printer or Printer(), ()))
    file.write(FOOTER)


def session_script(
    items: Items,
    printer: Printer | None = None,
    *,
    header: Header = Header(),  # noqa: B008  (immutable)
    symbols: Sequence[FNode] | None = None,
    later: Iterable[FNode] = (),
) -> str:
    """The text a session starts from: a script without `(check-sat)` and `(exit)`.

    `later` are formulas, terms or symbols that will be used in assertions added to the session: the logic
    is chosen and symbols are declared with them in mind. A solver held to QF_UF refuses a sum that comes
    later, and a declaration made after a push is gone with its pop.
    Other arguments and errors are those of `write_script`.
    """
    return "".join(_base(items, header, symbols, printer or Printer(), later))


def save_script(
    path: str | os.PathLike[str],
    items: Items,
    header: Header = Header(),  # noqa: B008  (immutable)
    *,
    symbols: Sequence[FNode] | None = None,
    printer: Printer | None = None,
) -> None:
    """Write a script to a file that appears whole or not at all.

    Arguments and errors are those of `write_script`; also OutputError when the file cannot be written.
    """
    with atomic_open(path) as file:
        write_script(file, items, header, symbols=symbols, printer=printer)


def _base(
    items: Items,
    header: Header,
    symbols: Sequence[FNode] | None,
    printer: Printer,
    later: Iterable[FNode],
) -> Iterator[str]:
    """Header, declarations and assertions, piece by piece; all checks come before the first piece."""
    items = tuple(items)
    formulas = [item for item in items if not isinstance(item, str)]
    needs = survey(formulas, extra=[*header.projection, *later], symbols=symbols)
    yield header_text(header, needs.logic)
    yield from map(printer.declaration, needs.symbols)
    for item in items:
        if isinstance(item, str):
            yield _comment(item)
        else:
            yield printer.assertion(item)


def _comment(text: str) -> str:
    return "".join(f"; {line}".rstrip() + "\n" for line in printable(text).split("\n"))
