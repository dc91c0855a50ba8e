"""Lines and their marks, however the bytes are cut."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.feeds.helpers import documents, new_store
from trustream.feeds import Mark, ingest
from trustream.feeds.lines import split

CONTENT = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b"\xff", b"long line"])).map(
    b"".join
)
CUTS = st.lists(st.integers(0, 100), max_size=10)


def cut(content: bytes, places: list[int]) -> list[bytes | None]:
    """Pieces with pauses between them."""
    inside = sorted(place for place in places if place < len(content))
    pieces: list[bytes | None] = []
    for start, end in pairwise([0, *inside, len(content)]):
        pieces += [content[start:end], None]
    return pieces


@given(CONTENT, CUTS)
def test_lines_do_not_depend_on_the_pieces(content: bytes, places: list[int]) -> None:
    wanted = content.split(b"\n")
    if not wanted[-1]:
        wanted.pop()
    lines = [line for line in split(cut(content, places), Mark(), 10) if line is not None]
    assert [line.mark.number for line in lines] == list(range(1, len(wanted) + 1))
    for line, raw in zip(lines, wanted, strict=True):
        ended = line.mark.offset < len(content) or content.endswith(b"\n")
        assert line.content == (
            None if len(raw) > 10 else raw.removesuffix(b"\r") if ended else raw
        )
    # Each mark is a place to begin at, at which a line begins.
    for place, line in enumerate(lines, start=1):
        rest = list(split([content[line.mark.offset :]], line.mark, 10))
        assert rest == lines[place:]


@given(CONTENT, CUTS)
def test_pauses_are_passed_on(content: bytes, places: list[int]) -> None:
    pieces = cut(content, places)
    assert list(split(pieces, Mark(), 10)).count(None) == pieces.count(None)


def test_a_file_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_text("cats\n")
    with new_store(tmp_path) as store:
        assert ingest(store, path).n_records == 1
        assert ingest(store, path).n_records == 0
        assert documents(store) == {"caf\ufffd.txt:1": {"cats": 1}}
