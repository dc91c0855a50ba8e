"""The comparison with other libraries: the clock, the score, the curves and the grid."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

peers = pytest.importorskip("benchmarks.peers", reason="needs the repository's root")
pytest.importorskip("matplotlib")

from benchmarks.harness import processor  # noqa: E402
from benchmarks.peers import curves, grid, methods, paired_times, recorder, trustream_curves  # noqa: E402
from benchmarks.peers.workloads import WORKLOADS, zipf  # noqa: E402

LIBRARIES = {
    "scikit-learn": "sklearn",
    "gensim": "gensim",
    "gensim multicore": "gensim",
    "tomotopy": "tomotopy",
    "Vowpal Wabbit": "vowpalwabbit",
}


@pytest.fixture(scope="module")
def planted():
    """Topics with twelve words each; two of the words never occur."""
    rng = np.random.default_rng(0)
    topics = np.zeros((5, 62))
    for k, columns in enumerate(rng.permutation(60).reshape(5, 12)):
        topics[k, columns] = rng.dirichlet(np.ones(12))
    theta = rng.dirichlet(np.full(5, 0.2), 500)
    counts = sp.csr_matrix(rng.multinomial(60, theta @ topics))
    return topics, counts[:400], counts[400:]


def unigram(counts, n_topics):
    frequency = np.asarray(counts.sum(axis=0)).ravel() + 0.1
    return np.tile(frequency / frequency.sum(), (n_topics, 1))


@pytest.mark.parametrize("name", LIBRARIES)
def test_each_peer_hands_over_topics_in_our_columns(name, planted):
    pytest.importorskip(LIBRARIES[name])
    topics, train, held_out = planted
    scorer = recorder.Scorer(held_out, 10, 1)
    taken = recorder.Recorder(scorer, only_last=True)
    peer = methods.module(name)
    sizes = {"batch_size": 20, "chunksize": 20, "minibatch": 20, "n_jobs": 1, "workers": 1}
    settings = {k: sizes.get(k, value) for k, value in peer.BASE.items()}
    effort = 60 if name == "tomotopy" else 5.0
    peer.run(train, 5, settings, effort, taken)
    best = scorer.completion(topics + 1e-6, np.full(5, 0.2))
    worst = scorer.completion(unigram(train, 5), np.full(5, 0.2))
    # Topics may merge; columns in another order would be worse than no topics at all.
    assert taken.points[-1].completion > worst + 0.5 * (best - worst)
    assert taken.points[-1].label.startswith(str(int(effort)))


def test_river_hands_over_topics_in_our_columns(planted):
    pytest.importorskip("river")
    _, train, held_out = planted
    taken = recorder.Recorder(recorder.Scorer(held_out, 5, 1), only_last=True)
    peer = methods.module("river")
    peer.run(train[:60], 5, peer.BASE, 1.0, taken)
    shuffled = np.random.default_rng(0).permutation(62)
    random = taken.scorer.completion(unigram(train, 5)[:, shuffled], np.full(5, 0.1))
    assert taken.points[-1].completion > random


def test_our_points_are_complete_fits_of_growing_effort(planted):
    _, train, held_out = planted
    taken = recorder.Recorder(recorder.Scorer(held_out, 10, 1), limit=100)
    trustream_curves.run(train, 5, {}, 0.1, taken)
    labels = [point.label for point in taken.points]
    assert labels == [
        "1/32 pass",
        "1/16 pass",
        "1/8 pass",
        "1/4 pass",
        "3/8 pass",
        "1/2 pass",
        "3/4 pass",
        "1 pass",
        "2 passes",
    ]
    assert taken.points[-1].completion > taken.points[0].completion
    assert taken.notes["first_call"] > 0


def test_both_sides_in_turn(planted):
    """Times of both, and the peer's score, which is that of its seed."""
    _, train, held_out = planted
    scorer = recorder.Scorer(held_out, 1, 1)
    settings = {**methods.module("scikit-learn").BASE, "batch_size": 50}
    found = paired_times.one_round(train, 5, settings, scorer, 1)
    assert found.theirs > 0 and found.whole >= found.ours > 0
    again = paired_times.one_round(train, 5, settings, scorer, 1)
    other = paired_times.one_round(train, 5, settings, scorer, 2)
    assert again.score == found.score != other.score


def test_variants_differ_from_the_defaults():
    variants = trustream_curves.variants()
    assert variants[trustream_curves.DEFAULT] == {}
    assert variants["trustream, natural gradient"]["learning_method"] == "natural-gradient"


