"""A process of its own that gives damaged matrices to every entry point.

    python -m tests.reliability.malformed_child table LOG
    python -m tests.reliability.malformed_child random LOG MATRICES CALLS
    python -m tests.reliability.malformed_child commands LOG

LOG holds the call that is being made, for whoever finds this process dead. `table` and `commands`
print JSON; `random` exits with 0 if each call either raised a ValueError or did what it does for
the same matrix made afresh.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.reliability import damaged_matrices, matrix_entry_points
from tests.reliability.matrix_entry_points import DENSE_ONLY, ENTRY_POINTS, Entry

# What a file holds is read as it is, and topics of no document are not known; of all others NaN is
# wrong.
MAYBE_NAN = (
    "npz", "npz of parts", "topics.topic_correlation", "topics.topics_over_time",
)  # fmt: skip
Outcome = list[np.ndarray] | str


def table(log: Path) -> None:
    """What each entry point says to each damage in the list: {entry point: {damage: message}}."""
    found: dict[str, dict[str, str | None]] = {}
    for name, call in ENTRY_POINTS.items():
        found[name] = {}
        for damage, matrix in damaged_matrices.listed().items():
            log.write_text(f"{name} of {damage}")
            said = outcome(name, call, matrix)
            found[name][damage] = said if isinstance(said, str) else None
    print(json.dumps(found))


def commands(log: Path) -> None:
    """The same for commands that read files: {command: {damage: [exit code, output]}}."""
    from click.testing import CliRunner

    from trustream.cli import main as trustream

    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bad.npz"
        for name, arguments in matrix_entry_points.commands(Path(folder)).items():
            found[name] = {}
            for damage, matrix in damaged_matrices.listed().items():
                if matrix.format not in matrix_entry_points.FILE_FORMATS:
                    continue
                log.write_text(f"{name} of {damage}")
                matrix_entry_points.save_parts(path, matrix, named=True)
                result = CliRunner().invoke(trustream, [*arguments, str(path)])
                found[name][damage] = [result.exit_code, result.output]
    print(json.dumps(found))


def random(log: Path, n_matrices: str, calls_each: str) -> None:
    """Any matrices, each given to some entry points in turn."""
    n_calls = n_refused = n_damaged = n_matrix = 0
    most = int(calls_each)

    @seed(15)
    @settings(
        max_examples=int(n_matrices),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        # To shrink takes long, and a matrix is small as it is.
        phases=[Phase.generate],
    )
    @given(cases())
    def attack(case: Case) -> None:
        nonlocal n_calls, n_refused, n_damaged, n_matrix
        matrix = case.matrix
        meaning, before = damaged_matrices.meaning(matrix), describe(matrix)
        n_matrix, n_damaged = n_matrix + 1, n_damaged + (meaning is None)
        calls = entry_points(matrix)
        first = n_matrix * most % len(calls)
        for name, call in itertools.islice(itertools.cycle(calls.items()), first, first + most):
            log.write_text(f"matrix {n_matrix}: {name} of {before}")
            found = outcome(name, call, matrix)
            n_calls += 1
            n_refused += isinstance(found, str)
            compare(name, matrix, meaning, call, found)
            assert describe(matrix) == before, f"{name} changed its argument, {before}"

    attack()
    print(f"{n_matrix} matrices, {n_damaged} of them damaged: {n_calls} calls, {n_refused} refused")


class Case:
    """A matrix that can be shown whatever is wrong with it."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __repr__(self) -> str:
        return describe(self.matrix)


@st.composite
def cases(draw: Any) -> Case:
    return Case(draw(damaged_matrices.matrices()))


def entry_points(matrix: Any) -> dict[str, Entry]:
    calls = dict(ENTRY_POINTS)
    if matrix.format in matrix_entry_points.FILE_FORMATS:
        calls |= matrix_entry_points.FILES
    if matrix.format == "csr":
        calls["npz of parts"] = matrix_entry_points.PARTS
    return calls


def compare(name: str, matrix: Any, meaning: Any, call: Entry, found: Outcome) -> None:
    """Fail unless a damaged matrix was refused, and a sound one treated like a new one."""
    about = f"{name} of {describe(matrix)}"
    if meaning is None:
        assert isinstance(found, str), f"not refused: {about}"
        return
    expected = outcome(name, call, made_afresh(name, matrix.format, *meaning))
    if isinstance(expected, str) or isinstance(found, str):
        both = isinstance(expected, str) and isinstance(found, str)
        assert both, f"{about}: {found}, and made afresh {expected}"
        return
    close = {"rtol": 1e-4, "atol": 1e-7, "equal_nan": name in MAYBE_NAN, "err_msg": about}
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, **close)


def made_afresh(name: str, format: str, dense: np.ndarray, stored: np.ndarray) -> sp.csr_array:
    """A new matrix; without stored zeros, except where they make a difference.

    One is a rating for a recommender, unless it fills a block, and takes part in random starts.
    """
    keeps = name.startswith(("lda.fit", "lda.partial_fit")) or (
        name.startswith(("recommender", "poisson_recommender")) and format != "bsr"
    )
    if not keeps:
        return sp.csr_array(dense)
    return sp.coo_array((dense[stored], np.nonzero(stored)), shape=dense.shape).tocsr()


def outcome(name: str, call: Entry, matrix: Any) -> Outcome:
    """The arrays that a call returns, or the message of its ValueError; other errors are raised."""
    expected: tuple[type[Exception], ...] = (ValueError,)
    if name in DENSE_ONLY:
        expected += (TypeError,)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = call(matrix)
    except expected as error:
        return f"{type(error).__name__}: {error}"
    parts = result if isinstance(result, list) else [result]
    return [np.asarray(part, np.float64) for part in parts]


def describe(matrix: Any) -> str:
    if matrix.format == "dok":
        return f"dok {matrix.shape} {dict(matrix.items())}"
    arrays = {"coo": ["coords"], "dia": ["offsets"], "lil": ["rows"]}
    names = [*arrays.get(matrix.format, ["indptr", "indices"]), "data"]
    parts = ", ".join(f"{name}={getattr(matrix, name)!r}" for name in names)
    return f"{matrix.format} {matrix.shape} {parts}"


_MODES: dict[str, Callable[..., None]] = {"table": table, "commands": commands, "random": random}

if __name__ == "__main__":
    mode, log, *rest = sys.argv[1:]
    _MODES[mode](Path(log), *rest)
