"""lambda or statistics of a batch's words, made from their parts when someone asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from trustream.models.lda.batch import WordBatch
from trustream.models.protocol import Float64

if TYPE_CHECKING:
    from trustream.models.lda.computation import LdaArrays
    from trustream.models.lda.lazy_rows import LazyRows

Array = NDArray[Any]


class Stored(NamedTuple):
    """Rows of lambda where it is kept, with the prior's pattern that belongs to it."""

    lambda_: LazyRows
    words: Array  # (W,)
    pattern: Float64


class Beliefs(NamedTuple):
    """What the statistics of a batch are summed from: n_dw phi_dwk = ratio_dw theta_dk table_wk."""

    batch: WordBatch
    table: Array
    theta: Array
    ratio: Array


class Blend(NamedTuple):
    """(1 - rho) anchor + rho (eta + scale * statistics), to be made when needed."""

    anchor: LdaNatural
    eta: Array  # (1, 1), (W, 1) or (W, K)
    eta_totals: Float64
    statistics: LdaNatural
    rho: float
    scale: float


class LdaNatural:
    """lambda or statistics of a batch's words (W, K), and the sums over all words (K,) in float64.

    Rows of lambda stay where they are stored, statistics are kept as the beliefs they are summed
    from, and a blend as its parts, until someone asks: a local step makes statistics, blend and
    exp E[log beta] in one pass over memory, and then never needs the rows themselves. So what comes
    from lambda is of use only until lambda changes.
    """

    __slots__ = ("_arrays", "_rows", "_totals", "source")

    def __init__(
        self,
        rows: Array | None,
        totals: Float64 | None,
        arrays: LdaArrays | None = None,
        source: Stored | Beliefs | Blend | None = None,
    ) -> None:
        self._rows, self._totals = rows, totals
        self._arrays, self.source = arrays, source

    def __iter__(self) -> Iterator[Array]:
        return iter((self.rows, self.totals))

    @property
    def rows(self) -> Array:
        """(W, K)."""
        if self._rows is None:
            self._make()
        return self._rows  # type: ignore[return-value]

    @property
    def totals(self) -> Float64:
        """(K,)."""
        if self._totals is None:
            self._make()
        return self._totals  # type: ignore[return-value]

    @property
    def stored(self) -> Stored | None:
        """Where they are kept, of rows of lambda."""
        return self.source if isinstance(self.source, Stored) else None

    @property
    def beliefs(self) -> Beliefs | None:
        """Of statistics that are not summed yet."""
        return self.source if self._rows is None and isinstance(self.source, Beliefs) else None

    def _make(self) -> None:
        arrays, source = self._arrays, self.source
        if isinstance(source, Stored):
            self._rows = arrays.stored(source)  # type: ignore[union-attr]
        elif isinstance(source, Beliefs):
            self._rows, self._totals = arrays.statistics(*source)  # type: ignore[union-attr]
        elif isinstance(source, Blend):
            self._rows, self._totals, _, _ = arrays.blend(source, rows=True)  # type: ignore[union-attr]

    def table(self, arrays: LdaArrays) -> tuple[Array, Array]:
        """exp(psi(rows) + offset), (W, padded K), and offset (W,)."""
        if self._rows is None and isinstance(self.source, Blend):
            _, self._totals, table, offset = arrays.blend(self.source, table=True)
            return table, offset
        return arrays.table(self.rows)
