"""What tells files apart is the same as `os.stat` says, with and without statx."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trustream.store import file_status as module
from trustream.store.file_status import file_status


@pytest.fixture(params=["statx", "not there", "forbidden"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "not there":
        monkeypatch.setattr(module, "_STATX", None)
    elif request.param == "forbidden":
        monkeypatch.setattr(module, "_STATX", lambda *_: -1)


def _expected(path: Path) -> tuple[tuple[int, int], int]:
    found = os.stat(path)
    return (found.st_dev, found.st_ino), found.st_size


@pytest.mark.usefixtures("_way")
def test_the_same_as_stat(tmp_path: Path) -> None:
    paths = [tmp_path, Path("/dev/null"), tmp_path / "ä \udce4", tmp_path / "empty"]
    paths[2].write_bytes(b"x" * 70_000)
    paths[3].touch()
    paths.append(tmp_path / "link")
    paths[-1].symlink_to(paths[2])
    for path in paths:
        assert file_status(str(path)) == _expected(path)
    assert file_status(str(paths[2])) == file_status(str(paths[4]))
    assert file_status(str(paths[2])).identity != file_status(str(paths[3])).identity


@pytest.mark.usefixtures("_way")
def test_what_cannot_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileNotFoundError):
        file_status(str(tmp_path / "missing"))
    with pytest.raises(NotADirectoryError):
        file_status(str(tmp_path / "file" / "below"))
    with pytest.raises(ValueError, match="null"):
        file_status(f"{tmp_path / 'file'}\0rest")
