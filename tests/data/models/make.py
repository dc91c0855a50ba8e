"""Make the model files beside this one: small, of every estimator, and the numbers they give.

They were made before model files had checksums, and stay as they are, as do those of each version
that was released, in a folder of its name: a test loads them and compares. To add files of a
version:

    python tests/data/models/make.py tests/data/models/VERSION
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

import trustream
from trustream import (
    BayesianLinearRegression,
    BernoulliMixture,
    GaussianMixture,
    HiddenMarkovModel,
    LatentDirichletAllocation,
    PoissonFactorization,
    PoissonRecommender,
    ProbitRegression,
    TopicRecommender,
    TrendingRecommender,
)
from trustream.recommender.fitted_recommender import FittedRecommender
from trustream.store.records import Record

N_WORDS = 8
COUNTS = np.random.default_rng(0).poisson(1.0, size=(60, N_WORDS))
BITS = (np.random.default_rng(1).random((60, 5)) < 0.4).astype(float)
POINTS = np.random.default_rng(2).normal(size=(60, 3)) * [1.0, 3.0, 0.2] + [5.0, -2.0, 0.0]

LDA: dict[str, dict[str, Any]] = {
    "lda": {},
    "lda-float64": {"dtype": "float64"},
    "lda-online": {"learning_method": "online"},
    "lda-per-word": {"learn_priors": "per-word"},
    "lda-streaming-vb": {"learning_method": "streaming-vb"},
    "lda-streaming-batch": {"learning_method": "streaming-batch"},
    "lda-adaptive": {"learning_rate": "adaptive"},
    "lda-alpha-given": {"learn_priors": False, "doc_topic_prior": [0.1, 0.2, 0.3]},
    "lda-eta-of-topics": {
        "topic_word_prior": np.linspace(0.01, 0.3, 3 * N_WORDS).reshape(3, N_WORDS)
    },
    "lda-eta-of-words": {"topic_word_prior": np.linspace(0.01, 0.3, N_WORDS), "total_samples": 500},
    "lda-collapsed": {"local": "collapsed"},
    "lda-mt19937": {"random_state": np.random.Generator(np.random.MT19937(3))},
    "lda-random-state": {"random_state": np.random.RandomState(3)},
}
BERNOULLI: dict[str, dict[str, Any]] = {
    "bernoulli": {},
    "bernoulli-priors": {
        "probability_prior": (np.full(5, 0.5), np.linspace(0.5, 1.5, 5)),
        "weight_concentration_prior": [1.0, 2.0, 3.0],
    },
    "bernoulli-adaptive": {"learning_rate": "adaptive", "dtype": "float64"},
}
GAUSSIAN: dict[str, dict[str, Any]] = {
    "gaussian-full": {"covariance_type": "full"},
    "gaussian-diag": {"covariance_type": "diag", "dtype": "float32"},
    "gaussian-tied": {"covariance_type": "tied"},
    "gaussian-adaptive": {"learning_rate": "adaptive", "mean_prior": [5.0, -2.0, 0.0]},
}
# Those below came after model files had checksums: there are no old files of them.
SYMBOLS = np.random.default_rng(3).integers(4, size=(60, 1))
RESPONSES = (POINTS - POINTS.mean(axis=0)) @ [1.0, 0.3, -2.0]
RESPONSES += np.random.default_rng(4).normal(size=60)
GROUPS = np.array(["north", "south", "größe"])[np.arange(60) % 3]
LATER: dict[str, tuple[type, dict[str, Any]]] = {
    "hmm": (HiddenMarkovModel, {"n_components": 3, "n_symbols": 4}),
    "hmm-bernoulli": (HiddenMarkovModel, {"n_components": 2, "emissions": "bernoulli"}),
    "hmm-gaussian": (HiddenMarkovModel, {"n_components": 2, "emissions": "gaussian"}),
    "factorization": (PoissonFactorization, {"n_components": 3}),
    "linear": (BayesianLinearRegression, {}),
    "linear-groups": (BayesianLinearRegression, {"learning_method": "trust-region"}),
    "probit": (ProbitRegression, {}),
    "probit-groups": (ProbitRegression, {"learning_method": "trust-region"}),
}
RATINGS = {
    "user": ["ann", "ann", "bob", "bob", "cat", "cat", "dan", "dan"],
    "item": ["ham", "egg", "ham", "egg", "tea", "cake", "tea", "größe"],
    "rating": [5, 4, 4, 5, 5, 4, 5, 5],
}
TIMED = {**RATINGS, "timestamp": [86_400 * day for day in range(8)]}
NEWER = {"user": ["bob", "eve"], "item": ["jam", "ham"], "rating": [5, 5], "timestamp": [7e5, 8e5]}
CHECKPOINTS = {"stream": "trust-region", "stream-streaming-vb": "streaming-vb"}


def estimators() -> dict[str, Any]:
    """Fitted ones by the names of their files."""
    made: dict[str, Any] = {}
    for cls, table, data in (
        (LatentDirichletAllocation, LDA, COUNTS),
        (BernoulliMixture, BERNOULLI, BITS),
        (GaussianMixture, GAUSSIAN, POINTS),
    ):
        for name, settings in table.items():
            estimator = cls(**{"n_components": 3, "random_state": 0, **settings})
            for start in range(0, 60, 20):
                estimator.partial_fit(data[start : start + 20])
            made[name] = estimator
    words = [f"słowo{i}" for i in range(N_WORDS)]
    frame = pd.DataFrame(COUNTS, columns=words)
    lda = LatentDirichletAllocation(3, learning_method="memoized", max_iter=2, random_state=0)
    made["lda-words"] = lda.fit(frame)
    made["gaussian-fitted"] = GaussianMixture(3, random_state=0).fit(POINTS)
    made["bernoulli-fitted"] = BernoulliMixture(3, max_iter=3, random_state=0).fit(BITS)
    made["recommender"] = TopicRecommender(2, threshold=4, random_state=0).fit(RATINGS)
    made["recommender-matrix"] = TopicRecommender(3, random_state=0).fit(COUNTS)
    return made


def later_estimators() -> dict[str, Any]:
    """Those of which there are no old files."""
    made: dict[str, Any] = {}
    for name, (cls, settings) in LATER.items():
        estimator = cls(random_state=0, **settings)
        for start in range(0, 60, 20):
            learn(estimator, slice(start, start + 20), name.endswith("-groups"))
        made[name] = estimator
    factors = PoissonRecommender(2, threshold=4, random_state=0)
    made["poisson-recommender"] = factors.fit(RATINGS)
    for_ever = {"half_life": np.inf, "share": 0.5}
    made["trending"] = TrendingRecommender(factors, **for_ever).fit(TIMED)
    topics = TopicRecommender(2, threshold=4, random_state=0)
    made["trending-more"] = TrendingRecommender(topics, half_life=2, share=0.5).fit(TIMED)
    made["trending-more"].partial_fit(NEWER)  # has an item that topics do not know
    return made


def learn(estimator: Any, rows: slice, grouped: bool | None = None) -> None:
    """A step on some of the estimator's data; a regression that is fitted knows about groups."""
    if isinstance(estimator, BayesianLinearRegression | ProbitRegression):
        y = RESPONSES > 0 if isinstance(estimator, ProbitRegression) else RESPONSES
        groups = GROUPS[rows] if (estimator._grouped if grouped is None else grouped) else None
        estimator.partial_fit(POINTS[rows], y[rows], groups)
    else:
        estimator.partial_fit(data_of(estimator)[rows])


