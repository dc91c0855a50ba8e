"""scikit-learn's own checks, all of them, none expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from trustream import LatentDirichletAllocation

ESTIMATORS = [
    LatentDirichletAllocation(n_components=2, max_iter=2),
    LatentDirichletAllocation(n_components=2, max_iter=2, learning_method="online"),
    LatentDirichletAllocation(n_components=2, max_iter=2, learning_method="batch"),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
