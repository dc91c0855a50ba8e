"""Latent Dirichlet allocation: the model, its prior, its parameters and draws from it."""

from trustream.models.lda.collapsed import CollapsedLdaModel
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.model import LdaModel
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda.sampling import sample_prior

__all__ = [
    "CollapsedLdaModel",
    "LazyRows",
    "LdaModel",
    "LdaNatural",
    "LdaPrior",
    "sample_prior",
]
