"""Words of texts, in which words that belong together become one as soon as this is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trustream.phrases import Phrases
from trustream.text import Tokeniser
from trustream.tokenisers import function_of
from trustream.topics.phrase_spool import PhraseSpool
from trustream.topics.vocabulary import Counted, GrowingWords
from trustream.topics.word_sources import WordFunction


@dataclass(frozen=True, eq=False)
class CountedPhrases(Counted):
    """What was found in some texts, with the pairs of words of all texts so far."""

    phrases: Phrases = field(default_factory=Phrases)


@dataclass(eq=False)
class PhraseWords(GrowingWords):
    """`GrowingWords` that finds phrases in the texts that it reads.

    Pairs of words are counted in all texts, and phrases that are found with those of a `read` are
    joined in these texts and in all that come later. A phrase stays one word from then on.

    Attributes:
        phrases: settings, and what was counted so far.

    Examples
    --------
    >>> from trustream.topics.vocabulary import WordRules
    >>> rules = WordRules(min_documents=2, max_fraction=1.0)
    >>> words = PhraseWords(WordFunction(Tokeniser()), rules, phrases=Phrases(min_count=3))
    >>> words.take(words.read([["new york", "a bank", "bank in new york"]]))
    >>> words.take(words.read([["new york", "new york"]]))
    >>> words.words, words.made_by.phrases
    (['bank', 'new', 'york', 'new_york'], ('new york',))
    """

    phrases: Phrases = field(default_factory=Phrases)

    def read(
        self,
        chunks: Iterable[Sequence[Any]],
        counted: Callable[[Any, int], Mapping[str, int]] | None = None,
    ) -> Counted:
        """Return counts of texts, and what was found with them; see `GrowingWords.read`."""
        before = self.source.specification()
        assert isinstance(before, Tokeniser) and counted is None
        spool = PhraseSpool(before, self.phrases, chunks)
        grown = None if spool.tokeniser is before else WordFunction(function_of(spool.tokeniser))
        found = replace(super().read(spool.chunks(), spool.counted), source=grown)
        return CountedPhrases(**vars(found), phrases=spool.phrases)

    def take(self, counted: Counted) -> None:
        """Take in what `read` has found; to do it again changes nothing."""
        super().take(counted)
        assert isinstance(counted, CountedPhrases)
        self.phrases = counted.phrases
