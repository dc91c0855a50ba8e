"""Topics and scores of a corpus on workers are those of one machine, bit for bit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from tests.cluster import corpus_files
from tests.cluster.made_pools import kill_a_worker
from trustream import open_store
from trustream.cluster import pool as pool_module
from trustream.cluster import store_corpus
from trustream.cluster.corpora import open_corpus
from trustream.cluster.errors import ClusterError
from trustream.cluster.evaluating import evaluate
from trustream.cluster.exploring import explore
from trustream.cluster.pool import Pool
from trustream.cluster.transforming import transform, transform_to
from trustream.evaluation.report import report
from trustream.feeds import BadRecordError
from trustream.store import Record
from trustream.streaming.fitted_models import FittedModel
from trustream.text import count_matrix
from trustream.topics import as_topics
from trustream.topics import explore as explore_here
from trustream.topics.inference import infer

pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture(scope="module")
def model(folder: Path) -> FittedModel:
    return corpus_files.fitted(folder)


def here(model: FittedModel, folder: Path) -> list[Any]:
    return list(infer(model.estimator, corpus_files.documents(folder), vocabulary=model.words))


@pytest.mark.parametrize(
    ("n_workers", "kills"), [pytest.param(1, False, marks=pytest.mark.slow), (2, True)]
)
def test_transform(
    model: FittedModel, folder: Path, pools: list[Pool], n_workers: int, kills: bool
) -> None:
    expected = here(model, folder)
    done: list[tuple[int, int]] = []
    found, killed = [], []
    for number, document in enumerate(
        transform(model, folder, workers=n_workers, progress=lambda a, b: done.append((a, b)))
    ):
        found.append(document)
        if kills and number == 0:
            killed.append(kill_a_worker(pools))
    assert found == expected
    assert [document.n_known > 0 for document in found[6:12]] == [True, False, *[True] * 3, False]
    assert done == [(60 * i, 540) for i in range(1, 10)]
    assert [worker.n_deaths for worker in killed] == [1] * kills


def test_files_of_proportions(
    model: FittedModel, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "topics"
    first = transform_to(out, model, folder, workers=2)
    assert (first.n_documents, first.n_unknown, first.n_files, first.n_kept) == (540, 18, 9, 0)
    expected = here(model, folder)
    table = parquet.read_table(out)
    assert table["id"].to_pylist() == [document.id for document in expected]
    assert table["row"].to_pylist() == [*range(540)]
    assert table["theta"].to_pylist() == [document.proportions for document in expected]
    # A run that was stopped left some files out, and a piece of one.
    (out / "part-000003.parquet").unlink()
    (out / ".part-000003.parquet.0123").write_bytes(b"PAR1")
    again = transform_to(out, model, folder, workers=1)
    assert (again.n_documents, again.n_kept) == (540, 8)
    assert parquet.read_table(out).equals(table)
    # All there: no cluster is needed.
    monkeypatch.setattr(pool_module, "Pool", None)
    assert transform_to(out, model, folder).n_kept == 9
    with pytest.raises(ValueError, match="topics of other documents, or by another model"):
        transform_to(out, model, folder, n_documents=100)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letters.txt").write_text("Dear all,")
    with pytest.raises(ValueError, match=r"is not empty, it has 'letters.txt'"):
        transform_to(tmp_path / "mine", model, folder)


@pytest.mark.parametrize(
    ("n_workers", "kills"), [pytest.param(1, False, marks=pytest.mark.slow), (2, True)]
)
def test_evaluate(
    model: FittedModel, folder: Path, pools: list[Pool], n_workers: int, kills: bool
) -> None:
    words = [document.words for document in corpus_files.documents(folder)]
    counts = count_matrix(words, corpus_files.WORDS)
    measures = ["chib", "left-to-right", "completion", "bound", "npmi", "c_v", "diversity"]
    expected = report(model.estimator, counts, measures=measures, random_state=3)

    killed = []

    def progress(done: int, total: int) -> None:
        if kills and done == 60:
            killed.append(kill_a_worker(pools))

    found = evaluate(
        model,
        folder,
        measures=measures,
        random_state=3,
        workers=n_workers,
        progress=progress,
    )
    assert found == expected and found.n_empty == 18
    assert [worker.n_deaths for worker in killed] == [1] * kills


@pytest.mark.slow
def test_evaluate_the_first_documents(model: FittedModel, folder: Path) -> None:
    words = [document.words for document in corpus_files.documents(folder)][:100]
    expected = report(model.estimator, count_matrix(words, model.words or ()), measures=["chib"])
    found = evaluate(model, folder, measures=["chib"], n_documents=100, workers=1)
    assert found == expected


@pytest.fixture
def stored(folder: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of the documents, with a deleted one, in parts of a block each."""
    monkeypatch.setattr(store_corpus, "PART", store_corpus.BLOCK)
    address = f"{server.url}&schema=explored"
    with open_store(address, min_documents=1) as store:
        if store.totals().documents:
            return address
        for copy in range(5):
            store.append(
                Record(f"{copy}-{d.key}", d.words, None if d.key == "3-3" else 60.0 * i + copy)
                for i, d in enumerate(corpus_files.documents(folder))
            )
        store.delete(["2-0-5"])
    return address


