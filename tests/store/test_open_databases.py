"""Nothing of this process opens the file of a store that it has open: that would end its locks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import trustream
from trustream import open_store
from trustream._open_databases import is_open_here, is_sqlite
from trustream.feeds import FeedError, find_files
from trustream.feeds import ingest as ingest_file
from trustream.store import Record
from trustream.streaming.fitted_models import is_store


def looks_at_it(path: Path) -> None:
    assert is_store(str(path))


def lists_it(path: Path) -> None:
    assert find_files(path.parent, "text").unknown == [path]


def ingests_it(path: Path) -> None:
    with open_store(path.parent / "other") as other:
        with pytest.raises(FeedError, match="is a store that is open here"):
            ingest_file(other, path, format="text")


def loads_it(path: Path) -> None:
    with pytest.raises(ValueError, match="it is a store that is open; give a model file"):
        trustream.load(path)


def closes_it(path: Path) -> None:
    """What the others must not do: the negative control."""
    with path.open("rb"):
        pass


# Opens the store in another process, and is the last to close it, as far as it can tell.
_VISIT = "import sys, trustream; trustream.open_store(sys.argv[1], create=False).close()"


def survives(path: Path, act: Callable[[Path], None]) -> bool:
    """Whether a store that is open can be written to after something, and a visit by another."""
    with open_store(path, min_documents=1) as store:
        store.append([Record("a", ["cat"])])
        act(path)
        subprocess.run([sys.executable, "-c", _VISIT, str(path)], check=True)
        try:
            store.append([Record("b", ["dog"])])
        except trustream.store.StoreError:
            return False
        assert store.totals().documents == 2
    return True


@pytest.mark.parametrize("act", [looks_at_it, lists_it, ingests_it, loads_it])
def test_locks_stay(tmp_path: Path, act: Callable[[Path], None]) -> None:
    (tmp_path / "store").mkdir()
    assert survives(tmp_path / "store" / "topics.db", act)


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_the_check_can_fail(tmp_path: Path) -> None:
    assert not survives(tmp_path / "topics.db", closes_it)


def test_what_is_open(tmp_path: Path) -> None:
    path, link = tmp_path / "topics.db", tmp_path / "link"
    link.symlink_to(path)
    assert not is_sqlite(path) and not is_open_here(path)
    with open_store(path):
        assert is_open_here(path) and is_open_here(link) and is_sqlite(link)
        with open_store(link):
            pass
        assert is_open_here(path)
    assert not is_open_here(path) and is_sqlite(path)
    (tmp_path / "text").write_text("SQLite format 2")
    assert not is_sqlite(tmp_path / "text") and not is_sqlite(tmp_path)
