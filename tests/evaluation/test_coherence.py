"""Coherence against hand-worked cases, a slow count written out here, and gensim."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from trustream.demo.docstrings import tokenise
from trustream.evaluation import cooccurrence
from trustream.evaluation.topic_coherence import EPSILON, c_v, coherence, npmi, umass

MEASURES = {"npmi": "c_npmi", "umass": "u_mass", "c_v": "c_v"}
WORDS = [f"w{i}" for i in range(40)]


def zipf_texts(seed: int = 0, n_texts: int = 60) -> list[list[str]]:
    """Texts of 0 to 80 tokens, with frequent words that are several times in a window."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, len(WORDS) + 1)
    lengths = rng.integers(0, 80, n_texts)
    return [list(rng.choice(WORDS, n, p=p / p.sum())) for n in lengths]


def random_topics(seed: int, n_topics: int = 6, n: int = 7) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [list(rng.choice(WORDS, n, replace=False)) for _ in range(n_topics)]


def counts_of(texts: list[list[str]]) -> np.ndarray:
    return np.array([[text.count(word) for word in WORDS] for text in texts])


def slow_windows(texts: list[list[str]], window: int | None) -> list[set[str]]:
    """Every window as the set of its words."""
    windows = []
    for text in texts:
        if window is None or len(text) <= window:
            windows.append(set(text))
        else:
            windows += [set(text[i : i + window]) for i in range(len(text) - window + 1)]
    return windows


def slow_npmi(a: str, b: str, windows: list[set[str]]) -> float:
    n = len(windows)
    pa, pb = (sum(word in w for w in windows) / n for word in (a, b))
    pab = sum(a in w and b in w for w in windows) / n
    return math.log((pab + EPSILON) / (pa * pb)) / -math.log(pab + EPSILON)


def slow_coherence(measure: str, topic: list[str], windows: list[set[str]]) -> float:
    if measure == "npmi":
        return float(np.mean([slow_npmi(a, b, windows) for a, b in combinations(topic, 2)]))
    if measure == "umass":
        n = len(windows)
        values = []
        for j, i in combinations(topic, 2):
            p = sum(i in w and j in w for w in windows) / n
            values.append(math.log((p + EPSILON) / (sum(j in w for w in windows) / n)))
        return float(np.mean(values))
    contexts = np.array([[slow_npmi(a, b, windows) for b in topic] for a in topic])
    whole = contexts.sum(axis=0)
    norms = np.linalg.norm(contexts, axis=1) * np.linalg.norm(whole)
    return float(np.mean(contexts @ whole / norms))


