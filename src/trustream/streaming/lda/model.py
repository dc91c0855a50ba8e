"""Topics of a stream: LDA behind the interface that trainers know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from trustream._schema import Rule, check_values
from trustream.estimators import LatentDirichletAllocation
from trustream.estimators.progress import compilation_notice
from trustream.estimators.seed_topics import STRENGTH, SeedTopics
from trustream.inference.restoring import Undo, together
from trustream.inference.state import State
from trustream.learning import algorithms, defaults, state_formats
from trustream.learning.defaults import STREAM, stream_offset
from trustream.learning.learner import Learner
from trustream.learning.recipe import Recipe
from trustream.models.lda import LazyRows, LdaModel, LdaPrior
from trustream.models.lda.batch import CountRows
from trustream.models.lda.seeds import SeedRows, seed_rows
from trustream.store.records import Documents
from trustream.streaming.lda import words
from trustream.streaming.lda.score import score
from trustream.streaming.stream_model import Changes, Score, StreamModel, register

# Least values of whole numbers; None may stand for those that the recipe chooses.
_WHOLE = {
    "n_components": 1,
    "batch_size": 1,
    "inner_iter": 1,
    "max_doc_update_iter": 1,
    "score_every": 0,
    "score_documents": 1,
    "random_state": 0,
}
_CHOSEN = ("batch_size", "inner_iter", "max_doc_update_iter")
_NUMBERS = (
    "learning_offset", "learning_decay", "mean_change_tol", "tol", "doc_topic_prior",
    "topic_word_prior",
)  # fmt: skip
# Settings that decide the recipe, by the names of `defaults.for_topics`.
_RECIPE = (
    "method", "batch_size", "learning_offset", "learning_decay", "inner_iter",
    "max_doc_update_iter", "max_doc_topics", "mean_change_tol", "tol", "learn_priors",
    "population",
)  # fmt: skip


@register
@dataclass(frozen=True)
class TopicStream(StreamModel):
    """What the topics of a stream are learned with; a checkpoint goes on only with the same.

    Attributes:
        n_components: number of topics.
        method: "trust-region", "natural-gradient", or, for comparison, "streaming-vb", which
            takes each document once as it arrives, or "streaming-batch", which runs batch VB on
            each draw and replaces the model.
        batch_size: B, documents of a step; None chooses it by the lengths of the documents.
        learning_offset, learning_decay: tau and kappa of the rate; without a tau it is chosen by
            the number of topics (`defaults.stream_offset`).
        inner_iter, max_doc_update_iter, max_doc_topics, mean_change_tol: of a step, as in
            `LatentDirichletAllocation`.
        tol: streaming VB and streaming batch stop when a pair raises the bound by less, in nats
            per document.
        doc_topic_prior, topic_word_prior: alpha and eta at the start.
        learn_priors: whether empirical Bayes changes them; what is shown then has an eta of its
            own, found by leaving documents out.
        population: the number of documents that the model is learned for, as long as there are
            fewer; "auto" chooses it by topics, words and lengths. What is shown is always for the
            documents that there are. None is the paper's algorithm: no population, nothing but
            lambda is shown, and the rate is tied to the documents added.
        seed_words: words by which topics begin, as in `LatentDirichletAllocation`; each gets its
            weight when it becomes active.
        seed_strength: tokens that each token of a seed word counts more in its topic.
        score_every, score_documents: see `StreamModel`.
        dtype: "float32" or "float64".
        random_state: an integer.

    >>> TopicStream(n_components=0)
    Traceback (most recent call last):
    ...
    ValueError: n_components must be an integer of at least 1, got 0
    >>> [n for n in range(1, 25) if TopicStream(score_every=10).is_scored(n)]
    [1, 2, 4, 8, 10, 20]
    """

    kind = "lda"

    n_components: int = 100
    method: str = "trust-region"
    batch_size: int | None = None
    learning_offset: float = None  # type: ignore[assignment]
    learning_decay: float = STREAM["learning_decay"]
    inner_iter: int | None = None
    max_doc_update_iter: int | None = None
    max_doc_topics: int | str | None = "auto"
    mean_change_tol: float = 1e-4
    tol: float = STREAM["tol"]
    doc_topic_prior: float = 0.1
    topic_word_prior: float = 0.1
    learn_priors: bool = True
    population: float | str | None = "auto"
    seed_words: Any = None
    seed_strength: float = STRENGTH
    score_every: int = 100
    score_documents: int = 200
    dtype: str = "float32"
    random_state: int = 0
    recipe: Recipe = field(default=None, compare=False, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.learning_offset is None and _is_whole(self.n_components, 1):
            object.__setattr__(self, "learning_offset", stream_offset(self.n_components))
        self._check()
        if self.seed_words is not None and not isinstance(self.seed_words, SeedTopics):
            seeds = SeedTopics.of(self.seed_words, self.seed_strength, self.n_components)
            object.__setattr__(self, "seed_words", seeds)
        if self.recipe is None:
            options = {name: getattr(self, name) for name in _RECIPE}
            options["is_seeded"] = self.seed_words is not None
            chosen = defaults.for_stream(self.n_components, **options)
            object.__setattr__(self, "recipe", chosen)

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return self.n_components

    # --- settings

    def settings(self) -> dict[str, Any]:
        """All fields but the recipe, which follows from them and is kept apart."""
        values = {name: getattr(self, name) for name in _names()}
        seeds = self.seed_words
        return {**values, "seed_words": None if seeds is None else seeds.to_json()}

    @classmethod
    def from_settings(cls, values: Any) -> TopicStream:
        """From a dictionary of all settings, a file's; others are refused.

        Settings without a kind are those of a version that left no topics alone.

        >>> TopicStream.from_settings({"n_components": 3})
        Traceback (most recent call last):
        ...
        ValueError: missing from the settings: method, batch_size, learning_offset, ...
        """
        anything = Rule(lambda value: True, "")  # values are looked at by the class
        rules = dict.fromkeys(_names(), anything)
        if isinstance(values, dict) and "kind" in values:
            rules["kind"] = anything
        else:
            del rules["max_doc_topics"], rules["population"]
        # Those of a version without seeds say nothing of them.
        check_values(values, rules, "the settings", may_lack=("seed_words", "seed_strength"))
        given = {key: value for key, value in values.items() if key != "kind"}
        seeds = given.pop("seed_words", None)
        model = cls(**{"max_doc_topics": None, "population": None, **given})
        if isinstance(seeds, dict) and isinstance(seeds.get("weight"), float):
            # Of a file; what users give holds lists.
            seeds = SeedTopics.from_json(seeds, model.n_components)
        return model if seeds is None else replace(model, seed_words=seeds)

    def with_recipe(self, recipe: Recipe) -> TopicStream:
        """The same topics, learned by the recipe of a checkpoint.

        Raises:
            ValueError: the recipe is of another method.
        """
        if recipe.method != self.method:
            raise ValueError(
                f"the recipe is of the method {recipe.method}, and these topics are learned by "
                f"{self.method}: make a TopicStream with method={recipe.method!r}, or use a recipe "
                f"of {self.method}"
            )
        return replace(self, recipe=recipe)

    def _check(self) -> None:
        methods = algorithms.streaming()
        if self.method not in methods:
            raise ValueError(f"method must be one of {tuple(methods)}, got {self.method!r}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be float32 or float64, got {self.dtype!r}")
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if not (name in _CHOSEN and value is None) and not _is_whole(value, least):
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
        most = self.max_doc_topics
        if not (most is None or most == "auto" or _is_whole(most, 1)):
            raise ValueError(f'max_doc_topics must be "auto", None or an integer, got {most!r}')
        size = self.population
        if isinstance(size, bool) or not (
            size is None or size == "auto" or (isinstance(size, Real) and 1 <= size < np.inf)
        ):
            raise ValueError(f'population must be "auto", None or a number, got {size!r}')
        if not isinstance(self.learn_priors, bool):
            raise ValueError(f"learn_priors must be True or False, got {self.learn_priors!r}")
        for name in _NUMBERS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ValueError(f"{name} must be a number, got {value!r}")
        for name in ("learning_offset", "doc_topic_prior", "topic_word_prior"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {getattr(self, name)!r}")
        if not 0 <= self.learning_decay <= 1:
            raise ValueError(f"learning_decay lies between 0 and 1, got {self.learning_decay}")
        for name in ("mean_change_tol", "tol"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")

    # --- learning

    def start(self) -> State:
        """No words yet."""
        prior = LdaPrior.of(self.doc_topic_prior, self.topic_word_prior, self.n_components, 0)
        stored = np.empty((0, self.n_components), self.dtype)
        return State(LazyRows(stored, 1.0, prior.eta, np.zeros(self.n_components)), prior)

    def learner(self, n_words: int, n_threads: int) -> Learner:
        """LDA over so many words."""
        model = LdaModel(
            self.n_components,
            n_words,
            dtype=self.dtype,
            n_threads=n_threads,
            max_doc_topics=self.recipe.max_doc_topics,
        )
        return Learner(model, self.recipe)

    def data(self, documents: Documents, n_words: int) -> CountRows:
        """Their counts, (documents, words)."""
        shape = len(documents.keys), n_words
        return CountRows(documents.indptr, documents.indices, documents.counts, shape)

    def follow(self, state: State, changes: Changes) -> State:
        """Rows of lambda for new words; those of evicted words return to the prior."""
        # Where each document counts once, the posterior starts at the prior.
        counts_once = algorithms.get(self.recipe.method).takes_each_once
        seed = None if counts_once else self.random_state
        mean = state.mean
        if mean is not None:
            # At the prior, and what they gain from now on is shown for their age.
            table, _ = words.followed(mean.lambda_, state.prior, changes, None)
            new = [column for column, word in changes if word is not None]
            gone = [column for column, word in changes if word is None]
            late = mean.late.changed(new, gone, mean.log_kept)
            mean = replace(mean, lambda_=table, late=late)
        seeds = self._seeds_after(state.prior.seeds, changes)
        lambda_, prior = words.followed(state.lambda_, state.prior, changes, seed, seeds)
        return replace(state, lambda_=lambda_, prior=prior, mean=mean)

    def _seeds_after(self, seeds: SeedRows | None, changes: Changes) -> SeedRows | None:
        """Weights of the seed words that are active now."""
        if self.seed_words is None:
            return seeds
        gone = [column for column, _ in changes]
        new = self.seed_words.weights_of(changes, self.n_components)
        return seed_rows(new) if seeds is None else seeds.changed(gone, new)

    def follow_savepoint(self, state: State, changes: Changes) -> Undo:
        """The rows that `follow` overwrites."""
        undo = words.savepoint(state.lambda_, changes)
        if state.mean is None:
            return undo
        return together(undo, words.savepoint(state.mean.lambda_, changes))

    def score(self, learner: Learner, state: State, documents: Documents) -> Score | None:
        """Document completion under E[beta] and alpha."""
        model = learner.model
        counts = self.data(documents, model.n_words)
        return score(model, state.lambda_, state.prior, counts, self.random_state)

    def warm_up(self) -> None:
        """Compile kernels, once in a process; says so on a terminal if it takes long."""
        _compile(self.recipe.method, self.dtype)

    # --- results

    def format(self, n_words: int) -> state_formats.StateFormat:
        """Of LDA."""
        return state_formats.lda(self.n_components, n_words, self.dtype)

    def estimator(
        self,
        state: State,
        words: Sequence[str | None],
        rng: np.random.Generator,
        n_seen: int,
    ) -> LatentDirichletAllocation:
        """A fitted estimator whose columns are named by the words; evicted ones have no name."""
        shared = ("n_components", "doc_topic_prior", "topic_word_prior", "dtype", "random_state")
        options = {
            name: getattr(self, name)
            for name in (*shared, *_RECIPE)
            if name not in ("method", "population")
        }
        model = LatentDirichletAllocation(learning_method=self.recipe.method, **options)
        if self.seed_words is not None:
            # For steps to come, also if the state is one that is shown.
            seeds = self.seed_words.of_columns(words, self.n_components)
            state = replace(state, prior=replace(state.prior, seeds=seeds))
        model._state, model._rng, model._n_samples_seen = state, rng, n_seen
        model.n_iter_, model.n_features_in_ = 1, len(words)
        model.feature_names_in_ = np.array([word or "" for word in words], dtype=object)
        model._seeds = self.seed_words
        return model


def _names() -> list[str]:
    return [found.name for found in fields(TopicStream) if found.name != "recipe"]


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


@cache
def _compile(method: str, dtype: str) -> None:
    """Take one step and one score on next to nothing."""
    with compilation_notice():
        counts = sparse.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]], np.float32))
        model = TopicStream(n_components=2, method=method, dtype=dtype, inner_iter=1)
        learner, rng = model.learner(3, 1), np.random.default_rng(0)
        state = learner.start(LdaPrior.of(0.1, 0.1, 2, 3), rng)
        state, _ = learner.step(state, learner.batch(counts), 2, rng=rng, rho=0.5)
        score(learner.model, state.lambda_, state.prior, counts, 0)