@pytest.mark.parametrize("n_workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_explore_a_store(
    model: FittedModel, stored: str, pools: list[Pool], n_workers: int
) -> None:
    assert [part.n_documents for part in open_corpus(stored).parts] == [1000, 1000, 699]
    settings: Any = {"bins": 4, "n_documents": 3}
    with open_store(stored, create=False) as store:
        expected = explore_here(store, as_topics(model.estimator, model.words), **settings)
    found = explore(
        stored,
        model,
        workers=n_workers,
        progress=lambda done, _: kill_a_worker(pools) if n_workers > 1 and done == 1000 else None,
        **settings,
    )
    assert [asdict(info) for info in found.table] == [asdict(info) for info in expected.table]
    assert found.documents == expected.documents
    assert found.over_time is not None and expected.over_time is not None
    for name in ("shares", "lower", "upper", "token_shares", "n_documents", "n_tokens"):
        np.testing.assert_array_equal(
            getattr(found.over_time, name), getattr(expected.over_time, name)
        )
    assert (found.n_documents, found.n_stored, found.n_arrival) == (2699, 2699, 5)
    assert found.n_arrival == expected.n_arrival


@pytest.mark.slow
def test_explore_files_over_time(model: FittedModel, folder: Path) -> None:
    days = [86400.0 * day for day in (0, 200, 540)]
    found = explore(folder, model, bins=days, time_column="day", workers=1)
    assert found.over_time is not None
    # 9 documents of two kinds are empty or unknown in each file.
    assert found.over_time.n_documents.tolist() == [200 - 8, 340 - 10]
    assert (found.n_documents, found.n_stored, found.is_sample) == (540, 540, False)
    with pytest.raises(ValueError, match="give the edges of bins"):
        explore(folder, model, bins=3, time_column="day")


def test_transform_a_store_on_this_machine_only(model: FittedModel, tmp_path: Path) -> None:
    path = str(tmp_path / "topics.db")
    with open_store(path, min_documents=1) as store:
        store.append([Record("a", ["peta", "petb", "new"]), Record("b", ["bankc"])])
    found = list(transform(model, path, workers=1))
    expected = list(infer(model.estimator, [["peta", "petb"], ["bankc"]], vocabulary=model.words))
    assert [document.proportions for document in found] == [d.proportions for d in expected]
    assert [(d.id, d.n_tokens, d.n_known) for d in found] == [("a", 3, 2), ("b", 1, 1)]
    with pytest.raises(ClusterError, match="only workers on this machine can read"):
        list(transform(model, path, workers=5))
    with pytest.raises(ValueError, match="say how files are read"):
        transform(model, path, text_column="body")


def test_errors_of_workers_arrive_as_they_are(model: FittedModel, tmp_path: Path) -> None:
    good = pyarrow.table({"id": ["a"], "text": ["peta"]})
    parquet.write_table(good, tmp_path / "a.parquet")
    parquet.write_table(pyarrow.table({"id": [1, 2], "text": ["x", None]}), tmp_path / "b.parquet")
    with pytest.raises(BadRecordError, match=r"b.parquet, line 2: .*text") as caught:
        list(transform(model, tmp_path, workers=2))
    assert caught.value.line == 2


def test_wrong_corpora(model: FittedModel, folder: Path, tmp_path: Path) -> None:
    for source, message in (
        (tmp_path / "none.parquet", "none.parquet"),
        (tmp_path, "no files in"),
        (__file__, "test_corpora_on_workers"),
    ):
        with pytest.raises(ValueError, match=message):
            transform(model, source)
    with pytest.raises(ValueError, match="has no column 'body'"):
        evaluate(model, folder, text_column="body")
    with pytest.raises(ValueError, match="top is 0"):
        transform(model, folder, top=0)
    with pytest.raises(ValueError, match="measure must be one of"):
        evaluate(model, folder, measures=["chibs"])
    with pytest.raises(ValueError, match="workers is 0"):
        list(transform(model, folder, workers=0))


def test_files_that_change_are_noticed(model: FittedModel, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"id": ["a"], "text": ["peta"]}), path)
    corpus = open_corpus(path)
    parquet.write_table(pyarrow.table({"id": ["a", "b"], "text": ["peta", "petb"]}), path)
    with pytest.raises(ClusterError, match="leave files as they are"):
        next(corpus.open().read(corpus.parts[0], model))
    path.unlink()
    with pytest.raises(ClusterError, match="storage that all machines share"):
        next(corpus.open().read(corpus.parts[0], model))
