"""Topics that are begun by words: `seed_words`, checked, and as weights of columns."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from trustream._schema import Rule, check_values
from trustream.array_types import Float64
from trustream.models.lda.seeds import SeedRows, seed_rows

# Of `seed_strength`, a. At the start words are spread evenly, and a seeded topic has 1 + a K times
# the share of a seed word that any other has, so that one half is a clear lead for few topics and
# for many. At the end a word that is wholly the topic's own is 1 + a times as likely in it as
# documents say, which is little.
STRENGTH = 0.5
# With more, lambda would soon not be finite.
_STRONGEST = 1e30
# Longest name of a seed: it becomes a label.
_LONGEST = 200
# Words that a message lists.
_LISTED = 10


@dataclass(frozen=True)
class SeedTopics:
    """Words by which topics begin.

    Attributes:
        rows: the topic that each seed is for.
        names: of the seeds, which become labels.
        words: of each seed.
        weight: a, tokens that a token of a seed word counts more in its topic.
    """

    rows: tuple[int, ...]
    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    weight: float

    @classmethod
    def of(cls, seed_words: Any, strength: Any, n_topics: int) -> SeedTopics:
        """From a mapping of names to words; the first seed is for topic 0, and so on.

        Raises:
            ValueError: it is something else, there are more seeds than topics, or the strength
                is no positive number.

        >>> SeedTopics.of({"sports": ["team", "game"]}, 0.5, 20).words
        (('team', 'game'),)
        """
        if not isinstance(seed_words, Mapping):
            raise ValueError(
                f"seed_words is of type {type(seed_words).__name__}, expected a dictionary of "
                'names and words, such as {"sports": ["team", "game"]}'
            )
        if not seed_words:
            raise ValueError("seed_words is empty: give a seed, or None")
        if len(seed_words) > n_topics:
            raise ValueError(
                f"seed_words has {len(seed_words)} seeds for {n_topics} topics: give at least as "
                "many topics as seeds"
            )
        number = isinstance(strength, Real) and not isinstance(strength, bool)
        if not number or not 0 < float(strength) <= _STRONGEST:
            raise ValueError(
                f"seed_strength is {strength!r}, expected a number above 0, up to {_STRONGEST:g}"
            )
        words = tuple(_checked(name, given) for name, given in seed_words.items())
        names = tuple(str(name) for name in seed_words)
        return cls(tuple(range(len(names))), names, words, float(strength))

    def weights(self, word: str | None, n_topics: int) -> Float64 | None:
        """a_vk of a word, (K,); None if it is in no seed."""
        found = None
        for row, words in zip(self.rows, self.words, strict=True):
            if word in words:
                found = np.zeros(n_topics) if found is None else found
                found[row] += self.weight
        return found

    def weights_of(
        self, words: Iterable[tuple[int, str | None]], n_topics: int
    ) -> dict[int, Float64]:
        """Weights (K,) by column, of those columns whose word is in a seed."""
        found = ((column, self.weights(word, n_topics)) for column, word in words)
        return {column: weights for column, weights in found if weights is not None}

    def of_columns(self, words: Sequence[str | None], n_topics: int) -> SeedRows | None:
        """Weights for words by column."""
        return seed_rows(self.weights_of(enumerate(words), n_topics))

    def labels(self, seeds: SeedRows | None, tokens: Float64) -> dict[int, str]:
        """Names by topic, of topics that have more tokens of their seed words than any other.

        A seed whose words come late may find its topic taken by something else.

        Args:
            seeds: weights of the seed words among the columns.
            tokens: (S, K) their tokens in lambda, the extra ones included.
        """
        found: dict[int, str] = {}
        if seeds is None:
            return found
        own = tokens.sum(axis=1, keepdims=True) / (1 + seeds.weights.sum(axis=1, keepdims=True))
        own = tokens - seeds.weights * own
        for row, name in zip(self.rows, self.names, strict=True):
            sums = own[seeds.weights[:, row] > 0].sum(axis=0)
            if sums[row] > 0 and sums[row] >= sums.max():
                found.setdefault(row, name)
        return found

    def not_among(self, is_known: Callable[[str], bool]) -> list[str]:
        """Seed words that are not known."""
        return [word for words in self.words for word in words if not is_known(word)]

    def check_known(self, words: Sequence[str]) -> None:
        """Warn of words that no column has.

        Raises:
            ValueError: no word of a seed is known, so that its topic would be any.
        """
        known = set(words)
        for name, own in zip(self.names, self.words, strict=True):
            if known.isdisjoint(own):
                raise ValueError(
                    f"none of the words of the seed {name!r:.60} is in the vocabulary "
                    f"({listed(own)}): give words that the documents have, as they are counted"
                )
        unknown = self.not_among(known.__contains__)
        if unknown:
            verb = "is" if len(unknown) == 1 else "are"
            warnings.warn(
                f"{listed(unknown)} of seed_words {verb} not in the vocabulary and left out",
                UserWarning,
                stacklevel=2,
            )

    def edited(self, groups: Sequence[Sequence[int]], split: Iterable[int]) -> SeedTopics | None:
        """For topics that are each the sum of some old ones, by row; what is split has no seed.

        >>> seeds = SeedTopics.of({"sports": ["game"], "money": ["bank"]}, 0.5, 3)
        >>> seeds.edited([(0,), (2, 1)], []).rows
        (0, 1)
        """
        places = {old: new for new, rows in enumerate(groups) for old in rows}
        gone = {old for new in split for old in groups[new]}
        kept = [i for i, row in enumerate(self.rows) if row in places and row not in gone]
        # The first of those that were merged is the one whose label stays.
        kept.sort(key=lambda i: list(groups[places[self.rows[i]]]).index(self.rows[i]))
        if not kept:
            return None
        return replace(
            self,
            rows=tuple(places[self.rows[i]] for i in kept),
            names=tuple(self.names[i] for i in kept),
            words=tuple(self.words[i] for i in kept),
        )

    # --- files

    def to_json(self) -> dict[str, Any]:
        """As values that JSON has."""
        seeds = zip(self.rows, self.names, self.words, strict=True)
        parts = [{"topic": row, "name": name, "words": [*words]} for row, name, words in seeds]
        return {"weight": self.weight, "seeds": parts}

    @classmethod
    def from_json(cls, values: Any, n_topics: int) -> SeedTopics:
        """What `to_json` gave; a ValueError says what is wrong with it."""
        check_values(values, _JSON, "the seeds")
        for part in values["seeds"]:
            check_values(part, _SEED, "a seed")
            if not 0 <= part["topic"] < n_topics:
                raise ValueError(f"a seed is for topic {part['topic']} of {n_topics}")
        parts = values["seeds"]
        words = tuple(_checked(part["name"], part["words"]) for part in parts)
        rows, names = tuple(p["topic"] for p in parts), tuple(p["name"] for p in parts)
        return cls(rows, names, words, values["weight"])


_JSON = {
    "weight": Rule(lambda v: type(v) is float and 0 < v < math.inf, "a number above 0"),
    "seeds": Rule(lambda v: isinstance(v, list) and len(v) > 0, "a list"),
}
_SEED = {
    "topic": Rule(lambda v: type(v) is int, "an integer"),
    "name": Rule(lambda v: isinstance(v, str), "text"),
    "words": Rule(lambda v: isinstance(v, list), "a list"),
}


def _checked(name: Any, words: Any) -> tuple[str, ...]:
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST:
        raise ValueError(
            f"a seed of seed_words is called {name!r:.60}, expected a text of up to {_LONGEST} "
            "characters"
        )
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise ValueError(
            f"the words of the seed {name!r} are {words!r:.60}, expected a list of words"
        )
    found = list(words)
    if not found:
        raise ValueError(f"the seed {name!r} has no words: give one or more")
    for word in found:
        if not isinstance(word, str) or not word:
            raise ValueError(f"the seed {name!r} has the word {word!r:.60}, expected a text")
    return tuple(dict.fromkeys(map(str, found)))


def listed(words: Sequence[str]) -> str:
    """Some words for a message.

    >>> listed(["cat", "dog"])
    "'cat', 'dog'"
    """
    shown = ", ".join(f"{word!r:.60}" for word in words[:_LISTED])
    return shown + (f" and {len(words) - _LISTED} more" if len(words) > _LISTED else "")
