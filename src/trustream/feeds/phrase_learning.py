"""Find the phrases of files before a store is made of them.

A store keeps how often each word is in a document, and not which word stands beside which. So
phrases are found in the files, and the tokeniser of the store makes one word of each from the first
document on.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from trustream.feeds.errors import FeedError
from trustream.feeds.feed import read_documents
from trustream.phrases import Phrases
from trustream.text import Tokeniser


def learn_phrases(
    sources: Iterable[str | Path | IO[bytes]],
    *,
    tokeniser: Tokeniser | None = None,
    phrases: Phrases | None = None,
    format: str | None = None,
    **options: Any,
) -> Phrases:
    """Count words that stand next to one another in the texts of files, in one pass.

    Args:
        sources: paths, `-` for standard input, or binary streams, as `read_documents` takes them.
        tokeniser: makes words of texts; None is `Tokeniser()`.
        phrases: what was counted before, which stays as it is, with the settings; None begins.
        format: of all files; by their suffixes if None.
        options: how documents are read, see `Options`.

    Raises:
        FeedError: a file cannot be read, or has no texts but words.

    >>> import io
    >>> lines = io.BytesIO(b"A bank in New York\\nRates in New York\\n" * 10)
    >>> [phrase.text for phrase in learn_phrases([lines], format="text").found()]
    ['new york']
    """
    if isinstance(sources, str | Path):
        raise ValueError(f"sources is {str(sources)!r:.60}, expected a list of files")
    counting = _Counting(tokeniser or Tokeniser(), Phrases() if phrases is None else phrases.copy())
    reading: dict[str, Any] = {"require_id": False, **options, "tokenise": counting}
    for source in sources:
        n_texts, n_documents = counting.n_texts, 0
        for _ in read_documents(source, format=format, **reading):
            n_documents += 1
        if n_documents and counting.n_texts == n_texts:
            raise FeedError(
                f"{getattr(source, 'name', source)} has words or counts and no texts: phrases are "
                "found in texts"
            )
    return counting.phrases


class _Counting:
    """Gives each text to phrases on its way; the words of a document are not needed."""

    def __init__(self, tokeniser: Tokeniser, phrases: Phrases) -> None:
        self.tokeniser, self.phrases = tokeniser, phrases
        self.n_texts = 0

    def __call__(self, text: str) -> list[str]:
        self.n_texts += 1
        self.phrases.update(self.tokeniser.stretches(text))
        return []
