"""Keep track of topics by ids that stay, and give them labels.

The row of a topic in `components_` changes when other topics are merged or deleted. Its id does
not, and the id of a topic that is gone is never given to another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Integral
from typing import Any

# Longest label, in characters.
LONGEST_LABEL = 200


class UnknownTopicError(ValueError):
    """There is no topic of that id."""


@dataclass(frozen=True)
class TopicNames:
    """The ids of topics by row, and the labels that people gave them.

    Attributes:
        ids: id of each topic, in the order of rows.
        labels: labels by id, of the topics that have one.
        next_id: the id that the next new topic gets.

    Examples
    --------
    >>> names = TopicNames.of(4).with_labels({2: "sports"})
    >>> names = names.without([1])
    >>> names.ids, names.row(2), names.labels
    ((0, 2, 3), 1, {2: 'sports'})
    >>> names = names.restarted([2])
    >>> names.ids, names.labels
    ((0, 4, 3), {})
    >>> names.row(2)
    Traceback (most recent call last):
    ...
    trustream.topic_names.UnknownTopicError: there is no topic 2: topics are 0, 3 and 4
    """

    ids: tuple[int, ...]
    labels: Mapping[int, str] = field(default_factory=dict)
    next_id: int = 0

    def __post_init__(self) -> None:
        if len(set(self.ids)) != len(self.ids) or not all(_is_id(topic) for topic in self.ids):
            raise ValueError(f"ids are {list(self.ids)}, expected different whole numbers from 0")
        object.__setattr__(self, "next_id", max([self.next_id, *(i + 1 for i in self.ids)]))
        # Checked like those that come later, and a copy, which nobody else changes.
        object.__setattr__(self, "labels", self._with({}, self.labels))

    @classmethod
    def of(cls, n_topics: int) -> TopicNames:
        """Return names for new topics, whose ids are their rows."""
        return cls(tuple(range(n_topics)))

    def checked(self, n_topics: int) -> TopicNames:
        """Return these names, which must be of so many topics."""
        if len(self.ids) != n_topics:
            raise ValueError(f"names are of {len(self.ids)} topics, there are {n_topics}")
        return self

    def row(self, topic: Any) -> int:
        """Return the row of the topic with this id.

        Raises
        ------
        UnknownTopicError
            There is none.
        """
        if not _is_id(topic) or int(topic) not in self.ids:
            raise UnknownTopicError(f"there is no topic {topic!r}: topics are {listed(self.ids)}")
        return self.ids.index(int(topic))

    def rows(self, topics: Iterable[Any], least: int = 1) -> list[int]:
        """Return the rows of different topics, at least so many."""
        if isinstance(topics, str | bytes) or not isinstance(topics, Iterable):
            raise ValueError(f"topics are {topics!r}, expected a list of ids of topics")
        given = list(topics)
        rows = [self.row(topic) for topic in given]
        if len(set(rows)) < len(rows):
            raise ValueError(f"topics are {given}, but no topic may be there twice")
        if len(rows) < least:
            raise ValueError(f"topics are {given}, expected at least {least}")
        return rows

    # --- changes

    def with_labels(self, labels: Mapping[Any, str | None]) -> TopicNames:
        """Return names with these labels by id, beside those there are; None takes one away."""
        return replace(self, labels=self._with(self.labels, labels))

    def without(self, topics: Iterable[Any]) -> TopicNames:
        """Return the names that are left when topics are deleted."""
        rows = self.rows(topics)
        return self._of_ids([topic for row, topic in enumerate(self.ids) if row not in rows])

    def merged(self, topics: Iterable[Any]) -> TopicNames:
        """Return the names when topics become one, which keeps id, label and place of the first."""
        others = self.rows(topics, 2)[1:]
        return self._of_ids([topic for row, topic in enumerate(self.ids) if row not in others])

    def split(self, topic: Any) -> TopicNames:
        """Return the names when two new topics take the place of one, the second at the end.

        Both have new ids and no label.
        """
        ids = list(self.ids)
        ids[self.row(topic)] = self.next_id
        return self._of_ids([*ids, self.next_id + 1])

    def restarted(self, topics: Iterable[Any]) -> TopicNames:
        """Return the names when topics begin afresh in the same rows: new ids, no labels."""
        ids = list(self.ids)
        for new, row in enumerate(self.rows(topics), start=self.next_id):
            ids[row] = new
        return self._of_ids(ids)

    def renewed(self, n_topics: int) -> TopicNames:
        """Return names for other topics that take the place of all of these: new ids, no labels.

        >>> TopicNames.of(3).with_labels({1: "sports"}).renewed(2).ids
        (3, 4)
        """
        return TopicNames(tuple(range(self.next_id, self.next_id + n_topics)))

    def _of_ids(self, ids: list[int]) -> TopicNames:
        labels = {topic: label for topic, label in self.labels.items() if topic in ids}
        return TopicNames(tuple(ids), labels, self.next_id)

    def _with(self, old: Mapping[int, str], new: Mapping[Any, str | None]) -> dict[int, str]:
        if not isinstance(new, Mapping):
            raise ValueError(f'labels are {new!r}, expected a mapping such as {{3: "sports"}}')
        labels = dict(old)
        for topic, label in new.items():
            self.row(topic)
            if label is None:
                labels.pop(int(topic), None)
                continue
            if not isinstance(label, str) or not label.strip():
                raise ValueError(
                    f"the label of topic {topic} is {label!r}, expected a text; None takes the "
                    "label away"
                )
            if not label.isprintable() and any("\ud800" <= c <= "\udfff" for c in label):
                raise ValueError(
                    f"the label of topic {topic} has a character that is no Unicode: {label!r:.60}"
                )
            if len(label) > LONGEST_LABEL:
                raise ValueError(
                    f"the label of topic {topic} has {len(label)} characters, at most "
                    f"{LONGEST_LABEL} are kept: shorten it"
                )
            labels[int(topic)] = label.strip()
        return labels

    # --- as data

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        labels = {str(topic): label for topic, label in self.labels.items()}
        return {"ids": list(self.ids), "labels": labels, "next_id": self.next_id}

    @classmethod
    def from_json(cls, values: Any) -> TopicNames:
        """Return what `to_json` took apart.

        >>> names = TopicNames.of(2).with_labels({1: "sports"}).restarted([0])
        >>> TopicNames.from_json(names.to_json()) == names
        True
        """
        try:
            ids, labels, next_id = values["ids"], values["labels"], values["next_id"]
            by_id = {int(topic): label for topic, label in labels.items()}
            return cls(tuple(ids), by_id, int(next_id))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"these are no names of topics: {error!r}") from error


def listed(ids: Iterable[int]) -> str:
    """Return ids as a short text, with ranges.

    >>> listed(range(10)), listed([0, 1, 5, 7, 8, 9]), listed([4])
    ('0 to 9', '0, 1, 5 and 7 to 9', '4')
    """
    found = sorted(ids)
    if not found:
        return "none"
    starts = [found[0], *(b for a, b in pairwise(found) if b != a + 1)]
    ends = [*(a for a, b in pairwise(found) if b != a + 1), found[-1]]
    parts: list[str] = []
    for first, last in zip(starts, ends, strict=True):
        if last > first + 1:
            parts.append(f"{first} to {last}")
        else:
            parts += [str(topic) for topic in range(first, last + 1)]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _is_id(topic: Any) -> bool:
    return isinstance(topic, Integral) and not isinstance(topic, bool) and int(topic) >= 0
