"""scikit-learn's own tests of its Bayesian mixture, on trustream's, as far as it has the same.

Of the lists of kinds that the tests go through, those that trustream has are left. Exceptions are
treated as in `test_sklearn_lda_file`.
"""

import pytest

from tests.estimators import sklearn_sources

TESTS = sklearn_sources.tests_in(
    sklearn_sources.names_of(
        "mixture",
        "test_bayesian_mixture.py",
        {
            "from sklearn.mixture import BayesianGaussianMixture": (
                "from tests.estimators.sklearn_sources import GaussianMixture"
            ),
            'COVARIANCE_TYPE = ["full", "tied", "diag", "spherical"]': (
                'COVARIANCE_TYPE = ["full", "tied", "diag"]'
            ),
            'PRIOR_TYPE = ["dirichlet_process", "dirichlet_distribution"]': (
                'PRIOR_TYPE = ["dirichlet_distribution"]'
            ),
        },
        rename=("BayesianGaussianMixture", "GaussianMixture"),
    )
)

PASSING = {
    "test_log_dirichlet_norm",
    "test_log_wishart_norm",
    "test_bayesian_mixture_mean_prior_initialisation",
    "test_bayesian_mixture_check_is_fitted",
    "test_check_covariance_precision",
    "test_invariant_translation",
    "test_bayesian_mixture_fit_predict",
    "test_bayesian_mixture_fit_predict_n_init",
    "test_bayesian_mixture_predict_predict_proba",
}
EXCEPTIONS = {
    "test_bayesian_mixture_weights_prior_initialisation": (
        "weight_concentration_prior=None is 1, a uniform prior, not 1 / n_components"
    ),
    "test_bayesian_mixture_precisions_prior_initialisation": (
        "there are no spherical covariances, and the error has other words"
    ),
    "test_bayesian_mixture_weights": "there is no Dirichlet process",
    "test_monotonic_likelihood": "there is no converged_: most algorithms have no such point",
    "test_compare_covar_type": "it calls private methods, _check_parameters and others",
}


@pytest.fixture(autouse=True)
def _exceptions_fail(request):
    sklearn_sources.expect(request, EXCEPTIONS)


pytestmark = pytest.mark.filterwarnings("ignore")
globals().update(TESTS)


def test_all_tests_of_scikit_learn_are_known():
    sklearn_sources.check_names(TESTS, PASSING, EXCEPTIONS)
