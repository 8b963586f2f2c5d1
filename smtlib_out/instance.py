"""The sidecar of a problem: what a reader of the formulas needs to know, and enough to build them again.

`model`, `space` and `question` rebuild the problem in any process. `trees`, `attributes` and `symbols` are
derived from them, so that other tools can turn path ids into boxes without knowing how.
"""

import json
from collections.abc import Mapping
from typing import Any

from fairbox.encoder.boxes import Box
from fairbox.encoder.cells import Axis
from fairbox.encoder.ensemble import ensemble_from_dict, ensemble_to_dict
from fairbox.encoder.errors import FormulaError
from fairbox.encoder.numbers import show
from fairbox.encoder.problem import Problem, build_problem
from fairbox.encoder.properties import question_from_dict
from fairbox.encoder.regions import describe_axis
from fairbox.encoder.schema import space_from_dict, space_to_dict
from fairbox.smtlib_out.sidecar import expect_schema

SCHEMA = "fairbox.sidecar/1"


def instance(problem: Problem) -> dict[str, Any]:
    """What rebuilds a problem: model, space and question."""
    return {
        "schema": SCHEMA,
        "model": ensemble_to_dict(problem.ensemble),
        "space": space_to_dict(problem.space),
        "question": problem.question.to_dict(),
    }


def instance_text(problem: Problem) -> str:
    """`instance` as compact JSON text, for a process that answers questions about the problem."""
    return json.dumps(instance(problem), separators=(",", ":"))


def problem_from_instance(data: Mapping[str, Any]) -> Problem:
    """Build the problem of a sidecar again; FormulaError when the JSON is not one."""
    expect_schema(data, SCHEMA, "sidecar")
    try:
        ensemble = ensemble_from_dict(data["model"], "sidecar")
        space = space_from_dict(data["space"], "sidecar")
        question = question_from_dict(data["question"])
    except (KeyError, TypeError, AttributeError) as error:
        raise FormulaError(
            f"sidecar is incomplete ({type(error).__name__}: {error}): export it again"
        ) from error
    return build_problem(ensemble, space, question)


def sidecar(problem: Problem, encoding: str) -> dict[str, Any]:
    """The whole sidecar: `instance`, and what follows from it."""
    cutoffs = problem.cutoffs
    return {
        **instance(problem),
        "encoding": encoding,
        "model_sha256": problem.ensemble.sha256,
        "scale": str(problem.scale),
        "base": str(problem.base),
        "cutoffs": {name: str(value) for name, value in vars(cutoffs).items()},
        "total": show(problem.total),
        "attributes": [_attribute(axis) for axis in problem.axes],
        "sensitive": [problem.space.names[i] for i in problem.sensitive],
        "trees": [
            [{"id": path.id, "value": str(path.value), "box": _box(problem, path.box)} for path in tree]
            for tree in problem.trees
        ],
    }


def _attribute(axis: Axis) -> dict[str, Any]:
    attribute = axis.attribute
    return {
        "name": attribute.name,
        "type": attribute.kind,
        "columns": list(attribute.columns),
        "values": describe_axis(axis, axis.full),
        "measure": show(attribute.measure),
        "tolerance": show(axis.tolerance),
    }


def _box(problem: Problem, box: Box) -> dict[str, Any]:
    """Only the attributes that the box restricts."""
    return {
        axis.attribute.name: describe_axis(axis, mask)
        for axis, mask in zip(problem.axes, box, strict=True)
        if mask != axis.full
    }
