"""Find topics as people name them: by id or by label."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from trustream.topic_names import UnknownTopicError, listed
from trustream.topics.characteristic_words import label, top_words
from trustream.topics.topic_set import TopicSet

# Topics that an error suggests, at most, and the words of a topic among which a name is looked for.
_SUGGESTED, _WORDS = 5, 20


def find_topics(topics: TopicSet, wanted: Iterable[Any]) -> list[int]:
    """Return the ids of topics that are given by id or by label.

    Parameters
    ----------
    topics : TopicSet
    wanted : iterable of int or str
        A whole number, also as a text, is an id. Another text is the label of a topic, in capitals
        or not, and with or without blanks around it; a number that is no id may be a label too.

    Raises
    ------
    UnknownTopicError
        If there is no such topic; the message names topics with a similar label or with such a
        word. Or if several topics have the label.

    Examples
    --------
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"])
    >>> topics = topics.with_names(topics.names.with_labels({1: "Money"}))
    >>> find_topics(topics, ["0", "money", 1])
    [0, 1, 1]
    >>> find_topics(topics, ["mony"])
    Traceback (most recent call last):
    ...
    trustream.topic_names.UnknownTopicError: there is no topic 'mony': near is 1 (Money); \
topics are 0 and 1
    """
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable):
        raise ValueError(f"topics are {wanted!r}, expected a list of ids or labels of topics")
    return [find_topic(topics, topic) for topic in wanted]


def find_topic(topics: TopicSet, wanted: Any) -> int:
    """Return the id of a topic that is given by id or by label; see `find_topics`."""
    names = topics.names
    if not isinstance(wanted, str):
        return names.ids[names.row(wanted)]
    text = wanted.strip()
    if text.isascii() and text.isdigit() and int(text[:18]) in names.ids:
        return int(text)
    for form in (str, str.casefold):
        found = [topic for topic, given in names.labels.items() if form(given) == form(text)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownTopicError(
                f"the label {text!r} is that of topics {listed(found)}: give the id"
            )
    near = _near(topics, text)
    suggestion = f"near {'is' if len(near) == 1 else 'are'} {', '.join(near)}; " if near else ""
    raise UnknownTopicError(
        f"there is no topic {text!r:.120}: {suggestion}topics are {listed(names.ids)}"
    )


def _near(topics: TopicSet, text: str) -> list[str]:
    """Topics with a similar label, then those with the text among their words."""
    names, low = topics.names, text.casefold()
    labels = {given.casefold(): topic for topic, given in names.labels.items()}
    found = [labels[given] for given in difflib.get_close_matches(low, labels, _SUGGESTED, 0.5)]
    found += [topic for given, topic in labels.items() if low and low in given]
    for row, topic in enumerate(names.ids):
        words = [entry.word.casefold() for entry in top_words(topics, row, _WORDS)]
        if low in words:
            found.append(topic)
    unique = list(dict.fromkeys(found))[:_SUGGESTED]
    return [f"{topic} ({label(topics, topics.row(topic))})" for topic in unique]
