"""Results as frames of pandas, for those who have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def frame(columns: Mapping[str, Any]) -> Any:
    """Return a pandas DataFrame of these columns.

    Raises
    ------
    ImportError
        pandas is not installed.

    Examples
    --------
    >>> frame({"topic": [0, 1]}).shape
    (2, 1)
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'a frame needs pandas: pip install "trustream[frames]", or pip install pandas, or use '
            "the dataclasses"
        ) from error
    return pandas.DataFrame(dict(columns))
