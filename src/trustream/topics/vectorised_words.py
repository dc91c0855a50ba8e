"""Count words of texts by one of scikit-learn's vectorisers, whose words stay as they are."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from trustream import matrices
from trustream._schema import Rule, boolean, check_values, integer, number, one_of, optional, text
from trustream.tokenisers import CustomTokeniser, Specification
from trustream.topics.vocabulary import Counted

_words = Rule(
    lambda value: (
        value is None
        or value == "english"
        or (isinstance(value, list) and all(isinstance(word, str) for word in value))
    ),
    'nothing, "english" or a list of words',
)
_range = Rule(
    lambda value: (
        isinstance(value, list)
        and len(value) == 2
        and all(type(n) is int and 1 <= n <= 100 for n in value)
    ),
    "two integers",
)
_dtype = Rule(
    lambda value: value in ("int32", "int64", "uint32", "uint64", "float32", "float64"),
    "a type of numbers",
)
# Parameters of CountVectorizer that are data. `input` is not among them: texts are given.
_PARAMS = {
    "encoding": text,
    "decode_error": one_of(["strict", "ignore", "replace"]),
    "strip_accents": optional(one_of(["ascii", "unicode"])),
    "lowercase": boolean,
    "stop_words": _words,
    "token_pattern": optional(text),
    "ngram_range": _range,
    "analyzer": one_of(["word", "char", "char_wb"]),
    "max_df": number(least=0.0),
    "min_df": number(least=0.0),
    "max_features": optional(integer(1)),
    "binary": boolean,
    "dtype": _dtype,
}
_FUNCTIONS = ("preprocessor", "tokenizer")


class VectorisedWords:
    """The words of a vectoriser that was fitted to texts.

    Parameters
    ----------
    vectoriser : CountVectorizer or the like
        A copy of it is fitted by the first `read`.

    Examples
    --------
    >>> words = VectorisedWords(CountVectorizer(min_df=2))
    >>> found = words.read([["Cat, dog", "dog"], ["dog cat cat"]])
    >>> words.take(found)
    >>> words.words, words.count(["a cat"]).toarray().tolist()
    (['cat', 'dog'], [[1, 0]])
    """

    waiting: dict[str, int] = {}

    def __init__(self, vectoriser: Any) -> None:
        self.vectoriser = clone(vectoriser, safe=False)
        self.words: list[str] = []
        self.n_documents = 0

    @classmethod
    def fitted(cls, vectoriser: Any, words: list[str], n_documents: int) -> VectorisedWords:
        """Return the words of a vectoriser that is fitted already, to just these words.

        >>> vectoriser = CountVectorizer().fit(["cat dog"])
        >>> VectorisedWords.fitted(vectoriser, ["dog", "cat"], 1)
        Traceback (most recent call last):
        ...
        ValueError: the CountVectorizer has 2 words, not the 2 of the model in their order: give \
the one that the counts were made with
        """
        kind = type(vectoriser).__name__
        try:
            names = [str(word) for word in vectoriser.get_feature_names_out()]
        except NotFittedError:
            raise ValueError(
                f"the {kind} is not fitted: give the one that the counts were made with"
            ) from None
        if names != words:
            raise ValueError(
                f"the {kind} has {len(names)} words, not the {len(words)} of the model in their "
                "order: give the one that the counts were made with"
            )
        found = cls(vectoriser)
        found.vectoriser = copy.deepcopy(vectoriser)
        found.words, found.n_documents = words, n_documents
        return found

    @property
    def made_by(self) -> Any:
        """What `TopicModel` was given as its tokeniser, or the same."""
        return self.vectoriser

    @property
    def specification(self) -> Specification:
        """What the estimator's file says of what makes words: a name."""
        kind = type(self.vectoriser)
        return CustomTokeniser(f"{kind.__module__}.{kind.__qualname__}"[:200])

    def count(self, texts: Sequence[str], first: int = 0) -> sparse.csr_array:
        """Return counts of the vectoriser's words."""
        return matrices.csr(self.vectoriser.transform(texts))

    def read(self, chunks: Iterable[Sequence[str]]) -> Counted:
        """Return counts of texts; the first texts decide on the words."""
        texts = chain.from_iterable(chunks)
        if self.words:
            found = self.count(list(texts))
            return Counted(found, (), {}, self.n_documents + found.shape[0])
        counts = matrices.csr(self.vectoriser.fit_transform(texts))
        new = [str(word) for word in self.vectoriser.get_feature_names_out()]
        if not counts.sum():
            raise ValueError(
                f"the {type(self.vectoriser).__name__} finds none of its {len(new)} words in the "
                "texts: give other texts, or another vocabulary"
            )
        return Counted(counts, new, {}, counts.shape[0])

    def take(self, counted: Counted) -> None:
        """Take in what `read` has found; to do it again changes nothing."""
        self.words = [*counted.new] or self.words
        self.n_documents = counted.n_documents

    # --- files

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON has, without its words.

        >>> VectorisedWords(CountVectorizer(tokenizer=str.split)).to_dict()
        Traceback (most recent call last):
        ...
        ValueError: the CountVectorizer has a tokenizer, which is a function and cannot be \
written to a file: give TopicModel a function as its tokeniser, such as vectoriser.\
build_analyzer(), and register it by trustream.topics.register_tokeniser
        """
        kind = type(self.vectoriser).__name__
        advice = (
            "give TopicModel a function as its tokeniser, such as vectoriser.build_analyzer(), "
            "and register it by trustream.topics.register_tokeniser"
        )
        if type(self.vectoriser) is not CountVectorizer:
            raise ValueError(f"a file holds a CountVectorizer, but no {kind}: {advice}")
        params = self.vectoriser.get_params(deep=False)
        for name in (*_FUNCTIONS, "analyzer", "strip_accents"):
            if callable(params[name]):
                raise ValueError(
                    f"the {kind} has a {name}, which is a function and cannot be written to a "
                    f"file: {advice}"
                )
        kept = {name: params[name] for name in _PARAMS}
        kept["dtype"] = np.dtype(kept["dtype"]).name
        kept["ngram_range"] = list(kept["ngram_range"])
        if kept["stop_words"] is not None and not isinstance(kept["stop_words"], str):
            kept["stop_words"] = sorted(kept["stop_words"])
        check_values(kept, _PARAMS, f"the {kind}")
        return {**kept, "fixed": params["vocabulary"] is not None}

    @classmethod
    def from_dict(cls, values: Any, words: list[str], n_documents: int) -> VectorisedWords:
        """Return what `to_dict` wrote down, with its words by column."""
        check_values(values, {**_PARAMS, "fixed": boolean}, "the vectoriser")
        params = {name: value for name, value in values.items() if name != "fixed"}
        params["ngram_range"] = tuple(params["ngram_range"])
        params["dtype"] = np.dtype(params["dtype"]).type
        found = cls(CountVectorizer(**params, vocabulary=words if values["fixed"] else None))
        found.vectoriser.vocabulary_ = {word: column for column, word in enumerate(words)}
        found.vectoriser.fixed_vocabulary_ = values["fixed"]
        found.words, found.n_documents = words, n_documents
        found.count(["What cannot be used fails here, and not when it is needed."])
        return found
