"""Phrases of the documents of a store: the counts of its files, and joined in all that it has."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.feeds.test_processes import start
from tests.store.contents_of import all_words
from trustream import StreamTrainer
from trustream.feeds import (
    FeedError,
    adopt_phrases,
    change_tokeniser,
    ingest,
    learn_phrases,
    stored_phrases,
    workers,
)
from trustream.feeds.phrase_adoption import PhraseState, phrase_state
from trustream.phrases import Phrases
from trustream.store import Record, open_store
from trustream.streaming.published import load_model
from trustream.text import Tokeniser

pytestmark = pytest.mark.timeout(240)

ADOPT = """
import sys
from trustream.feeds import adopt_phrases, stored_phrases
from trustream.store import open_store
with open_store(sys.argv[1]) as store:
    found = stored_phrases(store).found()
    print("ready", flush=True)
    adopt_phrases(store, found, progress=lambda n: print("joined", n, flush=True))
"""


def texts(n: int, seed: int = 0) -> list[str]:
    """Random words, among them "new york" and "new york times", which belong together."""
    rng = np.random.default_rng(seed)
    words = [a + b for a in ("cat", "dog", "ant", "bee") for b in "abcdefgh"]
    found = []
    for _ in range(n):
        some = rng.choice(words, 12).tolist()
        if rng.random() < 0.3:
            some[2:2] = ["New", "York"] if rng.random() < 0.7 else ["New", "York", "Times,"]
        if rng.random() < 0.1:
            some.insert(9, "new")
        found.append(" ".join(some[:6]) + ". The " + " ".join(some[6:]))
    return found


def write(path: Path, given: list[str], first: int = 0) -> Path:
    lines = [json.dumps({"id": f"d{i}", "text": t}) for i, t in enumerate(given, first)]
    path.write_text("\n".join(lines) + "\n")
    return path


def counts(counted: Phrases) -> tuple[int, int, Any, Any]:
    return counted.n_words, counted.error, counted._words.counts, counted._pairs.counts


@pytest.mark.parametrize("n_workers", [0, 2])
def test_counts_are_those_of_the_files(
    tmp_path: Path, n_workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after documents came again, grew, were replaced and deleted, and by processes."""
    monkeypatch.setattr(workers, "LARGE", 0)
    given = texts(400)
    path = write(tmp_path / "a.jsonl", given)
    with open_store(tmp_path / "topics.db", keep_order=True, min_documents=1) as store:
        assert ingest(store, path, workers=n_workers, batch=70).n_documents == 400
        assert counts(stored_phrases(store)) == counts(learn_phrases([path]))
        ingest(store, path, again=True, replace=True, workers=n_workers)
        assert counts(stored_phrases(store)) == counts(learn_phrases([path]))
        ingest(store, write(tmp_path / "more.jsonl", texts(50, 1)), workers=n_workers)
        assert counts(stored_phrases(store)) == counts(
            learn_phrases([path, tmp_path / "more.jsonl"])
        )
        ingest(store, path, again=True, replace=True, workers=n_workers)
        store.delete([f"d{i}" for i in range(300)])
        rest = write(tmp_path / "rest.jsonl", given[300:], 300)
        assert counts(stored_phrases(store)) == counts(learn_phrases([rest]))
        store.delete([f"d{i}" for i in range(300, 400)])
        assert stored_phrases(store).n_words == 0 and not stored_phrases(store)._pairs.counts


def test_bounded_counts_of_a_store(tmp_path: Path) -> None:
    """With few counts at once, none is too large and none too small by more than the error."""
    path = write(tmp_path / "a.jsonl", texts(300))
    with open_store(tmp_path / "topics.db", keep_order=True) as store:
        ingest(store, path)
        exact = stored_phrases(store)._pairs.counts
        few = stored_phrases(store, Phrases(max_counts=50))
    assert 0 < few.error <= sum(exact.values()) / 51
    for pair, n in exact.items():
        assert few._pairs.counts[pair] <= n <= few._pairs.counts[pair] + few.error


