"""Find phrases in the documents that have come to a store, and join them there.

A store that is made with `keep_order` keeps in which order the words of its texts stood, in the
transaction that adds a document, and lets it go with the document. So the counts of pairs are at
any time those of the documents that are there: each counted once, whoever was killed, and nothing
of one that was deleted. They are taken in one pass, in bounded memory (`phrases.Phrases`). Counts
that are kept by themselves, in the place of the order, could not be rid of what a document has
brought that is deleted: nobody would know what that was.

Phrases are not joined by themselves while documents come in. What joins them changes the words of
all texts, and so what models know: documents and tokeniser have to change together, and somebody
should look at the list. `adopt_phrases` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from trustream.feeds.errors import FeedError
from trustream.phrase_joining import PhraseJoiner
from trustream.phrases import Phrase, Phrases
from trustream.store.limits import MAX_CHARACTERS
from trustream.store.protocol import Store
from trustream.text import Tokeniser
from trustream.tokenisers import Specification, described
from trustream.word_order import OrderedTokeniser, phrase_mark

# Documents that are read, or joined in one transaction.
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class AdoptedPhrases:
    """Phrases that a store joins from now on.

    Attributes:
        phrases: those that are new, the highest scores first.
        n_phrases: phrases of its tokeniser, earlier ones included.
        n_joined: documents whose words were made anew, by these phrases and earlier ones.
        n_without_order: documents that keep the words that they have, since they came as words.
    """

    phrases: tuple[Phrase, ...]
    n_phrases: int
    n_joined: int
    n_without_order: int


@dataclass(frozen=True, slots=True)
class PhraseState:
    """How far the documents of a store agree with the phrases of its tokeniser.

    Attributes:
        n_phrases: phrases of its tokeniser.
        n_ordered: documents of which the order of words is kept.
        n_left: those of them that were joined by other phrases; `adopt_phrases` joins them.
        n_without_order: documents that came as words.
    """

    n_phrases: int
    n_ordered: int
    n_left: int
    n_without_order: int


def phrase_state(store: Store) -> PhraseState | None:
    """Return how far the documents of a store are joined; None if it does not keep the order.

    >>> import tempfile
    >>> from trustream.store import open_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(f"{folder}/topics.db", keep_order=True) as store:
    ...         phrase_state(store)
    PhraseState(n_phrases=0, n_ordered=0, n_left=0, n_without_order=0)
    """
    if not store.settings.keep_order:
        return None
    phrases = getattr(store.tokeniser(), "phrases", ())
    n_ordered, n_joined = store.count_orders(phrase_mark(phrases))
    n_without = max(0, store.totals().documents - n_ordered)
    return PhraseState(len(phrases), n_ordered, n_ordered - n_joined, n_without)


def stored_phrases(store: Store, phrases: Phrases | None = None) -> Phrases:
    """Count words that stand next to one another in the documents of a store, in one pass.

    Words that the store joins already are one: phrases of phrases are found, such as "new york
    times".

    Args:
        store: made with `keep_order`.
        phrases: the settings, and what was counted elsewhere, which stays as it is; None are the
            usual ones.

    Raises:
        FeedError: the store does not keep the order of words, or has words by a function.

    >>> import io, tempfile
    >>> from trustream.feeds import ingest
    >>> from trustream.store import open_store
    >>> lines = io.BytesIO(b"A bank in New York\\nRates in New York\\n" * 10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_store(f"{folder}/topics.db", keep_order=True, min_documents=1) as store:
    ...         _ = ingest(store, lines, format="text")
    ...         print([phrase.text for phrase in stored_phrases(store).found()])
    ...         _ = adopt_phrases(store, stored_phrases(store).found())
    ...         print(sorted(filter(None, store.vocabulary().words)))
    ['new york']
    ['bank', 'new_york', 'rates']
    """
    counted = Phrases() if phrases is None else phrases.copy()
    join = OrderedTokeniser(_rules_of(store, store.tokeniser()), MAX_CHARACTERS).join
    last = -1
    while True:
        orders, last = store.word_orders(last, _AT_ONCE)
        if not orders:
            return counted
        counted.update(join(words) for order in orders for words in order.stretches)


def adopt_phrases(
    store: Store,
    phrases: Iterable[Phrase],
    *,
    progress: Callable[[int], None] | None = None,
) -> AdoptedPhrases:
    """Make one word of each phrase, in the documents of a store and in texts that come later.

    The tokeniser of the store gets the phrases first, so that all texts are split by them from then
    on, those that a model is asked about too; then the words of documents are made anew, a thousand
    documents in a transaction, with the times, numbers and texts that they have. If this is stopped
    half-way, call it again, with any phrases or none: it goes on with what is left. Documents that
    came as words, without an order, keep them. Words such as new_york are new to models: they
    learn them as they learn any new word, in the next steps of a trainer.

    Args:
        store: made with `keep_order`.
        phrases: those that `stored_phrases(store).found()` returns, or some of them.
        progress: called with the number of documents that are joined so far.

    Raises:
        FeedError: the store does not keep the order of words, or somebody else has changed its
            tokeniser meanwhile.
    """
    kept = store.tokeniser()
    before = _rules_of(store, kept)
    new = tuple(_possible(phrases, before))
    now = before.with_phrases(phrase.text for phrase in new)
    if store.set_tokeniser(now, before=kept) != now:
        raise FeedError(
            f"somebody else has changed the tokeniser of {store.name}; look for phrases again"
        )
    ordered, n_joined = OrderedTokeniser(now, MAX_CHARACTERS), 0
    while n := store.rejoin(ordered.join, ordered.mark, _AT_ONCE):
        n_joined += n
        if progress is not None:
            progress(n_joined)
    n_ordered, _ = store.count_orders(ordered.mark)
    n_without = max(0, store.totals().documents - n_ordered)
    return AdoptedPhrases(new, len(now.phrases), n_joined, n_without)


def _rules_of(store: Store, kept: Specification | None) -> Tokeniser:
    """What splits the texts of a store into words, by rules."""
    if not store.settings.keep_order:
        raise FeedError(
            f"{store.name} keeps how often words are in documents, and not which stands beside "
            "which: find phrases in files, by `trustream phrases FILE`, or make a "
            "store with keep_order=True (`trustream init --keep-order`)"
        )
    kept = kept or Tokeniser()
    if not isinstance(kept, Tokeniser):
        raise FeedError(
            f"{store.name} has {described(kept)}: phrases are joined in words by rules; set them "
            "by `trustream tokeniser`"
        )
    return kept


def _possible(phrases: Iterable[Phrase], tokeniser: Tokeniser) -> Iterator[Phrase]:
    """Phrases that a tokeniser can join to one word; other tokenisers may have made their words."""
    joined = {PhraseJoiner.joined(phrase) for phrase in tokeniser.phrases}
    for phrase in phrases:
        words = phrase.text.split(" ")
        if len(phrase.text) <= MAX_CHARACTERS and all(
            word in joined or tokeniser.is_word(word) for word in words
        ):
            yield phrase
