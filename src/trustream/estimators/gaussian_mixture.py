"""Mixture of Gaussians with scikit-learn's interface."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from trustream import _texts, persist
from trustream._schema import Array
from trustream.estimators import gaussian_priors, gaussian_starts, parameters, validation
from trustream.estimators.fitted_gaussians import FittedGaussians
from trustream.estimators.schemas import NUMBERS
from trustream.kernels import threads
from trustream.learning import defaults, state_formats
from trustream.learning.recipe import Recipe
from trustream.models.mixture import GaussianModel, GaussianPrior


@persist.register
class GaussianMixture(FittedGaussians):
    """Clusters of real data, learned by stochastic variational inference.

    Means and covariances have normal-inverse-Wishart priors, the weights a Dirichlet prior.

    Parameters
    ----------
    n_components : int, default=10
        Number of components, K.
    covariance_type : {"full", "diag", "tied"}, default="full"
        A covariance for each component, only its diagonal, or one for all.
    mean_prior : array of shape (n_features,), default=None
        Prior mean of the components' means; None is the mean of the first data.
    mean_precision_prior : float, default=None
        s: how many data points the prior mean counts for; None is 1.
    degrees_of_freedom_prior : float, default=None
        nu, above n_features - 1 (above 0 for "diag"); None is n_features + 2 (3 for "diag"), for
        which the prior's expected covariance is Psi.
    covariance_prior : array, default=None
        Psi, the scale of the inverse Wishart, of shape (n_features, n_features), or (n_features,)
        for "diag"; the prior's expected covariance is Psi / (nu - n_features - 1), for "diag"
        Psi / (nu - 2). None is the covariance of the first data.
    weight_concentration_prior : float or array of shape (n_components,), default=None
        Dirichlet prior of the weights; None is 1, uniform.
    init_params : {"spherical", "k-means++", "random"}, default="spherical"
        Where the components start: as round clusters of their own size, found in a sample of the
        data; at data points far from each other; or drawn from the prior.
    learning_method : {"trust-region", "natural-gradient", "online", "batch", "streaming-vb", \
"streaming-batch", "memoized"}, default="natural-gradient"
        Algorithm 1 of Theis and Hoffman (2015); ordinary stochastic variational inference, of
        which "online" is another name, and which from a good start (`init_params`) was ahead of
        the trust region after the same time on most data tried; batch variational
        Bayes, for which `partial_fit` takes trust-region steps; or one of the algorithms of the
        guide's "Other algorithms". "memoized" has no `partial_fit`.
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
        Most data points of a step of `fit`; None takes 500, or 2 n_components n_features for full
        covariances if that is more, or less of small data; 1,000 for "streaming-vb", 50,000 for
        "streaming-batch".
    inner_iter : int or None, default=None
        Pairs of local and global update in a trust-region step, None is 5. For "streaming-vb"
        and "streaming-batch" most pairs or passes on a batch, which `tol` may end sooner; None is
        100.
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
    dtype : {"float32", "float64"}, default="float64"
        Of data and beliefs; parameters are float64 in any case.
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
        E[mu].
    covariances_ : array
        E[Sigma]: (n_components, n_features, n_features), (n_components, n_features) for "diag",
        (n_features, n_features) for "tied".
    precisions_ : array
        Inverse of `covariances_`, of the same shape.
    weight_concentration_, mean_precision_, degrees_of_freedom_ : arrays of shape (n_components,)
        gamma, s and nu of the posterior; for "tied" there is one nu.
    weight_concentration_prior_, mean_prior_, mean_precision_prior_, degrees_of_freedom_prior_, \
covariance_prior_
        The prior, with what was taken from the data filled in.
    lower_bound_ : float
        Lower bound on the evidence of the data of `fit`, in nats per data point.
    n_iter_ : int
        Passes of the last `fit`.
    n_batch_iter_ : int
        Steps taken.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-5, 1, size=(100, 2)), rng.normal(5, 1, size=(100, 2))])
    >>> mixture = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> labels = mixture.predict(X)
    >>> bool((labels[:100] == labels[0]).all() and (labels[100:] == 1 - labels[0]).all())
    True
    """

    _instead_of_texts = _texts.NUMBERS
    _parameter_constraints = {
        **parameters.COMMON,
        "covariance_type": [StrOptions({"full", "diag", "tied"})],
        "mean_prior": ["array-like", None],
        "mean_precision_prior": [Interval(Real, 0, None, closed="neither"), None],
        "degrees_of_freedom_prior": [Interval(Real, 0, None, closed="neither"), None],
        "covariance_prior": ["array-like", None],
        "weight_concentration_prior": ["array-like", Real, None],
        "init_params": [StrOptions({"spherical", "k-means++", "random"})],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        covariance_type: str = "full",
        mean_prior: Any = None,
        mean_precision_prior: float | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        weight_concentration_prior: Any = None,
        init_params: str = "spherical",
        learning_method: str = "natural-gradient",
        learning_rate: str = "decaying",
        learning_decay: float = 0.5,
        learning_offset: float = 10.0,
        cooldown: float = 0.5,
        max_iter: int = 20,
        batch_size: int | None = None,
        inner_iter: int | None = None,
        total_samples: float | None = None,
        tol: float = 1e-4,
        n_init: int = 1,
        warm_start: bool = False,
        dtype: Any = "float64",
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.mean_prior = mean_prior
        self.mean_precision_prior = mean_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.weight_concentration_prior = weight_concentration_prior
        self.init_params = init_params
        self.learning_method = learning_method
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.cooldown = cooldown
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.inner_iter = inner_iter
        self.total_samples = total_samples
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    def _tiny_parameters(self) -> dict[str, Any]:
        return {
            **super()._tiny_parameters(),
            "mean_prior": None,
            "covariance_prior": None,
            "degrees_of_freedom_prior": None,
        }

    def _format(self, n_features: int) -> state_formats.StateFormat:
        return state_formats.gaussian(self.n_components, n_features, self.covariance_type)

    def _array_params(self, n_features: int) -> dict[str, Array]:
        d = n_features
        covariance = (d,) if self.covariance_type == "diag" else (d, d)
        return {
            **super()._array_params(n_features),
            "mean_prior": Array([(d,)], NUMBERS),
            "covariance_prior": Array([covariance], NUMBERS),
        }

    def _build_model(self, n_features: int) -> GaussianModel:
        return GaussianModel(
            n_components=self.n_components,
            n_features=n_features,
            covariance_type=self.covariance_type,
            dtype=parameters.dtype_name(self.dtype),
            n_threads=threads.n_threads(self.n_jobs),
        )

    def _initial(self, model: Any, prior: Any, X: Any, rng: np.random.Generator) -> Any:
        n_samples = self.total_samples or X.shape[0]
        return gaussian_starts.start(model, prior, X, self.init_params, n_samples, rng)

    def _build_prior(self, X: Any) -> GaussianPrior:
        return gaussian_priors.prior(self, X, self._weight_prior())

    def _recipe(self) -> Recipe:
        return defaults.for_gaussians(
            self.n_components, self.n_features_in_, self.covariance_type, **self._recipe_options()
        )

    def _check_data(self, X: Any, reset: bool) -> np.ndarray:
        X = self._validated(X, reset, dtype=[np.float64, np.float32], order="C")
        return validation.moderate(X)
