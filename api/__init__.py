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
    from fairbox.encoder.errors import FairboxError as FairboxError
    from fairbox.encoder.loading import load_model as load_model
    from fairbox.encoder.properties import Fairness as Fairness
    from fairbox.encoder.properties import Robustness as Robustness
    from fairbox.encoder.space import InputSpace as InputSpace
    from fairbox.orchestrator.quantify import quantify as quantify
    from fairbox.solvers.registry import list_backends as list_backends

__version__ = "0.1.0"

# Public name -> the module that defines it.
_HOME = {
    "Ensemble": "fairbox.encoder.ensemble",
    "FairboxError": "fairbox.encoder.errors",
    "Fairness": "fairbox.encoder.properties",
    "InputSpace": "fairbox.encoder.space",
    "Robustness": "fairbox.encoder.properties",
    "list_backends": "fairbox.solvers.registry",
    "load_model": "fairbox.encoder.loading",
    "quantify": "fairbox.orchestrator.quantify",
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
