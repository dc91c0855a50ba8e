"""Let a fitted estimator go on learning with words that it did not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trustream.inference.restoring import Restorable
from trustream.streaming.lda.model import TopicStream


def partial_fit(lda: Any, counts: Any, new: Sequence[str], seed: int) -> None:
    """Take a step on counts whose last columns are words that are new.

    Each new word starts as in a stream (`streaming.lda.words`): near one in all topics, a little
    more in some than in others, by a generator that is keyed by the word. An error, or an
    interrupt, leaves the estimator as it was, or with the whole step.

    Args:
        lda: a fitted LatentDirichletAllocation.
        counts: (documents, words).
        new: the words of the last columns.
        seed: of the words' starts.
    """
    if not new:
        lda.partial_fit(counts)
        return
    draft, n_old = lda._draft(), lda.n_features_in_
    stream = TopicStream(n_components=lda.n_components, random_state=seed, seed_words=lda._seeds)
    changes = list(enumerate(new, start=n_old))
    wider = Restorable(stream.follow(lda._state, changes))
    # The step may overwrite old rows, whose memory both have: asking for the wider state puts them
    # back.
    lda._kept.protect(lambda: wider.restored())
    draft._kept, draft.n_features_in_ = wider, n_old + len(new)
    # They are of other columns; who counted knows the words.
    draft._forget_words()
    lda._step_as(draft, counts)
