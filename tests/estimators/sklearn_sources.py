"""scikit-learn's own tests, read from the installed package and run on other estimators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import trustream


def GaussianMixture(
    *, reg_covar: float = 0, weight_concentration_prior_type: str | None = None, **parameters: Any
) -> trustream.GaussianMixture:
    """The mixture for scikit-learn's arguments, unless they ask for what there is not.

    With its algorithm, batch variational Bayes.
    """
    # A covariance is regularised by its prior, and nothing is added to it.
    assert reg_covar == 0
    assert weight_concentration_prior_type in (None, "dirichlet_distribution")
    return trustream.GaussianMixture(learning_method="batch", **parameters)


def names_of(
    package: str, file: str, changes: Mapping[str, str], rename: tuple[str, str] | None = None
) -> dict[str, Any]:
    """All names that a file of tests defines, after some of its lines were changed.

    Args:
        package: of scikit-learn, as "decomposition".
        file: in the folder of its tests.
        changes: lines of the file, each of which must be there once, and what they become.
        rename: (a name, what it becomes everywhere), after that.
    """
    spec = find_spec(f"sklearn.{package}")
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / "tests" / file
    source = path.read_text(encoding="utf-8")
    for line, instead in changes.items():
        assert source.count(f"\n{line}\n") == 1, f"{path} has no line {line!r}: look what it has"
        source = source.replace(f"\n{line}\n", f"\n{instead}\n")
    if rename is not None:
        source = source.replace(*rename)
    names: dict[str, Any] = {"__name__": f"{__name__}.{Path(file).stem}"}
    exec(compile(source, str(path), "exec"), names)
    return names


def tests_in(names: Mapping[str, Any]) -> dict[str, Any]:
    """The tests among them."""
    return {name: value for name, value in names.items() if name.startswith("test_")}


def expect(request: pytest.FixtureRequest, exceptions: Mapping[str, str]) -> None:
    """Mark a test that is an exception, by its name with or without parameters: it must fail."""
    full = request.node.name
    for name in (full, full.partition("[")[0]):
        if name in exceptions:
            mark = pytest.mark.xfail(reason=exceptions[name], strict=True)
            request.applymarker(mark)


def check_names(
    tests: Collection[str], passing: Collection[str], exceptions: Collection[str]
) -> None:
    """Fail if scikit-learn has a test that nobody has looked at."""
    known = {*passing, *(name.partition("[")[0] for name in exceptions)}
    unknown = set(tests) - known
    assert not unknown, (
        f"scikit-learn has new tests, {sorted(unknown)}: if they pass add them to PASSING, if not "
        "make them pass, or add them to EXCEPTIONS with the reason"
    )
