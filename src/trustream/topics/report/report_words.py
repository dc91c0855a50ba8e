"""The words that a report needs so that a browser can sort them by relevance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trustream.terminal import shown
from trustream.topics import characteristic_words
from trustream.topics.topic_set import TopicSet


class ReportWords:
    """Words by number, each once, with what the relevance of words is computed from.

    The relevance of a word in a topic needs its probability there and in all topics together
    (`trustream.topics.characteristic_words`). Of each topic only those words are kept that are
    among the most relevant ones for some position of the slider.

    Parameters
    ----------
    topics : TopicSet
    n_words : int
        Words that are shown of a topic.
    relevances : sequence of float
        Positions of the slider.

    Examples
    --------
    >>> topics = TopicSet.of([[4.0, 5.0, 1.0], [1.0, 5.0, 4.0]], 0.1, ["cat", "the", "bank"])
    >>> words = ReportWords(topics, 1, [0.0, 1.0])
    >>> words.of_topic(0)
    {'words': [0, 1], 'probabilities': [0.4, 0.5]}
    >>> words.number("bank"), words.data()
    (2, {'words': ['cat', 'the', 'bank'], 'frequencies': [0.25, 0.5, None]})
    """

    def __init__(self, topics: TopicSet, n_words: int, relevances: Sequence[float]) -> None:
        self.topics, self.n_words, self.relevances = topics, n_words, relevances
        self.frequencies = characteristic_words.word_frequencies(topics)
        # Texts with their frequencies; numbers by column of the model, and by word.
        self._entries: list[tuple[str, float | None]] = []
        self._of_column: dict[int, int] = {}
        self._of_word: dict[str, int] = {}

    def of_topic(self, row: int) -> dict[str, Any]:
        """Return the words of a topic as numbers, in the order of columns, and probabilities."""
        found = characteristic_words.relevant_columns(
            self.topics, row, self.n_words, self.relevances
        )
        beta = self.topics.probabilities(row)
        return {
            "words": [self._number_of(column) for column in found],
            "probabilities": [_rounded(beta[column]) for column in found],
        }

    def number(self, word: str) -> int:
        """Return the number of a word that came from elsewhere."""
        if word not in self._of_word:
            self._of_word[word] = len(self._entries)
            self._entries.append((shown(word), None))
        return self._of_word[word]

    def data(self) -> dict[str, Any]:
        """Return all words that were asked for, and their frequencies."""
        return {
            "words": [word for word, _ in self._entries],
            "frequencies": [frequency for _, frequency in self._entries],
        }

    def _number_of(self, column: int) -> int:
        if column not in self._of_column:
            number = self._of_column[column] = len(self._entries)
            word = self.topics.words[column]
            self._of_word.setdefault(word, number)
            self._entries.append((shown(word), _rounded(self.frequencies[column])))
        return self._of_column[column]


def _rounded(value: float) -> float:
    """Nine digits: more than a picture shows, and enough to sort by."""
    return float(f"{float(value):.9g}")
