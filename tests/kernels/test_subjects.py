"""Kernels are found by subject and backend, and both backends offer the same functions."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from trustream import kernels

# A function of each subject, so that no list of functions is empty for the wrong reason.
SOME = {
    "lda": "lda_local",
    "factors": "factor_local",
    "mixture": "softmax",
    "hmm": "forward_backward",
    "regression": "linear_groups",
    "priors": "dirichlet_step",
    "likelihood": "chib",
    "sparse": "first_fault",
    "words": "code_words",
    "json_lines": "scan_lines",
    "wiki_pages": "page_text",
}


def public(module: Any) -> dict[str, list[str]]:
    """Names of a module's functions, with the names of their arguments."""
    own = {n: getattr(f, "py_func", f) for n, f in vars(module).items() if callable(f)}
    names = getattr(module, "__all__", None) or [
        n for n, f in own.items() if not n.startswith("_") and f.__module__ == module.__name__
    ]
    own = {n: own[n] for n in sorted(names)}
    return {n: list(inspect.signature(f).parameters) for n, f in own.items()}


@pytest.mark.parametrize("subject", kernels.SUBJECTS)
def test_same_functions_with_the_same_signatures(subject: str) -> None:
    compiled, reference = (public(kernels.get(subject, name)) for name in kernels.BACKENDS)
    assert compiled == reference
    assert SOME[subject] in compiled


def test_every_folder_is_a_subject() -> None:
    folder = Path(kernels.__file__).parent
    assert {path.parent.name for path in folder.glob("*/__init__.py")} == set(kernels.SUBJECTS)


@pytest.mark.parametrize(
    ("subject", "backend", "message"),
    [
        ("lda", "fast", r"backend must be one of \('compiled', 'reference'\), got 'fast'"),
        ("topics", "compiled", r"subject must be one of \('lda', .*\), got 'topics'"),
    ],
)
def test_unknown_kernels(subject: str, backend: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernels.get(subject, backend)
