"""The look at a CSR matrix: both twins find the same fault, and none where there is none."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from trustream.kernels.sparse import compiled, reference

TWINS = (reference, compiled)
NUMBERS = st.integers(-2, 7) | st.sampled_from([2**31 - 1, -(2**31), 10**6])


def by_hand(indptr: list[int], indices: list[int], n_columns: int) -> tuple[int, int, bool]:
    """One number after the other."""
    if indptr[0] != 0:
        return 0, -1, False
    canonical = True
    for row, (first, last) in enumerate(itertools.pairwise(indptr)):
        if not first <= last <= len(indices):
            return row, -1, False
        for p in range(first, last):
            if not 0 <= indices[p] < n_columns:
                return row, p, False
            canonical &= p == first or indices[p - 1] < indices[p]
    return -1, -1, canonical


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    indptr=st.lists(NUMBERS, min_size=1, max_size=6) | st.lists(st.integers(0, 6)).map(sorted),
    indices=st.lists(NUMBERS, max_size=6) | st.lists(st.integers(0, 3), max_size=6),
    n_columns=st.integers(0, 5),
    kind=st.sampled_from(["int32", "int64"]),
)
def test_twins_find_the_first_fault(
    indptr: list[int], indices: list[int], n_columns: int, kind: str
) -> None:
    indptr = indptr or [0]
    expected = by_hand(indptr, indices, n_columns)
    for twin in TWINS:
        found = twin.first_fault(np.array(indptr, np.int64), np.array(indices, kind), n_columns)
        assert tuple(map(int, found)) == expected, twin.__name__


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("n_rows", [1, 3, 1000])
def test_a_single_wrong_number_among_many(twin: object, n_rows: int) -> None:
    """Long enough for vectors, and what is left over after them."""
    rng = np.random.default_rng(n_rows)
    lengths = rng.integers(0, 40, n_rows)
    lengths[0] = 37
    indptr = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    indices = np.concatenate([np.sort(rng.choice(50, n, replace=False)) for n in lengths])
    indices = indices.astype(np.int32)
    first_fault = twin.first_fault  # type: ignore[attr-defined]
    assert first_fault(indptr, indices, 50) == (-1, -1, True)
    for place in (0, indices.size // 2, indices.size - 1):
        row = int(np.searchsorted(indptr, place, side="right")) - 1
        for wrong in (50, -1, 2**31 - 1, -(2**31)):
            bad = indices.copy()
            bad[place] = wrong
            assert first_fault(indptr, bad, 50) == (row, place, False)
    twice = indices.copy()
    twice[1] = twice[0]
    assert first_fault(indptr, twice, 50) == (-1, -1, False)
    assert first_fault(indptr, indices[:-1], 50)[1] == -1
