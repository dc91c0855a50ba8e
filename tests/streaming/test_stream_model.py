"""A trainer does not know its model: clusters of documents are trained on a store as topics are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from trustream import BernoulliMixture, StreamTrainer, open_store
from trustream.inference.state import State
from trustream.learning import state_formats
from trustream.learning.learner import Learner
from trustream.models.mixture import BernoulliModel, BernoulliNatural, BernoulliPrior
from trustream.store.records import Documents, Record
from trustream.streaming import stream_model
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_checkpoint, load_model, load_settings, save_settings
from trustream.streaming.retraining import retrain
from trustream.streaming.setup import prepare
from trustream.streaming.status import status
from trustream.streaming.stream_model import Score, StreamModel

KINDS = ["cat dog bird fish horse".split(), "bank bond rate stock coin".split()]


@dataclass(frozen=True)
class ClusterStream(StreamModel):
    """A mixture over which words a document has."""

    kind = "clusters"

    n_components: int = 2
    random_state: int = 0
    score_every: int = 2
    score_documents: int = 100
    recipe: Any = None

    def __post_init__(self) -> None:
        if self.recipe is None:
            # Without a mean, which would have to follow words too.
            chosen = BernoulliMixture(self.n_components, batch_size=20, population=None)._recipe()
            object.__setattr__(self, "recipe", chosen)

    def settings(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "recipe"}

    @classmethod
    def from_settings(cls, values: Any) -> ClusterStream:
        return cls(**{name: value for name, value in values.items() if name != "kind"})

    def with_recipe(self, recipe: Any) -> ClusterStream:
        return replace(self, recipe=recipe)

    def start(self) -> State:
        k = self.n_components
        empty = np.empty((0, k))
        return State(BernoulliNatural(np.ones(k), empty, empty), BernoulliPrior(np.ones(k)))

    def learner(self, n_words: int, n_threads: int) -> Learner:
        model = BernoulliModel(
            n_components=self.n_components, n_features=n_words, dtype="float64", n_threads=n_threads
        )
        return Learner(model, self.recipe)

    def data(self, documents: Documents, n_words: int) -> Any:
        arrays = (np.ones(documents.counts.size), documents.indices, documents.indptr)
        return sparse.csr_array(arrays, shape=(len(documents.keys), n_words)).toarray()

    def follow(self, state: State, changes: Any) -> State:
        gamma, a, b = state.lambda_
        n_words = max([a.shape[0], *(column + 1 for column, _ in changes)])
        a, b = (np.vstack([part, np.ones((n_words - part.shape[0], 2))]) for part in (a, b))
        for column, word in changes:
            seed = [self.random_state, *(word or "").encode()]
            a[column], b[column] = np.random.default_rng(seed).gamma(100.0, 0.01, (2, 2))
        return replace(state, lambda_=BernoulliNatural(gamma, a, b))

    def follow_savepoint(self, state: State, changes: Any) -> Any:
        return lambda: None

    def score(self, learner: Learner, state: State, documents: Documents) -> Score | None:
        model = learner.model
        batch = learner.batch(self.data(documents, model.n_features))
        values = model.predictive_log_density(state.lambda_, state.prior, batch)
        return Score(float(values.mean()), 0.0, values.size, int(documents.counts.sum()))

    def format(self, n_words: int) -> state_formats.StateFormat:
        return state_formats.bernoulli(self.n_components, n_words, "float64")

    def estimator(
        self, state: State, words: Sequence[str | None], rng: Any, n_seen: int
    ) -> BernoulliMixture:
        model = BernoulliMixture(self.n_components, dtype="float64")
        model._state, model._rng, model._n_samples_seen = state, rng, n_seen
        model.n_iter_, model.n_features_in_ = 1, len(words)
        return model


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr(stream_model, "_KINDS", dict(stream_model._KINDS))
    stream_model.register(ClusterStream)


def records(n: int) -> list[Record]:
    rng = np.random.default_rng(0)
    return [Record(f"d{i}", rng.choice(KINDS[i % 2], 4).tolist()) for i in range(n)]


def run(path: Path, cuts: Sequence[int]) -> bytes | None:
    """A store's checkpoint after runs of so many steps, with documents that come between them."""
    with open_store(path, min_documents=1, held_out=0.1) as store:
        store.append(records(120))
        for n in cuts:
            with StreamTrainer(store, model=ClusterStream(), prefetch=False) as trainer:
                trainer.run(steps=n)
        return store.load("model")


