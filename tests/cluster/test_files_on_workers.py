"""Files that workers ingest are in the store once, and texts are counted as one machine does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from tests.cluster import corpus_files
from tests.cluster.made_pools import kill_a_worker
from trustream import LatentDirichletAllocation, open_store
from trustream.cluster.errors import ClusterError
from trustream.cluster.evaluating import evaluate
from trustream.cluster.ingesting import ingest
from trustream.cluster.parquet_source import ParquetSource
from trustream.cluster.pool import Pool
from trustream.cluster.tokenising import tokenise
from trustream.evaluation.report import report
from trustream.feeds import BadRecordError
from trustream.feeds import ingest as ingest_here
from trustream.streaming.fitted_models import FittedModel
from trustream.text import Tokeniser, count_matrix

pytestmark = pytest.mark.usefixtures("ray_cluster")


def contents(address: str) -> dict[str, dict[str, float]]:
    with open_store(address, create=False) as store:
        words = store.vocabulary().words
        return {
            key: {
                str(words[column]): float(n)
                for column, n in zip(block.indices[a:b], block.counts[a:b], strict=True)
            }
            for block in store.scan()
            for key, a, b in zip(block.keys, block.indptr[:-1], block.indptr[1:], strict=True)
        }


def test_ingest_with_killed_workers(
    folder: Path, tmp_path: Path, server: Any, pools: list[Pool]
) -> None:
    address, here = f"{server.url}&schema=ingested", str(tmp_path / "here.db")
    with open_store(here, min_documents=1) as store:
        for path in sorted(folder.iterdir()):
            ingest_here(store, path)
    expected = contents(here)
    open_store(address, min_documents=1).close()
    done = []
    results = ingest(address, folder, workers=2, batch=7, progress=lambda a, b: done.append((a, b)))
    files = [next(results)]
    # Whatever they are doing: they end between two transactions, or inside of one.
    killed = [kill_a_worker(pools, number) for number in range(2)]
    files += results
    assert [worker.n_deaths for worker in killed] == [1, 1]
    assert [file.name for file in files] == [f"docs-{i}.parquet" for i in range(9)]
    assert done == [(i, 9) for i in range(1, 10)]
    assert sum(file.result.n_records + file.n_before for file in files) == 540
    assert all(file.result.finished for file in files)
    assert contents(address) == expected
    # A second time there is nothing to add, on workers or here.
    assert sum(file.result.n_records for file in ingest(address, folder, workers=1)) == 0
    with open_store(address) as store:
        assert ingest_here(store, folder / "docs-0.parquet").n_records == 0
        assert store.check().damage == ()
    # From the start again, each document replaced by what it was.
    again = list(ingest(address, folder, workers=2, again=True, replace=True))
    assert sum(file.result.n_replaced for file in again) == 540
    assert contents(address) == expected


def test_bad_records_of_a_worker(tmp_path: Path, server: Any) -> None:
    address = f"{server.url}&schema=bad"
    open_store(address).close()
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "pets"}\n{"id": "", "text": "x"}\n')
    (tmp_path / "b.txt").write_text("some pets\n")
    with pytest.raises(BadRecordError, match=r"a\.jsonl, line 2"):
        list(ingest(address, tmp_path, workers=1))
    found = list(ingest(address, tmp_path, workers=1, on_error="skip"))
    assert [(file.name, file.result.n_bad) for file in found] == [("a.jsonl", 1), ("b.txt", 0)]
    assert set(contents(address)) == {"a", "b.txt:1"}


def test_wrong_ingests(tmp_path: Path) -> None:
    path = str(tmp_path / "topics.db")
    open_store(path).close()
    (tmp_path / "b.txt").write_text("some pets\n")
    with pytest.raises(ValueError, match="follow is for files that one process reads"):
        ingest(path, tmp_path / "b.txt", follow=True)
    with pytest.raises(ValueError, match="give replace=True"):
        ingest(path, tmp_path / "b.txt", again=True)
    with pytest.raises(ValueError, match="there is no file"):
        ingest(path, tmp_path / "c*.txt")


def test_tokenise(folder: Path, tmp_path: Path) -> None:
    """Ray Data reads, splits and writes; what comes out is what one machine counts."""
    files, out = sorted(folder.iterdir())[:2], tmp_path / "counts"
    found = tokenise(files, out, min_documents=1, workers=2)
    words = [document.words for document in corpus_files.documents(folder)[:120]]
    assert set(found.words) == {word for some in words for word in some}
    assert found.n_documents == 120 and found.n_tokens == sum(map(len, words))
    assert (out / "vocabulary.txt").read_text().split() == found.words
    counts = count_matrix(words, found.words)
    source = ParquetSource.of(str(out / "*.parquet"))
    read, _ = source.open().read(np.arange(120))
    assert source.n_words == len(found.words)
    np.testing.assert_array_equal(read.indices, counts.indices)
    np.testing.assert_array_equal(read.indptr, counts.indptr)
    np.testing.assert_array_equal(read.counts, counts.data)
    table = parquet.read_table(sorted(out.glob("*.parquet")))
    assert table["id"].to_pylist() == [f"{i}-{j}" for i in range(2) for j in range(60)]
    with pytest.raises(ValueError, match="is there already"):
        tokenise(files, out)
    # Counts are scored as texts are, by a model with these words and by no other.
    lda = LatentDirichletAllocation(3, random_state=0, max_iter=1, n_jobs=1).fit(counts)
    measures = ["completion", "npmi"]
    expected = report(lda, counts, measures=measures)
    model = FittedModel("small", lda, found.words)
    assert evaluate(model, out, measures=measures, workers=1) == expected
    with pytest.raises(ValueError, match="has counts of other words"):
        evaluate(model.with_words(found.words[::-1]), out, workers=1)


def test_wrong_texts(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"id": ["a", "b"], "text": ["pets", None]}), path)
    with pytest.raises(ValueError, match=r"a row without a text \(null\)"):
        tokenise(path, tmp_path / "out", min_documents=1, tokeniser=Tokeniser())
    assert {file.name for file in tmp_path.iterdir()} == {"a.parquet"}
    with pytest.raises(ValueError, match="no column 'body'; its columns are id, text"):
        tokenise(path, tmp_path / "out", text_column="body")
    with pytest.raises(ValueError, match="min_documents is 0"):
        tokenise(path, tmp_path / "out", min_documents=0)
    assert issubclass(ClusterError, RuntimeError)
