"""Data as scikit-learn takes them, and sound."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.utils.validation import validate_data

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