def test_adopted_phrases_are_in_documents_texts_and_models(tmp_path: Path) -> None:
    given, later = texts(400), texts(60, 1)
    path, more = write(tmp_path / "a.jsonl", given), write(tmp_path / "b.jsonl", later, 400)
    with open_store(tmp_path / "topics.db", keep_order=True, min_documents=1) as store:
        ingest(store, path)
        with StreamTrainer(store, n_components=2, batch_size=50) as trainer:
            trainer.run(steps=5)
        found = stored_phrases(store).found()
        assert {phrase.text for phrase in found} == {"new york", "york times"}
        adopted = adopt_phrases(store, [phrase for phrase in found if phrase.text == "new york"])
        assert [phrase.text for phrase in adopted.phrases] == ["new york"]
        assert (adopted.n_phrases, adopted.n_joined, adopted.n_without_order) == (1, 400, 0)
        tokeniser = store.tokeniser()
        assert tokeniser == Tokeniser(phrases=["new york"])
        assert load_model(store)._tokeniser == tokeniser, "texts for the model are joined too"
        again = adopt_phrases(store, stored_phrases(store).found())
        assert [phrase.text for phrase in again.phrases] == ["new_york times"]
        tokeniser = store.tokeniser()
        assert tokeniser.phrases == ("new york", "new york times")
        ingest(store, more)
        expected = {f"d{i}": Counter(tokeniser(t)) for i, t in enumerate(given + later)}
        assert all_words(store) == expected
        assert phrase_state(store) == PhraseState(2, 460, 0, 0)
        with StreamTrainer(store, n_components=2, batch_size=50) as trainer:
            trainer.run(steps=5)
        model = load_model(store)
        assert {"new_york", "new_york_times"} <= set(model.words_)
        assert store.check().ok


def test_documents_without_an_order_and_other_tokenisers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", texts(200))
    with open_store(tmp_path / "topics.db", keep_order=True, min_documents=1) as store:
        ingest(store, path)
        store.append([Record("words", ["new", "york"])])
        # What was a word is none by the tokeniser of today: it cannot be joined in texts.
        change_tokeniser(store, Tokeniser(min_length=6))
        adopted = adopt_phrases(store, stored_phrases(store).found())
        assert (adopted.phrases, adopted.n_phrases, adopted.n_without_order) == ((), 0, 1)
        change_tokeniser(store, Tokeniser(phrases=["new york"]))
        assert phrase_state(store) == PhraseState(1, 200, 200, 1)
        assert adopt_phrases(store, []).n_joined == 200, "phrases that were given are joined too"
        found = all_words(store)
        assert found.pop("words") == {"new": 1, "york": 1}
        assert any("new_york" in words for words in found.values())
        assert not any("york" in words for words in found.values())


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    with open_store(tmp_path / "plain.db") as store:
        assert phrase_state(store) is None
        for call in (stored_phrases, lambda store: adopt_phrases(store, [])):
            with pytest.raises(FeedError, match=r"keep_order=True .*init --keep-order"):
                call(store)
    with open_store(tmp_path / "f.db", keep_order=True, tokeniser=str.split) as store:
        with pytest.raises(FeedError, match=r"by the Python function str\.split"):
            stored_phrases(store)
        with pytest.raises(FeedError, match="keeps the order of words, to find phrases"):
            ingest(store, write(tmp_path / "a.jsonl", ["a b"]), tokenise=str.split)
    with open_store(tmp_path / "x.db", keep_order=True) as store:
        ingest(store, write(tmp_path / "b.jsonl", texts(200)))
        found = stored_phrases(store).found()

        class Hasty(type(store)):  # type: ignore[misc]
            def set_tokeniser(self, *args: Any, **options: Any) -> Any:
                super().set_tokeniser(Tokeniser(min_length=5))
                return super().set_tokeniser(*args, **options)

        store.__class__ = Hasty
        with pytest.raises(FeedError, match="somebody else has changed the tokeniser"):
            adopt_phrases(store, found)
        assert store.tokeniser() == Tokeniser(min_length=5)


def test_killed_while_it_ingests_and_while_it_joins(tmp_path: Path) -> None:
    """Every pair is counted once, and no document is left half joined."""
    rng = np.random.default_rng(5)
    given = texts(3000)
    path, database = write(tmp_path / "a.jsonl", given), tmp_path / "topics.db"
    open_store(database, keep_order=True, min_documents=1, max_words=None).close()
    for _ in range(3):
        _kill(start(database, path, batch=20), int(rng.integers(1, 15)), rng.uniform(0, 0.02))
    with open_store(database) as store:
        assert 0 < store.totals().documents < 3000
        ingest(store, path)
        assert counts(stored_phrases(store)) == counts(learn_phrases([path]))
    command = [sys.executable, "-c", ADOPT, str(database)]
    _kill(subprocess.Popen(command, stdout=subprocess.PIPE), 1, rng.uniform(0, 0.02))
    with open_store(database) as store:
        tokeniser = store.tokeniser()
        state = phrase_state(store)
        assert tokeniser.phrases == ("new york", "york times") and 0 < state.n_left < 3000
        apart, joined = Tokeniser(), tokeniser
        for key, words in all_words(store).items():
            text = given[int(key[1:])]
            assert words in (Counter(apart(text)), Counter(joined(text)))
        assert store.check().ok
        assert adopt_phrases(store, []).n_joined == state.n_left
        assert all_words(store) == {f"d{i}": Counter(joined(t)) for i, t in enumerate(given)}
        assert store.check().ok


def _kill(process: subprocess.Popen[bytes], n_lines: int, seconds: float) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    for _ in range(n_lines):
        process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it was done before it could be killed"
