"""The formulas of the paper as pySMT formulas, in several encodings behind one interface.

`queries` states Ψ and Φ once, in terms of what an `Encoding` provides; `paper` and `cells` are the two
encodings. Every encoding lives in a pySMT environment of its own; nothing here calls a solver.
"""

from fairbox.encoder.errors import FormulaError
from fairbox.encoder.formula.cells import CellsEncoding
from fairbox.encoder.formula.encoding import Encoding, Side
from fairbox.encoder.formula.paper import PaperEncoding
from fairbox.encoder.problem import Problem

ENCODINGS: dict[str, type[Encoding]] = {"paper": PaperEncoding, "cells": CellsEncoding}


def build_encoding(problem: Problem, name: str = "paper") -> Encoding:
    """The named encoding of a problem; FormulaError lists the known names."""
    if name not in ENCODINGS:
        raise FormulaError(f"unknown encoding {name!r}: use one of {', '.join(ENCODINGS)}")
    return ENCODINGS[name](problem)


__all__ = ["ENCODINGS", "CellsEncoding", "Encoding", "PaperEncoding", "Side", "build_encoding"]
