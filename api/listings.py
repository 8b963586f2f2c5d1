"""Tables to look at: the solvers at hand, and what a model holds."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text


def solvers_data() -> dict[str, Any]:
    """The registered backends as plain JSON data."""
    from fairbox.solvers.registry import list_backends

    solvers = []
    for backend in list_backends():
        probe = backend.probe()
        solvers.append(
            {
                "name": backend.name,
                "available": probe.available,
                "version": probe.version,
                "capabilities": sorted(map(str, backend.capabilities)),
                "missing": {str(name): why for name, why in sorted(backend.missing.items())},
                "why_not": probe.why_not,
            }
        )
    return {"schema": "fairbox.solvers/1", "solvers": solvers}


def solvers_table(data: Mapping[str, Any]) -> Table:
    """One row per backend; for a missing one, why and what to install."""
    table = _table("name", "version", "can do")
    for solver in data["solvers"]:
        told = ", ".join(solver["capabilities"]) if solver["available"] else f"not here: {solver['why_not']}"
        table.add_row(*map(Text, (solver["name"], solver["version"] or "-", told)))
    table.add_row(
        Text("smtlib:COMMAND"), Text("-"), Text("any program that reads SMT-LIB 2 from standard input")
    )
    return table


def model_table(data: Mapping[str, Any]) -> Group:
    """What a model holds: a line per property, then one row per column that a test asks about."""
    facts = Table.grid(padding=(0, 2))
    base = f"{data['base_margin']:.9g} (probability {data['base_probability']:.9g})"
    rounds = "all" if data["rounds"] is None else f"{data['rounds'][0]} to {data['rounds'][1] - 1}"
    columns = f"{data['columns']}, {'with' if data['column_names'] else 'without'} names; {len(data['tested'])} tested"
    for name, value in (
        ("model", data["source"]),
        ("library", data["library"]),
        ("trees", f"{data['trees']}, depth {data['depth']}, {data['leaves']} leaves"),
        ("boosting rounds", rounds),
        ("base margin", base),
        ("link", data["link"]),
        ("columns", columns),
        ("sha256", data["sha256"]),
        *(("note", note) for note in data["notes"]),
    ):
        facts.add_row(Text(name), Text(value))
    table = _table("column tested", "thresholds", "smallest", "largest")
    for tested in data["tested"]:
        thresholds = tested["thresholds"]
        table.add_row(
            Text(tested["name"]), str(len(thresholds)), f"{thresholds[0]:.9g}", f"{thresholds[-1]:.9g}"
        )
    return Group(facts, Text(), table)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
