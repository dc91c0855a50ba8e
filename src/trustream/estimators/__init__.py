"""scikit-learn estimators over the models and algorithms of this package."""

from trustream.estimators.lda import LatentDirichletAllocation

__all__ = ["LatentDirichletAllocation"]
