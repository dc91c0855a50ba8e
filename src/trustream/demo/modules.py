"""Tell which modules each topic is about: those whose docstrings use it more than others do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trustream.array_types import Float64
from trustream.topics.documents import ReadBatch


def place(name: str) -> str:
    """Return the part of a library that a docstring stands in: its package, and a module in it.

    Names that begin with an underscore are left out: users import from above them.

    Examples
    --------
    >>> place("numpy.linalg._linalg:svd"), place("argparse:ArgumentParser.error")
    ('numpy.linalg', 'argparse')
    >>> place("_pydecimal:Decimal")
    '_pydecimal'
    """
    module = name.partition(":")[0]
    public = [part for part in module.split(".") if not part.startswith("_")]
    return ".".join(public[:2]) or module


class ModuleTokens:
    """Counts the tokens of each topic in each module; feed it by `trustream.topics.gather`.

    Parameters
    ----------
    n_topics : int
    """

    def __init__(self, n_topics: int) -> None:
        self._rows: dict[str, int] = {}
        self._tokens = np.zeros((0, n_topics))

    def add(self, part: ReadBatch) -> None:
        """Take in some docstrings."""
        places = [place(key) for key in part.documents.keys or ()]
        for name in places:
            self._rows.setdefault(name, len(self._rows))
        new = len(self._rows) - len(self._tokens)
        self._tokens = np.pad(self._tokens, ((0, new), (0, 0)))
        np.add.at(self._tokens, [self._rows[name] for name in places], part.tokens)

    def typical(self, n: int = 2) -> list[list[str]]:
        """Return, for each topic, at most n modules that set it apart, the first most of all.

        They are sorted by what they add to the mutual information of modules and topics,
        n_mk log(p(k | m) / p(k)): modules that use the topic much, and more than others do.
        """
        return [_best(column, list(self._rows), n) for column in information(self._tokens).T]


def information(tokens: Float64) -> Float64:
    """Return n_mk log(p(k | m) / p(k)) for tokens n_mk of modules m and topics k.

    Examples
    --------
    >>> information(np.array([[8.0, 0.0], [2.0, 10.0]])).round(2)
    array([[ 5.55,  0.  ],
           [-2.2 ,  5.11]])
    """
    of_modules = np.maximum(tokens.sum(axis=1, keepdims=True), 1e-300)
    shares = tokens.sum(axis=0) / max(tokens.sum(), 1e-300)
    ratio = tokens / of_modules / np.maximum(shares, 1e-300)
    return np.asarray(tokens * np.log(np.where(tokens > 0, ratio, 1.0)))


def _best(values: Float64, names: Sequence[str], n: int) -> list[str]:
    order = np.argsort(-values, kind="stable")[:n]
    return [names[row] for row in order.tolist() if values[row] > 0]
