"""What tasks of Ray Data do with tables of texts: count words.

Each task may run in a process of its own, which imports this module and no more of trustream than
it needs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.cluster.parquet_counts import COUNTS, INDICES, N_WORDS
from trustream.tokenisers import Tokenise
from trustream.word_counts import column_counts, word_columns

# What a file with counts says of its words in its metadata, beside their number.
WORDS = b"trustream.words"


def words_digest(words: Sequence[str]) -> str:
    """Return what tells one vocabulary from another, for the metadata of files.

    >>> words_digest(["cat", "dog"]) == words_digest(["dog", "cat"])
    False
    """
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


@dataclass(frozen=True)
class Split:
    """Words of a column of texts, or of lists of words."""

    tokenise: Tokenise
    column: str

    def __call__(self, table: Any) -> list[Sequence[str]]:
        found: list[Sequence[str]] = []
        for value in table[self.column].to_pylist():
            if value is None:
                raise ValueError(
                    f"the column {self.column} has a row without a text (null): leave such rows "
                    "out, or give them an empty text"
                )
            found.append(self.tokenise(value) if isinstance(value, str) else value)
        return found


class Columns:
    """Words by column and the other way round."""

    def __init__(self, words: Sequence[str]) -> None:
        self.n_words, self.digest = len(words), words_digest(words)
        self.column = word_columns(words)


def document_frequencies(table: Any, split: Split) -> Any:
    """A table of the words of some documents, and in how many of them each is."""
    import pyarrow

    found = Counter[str]()
    for words in split(table):
        found.update(set(words))
    return pyarrow.table(
        {
            "word": pyarrow.array(list(found), pyarrow.string()),
            "n": pyarrow.array(list(found.values()), pyarrow.int64()),
        }
    )


def with_counts(table: Any, split: Split, reference: Any) -> Any:
    """The table with counts in the place of texts."""
    import pyarrow

    columns = _columns_of(reference)
    counts = column_counts(split(table), columns.column, columns.n_words)
    offsets = pyarrow.array(counts.indptr, pyarrow.int32())
    indices = pyarrow.array(counts.indices, pyarrow.int32())
    values = pyarrow.array(counts.data.astype(np.float32), pyarrow.float32())
    found = table.drop_columns([split.column])
    found = found.append_column(INDICES, pyarrow.ListArray.from_arrays(offsets, indices))
    found = found.append_column(COUNTS, pyarrow.ListArray.from_arrays(offsets, values))
    said = {N_WORDS: str(columns.n_words).encode(), WORDS: columns.digest.encode()}
    return found.replace_schema_metadata({**(table.schema.metadata or {}), **said})


# The columns that this worker has used last: unpacking a million words takes its time.
_kept: dict[str, Columns] = {}


def _columns_of(reference: Any) -> Columns:
    import ray

    key = reference.hex()
    found = _kept.get(key)
    if found is None:
        found = ray.get(reference)
        _kept.clear()
        _kept[key] = found
    return found
