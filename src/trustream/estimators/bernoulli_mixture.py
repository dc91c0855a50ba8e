"""Mixture of multivariate Bernoullis with scikit-learn's interface."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from trustream import persist
from trustream._schema import Array
from trustream.estimators import parameters, validation
from trustream.estimators.mixture import MixtureEstimator
from trustream.estimators.schemas import NUMBERS
from trustream.kernels import threads
from trustream.learning import defaults, state_formats
from trustream.learning.recipe import Recipe
from trustream.models.mixture import BernoulliModel, BernoulliPrior


@persist.register
class BernoulliMixture(MixtureEstimator):
    """Clusters of binary data, learned by trust-region stochastic variational inference.

    Each component holds a probability for each feature, with a beta prior.

    Parameters
    ----------
    n_components : int, default=10
        Number of components, K.
    binarize : float or None, default=0.0
        Values above it count as 1, others as 0. None takes data that are 0 and 1 already and
        refuses others.
    probability_prior : (float, float) or (array, array), default=(1.0, 1.0)
        a and b of the beta prior, numbers or arrays of shape (n_features,); ones are uniform.
    weight_concentration_prior : float or array of shape (n_components,), default=None
        Dirichlet prior of the weights; None is 1, uniform.
    learning_method : {"trust-region", "natural-gradient", "online", "batch", "streaming-vb", \
"streaming-batch", "memoized"}, default="trust-region"
        Algorithm 1 of Theis and Hoffman (2015); ordinary stochastic variational inference, of
        which "online" is another name; batch variational Bayes, for which `partial_fit` takes
        trust-region steps; or one of the algorithms of the guide's "Other algorithms". "memoized"
        has no `partial_fit`.
    learning_rate : {"decaying", "adaptive"}, default="decaying"
        Of trust-region and natural-gradient steps: the schedule below, or found from the gradients
        (Ranganath et al. 2013).
    learning_decay : float, default=0.5
        kappa of the learning rate rho = (tau + t)^-kappa.
    learning_offset : float, default=10.0
        tau of the learning rate.
    cooldown : float, default=0.5
        Share of the steps of `fit`, at its end, over which the learning rate falls to zero, which
        averages out the noise of the batches. `partial_fit` has no end and does without.
    max_iter : int, default=20
        Most passes of `fit` over the data; draws for "streaming-batch"; "streaming-vb" makes one.
    batch_size : int or None, default=None
        Most data points of a step of `fit`; None takes 200, or less of small data; 1,000 for
        "streaming-vb", 50,000 for "streaming-batch".
    inner_iter : int or None, default=None
        Pairs of local and global update in a trust-region step, None is 2. For "streaming-vb"
        and "streaming-batch" most pairs or passes on a batch, which `tol` may end sooner; None is
        100.
    population : float, "auto" or None, default="auto"
        Number of data points that the parameters stand for while they are learned, at least as
        many as there are; "auto" takes three times as many. With the number that there are (None,
        as in the paper) components die where data are few for them. What is shown is always for
        the data that there are. The streaming algorithms do without.
    total_samples : float, default=None
        For `partial_fit`: number of data points that its rows stand for. None counts the data
        points seen so far. The streaming algorithms do without.
    tol : float, default=1e-4
        What runs until it converges ("batch", "memoized", a batch of the streaming algorithms)
        ends when a pass raises the bound by less, in nats per data point.
    n_init : int, default=1
        Starts of `fit`, and of the first `partial_fit`; the one with the highest bound is kept.
    warm_start : bool, default=False
        Whether `fit` goes on from what is fitted.
    dtype : {"float32", "float64"}, default="float32"
        Of parameters and beliefs; sums over many are float64 in any case.
    n_jobs : int, default=None
        Threads; None uses all cores. No result depends on it.
    verbose : int, default=0
        Progress on standard error.
    callback : callable, default=None
        Called as callback(state, info) after each step; `fit` ends when it returns True.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        E[pi].
    means_ : array of shape (n_components, n_features)
        E[beta], the probabilities.
    lower_bound_ : float
        Lower bound on the evidence of the data of `fit`, in nats per data point.
    n_iter_ : int
        Passes of the last `fit`.
    n_batch_iter_ : int
        Steps taken.

    Examples
    --------
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    >>> mixture = BernoulliMixture(n_components=2, random_state=0).fit(X)
    >>> labels = mixture.predict(X)
    >>> bool((labels[:50] == labels[0]).all() and (labels[50:] == 1 - labels[0]).all())
    True
    """

    _parameter_constraints = {
        **parameters.COMMON,
        "binarize": [Interval(Real, None, None, closed="neither"), None],
        "probability_prior": ["array-like"],
        "weight_concentration_prior": ["array-like", Real, None],
        "population": [Interval(Real, 1, None, closed="left"), StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        binarize: float | None = 0.0,
        probability_prior: Any = (1.0, 1.0),
        weight_concentration_prior: Any = None,
        learning_method: str = "trust-region",
        learning_rate: str = "decaying",
        learning_decay: float = 0.5,
        learning_offset: float = 10.0,
        cooldown: float = 0.5,
        max_iter: int = 20,
        batch_size: int | None = None,
        inner_iter: int | None = None,
        population: float | str | None = "auto",
        total_samples: float | None = None,
        tol: float = 1e-4,
        n_init: int = 1,
        warm_start: bool = False,
        dtype: Any = "float32",
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.binarize = binarize
        self.probability_prior = probability_prior
        self.weight_concentration_prior = weight_concentration_prior
        self.learning_method = learning_method
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.cooldown = cooldown
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.inner_iter = inner_iter
        self.population = population
        self.total_samples = total_samples
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    @property
    def means_(self) -> np.ndarray:
        """E[beta], (n_components, n_features)."""
        return self._expected().probs

    def _format(self, n_features: int) -> state_formats.StateFormat:
        dtype = parameters.dtype_name(self.dtype)
        return state_formats.bernoulli(self.n_components, n_features, dtype)

    def _array_params(self, n_features: int) -> dict[str, Array]:
        pairs = Array([(2,), (2, n_features)], NUMBERS, above=0.0)
        return {**super()._array_params(n_features), "probability_prior": pairs}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _build_model(self, n_features: int) -> BernoulliModel:
        return BernoulliModel(
            n_components=self.n_components,
            n_features=n_features,
            dtype=parameters.dtype_name(self.dtype),
            n_threads=threads.n_threads(self.n_jobs),
        )

    def _build_prior(self, X: Any) -> BernoulliPrior:
        pair = validation.beta_pair(self.probability_prior, X.shape[1])
        return BernoulliPrior(self._weight_prior(), *pair)

    def _tiny_parameters(self) -> dict[str, Any]:
        # Of the two data points there, a population may be too small.
        population = None if self.population is None else "auto"
        tiny = {"probability_prior": (1.0, 1.0), "population": population}
        return {**super()._tiny_parameters(), **tiny}

    def _recipe(self) -> Recipe:
        return defaults.for_bernoullis(**self._recipe_options(), population=self.population)

    def _check_data(self, X: Any, reset: bool) -> Any:
        X = self._validated(X, reset, accept_sparse="csr", dtype="numeric")
        return validation.binary(X, self.binarize, parameters.dtype_name(self.dtype))
