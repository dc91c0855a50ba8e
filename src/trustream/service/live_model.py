"""The model that a service shows, with its topics: the one that was published last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trustream.service.published_model import Published, versions
from trustream.store.protocol import Store
from trustream.terminal import shown
from trustream.text import tokenise as usual
from trustream.tokenisers import function_of

# What computes with topics is loaded with the first model.
if TYPE_CHECKING:
    from trustream.topics.topic_set import TopicSet


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A published model.

    Attributes:
        published: what is known of it without its topics.
        topics: its topics with ids, labels and words.
        tokenise: makes words of texts as the store does; None if that cannot be done here.
    """

    published: Published
    topics: TopicSet
    tokenise: Callable[[str], Sequence[str]] | None

    @property
    def version(self) -> int:
        """See `Published`."""
        return self.published.version

    def label(self, topic: int) -> str:
        """The label of a topic, as it may be shown."""
        found = self._labels.get(topic)
        if found is None:
            from trustream.topics.characteristic_words import label

            found = self._labels[topic] = shown(label(self.topics, self.topics.row(topic)))
        return found

    @cached_property
    def _labels(self) -> dict[int, str]:
        return {}

    @cached_property
    def columns(self) -> dict[str, int]:
        """Columns of words."""
        return {word: column for column, word in enumerate(self.topics.words) if word}


def load_live(store: Store, name: str) -> LiveModel | None:
    """The model of a store as it was saved last; None if there is none yet."""
    from trustream.streaming.published import as_estimator, load_checkpoint
    from trustream.streaming.topic_labels import load_names
    from trustream.topics.topic_set import as_topics

    found = versions(store, name)
    checkpoint = load_checkpoint(store, name)
    if found is None or checkpoint is None:
        return None
    estimator, kept = as_estimator(checkpoint), store.tokeniser()
    if not hasattr(estimator, "topic_names_"):
        raise ValueError(f"the model {name!r} of {store.name} has no topics")
    names = load_names(store, checkpoint, name)
    tokenise: Callable[[str], Sequence[str]] | None = None
    with suppress(ValueError, ImportError):
        function = usual if kept is None else function_of(kept)
        function("")
        tokenise = function
    topics = as_topics(estimator, names=names)
    score, best = checkpoint.last_score, checkpoint.best_score
    published = Published(name, found, topics.n_topics, checkpoint.state.n_steps, score, best)
    return LiveModel(published, topics, tokenise)
