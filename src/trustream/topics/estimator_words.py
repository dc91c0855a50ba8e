"""The words of a fitted estimator, for a model of texts that goes on from it."""

from __future__ import annotations

import copy
from typing import Any

from trustream.estimators import LatentDirichletAllocation
from trustream.streaming.fitted_models import column_words, without_column_names
from trustream.tokenisers import CustomTokeniser
from trustream.topics.vectorised_words import VectorisedWords
from trustream.topics.vocabulary import GrowingWords, WordRules
from trustream.topics.word_sources import as_function, is_vectoriser


def own_copy(estimator: LatentDirichletAllocation) -> LatentDirichletAllocation:
    """Return a copy with the same words, but without names of columns, which frames have.

    Raises
    ------
    ValueError
        It does not know the word of each column.
    """
    words = column_words(estimator)
    if words is None or "" in words:
        raise ValueError(
            "the estimator does not say which word each of its columns is: call set_words"
        )
    lda: LatentDirichletAllocation = without_column_names(copy.deepcopy(estimator))
    return lda.set_words(words)  # type: ignore[no-any-return]


def known_words(
    lda: LatentDirichletAllocation, tokeniser: Any, rules: WordRules
) -> GrowingWords | VectorisedWords:
    """Return what counts the words of an estimator in texts, and may let others in.

    Raises
    ------
    ValueError
        The tokeniser is only known by name, or a vectoriser has other words.
    """
    if isinstance(tokeniser, CustomTokeniser):
        raise ValueError(
            f"the estimator's words are made by the Python function {tokeniser.name}: give it as "
            "the tokeniser"
        )
    words, n_documents = lda.words_ or [], lda._n_samples_seen
    if is_vectoriser(tokeniser):
        return VectorisedWords.fitted(tokeniser, words, n_documents)
    columns = {word: column for column, word in enumerate(words)}
    return GrowingWords(as_function(tokeniser), rules, columns, {}, n_documents)
