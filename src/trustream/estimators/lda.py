"""Latent Dirichlet allocation with scikit-learn's interface."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from trustream import matrices, persist
from trustream._schema import Array
from trustream.estimators import parameters, topic_models, validation
from trustream.estimators.fitted_topics import FittedTopics
from trustream.estimators.schemas import NUMBERS
from trustream.estimators.seed_topics import STRENGTH
from trustream.estimators.topic_scores import TopicScores
from trustream.learning import defaults, recipe, state_formats
from trustream.models.lda import LdaModel, LdaPrior


@persist.register
class LatentDirichletAllocation(TopicScores, FittedTopics):
    """Topics of documents, learned by trust-region stochastic variational inference.

    Parameters have scikit-learn's names where scikit-learn has the thing. The defaults were chosen
    by measurement (docs/defaults.md): setting `n_components` alone is meant to be enough.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics, K.
    doc_topic_prior : float or array of shape (n_components,), default=None
        alpha, prior of a document's topic proportions, to start from; None is 0.1, or less where
        topics are more than 100, so that all together are 10 at most.
    topic_word_prior : float or array, default=None
        eta, prior of a topic's word proportions, to start from; None is 0.1. An array of shape
        (n_features,) is a prior per word, which only ``learn_priors="per-word"`` changes; one of
        shape (n_components, n_features) seeds topics and is not changed by learning.
    seed_words : dict of str to list of str, default=None
        Words by which topics begin: ``{"sports": ["team", "game"]}``. The first seed is for topic
        0, the next for topic 1, and so on; topics without a seed are found freely. The words of
        the columns are those of the frame that is fitted, or `words`. Words that no column has
        are left out with a warning.
    seed_strength : float, default=0.5
        Tokens that each token of a seed word counts more in its topic, whatever its document says:
        a prior with so many times the tokens that there are of the word. So a seed has the same
        weight beside few and many documents, and for any `population`.
    words : sequence of str, default=None
        Words by column, for `seed_words` where X is no frame; the fitted model knows them as from
        `set_words`.
    learning_method : {"trust-region", "natural-gradient", "online", "batch", "streaming-vb", \
"streaming-batch", "memoized"}, default="trust-region"
        Algorithm 1 of Theis and Hoffman (2015); ordinary stochastic variational inference, of
        which "online" is another name; batch variational Bayes, for which `partial_fit` takes
        trust-region steps; or one of the algorithms of the guide's "Other algorithms". "memoized"
        has no `partial_fit`.
    local : {"mean-field", "collapsed"}, default="mean-field"
        How a document's words are shared out among topics: by expected log-probabilities, as in
        the paper, or by expected counts (`models.lda.collapsed`), which tells topics apart in fewer
        steps and has no digamma to compute.
    max_doc_topics : int, "auto" or None, default="auto"
        A local step tries all topics on a document and goes on with those that hold a twentieth of
        an even share of its tokens, which saves most of the time and changes the result little.
        With a number, trust-region and natural-gradient steps go on with at most so many after
        three iterations;
        "auto" is a tenth of the topics from 500 on, where it pays. None goes on with all topics
        to the end, as in the paper.
    learning_rate : {"decaying", "adaptive"}, default="decaying"
        Of trust-region and natural-gradient steps: the schedule below, or found from the gradients
        (Ranganath et al. 2013), at a cost that grows with the vocabulary.
    learning_decay : float, default=0.5
        kappa of the learning rate rho = (tau + t)^-kappa.
    learning_offset : float, default=1.0
        tau of the learning rate.
    cooldown : float, default=0.5
        Share of the steps of `fit`, at its end, over which the learning rate falls to zero, which
        averages out the noise of the batches. `partial_fit` has no end and does without.
    max_iter : int, default=5
        Most passes of `fit` over the data; draws for "streaming-batch"; "streaming-vb" makes one.
    batch_size : int or None, default=None
        Most documents of a step of `fit`; None takes about 20,000 tokens, 600 for each topic if
        that is more (fewer from 142 topics on), or down to 30 documents and 50 tokens for each
        topic if a pass would have less than 60 steps; a twentieth of the data if that is less. With
        "natural-gradient" or `seed_words` it takes at least 60,000 tokens, 600 for each topic if
        that is more, down to a third of it if `fit` would have less than 100 steps. 1,000 documents
        for "streaming-vb", 50,000 for "streaming-batch".
    inner_iter : int or None, default=None
        Pairs of local and global update in a trust-region step, None is 2. For "streaming-vb"
        and "streaming-batch" most pairs or passes on a batch, which `tol` may end sooner; None is
        100.
    max_doc_update_iter : int or None, default=None
        Most iterations of a local step, on a document's topic proportions. None is 50, and 15 for
        "trust-region" after the first 30 steps, in which topics come apart. After a third of `fit`
        it is 20 in a single pair, if `inner_iter` is None as well and `local` "mean-field".
    mean_change_tol : float, default=1e-4
        A document's local step ends when its gamma changes by less, on average over topics.
    total_samples : float, default=None
        For `partial_fit`: number of documents that its rows stand for. None counts the documents
        seen so far. The streaming algorithms do without.
    population : float, "auto" or None, default="auto"
        Number of documents for which topics are learned, at least the number of documents that
        there are; with few documents for many topics a larger number keeps topics from dying out.
        What is shown is scaled back to the documents that there are. "auto" takes as many as have
        30 tokens for each pair of topic and word, and the documents that there are if
        `topic_word_prior` seeds topics, whose weight must not shrink, or priors are learned
        "per-word"; None always takes the latter, and shows eta as it was learned, as in the paper.
        "streaming-vb" and "streaming-batch" do without.
    learn_priors : bool or {"alpha", "eta", "per-word"}, default=True
        Which priors empirical Bayes learns: both, none, one of them, or both with an eta for each
        word.
    tol : float, default=1e-3
        What runs until it converges ("batch", "memoized", a batch of the streaming algorithms)
        ends when a pass raises the bound by less, in nats per document.
    evaluate_every : int, default=-1
        `fit` computes the perplexity after every so many passes, shows it if `verbose`, ends when
        it changes by less than `perp_tol`, and leaves it in `bound_`; 0 or less does not.
    perp_tol : float, default=0.1
        With `evaluate_every`: the change of the perplexity, from one look to the next, below which
        `fit` has no more to gain. It then lets the learning rate fall to zero, over the same share
        of all its passes as ever (`cooldown`), and ends.
    validation_fraction : float, default=0.0
        With `evaluate_every`: share of the documents, drawn at random, that `fit` sets aside and
        computes the perplexity of; 0 takes the documents that it learns from.
    n_init : int or "auto", default="auto"
        Starts of `fit`, and of the first `partial_fit`; the one with the highest bound is kept.
        "auto" is 1, and 10 where there are fewer than 500 tokens to start from: a few documents
        that happen to share a topic at the start never part.
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
    components_ : array of shape (n_components, n_features)
        lambda for the documents that there are; computed when asked for, since it is kept lazily.
    doc_topic_prior_ : array of shape (n_components,)
        alpha, as learned.
    topic_word_prior_ : float or array
        eta of what is shown: with a population, the one by which training documents that are left
        out are predicted best; else as learned.
    exp_dirichlet_component_ : array of shape (n_components, n_features)
        exp(E[log beta]); computed when asked for.
    bound_ : float
        Not a bound but, as in scikit-learn, the perplexity at the end of the last `fit` with
        `evaluate_every`, of the documents that it learned from or set aside.
    n_iter_ : int
        Passes of the last `fit`.
    n_batch_iter_ : int
        Steps taken.
    words_ : list of str or None
        Words by column, from `set_words` or from the frame that was fitted.
    seed_labels_ : dict of int to str
        Names of the topics that were seeded.
    tokeniser_ : Tokeniser or None
        What makes such words of texts, if the model knows it.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
    >>> lda = LatentDirichletAllocation(n_components=2, random_state=0).fit(counts)
    >>> lda.transform(counts).argmax(axis=1).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """

    _parameter_constraints = {
        **parameters.COMMON,
        "doc_topic_prior": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "topic_word_prior": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "seed_words": [dict, None],
        "seed_strength": [Interval(Real, 0, None, closed="neither")],
        "words": ["array-like", None],
        "local": [StrOptions(set(topic_models.MODELS))],
        "max_doc_topics": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "max_doc_update_iter": [Interval(Integral, 1, None, closed="left"), None],
        "mean_change_tol": [Interval(Real, 0, None, closed="left")],
        "population": [Interval(Real, 1, None, closed="left"), StrOptions({"auto"}), None],
        "evaluate_every": [Integral],
        "perp_tol": [Interval(Real, 0, None, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "learn_priors": ["boolean", StrOptions({"alpha", "eta", "per-word"})],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        seed_words: dict[str, Any] | None = None,
        seed_strength: float = STRENGTH,
        words: Any = None,
        learning_method: str = "trust-region",
        local: str = "mean-field",
        max_doc_topics: int | str | None = "auto",
        learning_rate: str = "decaying",
        learning_decay: float = 0.5,
        learning_offset: float = 1.0,
        cooldown: float = 0.5,
        max_iter: int = 5,
        batch_size: int | None = None,
        inner_iter: int | None = None,
        max_doc_update_iter: int | None = None,
        mean_change_tol: float = 1e-4,
        total_samples: float | None = None,
        population: float | str | None = "auto",
        learn_priors: bool | str = True,
        tol: float = 1e-3,
        evaluate_every: int = -1,
        perp_tol: float = 0.1,
        validation_fraction: float = 0.0,
        n_init: int | str = "auto",
        warm_start: bool = False,
        dtype: Any = "float32",
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.words = words
        self.learning_method = learning_method
        self.local = local
        self.max_doc_topics = max_doc_topics
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.cooldown = cooldown
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.inner_iter = inner_iter
        self.max_doc_update_iter = max_doc_update_iter
        self.mean_change_tol = mean_change_tol
        self.total_samples = total_samples
        self.population = population
        self.learn_priors = learn_priors
        self.tol = tol
        self.evaluate_every = evaluate_every
        self.perp_tol = perp_tol
        self.validation_fraction = validation_fraction
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
        return state_formats.lda(self.n_components, n_features, dtype)

    def _array_params(self, n_features: int) -> dict[str, Array]:
        k, d = self.n_components, n_features
        return {
            "doc_topic_prior": Array([(), (k,)], NUMBERS, above=0.0),
            "topic_word_prior": Array([(), (d,), (k, d)], NUMBERS, above=0.0),
            "words": Array(None, ("uint8",)),
        }

    def _build_model(self, n_features: int) -> LdaModel:
        return topic_models.model(self, n_features)

    def _reading_model(self) -> LdaModel:
        return topic_models.reading_model(self, self._current_model())

    def _bounding_model(self) -> LdaModel:
        return topic_models.bounding_model(self._reading_model())

    def _build_prior(self, X: Any) -> LdaPrior:
        return topic_models.prior(self, X.shape[1], self._seed_rows())

    def _check_data(self, X: Any, reset: bool) -> sp.csr_array:
        # In order, since the order decides the last digits of what is learned.
        return matrices.with_summed_entries(self._check_counts(X, reset))

    def _check_fitted_data(self, X: Any) -> sp.csr_array:
        self._check_unchanged()
        return self._check_counts(X, reset=False)

    def _check_counts(self, X: Any, reset: bool) -> sp.csr_array:
        X = self._validated(X, reset, accept_sparse="csr", dtype="numeric")
        if reset:
            self._begin_words()
            if not self.warm_start:
                self._forget_names()
        return validation.counts(self, X)

    def _recipe(self) -> recipe.Recipe:
        return topic_models.recipe(self)

    def _n_tokens(self, X: Any) -> float:
        return float(X.data.sum())

    def _size(self, X: Any) -> recipe.DataSize:
        # Only a population by topics and words asks for these.
        n_words = matrices.n_columns_used(X) if self.population == "auto" else 0
        return recipe.DataSize(X.shape[0], self._n_tokens(X), n_words)

    def _local_settings(self) -> tuple[int, float]:
        most = max(defaults.READING_STEPS, self.max_doc_update_iter or 0)
        return most, self.mean_change_tol

    def _example(self) -> np.ndarray:
        return np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])

    def _tiny_parameters(self) -> dict[str, Any]:
        # Of the two documents there, a population may be too small, and none can be set aside.
        population = None if self.population is None else "auto"
        priors = {"doc_topic_prior": None, "topic_word_prior": None, "seed_words": None}
        return {**priors, "words": None, "population": population, "evaluate_every": 0}
