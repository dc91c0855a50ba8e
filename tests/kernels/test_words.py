"""Words of texts as codes: the compiled kernel does what its twin does, on any bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trustream import kernels
from trustream.kernels.words.reference import ELSEWHERE, MAX_MIXED, NOTHING

PIECES = st.one_of(
    st.sampled_from([b"cat", b"Cat", b"CAT", b"dog", b"an", b" ", b", ", b"_", b"7", b"\xc3\xa9"]),
    st.binary(max_size=6),
    st.sampled_from([b"x" * 20, b"y" * 60, b"\xc3\xa9" * 30, b"[`{@\x7f\x80"]),
)


class Table:
    """Arrays for a few entries and bytes."""

    def __init__(self, n_entries: int, n_bytes: int) -> None:
        self.slots = np.full(1 << (2 * n_entries).bit_length(), -1, np.int32)
        self.hashes = np.zeros(n_entries, np.uint64)
        self.starts = np.zeros(n_entries + 1, np.int64)
        self.arena = np.zeros(n_bytes, np.uint8)
        self.meanings = np.zeros(n_entries, np.int32)
        self.state = np.array([0, 0, 12345], np.int64)

    def run(self, backend: str, data: bytes, begin: int, *rules: Any) -> tuple[Any, ...]:
        """The result, and the codes."""
        codes = np.full((len(data) + 1) // 2, 99, np.int32)
        text = np.frombuffer(data, np.uint8)
        table = (self.slots, self.hashes, self.starts, self.arena, self.meanings, self.state)
        n, n_open, place = kernels.get("words", backend).code_words(
            text, begin, *rules, *table, codes
        )
        return n, n_open, place, codes[:n].tolist()

    def content(self) -> tuple[Any, ...]:
        """All that the twins keep alike."""
        n = int(self.state[0])
        starts = self.starts[: n + 1].tolist()
        arena = self.arena[: starts[-1]].tobytes()
        return self.state.tolist(), starts, arena, self.meanings[:n].tolist()


@settings(deadline=None, max_examples=300)
@given(
    parts=st.lists(st.lists(PIECES, max_size=30), min_size=1, max_size=4),
    lower=st.booleans(),
    least=st.integers(1, 4),
    most=st.sampled_from([5, 50]),
    n_entries=st.sampled_from([1, 3, 100]),
    n_bytes=st.sampled_from([4, 40, 2000]),
    gone=st.booleans(),
)
def test_twins(
    parts: list[list[bytes]],
    lower: bool,
    least: int,
    most: int,
    n_entries: int,
    n_bytes: int,
    gone: bool,
) -> None:
    tables = {backend: Table(n_entries, n_bytes) for backend in kernels.BACKENDS}
    for pieces in parts:
        data = b"".join(pieces)
        results = [
            table.run(backend, data, len(data) // 3, lower, least, most)
            for backend, table in tables.items()
        ]
        assert results[0] == results[1]
        compiled, reference = (table.content() for table in tables.values())
        assert compiled == reference
        if gone:  # the first entry is a stop word from now on
            for table in tables.values():
                table.meanings[:1] = NOTHING


@pytest.mark.parametrize("backend", kernels.BACKENDS)
def test_codes(backend: str) -> None:
    table = Table(20, 200)
    text = "The CAT_dog's café, cat2the ab é".encode()
    n, n_open, place, codes = table.run(backend, text, 0, True, 3, 9)
    assert (n, n_open, place) == (7, 2, len(text))
    assert codes == [0, 1, 2, -4, 1, 0, -5]
    assert table.meanings[:5].tolist() == [0, 1, 2, ELSEWHERE, ELSEWHERE]
    long = "x" * (MAX_MIXED - 1) + "é"
    assert table.run(backend, f"cat {long} dog".encode(), 0, True, 3, 9)[2] == -1


@pytest.mark.parametrize("backend", kernels.BACKENDS)
def test_a_full_table_says_where_it_stopped(backend: str) -> None:
    table = Table(2, 100)
    assert table.run(backend, b"one two one three one", 0, True, 3, 9) == (3, 0, 12, [0, 1, 0])
    assert table.run(backend, b"one two one three one", 17, True, 3, 9) == (1, 0, 21, [0])


def test_slots_of_a_table_that_has_grown() -> None:
    table = Table(8, 100)
    table.run("compiled", b"one two three four", 0, True, 3, 9)
    table.slots = np.full(64, -1, np.int32)
    kernels.get("words", "compiled").fill_slots(table.slots, table.hashes, 4)
    assert table.run("compiled", b"four three two one", 0, True, 3, 9)[3] == [3, 2, 1, 0]
