"""Learn topics from texts and look at them, with one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

from trustream import persist
from trustream.estimators import LatentDirichletAllocation
from trustream.estimators.seed_topics import STRENGTH, SeedTopics
from trustream.evaluation.validation import whole_number
from trustream.phrases import Phrases
from trustream.topics import growth, topic_model_files
from trustream.topics.estimator_words import known_words, own_copy
from trustream.topics.kept_documents import KeptDocuments
from trustream.topics.learned_topics import PendingStep
from trustream.topics.model_parameters import (
    checked_phrases,
    checked_share,
    drawn_seed,
    optional_number,
)
from trustream.topics.phrase_words import PhraseWords
from trustream.topics.texts import text_chunks
from trustream.topics.topic_model_files import Words
from trustream.topics.topic_set import as_topics
from trustream.topics.topic_views import TopicViews
from trustream.topics.vectorised_words import VectorisedWords
from trustream.topics.vocabulary import GrowingWords, WordRules
from trustream.topics.word_sources import as_function, check_source, is_vectoriser


@persist.register
class TopicModel(TopicViews):
    """Learn topics from texts, look at them, name them, and learn on as texts arrive.

    It is a tokeniser, a vocabulary and a `LatentDirichletAllocation` in one object, which one file
    holds. Texts are any iterable of strings: a list, a column of a pandas or polars frame, a
    generator, which is read once.

    Parameters
    ----------
    n_topics : int, default=20
    tokeniser : Tokeniser, callable, vectoriser or None, default=None
        What makes words of texts. None is `trustream.text.tokenise`: runs of three letters or
        more, in lower case, without English stop words; for other languages give
        `trustream.text.Tokeniser(language="de")`. A callable takes a text and returns its words. A
        vectoriser is scikit-learn's CountVectorizer or anything that makes counts in the same way;
        a copy of it is fitted to the first texts, decides by itself which words there are, and has
        no new words later. For those give ``vectoriser.build_analyzer()``.
    phrases : bool or Phrases, default=False
        Whether words that belong together, such as "new york", become one, "new_york". Pairs of
        words are counted in the texts of `fit` and of each `partial_fit`; phrases that are found
        with them are joined in these texts and are a part of the tokeniser from then on. Give
        `trustream.phrases.Phrases(...)` for other settings than its own, or with counts of other
        texts. While a call looks for them, the words of its texts are held in memory, as numbers.
        It needs a `Tokeniser`, or None.
    min_documents : int, default=None
        A word is used once it is in so many documents. None is 5, and fewer if there are fewer
        than 100 documents: one of 20.
    max_fraction : float, default=None
        A word in a larger share of the documents is not used. None is a half, and all words are
        used if there are fewer than 20 documents. A vectoriser has `min_df` and `max_df` instead of
        both.
    max_words : int, default=50000
        Most words that are used, those in most documents; None is no limit.
    seed_words : dict of str to list of str, default=None
        Words by which topics begin, ``{"sports": ["team", "game"]}``, as the tokeniser makes them;
        the topic is labelled by the name. A seed word that is rare yet counts once it is used.
    seed_strength : float, default=0.5
        Tokens that each token of a seed word counts more in its topic.
    keep_documents : int, default=100000
        Most documents that are kept in memory, as counts of words and the first 200 characters,
        for the methods that look at documents. If there are more, it is a random sample of all of
        them. None keeps all, 0 none. They are not saved.
    max_iter : int, default=5
        Passes of `fit` over the texts.
    dtype : {"float32", "float64"}, default="float32"
    n_jobs : int, default=None
        Threads; None uses all cores. No result depends on it.
    verbose : int, default=0
        Progress on standard error.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    topics_ : TopicSet
        The topics with words, ids and labels, for the functions of `trustream.topics`, which also
        take the model itself.
    words_ : list of str
        Words by column.
    phrases_ : tuple of str
        Phrases that are one word, sorted.
    n_topics_ : int
        Topics that there are, after merging.
    n_documents_ : int
        Documents that it has learned from.
    estimator_ : LatentDirichletAllocation

    Examples
    --------
    >>> texts = ["cats and dogs", "a dog, two cats", "dogs", "the bank", "bank rates", "rates"] * 9
    >>> model = TopicModel(n_topics=2, random_state=0).fit(texts)
    >>> sorted(model.words_)
    ['bank', 'cats', 'dog', 'dogs', 'rates']
    >>> proportions = model.transform(["my dogs and cats", "the rates of a bank"])
    >>> bool(proportions[0].argmax() != proportions[1].argmax())
    True
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        tokeniser: Any = None,
        phrases: bool | Phrases = False,
        min_documents: int | None = None,
        max_fraction: float | None = None,
        max_words: int | None = 50_000,
        seed_words: dict[str, Any] | None = None,
        seed_strength: float = STRENGTH,
        keep_documents: int | None = 100_000,
        max_iter: int = 5,
        dtype: Any = "float32",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_topics = whole_number("n_topics", n_topics)
        check_source(tokeniser)
        self.tokeniser = tokeniser
        self.phrases = checked_phrases(phrases, tokeniser)
        self.min_documents = optional_number("min_documents", min_documents, 1)
        self.max_fraction = checked_share(max_fraction)
        self.max_words = optional_number("max_words", max_words, 1)
        self.keep_documents = optional_number("keep_documents", keep_documents, 0)
        if is_vectoriser(tokeniser) and not min_documents is max_fraction is None:
            raise ValueError(
                f"the {type(tokeniser).__name__} decides which words there are: set its min_df and "
                "max_df in the place of min_documents and max_fraction"
            )
        self.max_iter, self.dtype, self.n_jobs, self.verbose = max_iter, dtype, n_jobs, verbose
        self.random_state = random_state
        if seed_words is not None:
            SeedTopics.of(seed_words, seed_strength, self.n_topics)  # refuses other things
        self.seed_words, self.seed_strength = seed_words, seed_strength

    def __repr__(self) -> str:
        if not self._is_fitted:
            return f"TopicModel(n_topics={self.n_topics})"
        return (
            f"<TopicModel of {self.n_topics_} topics, {len(self.words_)} words, "
            f"{self.n_documents_} documents>"
        )

    @classmethod
    def from_estimator(
        cls, estimator: LatentDirichletAllocation, *, tokeniser: Any = None, **params: Any
    ) -> Self:
        """Return a model of texts that goes on from a fitted estimator, with its words.

        The estimator may come from another library, by `trustream.topics.from_gensim` for example,
        from a file or from a store. The model has a copy of it.

        Parameters
        ----------
        estimator : LatentDirichletAllocation
            Fitted, with a word for each column: see `set_words`.
        tokeniser : Tokeniser, callable, vectoriser or None, default=None
            What makes such words of texts. None takes that of the estimator if it has one. A
            vectoriser has to be fitted, to the same words in the same order.
        **params
            Other parameters of `TopicModel`, for texts to come; `n_topics` is the estimator's.

        Examples
        --------
        >>> import numpy as np
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
        >>> lda = lda.set_words(["cats", "dogs", "bank", "rates"])
        >>> model = TopicModel.from_estimator(lda, min_documents=2)
        >>> model.partial_fit(["birds and cats", "birds and dogs"]).words_
        ['cats', 'dogs', 'bank', 'rates', 'birds']
        """
        as_topics(estimator)  # refuses what is not fitted
        lda = own_copy(estimator)
        tokeniser = estimator._tokeniser if tokeniser is None else tokeniser
        lda.seed_words = None  # those that are at work stay; after merging there may be too many
        given = {name: getattr(lda, name) for name in topic_model_files.SHARED}
        model = cls(lda.n_components, tokeniser=tokeniser, **given | params)
        lda.set_params(**{name: getattr(model, name) for name in given})
        rules = WordRules(model.min_documents, model.max_fraction, model.max_words)
        words, seed = known_words(lda, tokeniser, rules), drawn_seed(model.random_state)
        if model.phrases and isinstance(words, GrowingWords):
            words = PhraseWords(**vars(words), phrases=model._phrase_settings)
        lda.set_words(words.words, tokenise=words.specification)
        model._set(seed, words, lda, KeptDocuments(model.keep_documents, seed))
        return model

    # --- learning

    def fit(self, texts: Iterable[str]) -> Self:
        """Learn topics from texts that are all there; what was learned before is forgotten.

        Parameters
        ----------
        texts : iterable of str
            Read once. What is held in memory are the counts of their words, not the texts.

        Returns
        -------
        self

        Examples
        --------
        >>> TopicModel(2, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        <TopicModel of 2 topics, 4 words, 40 documents>
        """
        return self._begin(texts, lambda lda, counts: lda.fit(counts))

    def partial_fit(self, texts: Iterable[str]) -> Self:
        """Learn from more texts, by one step on all of them.

        New words enter as in a stream. As soon as a word is in `min_documents` of all documents
        that came, it gets a column behind the others, starts near one in all topics, and is learned
        from these texts on; earlier ones are not read again. A model with `max_words` words takes
        no more, and one with a vectoriser never does. Of rarer words up to 200,000 are remembered,
        the most frequent ones. If the model knows no word of the texts yet, words are counted and
        no step is taken.

        With `phrases`, so do phrases, as soon as all texts so far show that their words belong
        together: they are one word in these texts and in those that come later, also for
        `transform`. What was learned from earlier texts, and the documents that are kept of them,
        have the single words; `fit` makes one word in all texts.

        The first call begins with the words of its texts, so let it have a few hundred.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        self

        Examples
        --------
        >>> model = TopicModel(2, random_state=0).partial_fit(["cats, dogs", "bank rates"] * 20)
        >>> model.partial_fit(["birds and cats"] * 5).words_
        ['bank', 'cats', 'dogs', 'rates', 'birds']
        """
        if not self._is_fitted:
            return self._begin(texts, lambda lda, counts: lda.partial_fit(counts))
        self._settle()
        noted = self._kept.noting()
        found = self._words.read(noted.passing(text_chunks(texts)))
        is_step = found.counts.sum() > 0
        self._pending = PendingStep(found, noted, self._lda._n_samples_seen if is_step else None)
        if is_step:
            growth.partial_fit(self._lda, found.counts, found.new, self._seed)
        self._settle()
        return self

    def _begin(self, texts: Any, learn: Callable[[Any, Any], Any]) -> Self:
        chunks, seed = text_chunks(texts), drawn_seed(self.random_state)
        shared = {name: getattr(self, name) for name in topic_model_files.SHARED}
        lda = LatentDirichletAllocation(self.n_topics, random_state=seed, **shared)
        rules = WordRules(self.min_documents, self.max_fraction, self.max_words)
        words: Words = GrowingWords(as_function(self.tokeniser), rules)
        if is_vectoriser(self.tokeniser):
            words = VectorisedWords(self.tokeniser)
        elif self.phrases:
            words = PhraseWords(as_function(self.tokeniser), rules, phrases=self._phrase_settings)
        kept = KeptDocuments(self.keep_documents, seed)
        noted = kept.noting()
        found = words.read(noted.passing(chunks))
        if self.seed_words is not None:
            lda.words = list(found.new)
        learn(lda, found.counts)
        lda.words = None  # more may come, and `set_words` knows them
        words.take(found)
        kept.take(noted, found.counts)
        lda.set_words(words.words, tokenise=words.specification)
        self._set(seed, words, lda, kept)
        return self

    @property
    def _phrase_settings(self) -> Phrases:
        return self.phrases if isinstance(self.phrases, Phrases) else Phrases()

    @property
    def phrases_(self) -> tuple[str, ...]:
        """Phrases that are one word, sorted."""
        self._check_fitted()
        return getattr(self._words.made_by, "phrases", ())

    # --- files

    def save(self, path: Any) -> None:
        """Write the model to one file; `trustream.load(path)` reads it again.

        The file holds words, tokeniser, labels and all that learning needs, so that `partial_fit`
        goes on exactly as it would have. It is plain data: a tokeniser that is a function is kept
        by the name it has from `trustream.topics.register_tokeniser`. Documents are not saved, nor
        anything of their texts but words and, with `phrases`, how often pairs of words were found:
        a loaded model is given texts to look at documents.

        Examples
        --------
        >>> import tempfile, trustream
        >>> model = TopicModel(2, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/topics.safetensors")
        ...     again = trustream.load(f"{folder}/topics.safetensors")
        >>> again.words_ == model.words_
        True
        """
        self._check_fitted()
        parts = self._seed, self._words, self._lda
        persist.write(path, *topic_model_files.to_arrays(vars(self), *parts))

    @classmethod
    def _from_contents(cls, contents: persist.Contents) -> Self:
        params, seed, words, lda = topic_model_files.from_contents(contents)
        phrases = words.phrases.empty() if isinstance(words, PhraseWords) else False
        model = cls(**params, tokeniser=words.made_by, phrases=phrases)
        model._set(seed, words, lda, KeptDocuments(model.keep_documents, seed))
        return model
