"""scikit-learn's own tests of LDA, of the installed version, on trustream's: a drop-in.

Those in EXCEPTIONS must fail, for the reason that stands there; a test that is not known at all
fails the last test of this file.
"""

import numpy as np
import pytest

from tests.estimators import sklearn_sources

TESTS = sklearn_sources.tests_in(
    sklearn_sources.names_of(
        "decomposition",
        "test_online_lda.py",
        {
            "from sklearn.decomposition import LatentDirichletAllocation": (
                "from trustream import LatentDirichletAllocation"
            )
        },
    )
)

PASSING = {
    "test_lda_fit_batch",
    "test_lda_fit_online",
    "test_lda_partial_fit",
    "test_lda_dense_input",
    "test_lda_transform",
    "test_lda_fit_transform",
    "test_lda_negative_input",
    "test_lda_no_component_error",
    "test_lda_multi_jobs",
    "test_lda_partial_fit_multi_jobs",
    "test_lda_perplexity",
    "test_lda_score",
    "test_lda_empty_docs",
    "test_perplexity_input_format",
    "test_lda_fit_perplexity",
    "test_dirichlet_expectation",
    "test_verbosity",
    "test_lda_feature_names_out",
    "test_lda_dtype_match",
    "test_lda_numerical_consistency",
}

_STDERR = "progress goes to standard error, so that output stays output"
_DTYPE = "the parameter dtype decides, not the data: float32 unless float64 is asked for"
EXCEPTIONS = {
    "test_lda_default_prior_params": "priors start from 0.1, not from 1 / n_components",
    "test_lda_preplexity_mismatch": "it calls a private method, _perplexity_precomp_distr",
    "test_lda_score_perplexity": "score is a mean over documents, not a sum over the corpus",
    "test_lda_dtype_match[float64-batch]": _DTYPE,
    "test_lda_dtype_match[float64-online]": _DTYPE,
    **{
        f"test_verbosity[{container}-True-{case}]": _STDERR
        for container in ("csr_matrix", "csr_array")
        for case in ("0-3-0", "1-3-3", "2-3-1")
    },
}


# scikit-learn's fixtures of these names, in its conftest.py.
@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    return request.param


@pytest.fixture(params=[0, 42])
def global_random_seed(request):
    return request.param


@pytest.fixture(autouse=True)
def _exceptions_fail(request):
    sklearn_sources.expect(request, EXCEPTIONS)


pytestmark = pytest.mark.filterwarnings("ignore")
globals().update(TESTS)


def test_all_tests_of_scikit_learn_are_known():
    sklearn_sources.check_names(TESTS, PASSING, EXCEPTIONS)
