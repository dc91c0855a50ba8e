"""The inner loops of the library, by subject, each written twice.

A subject is a package: `reference` holds its kernels in NumPy, the equations as they stand, and
`compiled` the same functions with the same signatures in Numba. `get` finds them, and tests run
both. Subjects:

========== =====================================================================================
lda        local step, statistics, blend and bounds of latent Dirichlet allocation
factors    local step and bounds of Poisson factorisation
mixture    responsibilities and sums of mixtures, of Bernoullis above all
hmm        forward and backward recursions of hidden Markov models, and their likeliest paths
regression weights of groups of rows, and latent responses of probits
priors     steps on the parameters of a Dirichlet prior (empirical Bayes)
likelihood estimators of the likelihood of held-out documents
sparse     whether the arrays of a sparse matrix fit together
words      the words of texts, as numbers
json_lines the documents of lines of JSON of the usual shape
wiki_pages the texts of pages of a MediaWiki dump, without markup
========== =====================================================================================

Conventions: a kernel works on the range [start, stop) of documents or words, writes only what
belongs to that range, takes outputs as arguments and releases the interpreter lock. Real arrays
are all float32 or all float64; sums over many rows are float64 arrays.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

SUBJECTS = (
    "lda",
    "factors",
    "mixture",
    "hmm",
    "regression",
    "priors",
    "likelihood",
    "sparse",
    "words",
    "json_lines",
    "wiki_pages",
)
BACKENDS = ("compiled", "reference")
# Numbers in a vector of the compiled kernels; some arrays are padded to a multiple of it.
LANES = 8
# Words in a block of partial sums: blocks are summed in order, so threads do not change a result.
BLOCK = 64


@cache
def get(subject: str, backend: str) -> ModuleType:
    """The module with a subject's kernels.

    Args:
        subject: one of SUBJECTS.
        backend: "compiled" or "reference".

    >>> get("lda", "reference").__name__
    'trustream.kernels.lda.reference'
    """
    if subject not in SUBJECTS:
        raise ValueError(f"subject must be one of {SUBJECTS}, got {subject!r}")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {BACKENDS}, got {backend!r}")
    return importlib.import_module(f"trustream.kernels.{subject}.{backend}")
