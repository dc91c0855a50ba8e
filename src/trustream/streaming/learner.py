"""A topic model between two steps on a store, each of which is taken wholly or not at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from trustream import persist
from trustream.inference.restoring import Restorable, generator_savepoint
from trustream.inference.state import Info, State
from trustream.models.lda import LazyRows, LdaModel, LdaPrior
from trustream.store.protocol import Documents, Store
from trustream.streaming import columns
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.clock import Clock
from trustream.streaming.prefetch import Drawn
from trustream.streaming.score import Score, score
from trustream.streaming.settings import TrainerSettings
from trustream.streaming.stepping import take_step
from trustream.streaming.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Learned:
    """What a step changes, all at once; see `Checkpoint`."""

    state: State
    clock: Clock | None
    draws: dict[str, Any]
    arrival: int


class StreamLearner:
    """Parameters, words, clock and random states of a trainer.

    After an exception in any method, an interrupt too, they are as before the call, or as after
    it; never something between.

    Attributes:
        best_score, last_score: of held-out documents, None before the first.
    """

    def __init__(self, store: Store, settings: TrainerSettings, n_threads: int) -> None:
        s = settings
        self._store, self._settings, self._n_threads = store, s, n_threads
        self._vocabulary = Vocabulary()
        self._last_model: LdaModel | None = None
        prior = LdaPrior.of(s.doc_topic_prior, s.topic_word_prior, s.n_components, 0)
        stored = np.empty((0, s.n_components), s.dtype)
        state = State(LazyRows(stored, 1.0, 0.0, np.zeros(s.n_components)), prior)
        draws, self._others = np.random.default_rng(s.random_state).spawn(2)
        self._kept = Restorable(Learned(state, None, persist.generator_to_json(draws), -1))
        self.best_score: float | None = None
        self.last_score: float | None = None

    @classmethod
    def resumed(
        cls, store: Store, settings: TrainerSettings, n_threads: int, checkpoint: Checkpoint
    ) -> StreamLearner:
        """One that goes on from a checkpoint.

        Raises:
            ValueError: the checkpoint was made with other settings.
        """
        before, now = asdict(checkpoint.settings), asdict(settings)
        for key, value in now.items():
            if before[key] != value:
                raise ValueError(
                    f"the checkpoint was made with {key}={before[key]}, now it is "
                    f"{value}: use the same, or another name for another model"
                )
        learner = cls(store, settings, n_threads)
        learner._vocabulary = Vocabulary(checkpoint.words)
        learner._kept = Restorable(
            Learned(checkpoint.state, checkpoint.clock, checkpoint.draws, checkpoint.arrival)
        )
        learner._others = persist.generator_from_json(checkpoint.others)
        learner.best_score, learner.last_score = checkpoint.best_score, checkpoint.last_score
        return learner

    @property
    def learned(self) -> Learned:
        """What was learned up to the last whole step."""
        return self._kept.value

    @property
    def n_words(self) -> int:
        """Columns of the model."""
        return len(self._vocabulary)

    def step(self, drawn: Drawn, documents: Documents) -> Info:
        """Learn from a batch whose words were followed."""
        s, totals, kept = self._settings, drawn.totals, self._kept
        learned = kept.value
        clock = (learned.clock or Clock.start(totals)).passed(totals, len(documents.keys))
        rho = clock.rate(s.learning_offset, s.learning_decay, s.batch_size)
        counts = sparse.csr_array(
            (documents.counts, documents.indices, documents.indptr),
            shape=(len(documents.keys), self.n_words),
        )
        rng = self._others
        kept.protect(generator_savepoint(rng))
        state, info = take_step(
            s, self._model(), learned.state, counts, rho, totals.training, rng, kept.protect
        )
        # The step is done with this assignment, and not before.
        self._kept = Restorable(Learned(state, clock, drawn.generator, drawn.arrival))
        return info

    def follow(self, documents: Documents) -> bool:
        """Take in the words as they are now; False if the documents' columns mean others by now.

        New words only add columns. But a batch that was drawn before a word was evicted may use
        its column, which stands for another word now.
        """
        vocabulary, kept = self._vocabulary, self._kept
        learned = kept.value  # first: an interrupted call is undone here
        news = vocabulary.news(self._store, documents.vocabulary)
        if news is not None:
            state, s = learned.state, self._settings
            # The posterior of streaming VB starts at the prior.
            seed = None if s.method == "streaming-vb" else s.random_state
            kept.protect(vocabulary.savepoint(news))
            kept.protect(columns.savepoint(state.lambda_, news.changes))
            lambda_, prior = columns.followed(state.lambda_, state.prior, news.changes, seed)
            vocabulary.take_in(news, lambda_.stored.shape[0])
            self._kept = Restorable(
                replace(learned, state=replace(state, lambda_=lambda_, prior=prior))
            )
        return vocabulary.holds(documents.vocabulary)

    def score(self) -> Score | None:
        """Of held-out documents; draws nothing from the generators that learning uses.

        The same documents each time while none are added, so that scores can be compared.
        """
        s = self._settings
        rng = np.random.default_rng(s.random_state)
        documents = self._store.draw(s.score_documents, rng, held_out=True)
        if documents.indices.size == 0 or not self.follow(documents):
            return None
        state = self.learned.state
        found = score(
            self._model(),
            state.lambda_,
            state.prior,
            documents,
            seed=s.random_state,
            n_jobs=self._n_threads,
        )
        if found is not None:
            self.last_score = found.per_word
            self.best_score = max(found.per_word, self.best_score or -np.inf)
        return found

    def checkpoint(self) -> Checkpoint | None:
        """All that is needed to go on from here, None before the first step; shares memory."""
        learned = self.learned
        if learned.clock is None:
            return None
        return Checkpoint(
            self._settings,
            learned.state,
            self._vocabulary.words,
            learned.clock,
            learned.draws,
            persist.generator_to_json(self._others),
            learned.arrival,
            self.best_score,
            self.last_score,
        )

    def _model(self) -> LdaModel:
        s = self._settings
        if self._last_model is None or self._last_model.n_words != self.n_words:
            self._last_model = LdaModel(
                s.n_components, self.n_words, dtype=s.dtype, n_threads=self._n_threads
            )
        return self._last_model