def gensim_coherence(
    measure: str, topics: list[list[str]], texts: list[list[str]], window: int | None
) -> np.ndarray:
    corpora = pytest.importorskip("gensim.corpora")
    models = pytest.importorskip("gensim.models")
    model = models.CoherenceModel(
        topics=topics,
        texts=texts,
        dictionary=corpora.Dictionary([WORDS, *texts]),
        coherence=MEASURES[measure],
        window_size=window,
        topn=max(len(topic) for topic in topics),
        processes=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(model.get_coherence_per_topic())


# --- hand-worked


def test_npmi_by_hand() -> None:
    # Windows {a, b}, {a, b}, {a}, {c}: P_a = 3/4, P_b = P_ab = 1/2.
    texts = [["a", "b"], ["b", "a"], ["a"], ["c"]]
    expected = math.log(0.5 / (0.75 * 0.5)) / -math.log(0.5)
    assert npmi([["a", "b"]], texts).per_topic == pytest.approx([expected], abs=1e-10)


def test_umass_is_given_the_word_before() -> None:
    counts = np.array([[1, 1], [1, 1], [1, 0], [0, 0]])
    assert umass([[0, 1]], counts).per_topic == pytest.approx([math.log(2 / 3)], abs=1e-10)
    assert umass([[1, 0]], counts).per_topic == pytest.approx([0.0], abs=1e-10)


def test_c_v_by_hand() -> None:
    texts = [["a", "b"], ["b", "a"], ["a"], ["c"]]
    x = math.log(0.5 / (0.75 * 0.5)) / -math.log(0.5)
    expected = (1 + x) / math.sqrt(2 * (1 + x * x))
    assert c_v([["a", "b"]], texts).per_topic == pytest.approx([expected], abs=1e-10)


def test_words_that_only_occur_together_have_npmi_one() -> None:
    result = npmi([["a", "b"]], [["a", "b"], ["c"], ["c"]])
    assert result.per_topic == pytest.approx([1.0], abs=1e-9)


# --- against the slow count


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("window", [1, 2, 5, 10, 110])
def test_sliding_windows_by_enumeration(measure: str, window: int) -> None:
    texts, topics = zipf_texts(), random_topics(1)
    result = coherence(topics, texts, measure, window=window, window_rule="exact")
    windows = slow_windows(texts, window)
    expected = [slow_coherence(measure, topic, windows) for topic in topics]
    np.testing.assert_allclose(result.per_topic, expected, rtol=0, atol=1e-10)
    assert result.n_windows == len(windows)
    assert result.window == window


@pytest.mark.parametrize("measure", MEASURES)
def test_documents_by_enumeration(measure: str) -> None:
    texts, topics = zipf_texts(n_texts=130), random_topics(2)
    windows = slow_windows(texts, None)
    expected = [slow_coherence(measure, topic, windows) for topic in topics]
    counts = counts_of(texts)
    for reference in (counts, sp.csr_matrix(counts), sp.csc_array(counts.astype(float))):
        result = coherence(topics, reference, measure, vocabulary=WORDS)
        np.testing.assert_allclose(result.per_topic, expected, rtol=0, atol=1e-10)
    assert result.window is None
    assert result.n_windows == 130
    # A window that no text fills is the whole text.
    result = coherence(topics, texts, measure, window=1000)
    np.testing.assert_allclose(result.per_topic, expected, rtol=0, atol=1e-10)


def test_texts_read_in_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, topics = zipf_texts(), random_topics(3)
    whole = {m: coherence(topics, texts, m).per_topic for m in MEASURES}
    monkeypatch.setattr(cooccurrence, "_BLOCK", 50)
    for measure, expected in whole.items():
        # Once through, so a generator will do.
        result = coherence(topics, (text for text in texts), measure)
        np.testing.assert_array_equal(result.per_topic, expected)


def test_kinds_of_input_agree() -> None:
    texts, topics = zipf_texts(), random_topics(4)
    numbers = [[WORDS.index(word) for word in topic] for topic in topics]
    ids = [np.array([WORDS.index(word) for word in text], int) for text in texts]
    weights = np.zeros((len(topics), len(WORDS)))
    for row, topic in zip(weights, numbers, strict=True):
        row[topic] = np.arange(len(topic), 0, -1)
    expected = npmi(topics, texts).per_topic
    cases: list[tuple[Any, Any, dict[str, Any]]] = [
        (topics, ids, {"vocabulary": WORDS}),
        (numbers, ids, {}),
        (np.array(topics), texts, {}),
        ([np.array(topic) for topic in numbers], texts, {"vocabulary": WORDS}),
        # Numbers that no table could hold, all far apart.
        ([[n * 10**15 for n in topic] for topic in numbers], [x * 10**15 for x in ids], {}),
        (weights, ids, {"n_words": 7}),
        (weights, texts, {"n_words": 7, "vocabulary": np.array(WORDS)}),
    ]
    for given, reference, options in cases:
        np.testing.assert_array_equal(npmi(given, reference, **options).per_topic, expected)


def test_a_token_outside_the_vocabulary_takes_its_place() -> None:
    assert npmi([[0, 1]], [[0, -1, 1], [2]], window=2).per_topic[0] < -0.8
    assert npmi([[0, 1]], [[0, 1], [2]], window=2).per_topic[0] > 0.9


# --- against gensim


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("window", [2, 5, 10, 50, 110, None])
def test_gensim_agrees(measure: str, window: int | None) -> None:
    texts, topics = zipf_texts(5), random_topics(6)
    # umass slides over nothing in gensim: its windows are documents.
    ours = coherence(topics, texts, measure, window=None if measure == "umass" else window)
    theirs = gensim_coherence(measure, topics, texts, window)
    np.testing.assert_allclose(ours.per_topic, theirs, rtol=0, atol=1e-9)


def test_gensim_agrees_on_prose() -> None:
    texts = [tokenise(doc) for doc in (np.linalg.svd.__doc__, np.einsum.__doc__, np.pad.__doc__)]
    counts: dict[str, int] = {}
    for text in texts:
        for word in text:
            counts[word] = counts.get(word, 0) + 1
    common = sorted(counts, key=lambda word: (-counts[word], word))
    topics = [common[:10], common[10:20], common[5:25:2]]
    for measure in MEASURES:
        ours = coherence(topics, texts, measure)
        theirs = gensim_coherence(measure, topics, texts, None)
        np.testing.assert_allclose(ours.per_topic, theirs, rtol=0, atol=1e-9)


def test_gensim_drops_a_word_when_its_first_token_leaves() -> None:
    # Windows of 3: {a}, {a, b}, {a, b}; gensim has no a in the second, though it is there.
    texts, topics = [["a", "a", "a", "b", "c"], ["d"]], [["a", "b"]]
    exact = npmi(topics, texts, window=3, window_rule="exact").per_topic
    assert exact == pytest.approx([slow_npmi("a", "b", slow_windows(texts, 3))], abs=1e-10)
    ours = npmi(topics, texts, window=3).per_topic
    assert ours == pytest.approx(gensim_coherence("npmi", topics, texts, 3), abs=1e-9)
    assert abs(ours[0] - exact[0]) > 0.1


def test_rules_agree_where_no_word_repeats() -> None:
    rng = np.random.default_rng(0)
    texts = [list(rng.permutation(WORDS)[:n]) for n in rng.integers(0, 40, 30)]
    gensim, exact = (
        npmi(random_topics(7), texts, window=6, window_rule=rule).per_topic
        for rule in ("gensim", "exact")
    )
    np.testing.assert_array_equal(gensim, exact)


# --- pairs and words that never occur


def test_pairs_never_seen_are_finite() -> None:
    texts = [["a"], ["b"], ["a"], ["b"]]
    for measure in MEASURES:
        result = coherence([["a", "b"]], texts, measure)
        assert result.per_topic == pytest.approx(
            gensim_coherence(measure, [["a", "b"]], texts, None), abs=1e-9
        )
    assert -1 <= npmi([["a", "b"]], texts).per_topic[0] < -0.9


def test_words_never_seen_are_the_worst_and_are_counted() -> None:
    texts = [["a", "b"], ["a", "b", "c"], ["c"]]
    topics = [["a", "b"], ["a", "x"], ["x", "y"], ["x", "a"]]
    result = npmi(topics, texts)
    assert result.per_topic[1:].tolist() == [-1, -1, -1]
    assert result.unseen.tolist() == [0, 1, 2, 1]
    assert "4 top words unseen" in repr(result)
    # gensim calls the conditional probability given an unseen word 1, the best there is.
    assert umass(topics, texts).per_topic[2:] == pytest.approx([math.log(EPSILON)] * 2)
    assert c_v(topics, texts).per_topic.tolist() == pytest.approx([1.0, 0.5, 0.0, 0.5])


def test_words_in_every_window_say_nothing() -> None:
    texts = [["a", "b"], ["b", "a"]]
    assert npmi([["a", "b"]], texts).per_topic.tolist() == [0.0]
    assert c_v([["a", "b"]], texts).per_topic.tolist() == [0.0]


# --- result


def test_result() -> None:
    counts = counts_of(zipf_texts())
    weights = np.random.default_rng(0).random((5, len(WORDS)))
    result = npmi(weights, counts, n_words=4)
    assert result.mean == pytest.approx(result.per_topic.mean())
    assert result.standard_error == pytest.approx(result.per_topic.std(ddof=1) / math.sqrt(5))
    assert repr(result).startswith("Coherence(npmi ")
    assert repr(result).endswith("5 topics, 4 words, 60 documents)")
    assert npmi(weights[:1], counts).standard_error == math.inf
    for alias, name in (("c_npmi", "npmi"), ("u_mass", "umass")):
        assert coherence(weights, counts, alias).measure == name


def test_the_reference_is_left_as_it_was() -> None:
    counts = sp.csr_matrix(counts_of(zipf_texts()))
    counts.data[::3] = 0
    before = counts.copy()
    npmi([[0, 1, 2]], counts)
    np.testing.assert_array_equal(counts.data, before.data)
    np.testing.assert_array_equal(counts.indices, before.indices)
    assert npmi([[0, 1]], counts).per_topic == npmi([[0, 1]], counts.toarray()).per_topic
