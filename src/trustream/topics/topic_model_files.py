"""A topic model of texts as the arrays and header of one file, and back with checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream import persist
from trustream._schema import (
    Array,
    Rule,
    check_arrays,
    check_entries,
    check_values,
    integer,
    mapping,
    optional,
    text,
)
from trustream.estimators import LatentDirichletAllocation, saving
from trustream.text import Tokeniser
from trustream.topic_names import TopicNames
from trustream.topics import phrase_files
from trustream.topics.phrase_words import PhraseWords
from trustream.topics.vectorised_words import VectorisedWords
from trustream.topics.vocabulary import GrowingWords, WordRules
from trustream.topics.word_sources import word_function

Words = GrowingWords | VectorisedWords

_HEADER = {
    "estimator": text,
    "params": mapping,
    "seed": integer(0, 2**32 - 1),
    "n_documents": integer(0),
    "names": mapping,
    "words": mapping,
    "lda": mapping,
}
_share = Rule(lambda value: type(value) is float and 0 < value <= 1, "a number above 0, up to 1")
_PARAMS = {
    "n_topics": integer(1),
    "min_documents": optional(integer(1)),
    "max_fraction": optional(_share),
    "max_words": optional(integer(1)),
    "keep_documents": optional(integer(0)),
    "random_state": optional(integer(0)),
}
# Parameters of the model that are those of the estimator.
SHARED = ("max_iter", "dtype", "n_jobs", "verbose", "seed_words", "seed_strength")
# Prefix of the names of the estimator's arrays.
_LDA = "lda."
_WAITING = {
    "waiting.words": Array(None, ("uint8",)),
    "waiting.documents": Array(None, ("int64",), least=1.0),
}


def to_arrays(
    params: Mapping[str, Any],
    seed: int,
    words: Words,
    lda: LatentDirichletAllocation,
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return (arrays, header) of a model.

    Raises:
        ValueError: what makes words of texts cannot be written as data.
    """
    state = params["random_state"]
    own = {name: saving.plain(params[name]) for name in _PARAMS}
    own["random_state"] = seed if isinstance(state, int | np.integer) else None
    if isinstance(words, GrowingWords):
        # Those that are in use, whatever was set after the fit.
        own |= words.rules._asdict()
    check_values(own, _PARAMS, "the parameters of the model")
    arrays, lda_header = saving.to_arrays(lda)
    lda_header.pop("topics", None)
    arrays = {_LDA + name: array for name, array in arrays.items()}
    if isinstance(words, VectorisedWords):
        kept = {"vectoriser": words.to_dict()}
    else:
        kept = words.source.to_dict()
        arrays["waiting.words"] = persist.pack_strings(list(words.waiting))
        arrays["waiting.documents"] = np.array(list(words.waiting.values()), np.int64)
        if isinstance(words, PhraseWords):
            counted, kept["phrases"] = phrase_files.to_arrays(words.phrases)
            arrays |= counted
    header = {
        "estimator": "TopicModel",
        "params": own,
        "seed": seed,
        "n_documents": words.n_documents,
        "names": lda.topic_names_.to_json(),
        "words": kept,
        "lda": lda_header,
    }
    return arrays, header


def from_contents(
    contents: persist.Contents,
) -> tuple[dict[str, Any], int, Words, LatentDirichletAllocation]:
    """Return the arguments of `to_arrays`.

    Raises:
        ValueError: the contents are inconsistent.
    """
    header, entries = contents.header, contents.entries
    check_values(header, _HEADER, "the header")
    check_values(header["params"], _PARAMS, "the parameters")
    table = {
        _LDA + name: array
        for name, array in saving.check(
            LatentDirichletAllocation, header["lda"], _of_lda(entries)
        ).items()
    }
    vectorised = "vectoriser" in header["words"]
    kept = dict(header["words"])
    kept_phrases = kept.pop("phrases", None)
    own = {} if vectorised else _WAITING
    if kept_phrases is not None:
        own = own | phrase_files.ARRAYS
    check_entries({name: e for name, e in entries.items() if not name.startswith(_LDA)}, own)
    arrays = contents.arrays()
    check_arrays(arrays, table | own)
    lda = saving.from_arrays(LatentDirichletAllocation, header["lda"], _of_lda(arrays))
    columns = lda.words_
    if columns is None:
        raise ValueError("the columns have no words")
    lda._topic_names = TopicNames.from_json(header["names"]).checked(lda.n_components)
    params = {**header["params"], **{name: getattr(lda, name) for name in SHARED}}
    n_documents = header["n_documents"]
    if vectorised:
        check_values(kept, {"vectoriser": mapping}, "the words")
        found = VectorisedWords.from_dict(kept["vectoriser"], columns, n_documents)
        return params, header["seed"], found, lda
    words = GrowingWords(
        word_function(kept),
        WordRules(params["min_documents"], params["max_fraction"], params["max_words"]),
        {word: column for column, word in enumerate(columns)},
        _waiting(arrays, columns),
        n_documents,
    )
    if kept_phrases is not None:
        counted = phrase_files.from_arrays(kept_phrases, arrays)
        words = PhraseWords(**vars(words), phrases=counted)
        if not isinstance(words.specification, Tokeniser):
            raise ValueError("phrases are counted of words that no Tokeniser has made")
    return params, header["seed"], words, lda


def _waiting(arrays: Mapping[str, np.ndarray], columns: list[str]) -> dict[str, int]:
    if "" in columns:
        raise ValueError("there are columns without a word")
    words = persist.unpack_strings(arrays["waiting.words"])
    documents = arrays["waiting.documents"].tolist()
    found = dict(zip(words, documents, strict=True))
    if len(found) != len(words) or not found.keys().isdisjoint({"", *columns}):
        raise ValueError("the words without a column are not all different")
    return found


def _of_lda(named: Mapping[str, Any]) -> dict[str, Any]:
    return {name[len(_LDA) :]: value for name, value in named.items() if name.startswith(_LDA)}
