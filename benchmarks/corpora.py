"""Real corpora for the benchmarks, from a directory that the user names."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

_WORD = re.compile(r"[^\W\d_]{3,}")


def wiki(data: Path, name: str) -> sp.csr_matrix:
    """`wiki_en` or `wiki_simple`: articles x words, shuffled."""
    parts = np.load(data / f"{name}.npz")
    return sp.csr_matrix(
        (parts["data"], parts["indices"].astype(np.int32), parts["indptr"]),
        shape=tuple(parts["shape"]),
    )


def newsgroups(data: Path, max_words: int = 10_000) -> sp.csr_matrix:
    """20 Newsgroups: bodies of messages x words in 5 to 30 % of them, in random order."""
    documents = []
    with lzma.open(data / "newsgroups20.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            # The first empty line ends the header.
            body = json.loads(line)["text"].partition("\n\n")[2]
            words = (word.lower() for word in _WORD.findall(body))
            documents.append(Counter(w for w in words if w not in ENGLISH_STOP_WORDS))
    frequency = Counter(word for counts in documents for word in counts)
    kept = [w for w, n in frequency.most_common() if 5 <= n <= 0.3 * len(documents)][:max_words]
    column = {word: i for i, word in enumerate(kept)}
    rows, columns, counts = [], [], []
    for row, document in enumerate(documents):
        for word, count in document.items():
            if word in column:
                rows.append(row)
                columns.append(column[word])
                counts.append(count)
    matrix = sp.csr_matrix((counts, (rows, columns)), shape=(len(documents), len(kept)))
    return matrix[np.random.default_rng(0).permutation(len(documents))]


def load(data: Path, name: str) -> sp.csr_matrix:
    """One of the corpora by name."""
    return newsgroups(data) if name == "newsgroups20" else wiki(data, name)
