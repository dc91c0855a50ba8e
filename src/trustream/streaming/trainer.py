"""A topic model that keeps learning from a document store (section 3.1 of the paper).

Each step draws a batch of B documents uniformly from the N_t that are there now and takes a
trust-region (or natural-gradient) step on the bound over all of them,

    E_q[log p(beta) / q(beta)] + (N_t / B) sum_n max_phi E_q[log p(x_n, z_n | beta) / q(z_n)],

at a rate tied to the documents added (`clock`), then one of empirical Bayes. The store may grow,
shrink and be written to by others meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from trustream import persist
from trustream.inference.state import Info, State
from trustream.kernels import threads
from trustream.models.lazy_rows import LazyRows
from trustream.models.lda import LdaModel, LdaPrior
from trustream.store import open_store
from trustream.store.protocol import Documents, Store, Totals
from trustream.streaming import columns
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.clock import Clock
from trustream.streaming.model import DEFAULT_NAME, as_estimator, load_checkpoint
from trustream.streaming.prefetch import Arrivals, Direct, Drawn, Prefetcher
from trustream.streaming.score import Score, score
from trustream.streaming.settings import TrainerSettings
from trustream.streaming.stepping import take_step
from trustream.streaming.vocabulary import Vocabulary
from trustream.streaming.warming import warm_up


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """One step of a trainer.

    Attributes:
        step: the step's own diagnostics; `step.n_steps` counts from the model's beginning.
        totals: of the store when the batch was drawn; `totals.sequence` is what the step saw.
        n_words: columns of the model.
        score: of held-out documents, if they were scored after this step.
    """

    step: Info
    totals: Totals
    n_words: int
    score: Score | None = None


class StreamTrainer:
    """Learns topics from a store, from where its last checkpoint in the store left off.

    Parameters
    ----------
    store : Store
        Read, and written to for checkpoints.
    n_components : int, default=100
        Number of topics.
    checkpoint_every : float, default=60
        Seconds between two checkpoints of `run`.
    prefetch : bool, default=None
        Draw the next batch while the last is learned from, in a thread with a connection of its
        own. None does so where the store is on a server. A draw from a file takes half a
        millisecond, and a thread that fights for the interpreter costs more than that. Without it,
        a run that appends between its own steps can be repeated exactly.
    name : str, default="model"
        Of the model's checkpoint in the store.
    n_jobs : int, default=None
        Threads, all cores if None; results do not depend on it.
    **options
        The other fields of `TrainerSettings`.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store.protocol import Record
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = trustream.open_store(folder.name + "/topics.db", min_documents=1)
    >>> texts = [["cat", "dog", "bird"], ["bond", "bank", "rate"]] * 50
    >>> _ = store.append(Record(str(i), words) for i, words in enumerate(texts))
    >>> trainer = StreamTrainer(store, n_components=2, batch_size=20)
    >>> trainer.run(steps=30).step.n_steps
    30
    >>> sorted(len(set(topic) & {"cat", "dog", "bird"}) for topic in trainer.top_words(3))
    [0, 3]
    >>> trainer.close(); store.close(); folder.cleanup()
    """

    def __init__(
        self,
        store: Store,
        n_components: int = 100,
        *,
        checkpoint_every: float = 60.0,
        prefetch: bool | None = None,
        name: str = DEFAULT_NAME,
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        self.settings = TrainerSettings(n_components=n_components, **options)
        self.store, self.name, self.checkpoint_every = store, name, checkpoint_every
        self._n_threads = threads.n_threads(n_jobs)
        self.prefetch = "://" in store.url if prefetch is None else prefetch
        self._source: Prefetcher | Direct | Arrivals | None = None
        checkpoint = load_checkpoint(store, name)
        if checkpoint is None:
            self._begin()
        else:
            self._resume(checkpoint)

    def _begin(self) -> None:
        s = self.settings
        self._vocabulary = Vocabulary()
        prior = LdaPrior.of(s.doc_topic_prior, s.topic_word_prior, s.n_components, 0)
        stored = np.empty((0, s.n_components), s.dtype)
        self._state = State(LazyRows(stored, 1.0, 0.0, np.zeros(s.n_components)), prior)
        self._clock: Clock | None = None
        draws, self._others = np.random.default_rng(s.random_state).spawn(2)
        self._draws = persist.generator_to_json(draws)
        self._arrival = -1
        self.best_score: float | None = None
        self.last_score: float | None = None

    def _resume(self, checkpoint: Checkpoint) -> None:
        before, now = asdict(checkpoint.settings), asdict(self.settings)
        for key, value in now.items():
            if before[key] != value:
                raise ValueError(
                    f"the checkpoint {self.name!r} was made with {key}={before[key]}, now it is "
                    f"{value}: use the same, or another name for another model"
                )
        self._vocabulary = Vocabulary(checkpoint.words)
        self._state, self._clock = checkpoint.state, checkpoint.clock
        self._draws, self._arrival = checkpoint.draws, checkpoint.arrival
        self._others = persist.generator_from_json(checkpoint.others)
        self.best_score, self.last_score = checkpoint.best_score, checkpoint.last_score

    # --- learning

    @property
    def n_steps(self) -> int:
        """Steps taken since the model's beginning."""
        return self._state.n_steps

    def steps(self, poll: float = 0.2) -> Iterator[StreamInfo | None]:
        """Take steps for ever; None each time that the store had nothing to learn from.

        Nothing is saved: call `save`, or use `run`.
        """
        warm_up(self.settings.method, self.settings.dtype)
        while True:
            drawn = self._next()
            documents = drawn.documents
            if documents is None or documents.indices.size == 0:
                yield None
                time.sleep(poll)
            elif self._follows(documents):
                yield self._step(drawn, documents)
            else:
                # Its columns mean other words by now: draw it again.
                self.close()

    def _next(self) -> Drawn:
        if self._source is None and self.settings.method == "streaming-vb":
            batch_size = self.settings.batch_size
            self._source = Arrivals(self.store, batch_size, self._arrival, self._draws)
        elif self._source is None:
            rng = persist.generator_from_json(self._draws)
            if self.prefetch:
                opened = partial(open_store, self.store.url, create=False)
                self._source = Prefetcher(opened, self.settings.batch_size, rng)
            else:
                self._source = Direct(self.store, self.settings.batch_size, rng)
        return self._source.next()

    def _step(self, drawn: Drawn, documents: Documents) -> StreamInfo:
        s, totals = self.settings, drawn.totals
        clock = (self._clock or Clock.start(totals)).passed(totals, len(documents.keys))
        rho = clock.rate(s.learning_offset, s.learning_decay, s.batch_size)
        model = self._model
        matrix = sparse.csr_array(
            (documents.counts, documents.indices, documents.indptr),
            shape=(len(documents.keys), len(self._vocabulary)),
        )
        state, info = take_step(s, model, self._state, matrix, rho, totals.training, self._others)
        self._state, self._clock = state, clock
        self._draws, self._arrival = drawn.generator, drawn.arrival
        scored = None
        if s.is_scored(state.n_steps):
            scored = self._score()
        return StreamInfo(info, totals, len(self._vocabulary), scored)

    def _follows(self, documents: Documents) -> bool:
        """Take in the words as they are now; False if the documents' columns mean others by now.

        New words only add columns. But a batch that was drawn before a word was evicted may use
        its column, which stands for another word now.
        """
        news = self._vocabulary.news(self.store, documents.vocabulary)
        if news is not None:
            state, s = self._state, self.settings
            # The posterior of streaming VB starts at the prior.
            seed = None if s.method == "streaming-vb" else s.random_state
            lambda_, prior = columns.followed(state.lambda_, state.prior, news.changes, seed)
            self._state = replace(state, lambda_=lambda_, prior=prior)
            self._vocabulary.take_in(news, lambda_.stored.shape[0])
            self._model = LdaModel(
                s.n_components, len(self._vocabulary), dtype=s.dtype, n_threads=self._n_threads
            )
        return self._vocabulary.holds(documents.vocabulary)

    def _score(self) -> Score | None:
        """Of held-out documents; draws nothing from the generators that learning uses.

        The same documents each time while none are added, so that scores can be compared.
        """
        s = self.settings
        rng = np.random.default_rng(s.random_state)
        documents = self.store.draw(s.score_documents, rng, held_out=True)
        if documents.indices.size == 0 or not self._follows(documents):
            return None
        lambda_, prior = self._state.lambda_, self._state.prior
        found = score(
            self._model, lambda_, prior, documents, seed=s.random_state, n_jobs=self._n_threads
        )
        if found is not None:
            self.last_score = found.per_word
            self.best_score = max(found.per_word, self.best_score or -np.inf)
        return found

    def run(
        self,
        *,
        steps: int | None = None,
        seconds: float | None = None,
        until_idle: bool = False,
        callback: Callable[[StreamInfo], object] | None = None,
    ) -> StreamInfo | None:
        """Learn until the first of the given ends, for ever if there is none; save at the end.

        Parameters
        ----------
        steps : int, default=None
            Stop after so many steps.
        seconds : float, default=None
            Stop after so much time.
        until_idle : bool, default=False
            Stop when nothing has arrived for a whole pass over the store, or it is empty.
        callback : callable, default=None
            Called after each step; stops the run by returning a true value.

        Returns
        -------
        The last step's StreamInfo, None if there was none.
        """
        if steps == 0:
            return None
        start = saved = time.monotonic()
        first, last = self.n_steps, None
        try:
            for info in self.steps():
                now = time.monotonic()
                if info is not None:
                    last = info
                    if callback is not None and callback(info):
                        break
                    if steps is not None and self.n_steps - first >= steps:
                        break
                if until_idle and (info is None or self._is_idle(info)):
                    break
                if seconds is not None and now - start >= seconds:
                    break
                if now - saved >= self.checkpoint_every:
                    self.save()
                    saved = time.monotonic()
        finally:
            self.save()
        return last

    def _is_idle(self, info: StreamInfo) -> bool:
        return self._clock is not None and self._clock.is_idle(info.totals)

    # --- what was learned

    def checkpoint(self) -> Checkpoint | None:
        """All that is needed to go on from here, None before the first step; shares memory."""
        if self._clock is None:
            return None
        return Checkpoint(
            self.settings,
            self._state,
            self._vocabulary.words,
            self._clock,
            self._draws,
            persist.generator_to_json(self._others),
            self._arrival,
            self.best_score,
            self.last_score,
        )

    def save(self) -> None:
        """Write a checkpoint to the store, in one transaction."""
        checkpoint = self.checkpoint()
        if checkpoint is not None:
            self.store.save(self.name, checkpoint.to_bytes())

    def top_words(self, n: int = 10) -> list[list[str]]:
        """The n most probable words of each topic, most probable first."""
        checkpoint = self.checkpoint()
        if checkpoint is None:
            raise ValueError("nothing was learned yet: call run first")
        return as_estimator(checkpoint).top_words(n)

    def largest_topics(self, n: int = 10) -> list[list[str]]:
        """The same, the topic with most words first."""
        topics = self.top_words(n)
        return [topics[k] for k in np.argsort(-self._state.lambda_.totals, kind="stable")]

    def close(self) -> None:
        """End the thread that draws ahead; the store stays open."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def __enter__(self) -> StreamTrainer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
