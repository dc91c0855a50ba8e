"""Articles of a MediaWiki dump as counts of words, for the experiments with text.

A dump of Wikipedia takes hours to read, so the counts are kept beside it in `NAME.counts.npz`,
which has the same parts as `wiki_en.npz`, and are read from there the next time.
"""

from __future__ import annotations

import json
import re
import sys
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from experiments import provenance
from experiments.files import write_atomically
from trustream.feeds import Item, Mark
from trustream.feeds.feed import open_feed
from trustream.text import Tokeniser

VOCABULARY = "wiki_vocabulary.txt"
# Parts of a dump say in their names which pages they have: `.xml-p1p41242.bz2`.
_NAME = re.compile(r"\.xml(-[^.]*)?(\.(bz2|gz|xz))?$")
# As many words as the paper's vocabulary has; the rarest are dropped when there are far too many.
N_WORDS = 7702
_MOST_WORDS = 5_000_000
_EVERY = 20.0


def find(data: Path) -> list[Path]:
    """The dumps in a directory, in order of their names."""
    files = (path for path in data.iterdir() if path.is_file()) if data.is_dir() else ()
    return sorted(path for path in files if _NAME.search(path.name))


def counts(paths: Sequence[Path], vocabulary: Path) -> tuple[sparse.csr_matrix, str, str]:
    """Articles x words in random order, the SHA-256 of all that was read, and a note.

    Args:
        paths: dumps, or the parts of one.
        vocabulary: a file with a word a line. If there is none, the words that are in most
            articles are taken, without stop words.
    """
    files = [*paths, vocabulary] if vocabulary.is_file() else [*paths]
    digest = provenance.sha256(files)
    kept = paths[0].with_name(paths[0].name + ".counts.npz")
    found = _read(kept, digest)
    if found is None:
        found = _count(paths, vocabulary)
        _keep(kept, digest, *found)
    return (found[0], digest, found[1])


def _count(paths: Sequence[Path], vocabulary: Path) -> tuple[sparse.csr_matrix, str]:
    if vocabulary.is_file():
        words = vocabulary.read_text(encoding="utf-8").split()
        note = f"The words are those of {vocabulary.name}."
        tokenise = Tokeniser(min_length=1, stop_words=())
    else:
        tokenise = Tokeniser()
        found = (item.record for item in _items(paths, tokenise))
        words = most_common(set(record.words) for record in found if record is not None)
        note = f"The words are the {len(words):,} that are in most articles."
    column = {word: number for number, word in enumerate(words)}
    indices, values, ends, n_bad = array("i"), array("i"), array("q", [0]), 0
    for item in _items(paths, tokenise):
        n_bad += item.problem is not None
        if item.record is None:
            continue
        article = Counter(column[word] for word in item.record.words if word in column)
        indices.extend(sorted(article))
        values.extend(article[number] for number in sorted(article))
        ends.append(len(indices))
    if n_bad:
        note += f" {n_bad:,} pages could not be read."
    parts = (np.asarray(values), np.asarray(indices), np.asarray(ends))
    matrix = sparse.csr_matrix(parts, shape=(len(ends) - 1, len(words)))
    # Dumps are ordered by age; what is held out must be like what is trained on.
    return matrix[np.random.default_rng(0).permutation(matrix.shape[0])], note


def most_common(articles: Iterable[Iterable[str]], n_words: int = N_WORDS) -> list[str]:
    """The words that are in most articles, each in two at least.

    >>> most_common([{"a", "b"}, {"b", "c"}, {"b", "c"}, {"d"}])
    ['b', 'c']
    """
    frequency: Counter[str] = Counter()
    for article in articles:
        frequency.update(article)
        if len(frequency) > _MOST_WORDS:
            frequency = Counter({word: n for word, n in frequency.items() if n > 1})
    order = sorted(frequency, key=lambda word: (-frequency[word], word))
    return [word for word in order[:n_words] if frequency[word] > 1]


def _items(paths: Sequence[Path], tokenise: Tokeniser) -> Iterator[Item]:
    """Pages of all dumps, saying now and then how far it is."""
    due, n_pages = time.monotonic() + _EVERY, 0
    for path in paths:
        feed = open_feed(path, format="mediawiki", tokenise=tokenise)
        for item in feed.items(Mark()):
            n_pages += 1
            if time.monotonic() > due:
                due += _EVERY
                done, size = feed.source.progress(item.mark.offset)
                share = f"{100 * done / size:.0f} % read" if size else ""
                print(f"{path.name}: {n_pages:,} pages, {share}", file=sys.stderr, flush=True)
            yield item


def _read(path: Path, digest: str) -> tuple[sparse.csr_matrix, str] | None:
    """Counts that were kept; None if there are none, or of other files."""
    if not path.is_file():
        return None
    with np.load(path) as parts:
        about = json.loads(str(parts["about"]))
        if about["sha256"] != digest:
            return None
        arrays = (parts["data"], parts["indices"], parts["indptr"])
        return sparse.csr_matrix(arrays, shape=tuple(parts["shape"])), about["note"]


def _keep(path: Path, digest: str, matrix: sparse.csr_matrix, note: str) -> None:
    """Where nothing can be written, the dump is read again the next time."""

    def write(place: Path) -> None:
        np.savez(
            place,
            data=matrix.data,
            indices=matrix.indices,
            indptr=matrix.indptr,
            shape=np.array(matrix.shape),
            about=np.array(json.dumps({"sha256": digest, "note": note})),
        )

    try:
        write_atomically(path, write)
    except OSError as error:
        print(f"counts are not kept: {error}", file=sys.stderr)
