"""Topics from tomotopy's `LDAModel`, which cannot take any back."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.estimators import LatentDirichletAllocation
from trustream.topics.exchange.fitted_models import fitted_lda
from trustream.topics.exchange.libraries import check_class, needing


def from_tomotopy(
    model: Any, *, n_documents: int | None = None, random_state: Any = None
) -> LatentDirichletAllocation:
    """Return a fitted estimator with the topics of tomotopy's `LDAModel`, which goes on learning.

    tomotopy draws a topic for each token (Gibbs sampling). What it counted, n_kv, becomes
    lambda_kv = n_kv + eta, so that E[beta] is the model's own `get_topic_word_dist` to float32;
    alpha, eta and the words in use are taken as they are. Not exact is the uncertainty: one draw
    takes the place of a mean, and topics of documents are inferred by variational steps here. There
    is no way back: tomotopy's models are built from documents only.

    Parameters
    ----------
    model : tomotopy.LDAModel
        Trained, with `TermWeight.ONE`, its default. Other models of tomotopy are refused;
        `HDPModel` has `convert_to_lda()`.
    n_documents : int, default=None
        Documents that it was learned from; None counts ``model.docs``, of which a model that was
        saved without them has none.
    random_state : int, RandomState, Generator or None, default=None
        Of the steps to come.

    Returns
    -------
    LatentDirichletAllocation
        Its `words_` are `used_vocabs`. `TopicModel.from_estimator` makes a model of texts of it.

    Examples
    --------
    >>> import tomotopy
    >>> trained = tomotopy.LDAModel(k=2, seed=0)
    >>> for text in ["cat dog cat", "dog dog cat", "bank rate", "rate rate bank"] * 5:
    ...     _ = trained.add_doc(text.split())
    >>> trained.train(20, workers=1)
    >>> lda = from_tomotopy(trained)
    >>> sorted(lda.words_), lda.components_.shape
    (['bank', 'cat', 'dog', 'rate'], (2, 4))
    """
    with needing("tomotopy", "from_tomotopy"):
        import tomotopy
    advice = ""
    if isinstance(model, tomotopy.HDPModel):
        advice = ": call its convert_to_lda() first, which returns one"
    is_lda = type(model) is tomotopy.LDAModel
    check_class(model, tomotopy.LDAModel if is_lda else (), "tomotopy's LDAModel", advice)
    if not len(model.used_vocabs) or not model.num_words:
        raise ValueError("the LDAModel has no topics yet: call its train first")
    if model.tw != tomotopy.TermWeight.ONE:
        raise ValueError(
            "the LDAModel has weighted its words (tw), trustream learns from counts: train one "
            "with TermWeight.ONE, or look at its topics by TopicSet.of"
        )
    found = len(model.docs) if n_documents is None else n_documents
    if not found:
        raise ValueError(
            "the LDAModel has no documents, it was saved without them: give n_documents, the "
            "number that it was learned from"
        )
    weights = [model.get_topic_word_dist(topic, normalize=False) for topic in range(model.k)]
    return fitted_lda(
        np.array(weights, np.float32),
        np.array(model.alpha, np.float64),
        float(model.eta),
        [str(word) for word in model.used_vocabs],
        n_documents=found,
        random_state=random_state,
    )
