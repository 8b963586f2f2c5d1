"""What was loaded, as data: the model behind `fairbox show` and in every result."""

from typing import Any

from fairbox.encoder.ensemble import Ensemble, probability


def model_identity(ensemble: Ensemble) -> dict[str, Any]:
    """Which model a result speaks of: hash of all that decides its predictions, origin, and size."""
    return {
        "sha256": ensemble.sha256,
        "library": ensemble.library,
        "source": ensemble.source,
        "trees": len(ensemble.trees),
        "depth": max((tree.depth for tree in ensemble.trees), default=0),
        "leaves": sum(len(tree.leaves) for tree in ensemble.trees),
        "columns": ensemble.n_features,
        "rounds": list(ensemble.rounds) if ensemble.rounds else None,
    }


def model_details(ensemble: Ensemble) -> dict[str, Any]:
    """All of `fairbox show`: identity, base margin, link, boosting rounds, columns tested and how."""
    names = column_names(ensemble)
    return {
        "schema": "fairbox.model/1",
        **model_identity(ensemble),
        "link": ensemble.link,
        "base_margin": ensemble.base,
        "base_probability": probability(ensemble.base),
        "column_names": list(names) if ensemble.feature_names else None,
        "tested": [
            {"column": feature, "name": names[feature], "thresholds": list(thresholds)}
            for feature, thresholds in ensemble.thresholds().items()
        ],
        "notes": list(ensemble.notes),
    }


def column_names(ensemble: Ensemble) -> tuple[str, ...]:
    """The model's column names, or their numbers where it has none."""
    return ensemble.feature_names or tuple(f"column {i}" for i in range(ensemble.n_features))
