"""Scripts read back: formulas, projection, logic and metadata, in a pySMT environment of the reader's own."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pysmt.environment import Environment
from pysmt.exceptions import UndefinedLogicError
from pysmt.fnode import FNode
from pysmt.logics import QF_LIRA, get_logic_by_name
from pysmt.smtlib.parser import SmtLibParser
from pysmt.smtlib.parser.parser import Tokenizer
from pysmt.smtlib.script import SmtLibCommand

from fairbox.encoder.errors import FormulaError
from fairbox.encoder.names import check_name
from fairbox.smtlib_out.header import LOGICS, PROJECTION

_INCREMENTAL = frozenset(["push", "pop", "reset", "reset-assertions", "check-sat-assuming"])
_DECLARATIONS = ("declare-fun", "declare-const")
_Command = tuple[str, list[Any]]


@dataclass(frozen=True)
class Script:
    """One formula as a script holds it.

    `symbols` are those declared, in order; `info` has every `set-info` by its keyword without the colon, with
    strings and quoted symbols unwrapped.
    """

    environment: Environment
    assertions: tuple[FNode, ...]
    symbols: tuple[FNode, ...]
    projection: tuple[FNode, ...]
    logic: str | None
    info: Mapping[str, str]

    @property
    def formula(self) -> FNode:
        """The conjunction of the assertions."""
        return self.environment.formula_manager.And(self.assertions)


def read_script(source: Path | str, environment: Environment | None = None) -> Script:
    """The script in a file (a Path) or in a text (a str).

    The formulas are built in `environment`, by default a new one. What `writer` wrote comes back as the same
    formulas. Raises FormulaError, with file and line where they are known, for a file that cannot be read,
    text that is not SMT-LIB, symbols that are not declared, and incremental scripts, which hold more than
    one formula. Commands after `(exit)` are not read.
    """
    if isinstance(source, str):
        return _read(source, "script", environment or Environment())
    try:
        text = source.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormulaError(f"cannot read {source}: {reason}; check that it is an SMT-LIB file") from error
    return _read(text, str(source), environment or Environment())


def _read(text: str, origin: str, environment: Environment) -> Script:
    # The parser knows space, tab and line feed only.
    tokens = Tokenizer(io.StringIO(text, newline=None))
    commands: list[_Command] = []
    try:
        for command in _parser(environment).get_command(tokens):
            if command.name == "exit":
                break
            if command.name == "assert":
                _check_assertion(command.args[0], environment)
            elif command.name in _DECLARATIONS:
                check_name(command.args[0].symbol_name())
            commands.append((command.name, command.args))
        _check_single([name for name, _ in commands])
        return _script(commands, environment)
    except Exception as error:
        # On text it does not expect the parser raises whatever comes first, down to AttributeError.
        line = f", line {tokens.pos_info[0] + 1}" if tokens.pos_info else ""
        reason = str(getattr(error, "message", "") or error or type(error).__name__)
        advice = (
            "" if isinstance(error, FormulaError) else "; it must be a script of one formula in SMT-LIB 2"
        )
        raise FormulaError(f"{origin}{line}: {reason}{advice}") from error


def _parser(environment: Environment) -> SmtLibParser:
    """pySMT's parser with the logic it lacks, and without its way of taking unknown words for strings."""
    parser = SmtLibParser(environment)
    atom = parser.atom

    def known_atom(token: str, manager: Any) -> Any:
        found = atom(token, manager)
        if isinstance(found, str):
            raise FormulaError(
                f"{token!r} is neither declared nor an operator of linear arithmetic; declare it"
            )
        return found

    def set_logic(current: str, tokens: Tokenizer) -> SmtLibCommand:
        (name,) = parser.parse_atoms(tokens, current, 1)
        try:
            # pySMT has QF_LIRA but not among the logics it looks up by name.
            parser.logic = QF_LIRA if name == "QF_LIRA" else get_logic_by_name(name)
        except UndefinedLogicError as error:
            raise FormulaError(f"logic {name} is unknown; use one of {', '.join(LOGICS)}") from error
        return SmtLibCommand(current, [name])

    parser.atom = known_atom
    parser.commands["set-logic"] = set_logic
    return parser


def _check_assertion(formula: FNode, environment: Environment) -> None:
    if not environment.stc.get_type(formula).is_bool_type():
        raise FormulaError(f"{formula} is a term, not a formula; only formulas can be asserted")


def _check_single(names: list[str]) -> None:
    """Refuse a script that asks about more than one formula."""
    incremental = _INCREMENTAL.intersection(names)
    if incremental:
        raise FormulaError(
            f"({min(incremental)} …) makes the script incremental; cut it into one script each"
        )
    if "check-sat" in names and {"assert", "check-sat"}.intersection(names[names.index("check-sat") + 1 :]):
        raise FormulaError("it goes on after check-sat with another question; cut it into one script each")


def _script(commands: list[_Command], environment: Environment) -> Script:
    info = {args[0].removeprefix(":"): _unwrap(args[1]) for name, args in commands if name == "set-info"}
    symbols = tuple(args[0] for name, args in commands if name in _DECLARATIONS)
    return Script(
        environment=environment,
        assertions=tuple(args[0] for name, args in commands if name == "assert"),
        symbols=symbols,
        projection=_projection(info.get(PROJECTION.removeprefix(":")), symbols),
        logic=next((args[0] for name, args in commands if name == "set-logic"), None),
        info=info,
    )


def _projection(value: str | None, symbols: tuple[FNode, ...]) -> tuple[FNode, ...]:
    if value is None:
        return ()
    if not (value.startswith("(") and value.endswith(")")):
        raise FormulaError(f"the projection {value!r} is not a list; write it as (p!0 p!1)")
    declared = {symbol.symbol_name(): symbol for symbol in symbols}
    names = value[1:-1].split()
    unknown = [name for name in names if name not in declared]
    if unknown:
        raise FormulaError(f"projection symbol {unknown[0]!r} is not declared")
    return tuple(declared[name] for name in names)


def _unwrap(value: str) -> str:
    """The text of a string literal, or the value as it is (the parser has taken the bars off symbols)."""
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"')
    return value