def test_processor_time_of_children_is_counted_while_they_live():
    if processor.everyone() is None:
        pytest.skip("the system does not tell")
    code = "sum(range(10**7)); print(flush=True); input()"
    pipe = subprocess.PIPE
    before = processor.own()
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as child:
        child.stdout.readline()
        alive, mine = processor.own(), sum(os.times()[:2])
        child.communicate(b"\n")
    assert alive > max(before, mine)
    assert processor.own() >= alive
    assert processor.everyone() > 0


class Counting:
    """A clock that ticks once a call, and a scorer that looks at it many times."""

    def __init__(self):
        self.now = 0

    def tick(self):
        self.now += 1
        return self.now

    def completion(self, topics, alpha):
        self.now += 1000
        return -1.0

    chib = completion


def test_the_clock_stands_still_while_a_model_is_scored(monkeypatch):
    clock = Counting()
    monkeypatch.setattr(recorder.time, "perf_counter", clock.tick)
    taken = recorder.Recorder(clock)
    with taken.clock:
        taken.take("a", np.ones((2, 3)), 0.1)
        taken.take("b", np.ones((2, 3)), 0.1, last=True)
    assert [point.seconds for point in taken.points] == [1, 2]
    assert taken.clock.seconds == 3
    assert [point.chib for point in taken.points] == [None, -1.0]


def test_progress_takes_points_at_milestones_and_ends(monkeypatch):
    taken = recorder.Recorder(Counting())
    progress = recorder.Progress(taken, n_documents=100, passes=1.5)

    def learn():
        for _ in range(1000):
            progress.step(10, lambda: (np.ones((2, 3)), 0.1))

    with pytest.raises(recorder.Enough):
        learn()
    labels = [point.label for point in taken.points]
    assert labels == ["1/10 pass", "1/5 pass", "0.3 passes", "1/2 pass", "1 pass", "1.5 passes"]


def test_progress_ends_when_the_time_is_up():
    taken = recorder.Recorder(Counting(), limit=0.0)
    with pytest.raises(recorder.Enough):
        recorder.Progress(taken, 100, 2.0).step(3, lambda: (np.ones((2, 3)), 0.1))
    assert taken.points[0].label == "0.03 passes"


def test_the_score_depends_on_topics_as_proportions_only(planted):
    topics, _, held_out = planted
    taken = recorder.Recorder(recorder.Scorer(held_out, 5, 1))
    taken.add("a", recorder.Stopwatch(), topics + 1e-6, 0.2)
    taken.add("b", recorder.Stopwatch(), 7 * (topics + 1e-6), np.full(5, 0.2))
    assert taken.points[0].completion == pytest.approx(taken.points[1].completion)


def test_time_to_a_score_is_read_off_the_best_so_far():
    points = [(1.0, -8.0), (2.0, -9.0), (4.0, -7.0), (8.0, -7.0)]
    assert curves.time_to(points, -7.5) == curves.Reached(2.0, 4.0)
    assert curves.time_to(points, -7.0).seconds == pytest.approx(4.0)
    assert curves.time_to(points, -8.5).seconds == 1.0
    assert curves.time_to(points, -6.9) is None


def test_the_grid_takes_the_quickest_of_the_nearly_best_and_goes_on(monkeypatch, tmp_path):
    scores = {1: (-7.5, 1.0), 2: (-7.001, 5.0), 3: (-7.0, 9.0)}
    calls = []

    def attempt(name, chosen, train, scorer):
        calls.append(dict(chosen))
        score, seconds = scores[chosen["a"]]
        return {"settings": chosen, "completion": score - chosen["b"], "cpu": seconds}

    class Peer:
        PACKAGE, BASE = "numpy", {"a": 1, "b": 1}
        GRID = {"a": [1, 2, 3], "b": [1, 0]}

    monkeypatch.setattr(grid, "PATH", tmp_path / "grid.json")
    monkeypatch.setattr(grid, "_try", attempt)
    monkeypatch.setattr(methods, "module", lambda name: Peer)
    monkeypatch.setattr(
        type(grid.WORKLOAD), "load", lambda self, data: (None, sp.eye(20, format="csr"))
    )
    monkeypatch.setattr(grid, "Scorer", lambda *arguments: None)
    grid.search("peer", tmp_path, 1)
    assert grid.settings("peer") == {"a": 2, "b": 0}
    assert calls == [{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 3, "b": 1}, {"a": 2, "b": 0}]
    grid.search("peer", tmp_path, 1)
    assert len(calls) == 4


def test_names_on_the_command_line_are_the_workloads():
    assert tuple(WORKLOADS) == peers.WORKLOADS


def test_zipf_documents_are_the_same_each_time_and_have_rare_words():
    first, second = zipf(50, 2000, 4, 40), zipf(50, 2000, 4, 40)
    assert (first != second).nnz == 0
    assert first.shape == (50, 2000)
    frequency = np.asarray(first.sum(axis=0)).ravel()
    assert frequency[:20].sum() > frequency[1000:].sum()
