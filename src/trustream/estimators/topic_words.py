"""What columns and rows of a topic model stand for: words, and topics with ids and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trustream.estimators.seed_topics import SeedTopics
from trustream.models.lda.seeds import SeedRows
from trustream.tokenisers import Specification, Tokenise, specification
from trustream.topic_names import TopicNames


class TopicWords:
    """Names a model's columns by words, and its topics by ids and labels; a part of LDA.

    Words given by hand are kept apart from `feature_names_in_`, the columns of a frame: a model
    with these asks scikit-learn to warn of every matrix without them.
    """

    n_components: int
    n_features_in_: int
    _topic_names: TopicNames | None = None
    seed_words: dict[str, Any] | None
    seed_strength: float
    words: Any
    _seeds: SeedTopics | None = None
    _words: list[str] | None = None
    _tokeniser: Specification | None = None

    def set_words(self, words: Sequence[str], *, tokenise: Tokenise | None = None) -> Any:
        """Say which word each column is, for `top_words`, for files and for the commands.

        `save` writes them to the file. `fit` forgets them, since its data may have other columns.

        Parameters
        ----------
        words : sequence of str, one for each column
            Words by column, such as ``vectorizer.get_feature_names_out()``. "" is a column without
            a word; no other word may be there twice.
        tokenise : Tokeniser or callable, default=None
            What made words of texts, kept with them, so that `trustream transform` does the same
            with new texts. Of a function that is no `trustream.text.Tokeniser` the name is kept.

        Returns
        -------
        self

        Examples
        --------
        >>> import trustream
        >>> lda = trustream.LatentDirichletAllocation(1, random_state=0).fit([[2, 1], [3, 2]])
        >>> lda.set_words(["cat", "dog"]).top_words()
        [['cat', 'dog']]
        """
        self._check_is_fitted()  # type: ignore[attr-defined]
        kept = checked_words(words, self.n_features_in_)
        self._tokeniser = None if tokenise is None else specification(tokenise)
        self._words = kept
        return self

    @property
    def words_(self) -> list[str] | None:
        """Words by column: those of `set_words`, or the columns of the frame that was fitted.

        None if there are neither; "" for a column without a word.
        """
        self._check_is_fitted()  # type: ignore[attr-defined]
        return self._columns()

    def _columns(self) -> list[str] | None:
        if self._words is not None:
            return list(self._words)
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @property
    def seed_labels_(self) -> dict[int, str]:
        """Names by topic, of topics that have more tokens of their seed words than any other.

        Examples
        --------
        >>> import trustream
        >>> seeds = {"pets": ["cat", "dog"]}
        >>> words = ["bank", "cat", "dog"]
        >>> lda = trustream.LatentDirichletAllocation(
        ...     2, seed_words=seeds, words=words, random_state=0
        ... ).fit([[4, 0, 0], [0, 3, 2], [3, 0, 0], [0, 2, 2]])
        >>> lda.seed_labels_, sorted(lda.top_words(2)[0])
        ({0: 'pets'}, ['cat', 'dog'])
        """
        self._check_is_fitted()  # type: ignore[attr-defined]
        if self._seeds is None:
            return {}
        seeds = self._state.prior.seeds  # type: ignore[attr-defined]
        if seeds is None:
            return {}
        table = self._shown.lambda_  # type: ignore[attr-defined]
        tokens = table.scale * table.stored[seeds.places].astype(np.float64)
        return self._seeds.labels(seeds, tokens)

    @property
    def tokeniser_(self) -> Specification | None:
        """What makes words of texts: call it with a text. None if the model does not say."""
        self._check_is_fitted()  # type: ignore[attr-defined]
        return self._tokeniser

    def set_labels(self, labels: Mapping[int, str | None]) -> Any:
        """Name topics by id, beside those that have a name; None takes a name away.

        `save` writes ids and labels to the file, and `trustream.topics` shows them. `partial_fit`
        keeps them. `fit` forgets them, since it finds other topics, unless `warm_start` has it go
        on from those that there are.

        Parameters
        ----------
        labels : mapping from int to str or None
            Labels by id. The id of a topic is its row, as long as no topics were merged, split or
            deleted. A topic of `seed_words` whose label is taken away has the name of its seed.

        Returns
        -------
        self

        Examples
        --------
        >>> import trustream
        >>> lda = trustream.LatentDirichletAllocation(2, random_state=0).fit([[2, 1], [3, 2]])
        >>> lda.set_labels({1: "pets"}).topic_names_.labels
        {1: 'pets'}
        """
        self._check_is_fitted()  # type: ignore[attr-defined]
        self._topic_names = self._given_names().with_labels(labels)
        return self

    @property
    def topic_names_(self) -> TopicNames:
        """Ids and labels of the topics, in the order of the rows of `components_`.

        A topic without a label of its own has the name of its seed (`seed_labels_`).
        """
        self._check_is_fitted()  # type: ignore[attr-defined]
        names = self._given_names()
        seeds = {names.ids[row]: name for row, name in self.seed_labels_.items()}
        more = {topic: name for topic, name in seeds.items() if topic not in names.labels}
        return names.with_labels(more) if more else names

    def _given_names(self) -> TopicNames:
        names = self._topic_names
        return TopicNames.of(self.n_components) if names is None else names

    def _forget_words(self) -> None:
        self.__dict__.pop("_words", None)
        self.__dict__.pop("_tokeniser", None)

    def _forget_names(self) -> None:
        self.__dict__.pop("_topic_names", None)

    def _begin_words(self) -> None:
        """Words and seeds by the parameters, for data that were validated just now."""
        self._forget_words()
        self.__dict__.pop("_seeds", None)
        if self.words is not None:
            self._words = checked_words(self.words, self.n_features_in_)
        if self.seed_words is None:
            return
        seeds = SeedTopics.of(self.seed_words, self.seed_strength, self.n_components)
        columns = self._columns()
        if columns is None:
            raise ValueError(
                "seed_words needs the word of each column: fit a frame whose columns are words, or "
                "give words=vectorizer.get_feature_names_out()"
            )
        seeds.check_known(columns)
        self._seeds = seeds

    def _seed_rows(self) -> SeedRows | None:
        """Weights of the columns, for a prior to start from."""
        if self._seeds is None:
            return None
        return self._seeds.of_columns(self._columns() or (), self.n_components)


def checked_words(words: Sequence[str], n_features: int) -> list[str]:
    """Return words by column as a list, or a ValueError that says what is wrong with them.

    >>> checked_words(["cat", "cat"], 2)
    Traceback (most recent call last):
    ...
    ValueError: words has 'cat' twice, for columns 0 and 1; a word has one column
    """
    if isinstance(words, str | bytes):
        raise ValueError(f"words is one text, {words!r:.60}; give a list with a word per column")
    found = list(words)
    if len(found) != n_features:
        raise ValueError(f"words has {len(found)} words, the model has {n_features} columns")
    columns: dict[str, int] = {}
    for column, word in enumerate(found):
        if not isinstance(word, str):
            raise ValueError(
                f"the word of column {column} is of type {type(word).__name__}, expected a string"
            )
        if word and columns.setdefault(word, column) != column:
            raise ValueError(
                f"words has {word!r:.60} twice, for columns {columns[word]} and {column}; a word "
                "has one column"
            )
    return [str(word) for word in found]
