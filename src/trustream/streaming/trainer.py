"""Train a model on a document store that may grow (section 3.1 of the paper), topics or any other.

A `StreamTrainer` is made here, runs until something ends it, and saves what it has learned; `steps`
has what a step does. It knows its model as a `StreamModel` only. The store may grow, shrink and be
written to by others meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from trustream.kernels import threads
from trustream.store.lease import SECONDS
from trustream.store.limits import is_number_from, short_repr
from trustream.store.protocol import Store
from trustream.streaming import stream_model
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.engine import Engine, Here
from trustream.streaming.held_model import HeldModel
from trustream.streaming.published import DEFAULT_NAME, as_estimator
from trustream.streaming.saved_names import CLUSTER
from trustream.streaming.steps import Steps, StreamInfo
from trustream.streaming.stream_model import StreamModel
from trustream.streaming.training import Training


class StreamTrainer(Steps):
    """Learns a model from a store, from where its last checkpoint in the store left off.

    The model is one of topics, unless `model` gives another.

    Parameters
    ----------
    store : Store
        Read, and written to for checkpoints.
    n_components : int, default=None
        Number of topics. None is 100, or what the checkpoint has.
    checkpoint_every : float, default=60
        Seconds between two checkpoints of `run`.
    prefetch : bool, default=None
        Draw the next batch while the last is learned from, in a thread with a connection of its
        own. None does so where the store is on a server. A draw from a file takes half a
        millisecond, and a thread that fights for the interpreter costs more than that. Without it,
        a run that appends between its own steps can be repeated exactly.
    name : str, default="model"
        Of the model's checkpoint in the store. One trainer at a time has a model: until `close`,
        or the end of `with`, others are refused.
    n_jobs : int, default=None
        Threads, all cores if None; results do not depend on it.
    model : StreamModel, default=None
        What to learn, if it is not topics: `n_components` and options then have no meaning.
    lease_seconds : float, default=30
        For how long this process may stand still before another trainer may take over. Where the
        other runs on the same machine, it takes over from a process that has ended at once.
    engine : Engine, default=None
        Where batches are drawn and computed; None is this process.
    **options
        The other fields of `TopicStream`: method, batch_size, random_state and so on. A checkpoint
        goes on with the settings that it was made with; options that differ are refused.

    Raises
    ------
    LeaseHeldError
        If another trainer of the model is running; the message names it.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store.records import Record
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
        n_components: int | None = None,
        *,
        checkpoint_every: float = 60.0,
        prefetch: bool | None = None,
        name: str = DEFAULT_NAME,
        n_jobs: int | None = None,
        model: StreamModel | None = None,
        lease_seconds: float = SECONDS,
        engine: Engine | None = None,
        **options: Any,
    ) -> None:
        if n_components is not None:
            options["n_components"] = n_components
        if model is not None and options:
            raise ValueError(f"{', '.join(options)}: a model that is given has settings of its own")
        _check_seconds("checkpoint_every", checkpoint_every)
        self.store, self.name, self.checkpoint_every = store, name, checkpoint_every
        self.prefetch = "://" in store.url if prefetch is None else prefetch
        self.n_threads, self.n_replaced = threads.n_threads(n_jobs), 0
        self.engine: Engine = engine or Here()
        self.held = HeldModel(store, name, lease_seconds)
        try:
            # After the lease was taken: nobody else saves another one now.
            checkpoint = self.held.load()
            if checkpoint is None:
                model = model or stream_model.usual(**options)
                self._training = Training(store, model, self.n_threads, self.engine)
            else:
                asked = options if model is None else stream_model.to_json(model)
                self._training = Training.resumed(
                    store, asked, self.n_threads, checkpoint, self.engine
                )
        except BaseException:
            self.held.release()
            raise

    def run(
        self,
        *,
        steps: int | None = None,
        seconds: float | None = None,
        until_idle: bool = False,
        callback: Callable[[StreamInfo], object] | None = None,
        stop: Callable[[], object] | None = None,
        waiting: Callable[[], object] | None = None,
    ) -> StreamInfo | None:
        """Learn until the first of the given ends, for ever if there is none; save at the end.

        It saves when an exception or an interrupt ends it as well: what was learned before the
        step that failed. If the model was replaced in the store meanwhile
        (`trustream.streaming.retraining`), it goes on from the new one.

        Parameters
        ----------
        steps : int, default=None
            Stop after so many steps.
        seconds : float, default=None
            Stop after so much time.
        until_idle : bool, default=False
            Stop when there is nothing to learn from, or when four passes in a row over the
            documents brought nothing new. With the first pass these are as many looks at each
            document as `fit` makes, five. With `population=None` it is one pass in place of four.
        callback : callable, default=None
            Called after each step; stops the run by returning a true value.
        stop : callable, default=None
            Asked after each step, and again and again while there is nothing to learn from; stops
            the run by returning a true value.
        waiting : callable, default=None
            Called each time that there is nothing to learn from.

        Returns
        -------
        The last step's StreamInfo, None if there was none.

        Raises
        ------
        LeaseLostError
            If another trainer has taken over, because this process stood still for too long.
        """
        if seconds is not None:
            _check_seconds("seconds", seconds)
        if steps is not None and not is_number_from(0, steps):
            raise ValueError(f"steps is {short_repr(steps)}; give a whole number, 0 or more")
        if steps == 0:
            return None
        start = saved = time.monotonic()
        taken, last = 0, None
        try:
            for info in self.steps(stop=stop):
                now = time.monotonic()
                if info is not None:
                    taken, last = taken + 1, info
                    if callback is not None and callback(info):
                        break
                    if steps is not None and taken >= steps:
                        break
                elif waiting is not None:
                    waiting()
                if until_idle and (info is None or self._is_idle(info)):
                    break
                if seconds is not None and now - start >= seconds:
                    break
                if stop is not None and stop():
                    break
                if now - saved >= self.checkpoint_every:
                    self.save()
                    saved = time.monotonic()
        finally:
            self.save()
        return last

    # --- what was learned

    def checkpoint(self) -> Checkpoint | None:
        """All that is needed to go on from here, None before the first step; shares memory."""
        return self._training.checkpoint()

    def save(self) -> None:
        """Write a checkpoint to the store, in one transaction.

        If the model was replaced in the store since it was last saved, the new one stays there, and
        the trainer goes on from it; `n_replaced` counts that.

        Raises
        ------
        LeaseLostError
            If another trainer has taken over; nothing is saved.
        """
        checkpoint, progress = self.checkpoint(), self.engine.progress()
        beside = None if progress is None else {self.name + CLUSTER: progress.to_bytes()}
        found = None if checkpoint is None else self.held.save(checkpoint, beside)
        if found is not None:
            self._end_draws()
            self._training = Training.resumed(self.store, {}, self.n_threads, found, self.engine)
            self.n_replaced += 1

    def estimator(self) -> Any:
        """What was learned so far as a fitted estimator, which shares memory with the trainer."""
        checkpoint = self.checkpoint()
        if checkpoint is None:
            raise ValueError("nothing was learned yet: call run first")
        return as_estimator(checkpoint)

    def top_words(self, n: int = 10) -> list[list[str]]:
        """The n most probable words of each topic, most probable first.

        Raises
        ------
        ValueError
            If the model has no topics, or has learned nothing yet.
        """
        if self.model.n_topics is None:
            raise ValueError(
                f"the model {self.name!r} is of kind {self.model.kind!r}, which has no topics and "
                "no top words: look at what it has learned by estimator()"
            )
        words: list[list[str]] = self.estimator().top_words(n)
        return words

    def close(self) -> None:
        """Let others train the model, and end the thread that draws ahead; the store stays open."""
        try:
            self._end_draws()
        finally:
            self.held.release()

    def __enter__(self) -> StreamTrainer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_seconds(name: str, value: float) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and value >= 0):
        raise ValueError(f"{name} is {value!r}; give a number of seconds, 0 or more")
