"""Data as scikit-learn takes them, and sound."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_non_negative, validate_data

from trustream import _texts, matrices
from trustream.models.mixture.gaussian_features import LARGEST


def validated(estimator: Any, X: Any, instead_of_texts: str, **options: Any) -> Any:
    """X as scikit-learn's `validate_data` returns it; if sparse, a `matrices.csr`.

    Args:
        instead_of_texts: what an error tells to pass, as `_texts.refuse` takes it.
        options: of `validate_data`.
    """
    # Looked at before scikit-learn does, whose conversions trust the arrays.
    if sp.issparse(X):
        X = matrices.csr(X)
    else:
        matrices.check_frame(X)
    given = X
    try:
        X = validate_data(estimator, X, **options)
    except (TypeError, ValueError):
        _texts.refuse(given, instead=instead_of_texts)
        raise
    if X.dtype.kind == "O":
        # Of columns with categories, which scikit-learn lets pass.
        _texts.refuse(given, instead=instead_of_texts)
    made_of_a_frame = sp.issparse(X) and not isinstance(X, sp.csr_array)
    return matrices.csr(X) if made_of_a_frame else X


def counts(estimator: Any, X: Any, row: str = "document") -> sp.csr_array:
    """What `validated` returned, as a `matrices.csr` of counts that are not negative or too many.

    Args:
        row: what a row is called in an error.
    """
    X = X if sp.issparse(X) else matrices.csr(X)
    if X.dtype.kind == "b" or X.data.min(initial=0) < 0:
        # What stands at one place counts together: once if truths, and perhaps not negative.
        X = matrices.with_summed_entries(X)
        check_non_negative(X, type(estimator).__name__)
    matrices.check_tokens(X, row=row)
    return X


def binary(X: Any, binarize: float | None, dtype: str) -> Any:
    """Validated data as zeros and ones: above `binarize` or not; checked if it is None.

    >>> binary(np.array([[0.2, 3.0]]), 0.5, "float32")
    array([[False,  True]])
    """
    if sp.issparse(X):
        # A value is all that stands at a place.
        X = matrices.with_summed_entries(X)
    if binarize is None:
        values = X.data if sp.issparse(X) else X
        if not np.isin(values, (0, 1)).all():
            raise ValueError(
                "the data are not binary: with binarize=None every value must be 0 or 1. "
                "Give a threshold, for instance binarize=0.5."
            )
        return X
    if not sp.issparse(X):
        return X > binarize
    if binarize < 0:
        raise ValueError(
            f"binarize={binarize} would turn the zeros of a sparse matrix into ones; "
            "use a threshold of at least 0, or dense data"
        )
    return (X > binarize).astype(dtype)


def moderate(X: Any) -> Any:
    """Validated rows of numbers, refused if their squares might overflow."""
    low, high = X.min(), X.max()
    if max(-low, high) >= LARGEST:
        raise ValueError(
            f"X has values from {low:g} to {high:g}, expected less than {LARGEST:g}, so that "
            "sums of squares do not overflow: look for extreme values, or rescale the data"
        )
    return X


def beta_pair(prior: Any, n_features: int) -> tuple[Any, Any]:
    """(a, b) of a parameter `probability_prior`, numbers or one for each feature."""
    if len(prior) != 2:
        raise ValueError(f"probability_prior is a pair (a, b), got {prior!r}")
    for name, value in zip("ab", prior, strict=True):
        if np.shape(value) not in ((), (n_features,)):
            raise ValueError(
                f"{name} of probability_prior has shape {np.shape(value)}, "
                f"expected a number or ({n_features},)"
            )
    return prior[0], prior[1]
