"""Trust-region stochastic variational inference for topic models, mixtures and streams.

The public names, packages and modules are loaded on first use, so that ``import trustream`` and
the command line start at once:

>>> import trustream
>>> "LatentDirichletAllocation" in dir(trustream)
True
>>> trustream.text.tokenise("Cats and dogs")
['cats', 'dogs']
"""

from __future__ import annotations

from trustream._lazy_names import lazy_names

# Nothing is imported to say this: until it is loaded the command line cannot answer to Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from trustream import (
        cluster,
        demo,
        estimators,
        evaluation,
        families,
        feeds,
        inference,
        learning,
        models,
        persist,
        presets,
        recommender,
        service,
        store,
        streaming,
        text,
        topics,
    )
    from trustream.estimators import (
        BayesianLinearRegression,
        BernoulliMixture,
        GaussianMixture,
        HiddenMarkovModel,
        LatentDirichletAllocation,
        PoissonFactorization,
        ProbitRegression,
    )
    from trustream.persist import load
    from trustream.recommender import (
        PoissonRecommender,
        TopicRecommender,
        TrendingRecommender,
    )
    from trustream.store import open_store
    from trustream.streaming.trainer import StreamTrainer
    from trustream.topics.topic_model import TopicModel

__version__ = "0.2.0"

__all__ = [
    "BayesianLinearRegression",
    "BernoulliMixture",
    "GaussianMixture",
    "HiddenMarkovModel",
    "LatentDirichletAllocation",
    "PoissonFactorization",
    "PoissonRecommender",
    "ProbitRegression",
    "StreamTrainer",
    "TopicModel",
    "TopicRecommender",
    "TrendingRecommender",
    "__version__",
    "cluster",
    "demo",
    "estimators",
    "evaluation",
    "families",
    "feeds",
    "inference",
    "learning",
    "load",
    "models",
    "open_store",
    "persist",
    "presets",
    "recommender",
    "service",
    "store",
    "streaming",
    "text",
    "topics",
]

_HOME = {
    "BayesianLinearRegression": "trustream.estimators",
    "BernoulliMixture": "trustream.estimators",
    "GaussianMixture": "trustream.estimators",
    "HiddenMarkovModel": "trustream.estimators",
    "LatentDirichletAllocation": "trustream.estimators",
    "PoissonFactorization": "trustream.estimators",
    "PoissonRecommender": "trustream.recommender",
    "ProbitRegression": "trustream.estimators",
    "TopicRecommender": "trustream.recommender",
    "TrendingRecommender": "trustream.recommender",
    "StreamTrainer": "trustream.streaming.trainer",
    "TopicModel": "trustream.topics.topic_model",
    "load": "trustream.persist",
    "open_store": "trustream.store",
}

_MODULES = [name for name in __all__ if name not in _HOME and name != "__version__"]

__getattr__, __dir__ = lazy_names(__name__, _HOME, _MODULES)
