"""The folder that files go to: made, and known to be writable, before any work is done for it."""

import os
import tempfile
from pathlib import Path

from fairbox.encoder.errors import OutputError


def writable_folder(path: str | os.PathLike[str]) -> Path:
    """The folder at `path`, created with its parents where it does not exist.

    Raises OutputError when it cannot be created or a file cannot be created in it.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Permissions do not tell: a file system may be read-only, full, or owned by someone else.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write to the folder {folder}: {error.strerror or error}; "
            "check its permissions, or choose another --output"
        ) from error
    return folder
