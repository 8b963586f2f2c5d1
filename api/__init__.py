"""For what share of the input space does a sensitive attribute, or a small change, change a model's decision?

The public names of fairbox. Each is loaded at its first use, so `import fairbox.encoder` or a worker process
never pays for the libraries that only the other layers need.

This folder also holds the command line, the result objects and the reports. Each layer below it is imported
by its full name (`fairbox.encoder`, `fairbox.smtlib_out`, `fairbox.solvers`, `fairbox.orchestrator`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairbox.encoder.ensemble import Ensemble as Ensemble
    from fairbox.encoder.errors import BackendError as BackendError
    from fairbox.encoder.errors import FairboxError as FairboxError
    from fairbox.encoder.errors import FormulaError as FormulaError
    from fairbox.encoder.errors import ModelError as ModelError
    from fairbox.encoder.errors import OutputError as OutputError
    from fairbox.encoder.errors import QuestionError as QuestionError
    from fairbox.encoder.errors import SolverFailure as SolverFailure
    from fairbox.encoder.errors import SoundnessError as SoundnessError
    from fairbox.encoder.errors import SpaceError as SpaceError
    from fairbox.encoder.loading import load_model as load_model
    from fairbox.encoder.properties import Fairness as Fairness
    from fairbox.encoder.properties import Robustness as Robustness
    from fairbox.encoder.space import InputSpace as InputSpace
    from fairbox.formulas import export as export
    from fairbox.orchestrator.bounds import Bounds as Bounds
    from fairbox.quantification import Run as Run
    from fairbox.quantification import quantify as quantify
    from fairbox.result import Result as Result
    from fairbox.solvers.registry import list_backends as list_backends

__version__ = "0.1.0"

# Public name -> the module that defines it.
_HOME = {
    "BackendError": "fairbox.encoder.errors",
    "Bounds": "fairbox.orchestrator.bounds",
    "Ensemble": "fairbox.encoder.ensemble",
    "FairboxError": "fairbox.encoder.errors",
    "Fairness": "fairbox.encoder.properties",
    "FormulaError": "fairbox.encoder.errors",
    "InputSpace": "fairbox.encoder.space",
    "ModelError": "fairbox.encoder.errors",
    "OutputError": "fairbox.encoder.errors",
    "QuestionError": "fairbox.encoder.errors",
    "Result": "fairbox.result",
    "Robustness": "fairbox.encoder.properties",
    "Run": "fairbox.quantification",
    "SolverFailure": "fairbox.encoder.errors",
    "SoundnessError": "fairbox.encoder.errors",
    "SpaceError": "fairbox.encoder.errors",
    "export": "fairbox.formulas",
    "list_backends": "fairbox.solvers.registry",
    "load_model": "fairbox.encoder.loading",
    "quantify": "fairbox.quantification",
}

__all__ = [  # noqa: PLE0604  (the names of the table above)
    "__version__",
    *_HOME,
]


def __getattr__(name: str) -> Any:
    """The public name, imported from its module at the first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(
            f"module 'fairbox' has no attribute {name!r}; the public names are {', '.join(_HOME)}"
        )
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
