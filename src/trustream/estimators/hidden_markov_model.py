"""Hidden Markov models with scikit-learn's interface."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from trustream import persist
from trustream.estimators import parameters
from trustream.estimators.sequence_estimator import SequenceEstimator


@persist.register
class HiddenMarkovModel(SequenceEstimator):
    """Hidden states of sequences, learned by trust-region stochastic variational inference.

    Each observation of a sequence belongs to a state that is not seen; the next state depends on
    the present one. Start and transition probabilities have Dirichlet priors, observations one of
    three kinds of distributions with conjugate priors. Sequences are the data points: a step of
    `fit` looks at some of them.

    Parameters
    ----------
    n_components : int, default=10
        Number of states, K.
    emissions : {"categorical", "bernoulli", "gaussian"}, default="categorical"
        What observations are: one column of symbols 0, 1, 2, ..., rows of zeros and ones, or rows
        of real numbers.
    covariance_type : {"full", "diag", "tied"}, default="full"
        Of Gaussian emissions: a covariance for each state, only its diagonal, or one for all.
    n_symbols : int, default=None
        Of categorical emissions: number of symbols; None is one more than the largest symbol of
        the first data. Others are refused later.
    binarize : float or None, default=0.0
        Of Bernoulli emissions: values above it count as 1, others as 0. None takes data that are 0
        and 1 already and refuses others.
    start_prior : float or array of shape (n_components,), default=1.0
        Dirichlet prior of the start probabilities.
    transition_prior : float or array of shape (n_components, n_components), default=1.0
        Dirichlet priors of the rows of transition probabilities.
    emission_prior : float or array of shape (n_symbols,), default=0.1
        Of categorical emissions: Dirichlet prior of the probabilities of symbols.
    probability_prior : (float, float) or (array, array), default=(1.0, 1.0)
        Of Bernoulli emissions: a and b of the beta prior, numbers or arrays of shape (n_features,).
    mean_prior, mean_precision_prior, degrees_of_freedom_prior, covariance_prior : default=None
        Of Gaussian emissions: their prior, as in `GaussianMixture`.
    init_params : {"spherical", "k-means++", "random"}, default="spherical"
        Of Gaussian emissions: where they start, as in `GaussianMixture`. Others start at random.
    subchain_length : int or None, default=None
        Cuts longer sequences into subchains of so many observations, which are the data points
        then, so that steps of `fit` look at parts of long sequences (Foti et al. 2014). None learns
        from whole sequences.
    subchain_buffer : int, default=20
        Observations on both sides of a subchain that are looked at, and not learned from.
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
        Most sequences, or subchains, of a step of `fit`; None takes as many as have 20,000
        observations, or less of small data; 1,000 for "streaming-vb", 50,000 for
        "streaming-batch".
    inner_iter : int or None, default=None
        Pairs of local and global update in a trust-region step, None is 5. For "streaming-vb"
        and "streaming-batch" most pairs or passes on a batch, which `tol` may end sooner; None is
        100.
    population : float, "auto" or None, default="auto"
        Number of sequences, or subchains, that the parameters stand for while they are learned, at
        least as many as there are (None); "auto" takes three times as many for Bernoulli emissions,
        of which states would die where data are few for them, and none for others. What is shown is
        always for the data that there are. The streaming algorithms do without.
    total_samples : float, default=None
        For `partial_fit`: number of sequences, or subchains, that those given stand for. None
        counts those seen so far. The streaming algorithms do without.
    tol : float, default=1e-4
        What runs until it converges ("batch", "memoized", a batch of the streaming algorithms)
        ends when a pass raises the bound by less, in nats per sequence.
    n_init : int or "auto", default="auto"
        Starts of `fit`, and of the first `partial_fit`; the one with the highest bound is kept.
        "auto" is 5 for categorical emissions, whose random starts often end in poor states, and 1
        for the others.
    warm_start : bool, default=False
        Whether `fit` goes on from what is fitted.
    dtype : {"float32", "float64"}, default="float64"
        Of data and of the parameters of categorical and Bernoulli emissions; all that is summed
        over a sequence is float64 in any case.
    n_jobs : int, default=None
        Threads; None uses all cores. No result depends on it.
    verbose : int, default=0
        Progress on standard error.
    callback : callable, default=None
        Called as callback(state, info) after each step; `fit` ends when it returns True.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    startprob_ : array of shape (n_components,)
        E[pi], probabilities of the first state.
    transmat_ : array of shape (n_components, n_components)
        E[A], probabilities of the next state in rows.
    emissionprob_ : array of shape (n_components, n_symbols)
        Of categorical emissions: probabilities of symbols in rows.
    means_ : array of shape (n_components, n_features)
        Of Bernoulli emissions probabilities, of Gaussian ones means.
    covariances_ : array
        Of Gaussian emissions, as in `GaussianMixture`.
    startprob_posterior_, transmat_posterior_ : arrays
        Dirichlet parameters of start and transition probabilities.
    n_symbols_ : int
        Number of symbols of categorical emissions.
    lower_bound_ : float
        Lower bound on the evidence of the data of `fit`, in nats per observation.
    n_iter_ : int
        Passes of the last `fit`.
    n_batch_iter_ : int
        Steps taken.

    Notes
    -----
    The second argument of `fit`, `predict` and so on is `lengths`, as in hmmlearn, and not y. The
    order of rows matters: rows of a sequence belong together.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> states = np.repeat(rng.integers(2, size=40), 25)  # they stay for 25 observations
    >>> X = rng.integers(3, size=(1000, 1)) + 3 * states[:, np.newaxis]
    >>> lengths = [100] * 10
    >>> hmm = HiddenMarkovModel(n_components=2, random_state=0).fit(X, lengths)
    >>> found = hmm.predict(X, lengths)
    >>> bool((found == found[0]).tolist() == (states == states[0]).tolist())
    True
    """

    _parameter_constraints = {
        **parameters.COMMON,
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "emissions": [StrOptions({"categorical", "bernoulli", "gaussian"})],
        "covariance_type": [StrOptions({"full", "diag", "tied"})],
        "n_symbols": [Interval(Integral, 1, None, closed="left"), None],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
        "start_prior": ["array-like", Real],
        "transition_prior": ["array-like", Real],
        "emission_prior": ["array-like", Real],
        "probability_prior": ["array-like"],
        "mean_prior": ["array-like", None],
        "mean_precision_prior": [Interval(Real, 0, None, closed="neither"), None],
        "degrees_of_freedom_prior": [Interval(Real, 0, None, closed="neither"), None],
        "covariance_prior": ["array-like", None],
        "init_params": [StrOptions({"spherical", "k-means++", "random"})],
        "population": [Interval(Real, 1, None, closed="left"), StrOptions({"auto"}), None],
        "subchain_length": [Interval(Integral, 1, None, closed="left"), None],
        "subchain_buffer": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 10,
        emissions: str = "categorical",
        *,
        covariance_type: str = "full",
        n_symbols: int | None = None,
        binarize: float | None = 0.0,
        start_prior: Any = 1.0,
        transition_prior: Any = 1.0,
        emission_prior: Any = 0.1,
        probability_prior: Any = (1.0, 1.0),
        mean_prior: Any = None,
        mean_precision_prior: float | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        init_params: str = "spherical",
        subchain_length: int | None = None,
        subchain_buffer: int = 20,
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
        n_init: int | str = "auto",
        warm_start: bool = False,
        dtype: Any = "float64",
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.emissions = emissions
        self.covariance_type = covariance_type
        self.n_symbols = n_symbols
        self.binarize = binarize
        self.start_prior = start_prior
        self.transition_prior = transition_prior
        self.emission_prior = emission_prior
        self.probability_prior = probability_prior
        self.mean_prior = mean_prior
        self.mean_precision_prior = mean_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.init_params = init_params
        self.subchain_length = subchain_length
        self.subchain_buffer = subchain_buffer
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