def checkpoints() -> dict[str, bytes]:
    """Of a stream, by the names of their files."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, method in CHECKPOINTS.items():
            with trustream.open_store(f"{folder}/{name}.db", min_documents=1) as store:
                store.append(
                    [
                        Record(f"d{i}", [f"w{v}" for v in np.repeat(np.arange(N_WORDS), row)])
                        for i, row in enumerate(COUNTS)
                        if row.any()
                    ]
                )
                with trustream.StreamTrainer(
                    store, n_components=3, batch_size=10, method=method, score_every=1
                ) as trainer:
                    trainer.run(steps=3)
                checkpoint = trainer.checkpoint()
                assert checkpoint is not None
                made[name] = checkpoint.to_bytes()
    return made


def numbers(estimator: Any) -> list[list[float]]:
    """What the estimator says of data, to compare with."""
    if isinstance(estimator, FittedRecommender):
        lists = [estimator.recommend(user, n=3) for user in estimator.user_ids_[:4].tolist()]
        return [[float(value) for value in found.scores] for found in lists]
    data = data_of(estimator)[:5]
    if isinstance(estimator, BayesianLinearRegression):
        mean, std = estimator.predict(data, return_std=True)
        chances = ndtr((RESPONSES[:5] - mean) / std)  # as all others, numbers from 0 to 1
        return [[float(chance)] for chance in chances]
    if isinstance(estimator, PoissonFactorization):
        theta = estimator.transform(data)
        return [[float(value) for value in row] for row in theta / (1 + theta)]
    read = "transform" if hasattr(estimator, "transform") else "predict_proba"
    found = np.asarray(getattr(estimator, read)(data), np.float64)
    listed: list[list[float]] = found.tolist()
    return listed


def data_of(estimator: Any) -> Any:
    """Data such as the estimator was fitted to."""
    kind = type(estimator).__name__
    if isinstance(estimator, HiddenMarkovModel):
        kind = estimator.emissions
    data = {
        "BernoulliMixture": BITS, "GaussianMixture": POINTS, "categorical": SYMBOLS,
        "bernoulli": BITS, "gaussian": POINTS, "BayesianLinearRegression": POINTS,
        "ProbitRegression": POINTS,
    }.get(kind, COUNTS)  # fmt: skip
    if hasattr(estimator, "feature_names_in_"):
        return pd.DataFrame(data, columns=list(estimator.feature_names_in_))
    return data


def main(folder: Path) -> None:
    """Write all files into a folder."""
    expected = {}
    for name, estimator in (estimators() | later_estimators()).items():
        estimator.save(folder / f"{name}.safetensors")
        expected[name] = numbers(estimator)
    for name, content in checkpoints().items():
        (folder / f"{name}.safetensors").write_bytes(content)
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
