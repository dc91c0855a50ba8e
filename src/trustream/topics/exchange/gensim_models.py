"""Topics to and from gensim's `LdaModel`."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.estimators import LatentDirichletAllocation
from trustream.topics.exchange.fitted_models import (
    different_words,
    fitted_lda,
    n_documents_of,
    n_steps_of,
)
from trustream.topics.exchange.libraries import check_class, needing
from trustream.topics.topic_set import as_topics


def to_gensim(model: Any) -> Any:
    """Return gensim's `LdaModel` with the topics of a fitted model.

    gensim keeps lambda as eta + sstats, and all of it is exact: lambda, alpha, eta, words. Its
    `id2word` is a `gensim.corpora.Dictionary`, whose `doc2bow` counts texts. What gensim infers
    for documents differs a little, since it stops sooner; raise `iterations` and lower
    `gamma_threshold` of the model for the same. `update` goes on learning.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet
        What is shown of it is taken: topics for the documents that there are. A float64 model
        becomes one of float64.

    Returns
    -------
    gensim.models.LdaModel

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> lda = to_gensim(TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"], eta=0.5))
    >>> lda.id2word[1], lda.get_topics()[1].round(2).tolist()
    ('bank', [0.1, 0.9])
    """
    with needing("gensim", "to_gensim"):
        from gensim import corpora, models
    topics = as_topics(model)
    words = different_words(topics)
    dictionary = corpora.Dictionary()
    dictionary.token2id = {word: column for column, word in enumerate(words)}
    dictionary.id2token = dict(enumerate(words))
    weights = topics.weights
    eta = np.broadcast_to(topics.prior.dense(), weights.shape)
    eta = eta if topics.prior.pattern.shape[1] > 1 else eta[0]
    lda = models.LdaModel(
        num_topics=topics.n_topics,
        id2word=dictionary,
        alpha=topics.alpha,
        eta=np.ascontiguousarray(eta),
        dtype=weights.dtype.type,
    )
    lda.state.sstats[...] = weights - lda.eta
    lda.state.numdocs = dictionary.num_docs = n_documents_of(model)
    # Of which gensim's rate is a function: topics are not forgotten for the first chunk.
    lda.num_updates = n_steps_of(model) * lda.chunksize
    lda.sync_state()
    return lda


def from_gensim(
    model: Any, *, n_documents: int | None = None, random_state: Any = None
) -> LatentDirichletAllocation:
    """Return a fitted estimator with the topics of gensim's `LdaModel`, which can go on learning.

    lambda = eta + sstats, alpha, eta and words are taken as they are. Where gensim learned with
    float32, so does the estimator.

    Parameters
    ----------
    model : gensim.models.LdaModel
        Trained; `LdaMulticore` is one too.
    n_documents : int, default=None
        Documents that it was learned from; None asks the model.
    random_state : int, RandomState, Generator or None, default=None
        Of the steps to come.

    Returns
    -------
    LatentDirichletAllocation
        Its `words_` are those of `id2word`. `TopicModel.from_estimator` makes a model of texts of
        it.

    Examples
    --------
    >>> from gensim.corpora import Dictionary
    >>> from gensim.models import LdaModel
    >>> texts = [["cat", "dog"], ["dog", "cat", "cat"], ["bank", "rate"], ["rate", "bank"]] * 5
    >>> words = Dictionary(texts)
    >>> trained = LdaModel([words.doc2bow(text) for text in texts], 2, words, random_state=0)
    >>> lda = from_gensim(trained)
    >>> sorted(lda.words_), bool(np.allclose(lda.components_, trained.state.get_lambda()))
    (['bank', 'cat', 'dog', 'rate'], True)
    """
    with needing("gensim", "from_gensim"):
        from gensim import models
    check_class(model, models.LdaModel, "gensim's LdaModel")
    found = int(model.state.numdocs) if n_documents is None else n_documents
    if n_documents is None and not found:
        raise ValueError(
            "the LdaModel has not seen any documents: call update(corpus) first, or give "
            "n_documents if it was learned elsewhere"
        )
    words = [str(model.id2word[column]) for column in range(model.num_terms)]
    weights = model.state.get_lambda()
    if weights.dtype == np.float16:
        weights = weights.astype(np.float32)
    return fitted_lda(
        weights,
        model.alpha,
        model.eta,
        words,
        n_documents=found,
        n_steps=int(model.num_updates / model.chunksize),
        random_state=random_state,
    )
