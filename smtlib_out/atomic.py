"""Files that appear whole or not at all: written under a temporary name, then moved into place."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from fairbox.encoder.errors import OutputError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`, with the same suffix, for code that opens its files itself.

    When the block ends well, the file found there replaces `path` in one step; when it raises, nothing is
    left and an older `path` stays as it was. A link is followed, not replaced. Errors of the file system
    become OutputError.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(6)}.tmp{target.suffix}")
    ours = (None, target, str(target), temporary, str(temporary))
    try:
        _check_target(target)
        yield temporary
        _sync(temporary)
        temporary.replace(target)
    except OSError as error:
        # An error about some other file, raised by the block, is not ours to explain.
        if isinstance(error, OutputError) or error.filename not in ours:
            raise
        raise OutputError(
            f"cannot write {target}: {error.strerror or error}; check its permissions and the free space, "
            "or choose another place"
        ) from error
    finally:
        with suppress(OSError):  # not there, or beyond reach: the error above says what is the matter
            temporary.unlink()


@contextmanager
def atomic_open(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file (UTF-8, line feeds) that takes its place at `path` when the block ends well.

    See `atomic_path`; for bytes, or for a library that wants a file name, use that.
    """
    with atomic_path(path) as temporary, temporary.open("x", encoding="utf-8", newline="\n") as file:
        yield file


def _check_target(target: Path) -> None:
    """Refuse what no write can make good, before any work is done."""
    if target.is_dir():
        raise OutputError(f"cannot write {target}: it is a folder; name a file in it")
    if target.exists() and not target.is_file():
        # Moving a file over a device or a pipe would take its place.
        raise OutputError(f"cannot write {target}: it is not a regular file; choose another name")
    if not target.parent.is_dir():
        raise OutputError(
            f"cannot write {target}: the folder {target.parent} does not exist; create it first"
        )


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
