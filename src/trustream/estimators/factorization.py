"""Poisson factorisation with scikit-learn's interface."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from trustream import matrices, persist
from trustream._schema import Array
from trustream.estimators import parameters, validation
from trustream.estimators.fitted_factors import FittedFactors
from trustream.kernels import threads
from trustream.learning import defaults, recipe, state_formats
from trustream.models.factorization import FactorModel, FactorPrior

# Shapes out of this range overflow, or their logarithms do, where beliefs are computed.
_shape = Interval(Real, 1e-6, 1e6, closed="both")
_rate = Interval(Real, 1e-12, 1e15, closed="both")


@persist.register
class PoissonFactorization(FittedFactors):
    """Factors of users and items from counts, learned by trust-region stochastic inference.

    A count x_ui, how often user u played, bought or liked item i, is Poisson distributed,

        x_ui ~ Poisson(sum_k theta_uk beta_ik),
        beta_ik ~ Gamma(item_shape, item_rate),
        theta_uk ~ Gamma(user_shape, xi_u),   xi_u ~ Gamma(activity_shape, activity_rate),

    with a shape and a rate for each gamma distribution. All factors are positive, most are small,
    and the time that learning takes depends on the counts that are not zero. Users are rows and
    items columns; beliefs about users are not kept, so that new users need no learning
    (`transform`). `trustream.PoissonRecommender` adds ids of users and items and lists of
    recommendations.

    Parameters
    ----------
    n_components : int, default=10
        Number of components, K.
    item_shape : float, default=0.3
        Shape of the prior of items' factors; small shapes mean that an item belongs to few
        components.
    item_rate : float or None, default=None
        Its rate, to start from; None is such that the factors of all items in a component are
        expected to add up to 1.
    user_shape : float, default=0.3
        Shape of the prior of users' factors.
    activity_shape : float, default=1.0
        Shape of the prior of users' activities xi_u.
    activity_rate : float or None, default=None
        Its rate, to start from; None is such that the expected sum of a row is the mean of those
        that are there at the start.
    learn_priors : bool or {"item_rate", "activity_rate"}, default=True
        Which rates empirical Bayes learns: both, none or one of them. Shapes stay.
    whole_counts : bool, default=True
        Whether X must hold whole numbers. False takes all numbers that are not negative as weights;
        `score` is then no log-probability.
    learning_method : {"trust-region", "natural-gradient", "online", "batch", "streaming-vb", \
"streaming-batch", "memoized"}, default="trust-region"
        Algorithm 1 of Theis and Hoffman (2015); ordinary stochastic variational inference, of
        which "online" is another name; batch variational Bayes, for which `partial_fit` takes
        trust-region steps; or one of the algorithms of the guide's "Other algorithms". "memoized"
        has no `partial_fit`, and "streaming-vb" learns no priors.
    learning_rate : {"decaying", "adaptive"}, default="decaying"
        Of trust-region and natural-gradient steps: the schedule below, or found from the gradients
        (Ranganath et al. 2013), at a cost that grows with the number of items.
    learning_decay : float, default=0.5
        kappa of the learning rate rho = (tau + t)^-kappa.
    learning_offset : float, default=1.0
        tau of the learning rate.
    cooldown : float, default=0.5
        Share of the steps of `fit`, at its end, over which the learning rate falls to zero, which
        averages out the noise of the batches. `partial_fit` has no end and does without.
    max_iter : int, default=10
        Most passes of `fit` over the users; draws for "streaming-batch"; "streaming-vb" makes one.
    batch_size : int or None, default=None
        Most users of a step of `fit`; None takes as many as have about 60,000 counts, 600 for
        each component if that is more, or a fiftieth of the users if that is less; 1,000 for
        "streaming-vb", 50,000 for "streaming-batch".
    inner_iter : int or None, default=None
        Pairs of local and global update in a trust-region step, None is 2. For "streaming-vb"
        and "streaming-batch" most pairs or passes on a batch, which `tol` may end sooner; None is
        100.
    max_user_update_iter : int, default=20
        Most iterations of a local step, on a user's factors.
    mean_change_tol : float, default=1e-3
        A user's local step ends when its shapes change by less, on average over components.
    total_samples : float, default=None
        For `partial_fit`: number of users that its rows stand for. None counts the users seen so
        far. The streaming algorithms do without.
    population : float, "auto" or None, default=None
        Number of users that the items' factors stand for while they are learned, at least as many
        as there are; "auto" takes three times as many, None, as in the paper, those that there are.
        More of them keep components alive where data are few for many of them. What is shown is
        always for the users that there are. The streaming algorithms do without.
    tol : float, default=1e-3
        What runs until it converges ("batch", "memoized", a batch of the streaming algorithms)
        ends when a pass raises the bound by less, in nats per user.
    n_init : int, default=1
        Starts of `fit`, and of the first `partial_fit`; the one with the highest bound is kept.
    warm_start : bool, default=False
        Whether `fit` goes on from what is fitted.
    dtype : {"float32", "float64"}, default="float32"
        Of shapes and beliefs; sums over many are float64 in any case.
    n_jobs : int, default=None
        Threads; None uses all cores. No result depends on it.
    verbose : int, default=0
        Progress on standard error.
    callback : callable, default=None
        Called as callback(state, info) after each step; `fit` ends when it returns True.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        E[beta], the items' factors: ``transform(X) @ components_`` are expected counts.
    item_rate_, activity_rate_ : float
        The rates of the priors, as learned.
    n_iter_ : int
        Passes of the last `fit`.
    n_batch_iter_ : int
        Steps taken.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]] * 20)
    >>> model = PoissonFactorization(n_components=2, random_state=0).fit(counts)
    >>> theta = model.transform(counts[:4])
    >>> (theta @ model.components_).round().astype(int).tolist()
    [[2, 2, 0, 0], [2, 2, 0, 0], [0, 0, 2, 2], [0, 0, 2, 2]]
    """

    _parameter_constraints = {
        **parameters.COMMON,
        "item_shape": [_shape],
        "item_rate": [_rate, None],
        "user_shape": [_shape],
        "activity_shape": [_shape],
        "activity_rate": [_rate, None],
        "learn_priors": ["boolean", StrOptions({"item_rate", "activity_rate"})],
        "whole_counts": ["boolean"],
        "max_user_update_iter": [Interval(Integral, 1, None, closed="left")],
        "mean_change_tol": [Interval(Real, 0, None, closed="left")],
        "population": [Interval(Real, 1, None, closed="left"), StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        item_shape: float = 0.3,
        item_rate: float | None = None,
        user_shape: float = 0.3,
        activity_shape: float = 1.0,
        activity_rate: float | None = None,
        learn_priors: bool | str = True,
        whole_counts: bool = True,
        learning_method: str = "trust-region",
        learning_rate: str = "decaying",
        learning_decay: float = 0.5,
        learning_offset: float = 1.0,
        cooldown: float = 0.5,
        max_iter: int = 10,
        batch_size: int | None = None,
        inner_iter: int | None = None,
        max_user_update_iter: int = 20,
        mean_change_tol: float = 1e-3,
        total_samples: float | None = None,
        population: float | str | None = None,
        tol: float = 1e-3,
        n_init: int = 1,
        warm_start: bool = False,
        dtype: Any = "float32",
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.item_shape = item_shape
        self.item_rate = item_rate
        self.user_shape = user_shape
        self.activity_shape = activity_shape
        self.activity_rate = activity_rate
        self.learn_priors = learn_priors
        self.whole_counts = whole_counts
        self.learning_method = learning_method
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.cooldown = cooldown
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.inner_iter = inner_iter
        self.max_user_update_iter = max_user_update_iter
        self.mean_change_tol = mean_change_tol
        self.total_samples = total_samples
        self.population = population
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    # --- for the base class

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _format(self, n_features: int) -> state_formats.StateFormat:
        dtype = parameters.dtype_name(self.dtype)
        return state_formats.factorization(self.n_components, n_features, dtype)

    def _array_params(self, n_features: int) -> dict[str, Array]:
        return {}

    def _build_model(self, n_features: int) -> FactorModel:
        dtype, n_threads = parameters.dtype_name(self.dtype), threads.n_threads(self.n_jobs)
        return FactorModel(self.n_components, n_features, dtype, n_threads=n_threads)

    def _build_prior(self, X: Any) -> FactorPrior:
        n_items, total = X.shape[1], float(X.data.sum(dtype=np.float64))
        if not total > 0:
            raise ValueError(
                f"X of shape {X.shape} holds no counts but 0: there is nothing to start from"
            )
        rate, activity = self.item_rate, self.activity_rate
        # sum_k E[theta_uk] = K c d' / c' is the mean sum of a row, as sum_i E[beta_ik] is 1.
        scale = self.activity_shape / (self.n_components * self.user_shape)
        return FactorPrior(
            n_items,
            float(self.item_shape),
            n_items * float(self.item_shape) if rate is None else float(rate),
            float(self.user_shape),
            float(self.activity_shape),
            scale * total / X.shape[0] if activity is None else float(activity),
        )

    def _check_data(self, X: Any, reset: bool) -> sp.csr_array:
        X = self._validated(X, reset, accept_sparse="csr", dtype="numeric")
        # In order, since the order decides the last digits of what is learned, and without stored
        # zeros, which say no more than others and would change where items start.
        X = matrices.without_zeros(matrices.with_summed_entries(validation.counts(self, X, "user")))
        if self.whole_counts and X.data.dtype.kind == "f":
            broken = X.data != np.floor(X.data)
            if broken.any():
                raise ValueError(
                    f"X holds {X.data[broken][0]:g}, expected counts, which are whole numbers: "
                    "round them, or set whole_counts=False to take them as weights"
                )
        return X

    def _recipe(self) -> recipe.Recipe:
        return defaults.for_factorization(
            self.n_components,
            **self._recipe_options(),
            n_local=self.max_user_update_iter,
            local_tol=self.mean_change_tol,
            learn_priors=self.learn_priors,
            population=self.population,
        )

    def _n_tokens(self, X: Any) -> float:
        return float(X.data.sum())

    def _local_settings(self) -> tuple[int, float]:
        most = max(defaults.READING_STEPS, self.max_user_update_iter)
        return most, min(defaults.READING_TOL, self.mean_change_tol)

    def _example(self) -> np.ndarray:
        return np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])

    def _tiny_parameters(self) -> dict[str, Any]:
        # Of the two users there, a population may be too small.
        return {"population": None if self.population is None else "auto"}
