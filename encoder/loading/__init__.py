"""Models of every library, loaded as exact ensembles: one file per library, found through a registry.

A format is an object with the attributes of `Format`; a third party registers one under the entry point
group `fairbox.formats`. Nothing here unpickles or executes what a model file holds.
"""

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from fairbox.encoder.ensemble import Ensemble
from fairbox.encoder.errors import ModelError


class Format(Protocol):
    """One library's models."""

    name: str

    def recognises_file(self, path: Path, head: bytes) -> bool:
        """Whether a file that starts with `head` (up to 4,096 bytes) looks like one of this library's."""
        ...

    def recognises_object(self, model: object) -> bool:
        """Whether `model` is one of this library's objects (the library need not be imported)."""
        ...

    def load_file(self, path: Path, iteration_range: tuple[int, int] | None) -> Ensemble:
        """The ensemble in a file; ModelError with the reason when it is not supported."""
        ...

    def load_object(self, model: Any, iteration_range: tuple[int, int] | None) -> Ensemble:
        """The ensemble in a fitted object; ModelError with the reason when it is not supported."""
        ...

    def library_margins(self, ensemble: Ensemble, inputs: Any) -> Any:
        """The library's own float32 margins (rows,) of float32 inputs (rows x features) by its `predict`."""
        ...


def formats() -> dict[str, Format]:
    """The registered formats by name."""
    return {point.name: point.load() for point in sorted(entry_points(group="fairbox.formats"))}


def load_model(model: str | Path | object, *, iteration_range: tuple[int, int] | None = None) -> Ensemble:
    """Load a trained model as an exact ensemble and check it against its library's own predictions.

    `model` is a path (XGBoost JSON or UBJ) or an object (xgboost Booster or XGBClassifier);
    `iteration_range` takes boosting rounds [begin, end), by default those the object's own `predict` uses.
    Raises ModelError for what cannot be read or is not supported, SoundnessError when the library's
    predictions differ from the loaded model's.
    """
    known = formats()
    if isinstance(model, str | Path):
        path = Path(model)
        head = _head(path)
        for candidate in known.values():
            if candidate.recognises_file(path, head):
                return candidate.load_file(path, iteration_range)
        raise ModelError(
            f"{path}: not a model file that is supported ({', '.join(known)}): save it as XGBoost JSON or UBJ"
        )
    for candidate in known.values():
        if candidate.recognises_object(model):
            return candidate.load_object(model, iteration_range)
    raise ModelError(
        f"cannot load a {type(model).__module__}.{type(model).__qualname__}: "
        f"give a path or an object of one of: {', '.join(known)}"
    )


def library_margins(ensemble: Ensemble, inputs: Any) -> Any:
    """The float32 margins that the library which made `ensemble` predicts for `inputs` (rows x features)."""
    known = formats()
    if ensemble.library not in known:
        raise ModelError(
            f"no format {ensemble.library!r} is registered: install the package that provides it"
        )
    return known[ensemble.library].library_margins(ensemble, inputs)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except FileNotFoundError as error:
        raise ModelError(f"model file {path} does not exist: check the path") from error
    except IsADirectoryError as error:
        raise ModelError(f"model file {path} is a folder: give the file") from error
    except OSError as error:
        raise ModelError(f"model file {path} cannot be read: {error.strerror}") from error
