"""One question as a folder of files: its formulas, the sidecar that explains them, and an index."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pysmt.fnode import FNode

from fairbox.encoder.formula import build_encoding
from fairbox.encoder.formula.encoding import Encoding
from fairbox.encoder.formula.queries import Query, phi_kappa, phi_not_kappa, phi_unfair
from fairbox.encoder.numbers import show
from fairbox.encoder.problem import Problem
from fairbox.smtlib_out.folder import writable_folder
from fairbox.smtlib_out.header import Header
from fairbox.smtlib_out.instance import sidecar
from fairbox.smtlib_out.sidecar import write_json
from fairbox.smtlib_out.writer import save_script

SCHEMA = "fairbox.export/1"
QUERIES: tuple[Callable[[Encoding], Query], ...] = (phi_kappa, phi_not_kappa, phi_unfair)
LICENSE = "that of the model the formula was made from"
WIDENED = (
    "Bounds on margins are widened by the proven rounding error of the model's float32 sums: "
    "unsat is final, a solution close to a bound must be replayed on the model."
)


def export_problem(problem: Problem, encoding: str, folder: str | os.PathLike[str]) -> list[Path]:
    """Write Φ_κ, Φ_κ̄ and Φ_unfair, sidecar.json and index.json, and return their paths.

    Each file appears whole or not at all, the index last; files of the same names are replaced. Equal input
    gives equal bytes. Raises FormulaError for an unknown encoding or a formula that cannot be written,
    OutputError when the folder cannot be.
    """
    built = build_encoding(problem, encoding)
    queries = [make(built) for make in QUERIES]
    folder = writable_folder(folder)
    explained = folder / "sidecar.json"
    # First: it refuses numbers that JSON readers would round, and then nothing is left behind.
    write_json(explained, sidecar(problem, encoding))
    files = []
    for query in queries:
        path = folder / f"phi_{query.name}.smt2"
        header = Header(_source(problem, query, encoding), LICENSE, projection=query.projection)
        save_script(path, _items(query), header, symbols=query.symbols)
        files.append((path, query.title))
    files.append((explained, "what the symbols mean, and what rebuilds the formulas"))
    index = folder / "index.json"
    entries = [{"name": p.name, "sha256": _sha256(p), "content": title} for p, title in files]
    write_json(index, {"schema": SCHEMA, "files": entries})
    return [*(p for p, _ in files), index]


def _items(query: Query) -> Iterator[FNode | str]:
    for heading, assertions in query.groups:
        yield heading
        yield from assertions


def _source(problem: Problem, query: Query, encoding: str) -> str:
    question = problem.question
    lines = [
        "fairbox (BoxQTE, arXiv 2512.16386)",
        f"formula: phi_{query.name}, {query.title}; encoding {encoding}",
        f"model: {len(problem.ensemble.trees)} trees, sha256 {problem.ensemble.sha256}",
        f"question: {question.property}, confidence above {show(question.kappa)}, tolerance rate "
        f"{show(question.rate)}, ties {question.ties}, arithmetic {question.arithmetic}",
    ]
    if problem.sensitive:
        lines.append(f"sensitive: {', '.join(problem.space.names[i] for i in problem.sensitive)}")
    if question.arithmetic == "deployed":
        lines.append(WIDENED)
    return "\n".join(lines)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