def test_a_mixture_is_streamed(tmp_path: Path) -> None:
    """Clusters are found, words enter, and a resumed run equals an uninterrupted one."""
    assert run(tmp_path / "whole.db", [30]) == run(tmp_path / "cut.db", [1, 12, 17])
    with open_store(tmp_path / "whole.db") as store:
        checkpoint, model = load_checkpoint(store), load_model(store)
        rows = np.array([[w in kind for w in checkpoint.words] for kind in KINDS], float)
        assert sorted(model.predict(rows).tolist()) == [0, 1]
        assert checkpoint.last_score > -10 * np.log(2)
        store.append([Record(f"new{i}", ["novel", "cat"]) for i in range(20)])
        with StreamTrainer(store, model=ClusterStream()) as trainer:
            trainer.run(steps=5)
        assert "novel" in load_checkpoint(store).words


def test_top_words_of_a_model_without_topics(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", min_documents=1) as store:
        store.append(records(120))
        with StreamTrainer(store, model=ClusterStream(), name="kinds") as trainer:
            for _ in range(2):
                with pytest.raises(
                    ValueError, match=r"'kinds' is of kind 'clusters', which has no topics"
                ):
                    trainer.top_words()
                trainer.run(steps=1)
        assert not hasattr(load_model(store, "kinds"), "_topic_names")


def test_topics_refuse_the_recipe_of_another_method() -> None:
    stream, other = TopicStream(n_components=3), TopicStream(n_components=3, method="streaming-vb")
    assert stream.with_recipe(replace(stream.recipe, tau=7.0)).recipe.tau == 7.0
    with pytest.raises(ValueError, match=r"of the method streaming-vb.*method='streaming-vb'"):
        stream.with_recipe(other.recipe)


def test_a_mixture_has_no_topics(tmp_path: Path) -> None:
    """Neither before it is trained, nor after, nor when it was trained afresh."""
    with open_store(tmp_path / "store.db", min_documents=1, held_out=0.1) as store:
        store.append(records(120))
        prepare(store, ClusterStream())
        prepare(store, TopicStream(n_components=3), "topics")
        assert [(listed.name, listed.n_topics) for listed in status(store).models] == [
            ("model", None),
            ("topics", 3),
        ]
        with pytest.raises(ValueError, match=r"other settings already \(clusters, trust-region\)"):
            prepare(store, ClusterStream(n_components=4))
        with StreamTrainer(store, model=load_settings(store), prefetch=False) as trainer:
            trainer.run(steps=3)
        found = status(store)
        assert found.model.n_topics is found.models[0].n_topics is None
        assert found.model.n_steps == 3
        assert retrain(store, force=True).replaced
        assert status(store).model.n_topics is None
        assert load_checkpoint(store).names is None
        assert len(load_checkpoint(store).topic_names.ids) == 0


def test_settings_name_the_kind(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        save_settings(store, ClusterStream(n_components=3))
        assert load_settings(store) == ClusterStream(n_components=3)
        store.save("model.settings", b'{"kind": "magic"}')
        with pytest.raises(ValueError, match="no kind of model 'magic': known are"):
            load_settings(store)


def test_another_kind_under_the_same_name_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "store.db", [2])
    with open_store(tmp_path / "store.db") as store:
        with pytest.raises(ValueError, match="made with n_components=2, now it is 5"):
            StreamTrainer(store, n_components=5)
        with pytest.raises(ValueError, match="made with kind=clusters, now it is lda"):
            StreamTrainer(store, model=TopicStream())
        with pytest.raises(ValueError, match="a model that is given has settings of its own"):
            StreamTrainer(store, 5, model=ClusterStream())
