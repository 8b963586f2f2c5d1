"""Files appear whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from fairbox.encoder.errors import OutputError
from fairbox.smtlib_out.atomic import atomic_open, atomic_path


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with atomic_open(path) as file:
        file.write("κ\n")
        assert not path.exists()
    assert path.read_bytes() == "κ\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_an_older_file_is_replaced_only_by_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_open(path) as file:
        file.write("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    with atomic_open(str(path)) as file:
        file.write("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_library_gets_a_path_with_the_right_suffix(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with atomic_path(path) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".parquet"
        temporary.write_bytes(b"\x00")
    assert path.read_bytes() == b"\x00"


def test_a_block_that_wrote_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot write .*a\.txt"), atomic_path(tmp_path / "a.txt"):
        pass


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with atomic_open(tmp_path / "atomic"):
        pass
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with atomic_open(tmp_path / "link") as file:
        file.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "x"


def test_errors_of_other_files_pass_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, atomic_open(tmp_path / "a.txt") as file:
        file.write((tmp_path / "missing").read_text())
    assert not isinstance(caught.value, OutputError)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_output_error(tmp_path: Path) -> None:
    full = OSError(28, os.strerror(28))
    no_space = pytest.raises(OutputError, match=r"a\.txt: No space left.*choose another place")
    with no_space, atomic_open(tmp_path / "a.txt"):
        raise full
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for path, message in [
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "a", r"the folder .*none does not exist; create it first"),
        (tmp_path / "file" / "a", "does not exist"),
        (tmp_path / "pipe", "not a regular file"),
        (Path(os.devnull), "not a regular file"),
        (tmp_path / ("n" * 300), "File name too long"),
        (Path("/proc/none.txt"), "cannot write /proc/none.txt"),
    ]:
        with pytest.raises(OutputError, match=message), atomic_open(path):
            pytest.fail("the block must not run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        pytest.raises(OutputError, match=r"Permission denied; check its permissions"),
        atomic_open(tmp_path / "a"),
    ):
        pytest.fail("the block must not run")
