"""Learn a model afresh from what is in a store, and replace the old one when it is as good.

A document that is deleted leaves a trace in the model that has learned from it. A model that is
learned afresh has never seen it. The old model goes on meanwhile: its trainer keeps training it,
and readers keep reading it, until the new one takes its place in one transaction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trustream.learning import algorithms
from trustream.store.lease import LeaseHeldError
from trustream.store.protocol import Store
from trustream.store.records import Totals
from trustream.streaming import stream_model
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.published import (
    DEFAULT_NAME,
    RETRAINING,
    MissingModelError,
    load_checkpoint,
    models_there,
)
from trustream.streaming.stream_model import Score
from trustream.streaming.trainer import StreamTrainer
from trustream.streaming.training import Training
from trustream.streaming.training_run import TrainingProgress, nothing_to_learn

# How much worse, in nats per word, a model may be and still be called as good.
TOLERANCE = 0.01
# Held-out documents that both models predict, at most, and those without which nothing is compared.
_MOST, _LEAST = 1000, 20
# How often documents are drawn again whose words change at that moment.
_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Comparison:
    """How well two models predict the same held-out documents.

    Attributes:
        new_score, old_score: nats per word of a random half of each document given the other half.
        difference: new minus old, in nats per word.
        standard_error: of the difference, over documents: it is small where both models find the
            same documents easy.
        n_documents: held-out documents that were compared.
    """

    new_score: float
    old_score: float
    difference: float
    standard_error: float
    n_documents: int

    @classmethod
    def of(cls, new: Sequence[Score | None], old: Sequence[Score | None]) -> Comparison | None:
        """Compare scores of the same documents; None if fewer than two have one."""
        pairs = [(a, b) for a, b in zip(new, old, strict=True) if a is not None and b is not None]
        if len(pairs) < 2:
            return None
        tokens = np.array([a.n_tokens for a, _ in pairs], float)
        mine = np.array([a.per_word * a.n_tokens for a, _ in pairs])
        theirs = np.array([b.per_word * b.n_tokens for _, b in pairs])
        total, n = tokens.sum(), len(pairs)
        difference = float((mine - theirs).sum() / total)
        rest = mine - theirs - difference * tokens
        error = math.sqrt(n / (n - 1) * float(rest @ rest)) / float(total)
        return cls(float(mine.sum() / total), float(theirs.sum() / total), difference, error, n)

    def is_as_good(self, tolerance: float = TOLERANCE) -> bool:
        """Whether the new model is not worse by more than can be tolerated or told from chance.

        That is difference >= -max(tolerance, 2 standard errors), over 20 documents at least.

        >>> Comparison(-6.015, -6.0, -0.015, 0.002, 500).is_as_good()
        False
        >>> Comparison(-6.015, -6.0, -0.015, 0.009, 500).is_as_good()
        True
        """
        enough = self.n_documents >= _LEAST
        return enough and self.difference >= -max(tolerance, 2 * self.standard_error)


@dataclass(frozen=True, slots=True)
class RetrainResult:
    """What became of a model that was learned afresh.

    Attributes:
        replaced: whether it has taken the place of the old one.
        reason: why, or why not.
        n_steps: steps that it took.
        comparison: with the old one; None if there were too few held-out documents, or it was
            stopped before.
        n_deleted: training documents that were deleted while it was learned, of which it may have
            a trace.
    """

    replaced: bool
    reason: str
    n_steps: int
    comparison: Comparison | None
    n_deleted: int


def retrain(
    store: Store,
    name: str = DEFAULT_NAME,
    *,
    force: bool = False,
    tolerance: float = TOLERANCE,
    passes: float | None = None,
    n_jobs: int | None = None,
    callback: Callable[[TrainingProgress], object] | None = None,
    stop: Callable[[], object] | None = None,
) -> RetrainResult:
    """Learn a model afresh from the documents in a store; replace the old one if it is as good.

    The new model has the settings of the old one and nothing else of it. It stays in memory until
    it replaces the old one in one transaction. If the process ends before that, nothing has
    changed, and the next call starts afresh. A trainer of the old model may run meanwhile: it takes
    up the new one at its next checkpoint. The topics of the new model are others, with ids that
    none had before, and without labels: the row of a topic does not say which of the old topics it
    is like.

    Parameters
    ----------
    store : Store
    name : str, default="model"
        Name of the model in the store.
    force : bool, default=False
        Replace the old model also if the new one is worse or cannot be compared.
    tolerance : float, default=0.01
        How much worse it may be, in nats per word of held-out documents. Differences of less than
        two standard errors are tolerated too.
    passes : float, default=None
        Looks at each document; None is as many as a run until it is idle makes, five.
    n_jobs : int, default=None
        Threads; None is all cores.
    callback : callable, default=None
        Called with the progress after each step; a true value stops, and nothing is replaced.
    stop : callable, default=None
        The same, asked also while a batch is waited for.

    Raises
    ------
    MissingModelError
        If there is no such model: a model that was never trained need not be retrained.
    LeaseHeldError
        If the model is being retrained already; the message says by whom.
    ValueError
        If there is nothing to learn from.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/topics.db"
    ...     with trustream.open_store(path, min_documents=1, held_out=0.3) as store:
    ...         _ = store.append(Record(str(i), ["cat", "dog", "cow"]) for i in range(200))
    ...         with trustream.StreamTrainer(store, n_components=2, batch_size=20) as trainer:
    ...             _ = trainer.run(until_idle=True)
    ...         _ = store.delete(["7"])
    ...         result = retrain(store)
    >>> result.replaced, result.n_deleted
    (True, 0)
    """
    if not (isinstance(tolerance, int | float) and 0 <= tolerance < math.inf):
        raise ValueError(f"tolerance is {tolerance!r}; give nats per word, 0 or more")
    if passes is not None and not (isinstance(passes, int | float) and 0 < passes < math.inf):
        raise ValueError(f"passes is {passes!r}; give a positive number")
    old = load_checkpoint(store, name)
    if old is None:
        raise MissingModelError(
            f"{store.name} has no trained model {name!r} to replace ({models_there(store)}); "
            "train it first"
        )
    why = nothing_to_learn(store)
    if why is not None:
        raise ValueError(f"{store.name} has nothing to learn a model from: {why}")
    before = store.totals()
    # By the recipe of today, as a model that is learned for the first time.
    model = stream_model.from_json(stream_model.to_json(old.model))
    del old
    try:
        trainer = StreamTrainer(store, model=model, name=name + RETRAINING, n_jobs=n_jobs)
    except LeaseHeldError as error:
        raise LeaseHeldError(
            f"the model {name!r} of {store.name} is being retrained already: {error.lease}",
            error.lease,
        ) from None
    with trainer:
        finished = _learn(trainer, passes or model.recipe.passes_if_idle, callback, stop)
        n_deleted = _deleted(store.totals()) - _deleted(before)
        if not finished:
            reason = "it was stopped before it had looked at all documents as often as it should"
            return RetrainResult(False, reason, trainer.n_steps, None, n_deleted)
        compared = _compare(store, name, trainer)
        reason, good = _verdict(compared, tolerance)
        if good or force:
            checkpoint = trainer.checkpoint()
            assert checkpoint is not None  # steps were taken
            trainer.held.replace(name, _renewed(checkpoint, load_checkpoint(store, name)))
        return RetrainResult(good or force, reason, trainer.n_steps, compared, n_deleted)


def _renewed(checkpoint: Checkpoint, old: Checkpoint | None) -> Checkpoint:
    """The new model, whose topics have ids that none of the old ones had."""
    n_topics = checkpoint.model.n_topics
    if old is None or n_topics is None:
        return checkpoint
    return replace(checkpoint, names=old.topic_names.renewed(n_topics))


def _learn(
    trainer: StreamTrainer,
    passes: float,
    callback: Callable[[TrainingProgress], object] | None,
    stop: Callable[[], object] | None,
) -> bool:
    """Look at each document so many times; whether it was done and not stopped."""
    for info in trainer.steps(stop=stop):
        if info is None:
            # Where each document is taken once, all were taken; elsewhere none are left.
            method = trainer.model.recipe.method
            return trainer.n_steps > 0 and algorithms.get(method).takes_each_once
        if callback is not None and callback(TrainingProgress.of(trainer, info)):
            return False
        if trainer.looks(info.totals) >= passes:
            return True
        if stop is not None and stop():
            return False
    return False


def _compare(store: Store, name: str, trainer: StreamTrainer) -> Comparison | None:
    """Compare with the old model as it was saved last, on held-out documents of the store now."""
    found = load_checkpoint(store, name)
    if found is None:
        return None
    old = Training.resumed(store, {}, trainer.n_threads, found)
    for attempt in range(_ATTEMPTS):
        documents = store.draw(_MOST, np.random.default_rng(attempt), held_out=True)
        scores = trainer.scores(documents), old.scores(documents)
        if scores[0] is not None and scores[1] is not None:
            return Comparison.of(scores[0], scores[1])
    return None


def _verdict(compared: Comparison | None, tolerance: float) -> tuple[str, bool]:
    """What to say of a comparison, and whether the new model is as good."""
    if compared is None or compared.n_documents < _LEAST:
        n = 0 if compared is None else compared.n_documents
        return f"{n} held-out documents could be compared, and it takes {_LEAST}", False
    good = compared.is_as_good(tolerance)
    return (
        f"it is {'as good' if good else 'worse'}: {compared.difference:+.4f} nats per word, "
        f"standard error {compared.standard_error:.4f}, on {compared.n_documents:,} held-out "
        "documents",
        good,
    )


def _deleted(totals: Totals) -> int:
    return totals.added - totals.training
