"""scikit-learn's own checks, all of them, none expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from trustream import (
    BayesianLinearRegression,
    BernoulliMixture,
    GaussianMixture,
    LatentDirichletAllocation,
    PoissonFactorization,
    ProbitRegression,
)

# Four components for the Bernoulli mixture: the check of sparse input wants four columns.
ESTIMATORS = [
    LatentDirichletAllocation(n_components=2, max_iter=2),
    LatentDirichletAllocation(n_components=2, n_init=1, max_iter=2, learning_method="online"),
    LatentDirichletAllocation(n_components=2, n_init=1, max_iter=2, learning_method="batch"),
    BernoulliMixture(n_components=4, max_iter=2),
    GaussianMixture(n_components=2, max_iter=2),
    GaussianMixture(n_components=2, max_iter=2, covariance_type="diag"),
    LatentDirichletAllocation(
        n_components=2, n_init=1, learning_method="streaming-vb", inner_iter=5
    ),
    LatentDirichletAllocation(n_components=2, n_init=1, max_iter=2, learning_method="memoized"),
    BernoulliMixture(n_components=4, learning_method="streaming-vb", inner_iter=5),
    GaussianMixture(n_components=2, learning_method="streaming-batch", inner_iter=5),
    # The data of most checks are no whole numbers.
    PoissonFactorization(n_components=2, max_iter=2, whole_counts=False),
    BayesianLinearRegression(),
    BayesianLinearRegression(learning_method="trust-region", max_iter=5),
    ProbitRegression(),
]
# What checks look at does not depend on them: each class is above, and each algorithm is with one.
OTHERS = [
    BernoulliMixture(n_components=4, max_iter=2, learning_method="batch"),
    GaussianMixture(n_components=2, max_iter=2, learning_method="batch"),
    GaussianMixture(n_components=2, max_iter=2, covariance_type="tied"),
    LatentDirichletAllocation(
        n_components=2, n_init=1, learning_method="streaming-batch", inner_iter=5
    ),
    LatentDirichletAllocation(n_components=2, n_init=1, max_iter=2, learning_rate="adaptive"),
    GaussianMixture(n_components=2, max_iter=2, learning_method="memoized"),
    PoissonFactorization(
        n_components=2, max_iter=2, whole_counts=False, learning_method="memoized"
    ),
]


# scikit-learn warns of what its checks provoke on purpose.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(OTHERS)
def test_scikit_learn_check_of_others(estimator, check):
    check(estimator)
