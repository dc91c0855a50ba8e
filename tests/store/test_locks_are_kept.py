"""Nothing that opens files takes away the locks of a SQLite store that is open.

By the rules of POSIX a process loses its locks on a file when it closes any descriptor of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trustream import LatentDirichletAllocation, feeds, load, open_store
from trustream._open_databases import is_in_use
from trustream.cli import main
from trustream.feeds import FeedError, find_files
from trustream.store import Record
from trustream.streaming.fitted_models import is_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
# It appends a document, and would delete the log if nobody else had the store open.
OTHER = """
import sys
from trustream.store import Record, open_store
with open_store(sys.argv[1]) as store:
    store.append([Record("other", ["dog"])])
"""


def listed(path: Path) -> None:
    found = find_files(path.parent)
    assert path in found.unknown and not found.unreadable


def refused(call: Callable[[], Any], kind: type[Exception] = ValueError) -> None:
    with pytest.raises(kind, match="belongs to a store that is open in this process"):
        call()


def saved(path: Path) -> None:
    lda = LatentDirichletAllocation(2, max_iter=1, random_state=0).fit([[1, 2], [2, 1]] * 10)
    refused(lambda: lda.save(path))


LOOKS: dict[str, Callable[[Path], Any]] = {
    "a list of the folder": listed,
    "is it a store": lambda path: is_store(str(path)),
    "as a model": lambda path: refused(lambda: load(path)),
    "in the place of a model": saved,
    "as a feed": lambda path: refused(
        lambda: [*feeds.read_documents(path, format="text")], FeedError
    ),
    "as a matrix": lambda path: refused(lambda: feeds.read_matrix(path)),
    "its log as a feed": lambda path: refused(
        lambda: [*feeds.read_documents(f"{path}-wal", format="text")], FeedError
    ),
    "the index of its log as a feed": lambda path: refused(
        lambda: [*feeds.read_documents(f"{path}-shm", format="text")], FeedError
    ),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_at_an_open_store(file: Path, name: str) -> None:
    (file.parent / "a.txt").write_text("cats and dogs\n")
    with open_store(file, min_documents=1) as store:
        store.append([Record("one", ["cat"])])
        LOOKS[name](file)
        subprocess.run([sys.executable, "-c", OTHER, str(file)], check=True)
        store.append([Record("two", ["cat"])])
        assert store.totals().documents == 3
    with open_store(file) as store:
        assert store.totals().documents == 3


def test_the_test_can_fail(file: Path) -> None:
    """What all this is about: another descriptor is closed, and the locks are gone."""
    with open_store(file, min_documents=1) as store:
        store.append([Record("one", ["cat"])])
        os.close(os.open(file, os.O_RDONLY))
        subprocess.run([sys.executable, "-c", OTHER, str(file)], check=True)
        assert not Path(f"{file}-wal").exists()


def test_a_store_that_is_closed_is_a_file_like_others(file: Path) -> None:
    store = open_store(file)
    assert is_in_use(file) and is_in_use(f"{file}-wal")
    with open_store(file):
        assert is_in_use(file)
    assert is_in_use(file)
    store.close()
    assert not is_in_use(file)
    del store


def test_a_folder_with_the_store_in_it(tmp_path: Path) -> None:
    """`trustream ingest topics.db .` leaves the store out."""
    (tmp_path / "a.txt").write_text("cats and dogs\n")
    path = tmp_path / "topics.db"
    for arguments in (["init", path, "--topics", 2], ["ingest", path, tmp_path]):
        result = CliRunner().invoke(main, [str(one) for one in arguments])
        assert result.exit_code == 0, result.output
    assert "left out: " in result.stderr and "topics.db" in result.stderr
    with open_store(path) as store:
        assert store.totals().documents == 1
