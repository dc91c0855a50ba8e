"""What a trainer keeps between two steps, each of which is taken wholly or not at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustream import persist
from trustream.inference.population import published
from trustream.inference.restoring import Restorable, generator_savepoint
from trustream.inference.state import Info, State
from trustream.learning.continuing import weight_before_look
from trustream.learning.learner import Learner
from trustream.learning.recipe import DataSize
from trustream.store.draw_order import DrawOrder
from trustream.store.protocol import Store
from trustream.store.records import Documents, Totals
from trustream.streaming import stream_model
from trustream.streaming.batches import Drawn, DrawnDocuments, order_to_json
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.clock import Clock
from trustream.streaming.engine import Engine, Here
from trustream.streaming.model_words import ModelWords
from trustream.streaming.stream_model import Score, StreamModel
from trustream.topic_names import TopicNames


@dataclass(frozen=True, slots=True)
class Learned:
    """What a step changes, all at once; see `Checkpoint`."""

    state: State
    clock: Clock | None
    draws: dict[str, Any]
    arrival: int


class Training:
    """Parameters, words, clock and random states of a trainer.

    After an exception in any method, an interrupt too, they are as before the call, or as after
    it; never something between.

    Attributes:
        model: what is learned.
        best_score, last_score: of held-out documents, None before the first.
    """

    def __init__(
        self, store: Store, model: StreamModel, n_threads: int, engine: Engine | None = None
    ) -> None:
        self._engine = engine or Here()
        model = model.with_recipe(self._engine.recipe(model.recipe))
        self._store, self.model, self._n_threads = store, model, n_threads
        self._words = ModelWords()
        self._last_learner: tuple[int, Learner] | None = None
        draws, self._others = np.random.default_rng(model.random_state).spawn(2)
        order = DrawOrder(draws) if model.recipe.has_population else draws
        generator = order_to_json(order)
        self._kept = Restorable(Learned(model.start(), None, generator, -1))
        self.best_score: float | None = None
        self.last_score: float | None = None
        self._names: TopicNames | None = None

    @classmethod
    def resumed(
        cls,
        store: Store,
        asked: dict[str, Any],
        n_threads: int,
        checkpoint: Checkpoint,
        engine: Engine | None = None,
    ) -> Training:
        """One that goes on from a checkpoint, with its settings and by its recipe.

        Args:
            asked: settings that the caller wants it to have.

        Raises:
            ValueError: the checkpoint was made with other settings.
        """
        before = stream_model.to_json(checkpoint.model)
        wanted = asked
        if asked.get("kind", before["kind"]) == before["kind"]:
            # Looked at by the model, so that values that it never takes are named as such.
            wanted = stream_model.to_json(stream_model.from_json({**before, **asked}))
        for key, value in wanted.items():
            if before.get(key) != value:
                raise ValueError(
                    f"the checkpoint was made with {key}={before.get(key)}, now it is "
                    f"{value}: use the same, or another name for another model"
                )
        training = cls(store, checkpoint.model, n_threads, engine)
        training._words = ModelWords(checkpoint.words)
        training._kept = Restorable(
            Learned(checkpoint.state, checkpoint.clock, checkpoint.draws, checkpoint.arrival)
        )
        training._others = persist.generator_from_json(checkpoint.others)
        training.best_score, training.last_score = checkpoint.best_score, checkpoint.last_score
        training._names = checkpoint.names
        return training

    @property
    def learned(self) -> Learned:
        """What was learned up to the last whole step."""
        return self._kept.restored()

    @property
    def n_words(self) -> int:
        """Columns of the model."""
        return len(self._words)

    def step(self, drawn: Drawn, documents: DrawnDocuments) -> Info:
        """Learn from a batch whose words were followed."""
        recipe, totals, kept = self.model.recipe, drawn.totals, self._kept
        learned = kept.restored()
        clock = learned.clock or Clock.start(totals)
        looks = clock.looks(totals)
        rng, learner = self._others, self._learner()
        population = learner.population(_size(totals))
        # Where there were enough documents for the topics, more of them change these little.
        before = max(1, totals.training - (totals.added - clock.added))
        needed = learner.population(_size(totals, before))
        were_few = needed is None or needed > before
        data = self._engine.data(self.model, documents, self.n_words)
        clock = clock.passed(totals, data.shape[0], recipe.max_iter, were_few)
        kept.protect(generator_savepoint(rng))
        window = clock.window(totals)
        weight = np.full(data.shape[0], weight_before_look(totals.training, window))
        weight[: drawn.n_new] = 0.0
        state, info = learner.go_on(
            learned.state,
            data,
            totals.training,
            rng=rng,
            population=population,
            window=window,
            weight=weight,
            rho=learning_rate(self.model, clock, totals),
            looks=looks,
            new_share=drawn.new_share,
            protect=kept.protect,
        )
        # The step is done with this assignment, and not before.
        self._kept = Restorable(Learned(state, clock, drawn.generator, drawn.arrival))
        return info

    def follow(self, documents: DrawnDocuments) -> bool:
        """Take in the words as they are now; False if the documents' columns mean others by now.

        New words only add columns. But a batch that was drawn before a word was evicted may use
        its column, which stands for another word now.
        """
        words, kept, model = self._words, self._kept, self.model
        learned = kept.restored()  # first: an interrupted call is undone here
        changes = words.changes(self._store, documents.newest_vocabulary)
        if changes is not None:
            kept.protect(words.savepoint(changes))
            kept.protect(model.follow_savepoint(learned.state, changes.pairs))
            state = model.follow(learned.state, changes.pairs)
            words.take_in(changes)
            self._kept = Restorable(replace(learned, state=state))
        return words.holds(documents.vocabulary)

    def score(self) -> Score | None:
        """Of held-out documents; draws nothing from the generators that learning uses.

        The same documents each time while none are added, so that scores can be compared.
        """
        rng = np.random.default_rng(self.model.random_state)
        documents = self._engine.held_out(self.model, self._store, rng)
        if documents.n_pairs == 0 or not self.follow(documents):
            return None
        learner = self._learner()
        shown = published(learner.model, self.learned.state)
        found = self._engine.score(self.model, learner, shown, documents)
        if found is not None:
            self.last_score = found.per_word
            self.best_score = max(found.per_word, self.best_score or -np.inf)
        return found

    def scores(self, documents: Documents) -> list[Score | None] | None:
        """Of each document by itself; None if the documents' columns mean other words by now.

        Two models of the same store and seed are asked for the same halves of the documents.
        """
        if not self.follow(documents):
            return None
        learner = self._learner()
        state = published(learner.model, self.learned.state)
        found: list[Score | None] = []
        for row, key in enumerate(documents.keys):
            start, stop = documents.indptr[row : row + 2]
            alone = replace(
                documents,
                keys=[key],
                indptr=documents.indptr[row : row + 2] - start,
                indices=documents.indices[start:stop],
                counts=documents.counts[start:stop],
            )
            is_empty = start == stop
            found.append(None if is_empty else self.model.score(learner, state, alone))
        return found

    def checkpoint(self) -> Checkpoint | None:
        """All that is needed to go on from here, None before the first step; shares memory."""
        learned = self.learned
        if learned.clock is None:
            return None
        return Checkpoint(
            self.model,
            learned.state,
            self._words.words,
            learned.clock,
            learned.draws,
            persist.generator_to_json(self._others),
            learned.arrival,
            self.best_score,
            self.last_score,
            self._names,
        )

    def _learner(self) -> Learner:
        # A learner keeps tables of the vocabulary's size.
        if self._last_learner is None or self._last_learner[0] != self.n_words:
            learner = self.model.learner(self.n_words, self._n_threads)
            self._last_learner = self.n_words, self._engine.learner(learner)
        return self._last_learner[1]


def batch_size(model: StreamModel, totals: Totals) -> int:
    """Documents of a batch for a store with these totals."""
    return model.recipe.batch_size_for(_size(totals))


def learning_rate(model: StreamModel, clock: Clock, totals: Totals) -> float:
    """rho for a store with these totals."""
    recipe, size = model.recipe, batch_size(model, totals)
    if not recipe.has_population:
        return clock.rate(recipe.tau, recipe.kappa, size)
    return clock.phase_rate(recipe.tau, recipe.kappa, size, recipe.settling or math.inf)


def _size(totals: Totals, n_documents: int | None = None) -> DataSize:
    """Of the training documents, or of so many like them; their tokens and words about."""
    n_documents = totals.training if n_documents is None else n_documents
    n_tokens = n_documents / max(totals.documents, 1) * totals.tokens
    return DataSize(n_documents, n_tokens, totals.words)
