"""Every error fairbox raises: one root, and a built-in second parent so that old habits of catching still work.

A message says what was wrong, where, and what to do about it, on one line.
"""


class FairboxError(Exception):
    """Root of every error raised on purpose by fairbox."""


class ModelError(FairboxError, ValueError):
    """A model that cannot be read, is malformed, or is of a kind that is not supported."""


class SpaceError(FairboxError, ValueError):
    """An input space that contradicts itself or does not fit the model."""


class QuestionError(FairboxError, ValueError):
    """A property, tolerance or confidence that makes no sense for the input space."""


class FormulaError(FairboxError, ValueError):
    """A formula, script or sidecar that cannot be built, written or read."""


class BackendError(FairboxError, RuntimeError):
    """A solver backend that is unknown, not installed, or cannot do what was asked."""


class SolverFailure(FairboxError, RuntimeError):
    """A solver that died, reported an error, or said something that is not an answer."""


class SoundnessError(FairboxError, RuntimeError):
    """Two sources that must agree do not: a result must not be shown until this is understood."""


class OutputError(FairboxError, OSError):
    """A file or folder that cannot be written."""
