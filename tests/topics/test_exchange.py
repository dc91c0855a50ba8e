"""Topics to and from other libraries, which are the real ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gensim
import numpy as np
import pyarrow
import pyarrow.parquet
import pyLDAvis
import pytest
import tomotopy
from gensim.matutils import Sparse2Corpus
from scipy import sparse
from sklearn import decomposition
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

import trustream
from tests.helpers import Array
from tests.topics.planted import documents_of, in_batches, planted_topics
from trustream import LatentDirichletAllocation, TopicModel
from trustream.evaluation import match_topics
from trustream.topics import (
    TopicSet,
    as_topics,
    documents_to_arrow,
    from_gensim,
    from_sklearn,
    from_tomotopy,
    set_labels,
    to_arrow,
    to_gensim,
    to_pyldavis,
    to_sklearn,
    topic_info,
    write_parquet,
)

K, V = 5, 200


@pytest.fixture(scope="module")
def corpus() -> tuple[TopicSet, sparse.csr_array]:
    rng = np.random.default_rng(0)
    topics = planted_topics(rng, K, V)
    return topics, documents_of(rng, topics, rng.dirichlet(np.full(K, 0.2), 600))


def fitted(counts: Any, dtype: str = "float64", **options: Any) -> LatentDirichletAllocation:
    lda = LatentDirichletAllocation(K, random_state=0, dtype=dtype, **options).fit(counts)
    return lda.set_words([f"w{v}" for v in range(V)])


def completion(lda: LatentDirichletAllocation, counts: Any) -> float:
    return float(lda.completion(counts, random_state=0).per_word)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_round_trip_through_gensim_keeps_all(corpus: Any, dtype: str) -> None:
    _, counts = corpus
    lda = fitted(counts, dtype)
    there = to_gensim(lda)
    back = from_gensim(there)
    limit = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(back.components_, lda.components_, rtol=limit)
    np.testing.assert_allclose(back.doc_topic_prior_, lda.doc_topic_prior_, rtol=limit)
    np.testing.assert_allclose(back.topic_word_prior_, lda.topic_word_prior_, rtol=limit)
    assert abs(completion(back, counts) - completion(lda, counts)) < max(1e-6, limit)
    assert back.words_ == lda.words_ and back._n_samples_seen == 600
    assert back.dtype == dtype == there.dtype


def test_gensim_works_with_what_it_is_given(corpus: Any) -> None:
    _, counts = corpus
    lda = fitted(counts)
    there = to_gensim(lda)
    np.testing.assert_allclose(
        there.get_topics(), lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(
        there.expElogbeta, lda.exp_dirichlet_component_, rtol=1e-6, atol=1e-12
    )
    there.iterations, there.gamma_threshold = 500, 1e-8
    gamma, _ = there.inference(Sparse2Corpus(counts[:50], documents_columns=False))
    theta = gamma / gamma.sum(axis=1, keepdims=True)
    assert np.abs(theta - lda.transform(counts[:50])).max() < 0.02
    assert there.id2word.doc2bow(["w3", "w3", "w7"]) == [(3, 2), (7, 1)]
    before = there.get_topics()
    there.update(Sparse2Corpus(counts[:100], documents_columns=False))
    # It goes on, and does not begin anew.
    assert match_topics(before, there.get_topics()).distances.max() < 0.1


def test_gensim_models_come_in_and_go_on(corpus: Any) -> None:
    planted, counts = corpus
    words = dict(enumerate(planted.words))
    trained = gensim.models.LdaModel(
        Sparse2Corpus(counts, documents_columns=False), K, words, random_state=0, passes=10,
        alpha="auto", eta="auto", dtype=np.float64,
    )  # fmt: skip
    lda = from_gensim(trained, random_state=0)
    np.testing.assert_allclose(lda.components_, trained.state.get_lambda(), rtol=1e-12)
    assert np.shape(lda.topic_word_prior_) == (V,)
    before, start = completion(lda, counts), lda.components_
    for _ in range(5):
        lda.partial_fit(counts)
    assert completion(lda, counts) > before - 0.01
    assert match_topics(start, lda.components_).distances.max() < 0.5


@pytest.mark.parametrize("learn_priors", [True, "eta"])
def test_a_round_trip_through_scikit_learn_keeps_all(corpus: Any, learn_priors: Any) -> None:
    _, counts = corpus
    lda = fitted(counts, learn_priors=learn_priors)
    if learn_priors is True:
        with pytest.warns(UserWarning, match="one alpha for all topics"):
            there = to_sklearn(lda)
    else:
        there = to_sklearn(lda)
        theta = there.set_params(mean_change_tol=1e-8, max_doc_update_iter=500).transform(counts)
        assert np.abs(theta - lda.transform(counts)).max() < 0.02
        assert 1 < there.perplexity(counts) < V
    back = from_sklearn(there, lda.words_, n_documents=600)
    np.testing.assert_allclose(back.components_, lda.components_, rtol=1e-12)
    np.testing.assert_allclose(back.doc_topic_prior_, lda.doc_topic_prior_, rtol=1e-12)
    assert abs(completion(back, counts) - completion(lda, counts)) < 1e-6
    before = there.components_.copy()
    there.partial_fit(counts)
    assert match_topics(before, there.components_).distances.max() < 0.1


def test_scikit_learn_models_come_in_and_go_on(corpus: Any, tmp_path: Path) -> None:
    planted, counts = corpus
    trained = decomposition.LatentDirichletAllocation(K, random_state=0, max_iter=20).fit(counts)
    lda = from_sklearn(trained, planted.words, n_documents=600, random_state=0)
    np.testing.assert_allclose(lda.components_, trained.components_, rtol=1e-9)
    theta = trained.set_params(mean_change_tol=1e-8, max_doc_update_iter=500).transform(counts)
    assert np.abs(theta - lda.transform(counts)).max() < 0.02
    lda.save(tmp_path / "from.safetensors")
    loaded = trustream.load(tmp_path / "from.safetensors")
    for model in (lda, loaded):
        for _ in range(3):
            model.partial_fit(counts)
    np.testing.assert_array_equal(loaded.components_, lda.components_)
    assert match_topics(trained.components_, lda.components_).distances.max() < 0.5


@pytest.fixture(scope="module")
def tomotopy_model(corpus: Any) -> Any:
    planted, counts = corpus
    model = tomotopy.LDAModel(k=K, seed=0)
    for row in counts.toarray():
        model.add_doc([planted.words[v] for v in np.repeat(np.arange(V), row)])
    model.train(200, workers=1)
    return model


def test_tomotopy_models_come_in_and_go_on(corpus: Any, tomotopy_model: Any) -> None:
    planted, counts = corpus
    lda = from_tomotopy(tomotopy_model, random_state=0)
    beta = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    theirs = np.array([tomotopy_model.get_topic_word_dist(k) for k in range(K)])
    np.testing.assert_allclose(beta, theirs, rtol=1e-5)
    np.testing.assert_allclose(lda.doc_topic_prior_, tomotopy_model.alpha)
    # lambda is eta and whole counts, as many as there are tokens.
    tokens = lda.components_.astype(np.float64) - tomotopy_model.eta
    np.testing.assert_allclose(tokens, tokens.round(), atol=1e-3)
    assert tokens.sum() == pytest.approx(counts.sum(), rel=1e-5)
    columns = [planted.words.index(word) for word in lda.words_]
    assert match_topics(planted.weights[:, columns], beta).distances.max() < 0.2
    own = counts[:, columns]
    before = completion(lda, own)
    lda.partial_fit(own)
    assert completion(lda, own) > before - 0.02


def test_texts_go_on_from_another_library(tmp_path: Path) -> None:
    texts = ["cats and dogs", "dogs, cats, dogs", "bank rates", "the bank rates bank"] * 20
    vectorizer = CountVectorizer(stop_words="english")
    counts = vectorizer.fit_transform(texts)
    trained = decomposition.LatentDirichletAllocation(2, random_state=0).fit(counts)
    words = vectorizer.get_feature_names_out()
    lda = from_sklearn(trained, words, n_documents=80)
    model = TopicModel.from_estimator(lda, tokeniser=vectorizer, random_state=0)
    np.testing.assert_array_equal(model.transform(texts[:4]), lda.transform(counts[:4]))
    model.partial_fit(texts)
    assert model.n_documents_ == 160
    growing = TopicModel.from_estimator(lda, random_state=0, min_documents=3)
    growing.partial_fit(["birds and cats and dogs"] * 4)
    assert growing.words_ == [*words, "birds"]
    proportions = growing.transform(["bank rates", "cats", "birds"])
    assert proportions[2].argmax() == proportions[1].argmax() != proportions[0].argmax()
    growing.save(tmp_path / "model.safetensors")
    again = trustream.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.transform(texts), growing.transform(texts))
    assert lda.words_ == [*words]  # a copy was taken
    with pytest.raises(ValueError, match="not the 4 of the model"):
        TopicModel.from_estimator(lda, tokeniser=CountVectorizer().fit(["other words"]))
    with pytest.raises(ValueError, match="is not fitted"):
        TopicModel.from_estimator(lda, tokeniser=CountVectorizer())
    with pytest.raises(ValueError, match="call set_words"):
        TopicModel.from_estimator(from_sklearn(trained, n_documents=80))


def shown_shares(prepared: Any) -> Array:
    """The sizes of topics that pyLDAvis draws, in the order of rows."""
    frame = prepared.topic_coordinates
    order = np.array(prepared.topic_order) - 1
    shares = np.empty(len(order))
    shares[order] = frame["Freq"].to_numpy() / 100
    return shares


def test_pyldavis_draws_our_shares(corpus: Any) -> None:
    _, counts = corpus
    lda = fitted(counts)
    without = pyLDAvis.prepare(**to_pyldavis(lda), n_jobs=1)
    np.testing.assert_allclose(shown_shares(without), as_topics(lda).shares, rtol=1e-6)
    with_empty = sparse.vstack([counts, sparse.csr_array((2, V))], format="csr")
    for documents in (counts, with_empty, in_batches(counts, 70)):
        prepared = pyLDAvis.prepare(**to_pyldavis(lda, documents), sort_topics=False, n_jobs=1)
        shares = [info.share for info in sorted(topic_info(lda, counts), key=lambda i: i.topic)]
        np.testing.assert_allclose(shown_shares(prepared), shares, rtol=1e-5)
    given = to_pyldavis(lda, counts)
    np.testing.assert_array_equal(given["term_frequency"], counts.sum(axis=0))
    assert given["doc_lengths"].sum() == counts.sum()
    # The page itself has the words and, for each topic, ours first.
    page = pyLDAvis.prepared_data_to_html(prepared)
    assert all(f'"{words[0]}"' in page for words in lda.top_words(1))
    drawn = json.loads(prepared.to_json())["tinfo"]
    first = [term for term, where in zip(drawn["Term"], drawn["Category"], strict=True)
             if where == "Topic1"]  # fmt: skip
    assert set(lda.top_words(5)[0]) <= set(first)
    with pytest.raises(ValueError, match="no document has a word"):
        to_pyldavis(lda, np.zeros((3, V)))


def test_arrow_and_parquet_hold_topics_words_and_documents(corpus: Any, tmp_path: Path) -> None:
    _, counts = corpus
    lda = fitted(counts)
    topics = set_labels(as_topics(lda), {2: "<b>named</b>"})
    tables = to_arrow(topics)
    assert tables.topics.column("label").to_pylist()[2] == "<b>named</b>"
    np.testing.assert_allclose(tables.topics.column("alpha"), lda.doc_topic_prior_)
    np.testing.assert_allclose(tables.topics.column("share"), topics.shares)
    assert tables.words.num_rows == K * V
    third = tables.words.filter(pyarrow.compute.equal(tables.words["topic"], 3)).to_pandas()
    np.testing.assert_allclose(third["probability"].sum(), 1.0)
    np.testing.assert_array_equal(third["weight"], lda.components_[3])
    assert third["word"].tolist() == topics.words

    keys = [f"key {row}" for row in range(600)]
    paths = write_parquet(topics, tmp_path / "out", in_batches(counts, 70, keys=keys))
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(p.name for p in paths)
    read = pyarrow.parquet.read_table(paths[2])
    assert read.column("key").to_pylist() == keys and read.column("row").to_pylist()[-1] == 599
    theta = np.stack([read.column(f"topic_{k}").to_numpy() for k in range(K)], axis=1)
    np.testing.assert_array_equal(theta, lda.transform(counts))
    np.testing.assert_array_equal(read.column("n_tokens"), counts.sum(axis=1))
    assert pyarrow.parquet.read_table(paths[1]).num_rows == K * V


def test_documents_are_read_as_they_are_asked_for(corpus: Any, tmp_path: Path) -> None:
    topics, counts = corpus
    taken = []

    def batches() -> Any:
        for number, batch in enumerate(in_batches(counts, 50)):
            taken.append(number)
            yield batch
            if number == 7:
                raise OSError("the source is gone")

    reader = documents_to_arrow(topics, batches())
    reader.read_next_batch()
    assert len(taken) <= 2
    with pytest.raises(ValueError, match="there are no documents"):
        documents_to_arrow(topics, [])
    (tmp_path / "topics.parquet").write_text("before")
    with pytest.raises(OSError, match="the source is gone"):
        write_parquet(topics, tmp_path, batches())
    # Nothing was replaced, and nothing is left over.
    assert [path.name for path in tmp_path.iterdir()] == ["topics.parquet"]
    assert (tmp_path / "topics.parquet").read_text() == "before"


def test_what_cannot_be_taken_is_refused(corpus: Any, tomotopy_model: Any) -> None:
    _, counts = corpus
    untrained = gensim.models.LdaModel(num_topics=2, id2word={0: "cat", 1: "dog"})
    for call, message in [
        (lambda: from_gensim(tomotopy_model), "expected gensim's LdaModel"),
        (lambda: from_gensim(untrained), "has not seen any documents"),
        (lambda: from_sklearn(untrained, n_documents=3), "expected scikit-learn's"),
        (lambda: from_sklearn(fitted(counts), n_documents=3), "trustream's own"),
        (lambda: from_tomotopy(untrained), "expected tomotopy's LDAModel"),
        (lambda: from_tomotopy(tomotopy.LDAModel(k=2)), "no topics yet"),
        (lambda: from_tomotopy(tomotopy.HDPModel()), r"convert_to_lda\(\)"),
        (lambda: from_tomotopy(tomotopy.CTModel()), "CTModel, expected tomotopy's LDAModel"),
        (lambda: to_gensim(TopicSet.of([[1.0, 2.0]], 0.1, ["a", "a"])), "two columns with"),
        (lambda: to_sklearn(fitted(counts, learn_priors="per-word")), "one eta for all words"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    for export in (to_gensim, to_sklearn, to_pyldavis, to_arrow):
        with pytest.raises(NotFittedError):
            export(LatentDirichletAllocation())
        with pytest.raises(ValueError, match="expected a fitted LatentDirichletAllocation"):
            export(untrained)
    with pytest.raises(NotFittedError):
        from_sklearn(decomposition.LatentDirichletAllocation(), n_documents=3)
    trained = decomposition.LatentDirichletAllocation(2, random_state=0).fit(counts)
    with pytest.raises(ValueError, match="2 words for 200 columns"):
        from_sklearn(trained, ["cat", "dog"], n_documents=3)
    with pytest.raises(ValueError, match="n_documents must be an integer of at least 1"):
        from_sklearn(trained, n_documents=0)
    trained.components_[0, 3] = 0.0
    with pytest.raises(ValueError, match="weights go from 0"):
        from_sklearn(trained, n_documents=600)


def test_libraries_are_asked_for_when_they_are_used(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import sys, trustream; trustream.topics.to_gensim, trustream.topics.from_tomotopy;"
        "loaded = {'gensim', 'tomotopy', 'pyLDAvis'} & set(sys.modules); assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    for module in ("gensim", "tomotopy", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    for call, message in [
        (to_gensim, "to_gensim needs gensim: pip install gensim"),
        (from_gensim, "from_gensim needs gensim"),
        (from_tomotopy, "from_tomotopy needs tomotopy"),
        (to_arrow, r"to_arrow needs trustream\[parquet\]: pip install trustream\[parquet\]"),
    ]:
        with pytest.raises(ImportError, match=message):
            call(corpus[0])  # type: ignore[operator]


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_pipe_in_the_place_of_a_parquet_file_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "words.parquet")
    topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"])
    with pytest.raises(ValueError, match="it is a pipe; give the name of a file"):
        write_parquet(topics, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["words.parquet"]
    assert (tmp_path / "words.parquet").is_fifo()
