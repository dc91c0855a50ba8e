"""Data as scikit-learn takes them, and sound."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.utils.validation import check_non_negative, validate_data

from trustream import _texts, matrices


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
