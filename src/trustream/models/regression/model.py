"""What all regressions share."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.kernels import BACKENDS
from trustream.models.dense_model import BatchT, DenseModel, NaturalT, PriorT


@dataclass(frozen=True, kw_only=True)
class RegressionModel(DenseModel[NaturalT, PriorT, BatchT]):
    """A regression as a `ConjugateModel`, with all capabilities but learnable priors.

    Attributes:
        n_weights: P, the features and, if there is one, the intercept.
        dtype: "float32" or "float64", of the rows; parameters and sums are float64.
        backend: which kernels compute, "compiled" or "reference".
        n_threads: threads to use; they change the time only.
    """

    n_weights: int
    dtype: str = "float64"
    backend: str = "compiled"
    n_threads: int = 1

    def __post_init__(self) -> None:
        for name in ("n_weights", "n_threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {BACKENDS}, got {self.backend!r}")

    @property
    def n_components(self) -> int:
        """One: there is one vector of weights, or one population of them."""
        return 1
