"""A store's life on the command line: init, ingest, train, look, take out."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import trustream
from tests.cli.commands import fails, ok, values
from tests.forking import Forked
from trustream.cli import main
from trustream.cli.ingest import FORMATS

PETS = "cat dog bird fish horse".split()
MONEY = "bank bond rate stock coin".split()


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest", "no.db", "feed.txt"],
        ["train", "no.db"],
        ["status", "no.db"],
        ["topics", "no.db"],
        ["transform", "no.db", "feed.txt"],
        ["evaluate", "no.db", "feed.txt"],
        ["export", "no.db", "model"],
        ["check", "no.db"],
    ],
)
def test_a_missing_store_names_init(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("feed.txt").write_text("cat\n")
    assert "trustream init" in fails(*arguments)
    assert not Path("no.db").exists()
    if arguments[0] not in ("topics", "transform", "evaluate"):  # which take files of models too
        said = fails(arguments[0], "my no.db", *arguments[2:])
        assert "make the store first (trustream init 'my no.db')" in said
        Path("no.db").touch()
        assert (
            "is empty: there is no store in it; make the store first (trustream init no.db)"
            in fails(*arguments)
        )


def write_documents(path: Path, n: int, first: int = 0) -> Path:
    rng = np.random.default_rng(first)
    with path.open("a") as file:
        for i in range(first, first + n):
            words = rng.choice([PETS, MONEY][i % 2], 12).tolist()
            file.write(json.dumps({"id": f"d{i}", "text": " ".join(words)}) + "\n")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "topics.db"
    ok("init", path, "--topics", 2, "--min-documents", 1, "--held-out", 0.1, "--batch", 20)
    return path


@pytest.fixture
def trained(store: Path, tmp_path: Path) -> Path:
    ok("ingest", store, write_documents(tmp_path / "feed.jsonl", 200))
    ok("train", store, "--steps", 50)
    return store


def test_the_whole_way(store: Path, tmp_path: Path) -> None:
    feed = write_documents(tmp_path / "feed.jsonl", 200)
    assert "ready for 3 topics" not in ok("init", store, "--topics", 2, "--min-documents", 1,
                                          "--held-out", 0.1, "--batch", 20)  # fmt: skip
    empty = values("status", store)
    assert (empty["documents"], empty["steps"], empty["heldout"]) == (0, 0, None)
    added = values("ingest", store, feed)
    assert (added["n_documents"], added["finished"]) == (200, True)
    assert values("ingest", store, feed)["n_records"] == 0
    done = values("train", store, "--until-idle")
    status = values("status", store)
    assert status["steps"] == done["steps"] > 15
    assert status["documents"] == 200 and status["tokens"] == 2400 and status["words"] == 10
    assert 0 < status["rho"] < 1
    topics = [json.loads(line) for line in ok("topics", store, "-n", 5, "--json").splitlines()]
    assert sorted(sorted(topic["words"]) for topic in topics) == sorted(
        [sorted(PETS), sorted(MONEY)]
    )
    assert sum(topic["share"] for topic in topics) == pytest.approx(1)
    # More documents, more steps, the same model.
    write_documents(feed, 50, first=200)
    assert values("ingest", store, feed)["n_documents"] == 50
    assert values("train", store, "--steps", 5)["steps"] == done["steps"] + 5


def test_plain_output(trained: Path) -> None:
    assert "200 documents" in ok("status", trained)
    assert "2 topics, 50 steps" in ok("status", trained)
    assert set(PETS) & set(ok("topics", trained).split())


def test_transform_export_and_evaluate(trained: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.txt"
    new.write_text("a dog and a cat\nthe bank, its rate\n")
    rows = [json.loads(line) for line in ok("transform", trained, new, "--json").splitlines()]
    assert [row["id"] for row in rows] == ["new.txt:1", "new.txt:2"]
    assert rows[0]["topics"][0]["topic"] != rows[1]["topics"][0]["topic"]
    assert "0:" in ok("transform", trained, new)
    path = tmp_path / "model.safetensors"
    assert values("export", trained, path)["words"] == 10
    model = trustream.load(path)
    assert sorted(model.feature_names_in_) == sorted(PETS + MONEY)
    lines = ok("evaluate", trained, new, "--json", "-m", "bound")
    of_file = ok("evaluate", path, new, "--json", "-m", "bound")
    assert json.loads(lines) == json.loads(of_file)


def test_errors(store: Path, tmp_path: Path) -> None:
    assert "init" in fails("train", _made(tmp_path / "bare.db"))
    assert "no model 'model' yet" in fails("topics", store)
    assert "other settings already" in fails("init", store, "--topics", 3, "--min-documents", 1,
                                             "--held-out", 0.1)  # fmt: skip
    for command in ("status", "topics", "train"):
        assert str(tmp_path / "none.db") in fails(command, tmp_path / "none.db")
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"not a database at all, but long enough" * 100)
    assert "foreign.db" in fails("status", foreign)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "text": "cat dog"}\nnonsense\n{"id": "b", "text": "bank"}\n')
    assert "line 2" in fails("ingest", store, bad)
    assert values("status", store)["documents"] == 1
    skipped = values("ingest", store, bad, "--on-error", "skip")
    assert (skipped["n_bad"], skipped["n_documents"]) == (1, 1)


def _made(path: Path) -> Path:
    trustream.open_store(path).close()
    return path


def test_a_fixed_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("\n".join(PETS))
    store = tmp_path / "fixed.db"
    ok("init", store, "--topics", 2, "--vocabulary", tmp_path / "words.txt")
    ok("ingest", store, write_documents(tmp_path / "feed.jsonl", 20))
    assert values("status", store)["words"] == 5
    with trustream.open_store(store, create=False) as found:
        assert found.vocabulary().words == PETS


def test_a_preset_of_the_paper(tmp_path: Path) -> None:
    """Its numbers go into the store's settings; --batch and --topics go before it."""
    from trustream.streaming.published import load_settings

    for batch, expected in (((), 500), (("--batch", 20), 20)):
        path = tmp_path / f"{expected}.db"
        ok("init", path, "--topics", 400, "--preset", "wikipedia-1", *batch)
        with trustream.open_store(path) as store:
            settings = load_settings(store)
        assert settings is not None
        assert (settings.n_components, settings.batch_size) == (400, expected)
        assert (settings.learning_decay, settings.inner_iter, settings.topic_word_prior) == (
            0.4, 10, 0.2,
        )  # fmt: skip
    message = fails(
        "init", tmp_path / "x.db", "--preset", "wikipedia-1", "--method", "streaming-vb"
    )
    assert "method must be one of" in message
    assert not (tmp_path / "x.db").exists()


def test_choices_are_those_of_the_library() -> None:
    from trustream import feeds

    assert set(FORMATS) == set(feeds.FORMATS)
    limits = {name for name in feeds.Options.__annotations__ if name.startswith("max_")}
    options = {option.name: option.default for option in main.commands["ingest"].params}
    assert {name: options[name] for name in limits} == {
        name: getattr(feeds.Options(), name) for name in limits
    }


def test_every_command_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    for name, command in main.commands.items():
        assert f"trustream {name}" in text, name
        assert command.help, name


def test_training_and_ingesting_at_once_and_a_polite_end(store: Path, tmp_path: Path) -> None:
    """Two real processes on one store; SIGTERM ends the trainer with a checkpoint, exit code 0."""
    trainer = Forked(None, "train", store, "--json", "--checkpoint-every", 0.5)
    try:
        for first in range(0, 300, 50):
            path = write_documents(tmp_path / f"feed{first}.jsonl", 50, first)
            ok("ingest", store, path)
        deadline = time.monotonic() + 60
        while values("status", store)["steps"] == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        trainer.send_signal(signal.SIGTERM)
        out, err = trainer.communicate(timeout=60)
    finally:
        trainer.kill()
    assert trainer.returncode == 0, err
    done = json.loads(out.splitlines()[-1])
    status = values("status", store)
    assert status["documents"] == 300
    assert status["steps"] == done["steps"] > 0


def test_simulate(tmp_path: Path) -> None:
    words = PETS + MONEY
    (tmp_path / "words.txt").write_text("\n".join(words))
    rng = np.random.default_rng(0)
    rows = [rng.multinomial(12, [0.2] * 5 + [0] * 5), rng.multinomial(12, [0] * 5 + [0.2] * 5)] * 40
    np.save(tmp_path / "counts.npy", np.array(rows))
    store = tmp_path / "stream.db"
    arguments = (store, tmp_path / "counts.npy", "--vocabulary", tmp_path / "words.txt")
    options = ("--topics", 2, "--rate", 4, "-p", 0.5, "--batch", 10)
    final = values("simulate", *arguments, *options)
    assert (final["documents"], final["tokens"]) == (80, 960)
    assert values("status", store)["steps"] == final["steps"] > 30
    assert "has documents already" in fails("simulate", *arguments, *options)


def test_ingest_options(tmp_path: Path) -> None:
    """Columns, words and names as asked for."""
    store = tmp_path / "options.db"
    table = tmp_path / "notes.csv"
    table.write_text('key;body\na;"Cat Dog x1"\nb;Bird\n')
    (tmp_path / "stop.txt").write_text("Bird\n")
    ok("init", store, "--topics", 2, "--min-documents", 1,
       "--keep-case", "--stop-words", tmp_path / "stop.txt", "--word-pattern", r"\w+",
       "--min-length", 2)  # fmt: skip
    ok("ingest", store, table, "--delimiter", ";", "--id-column", "key", "--text-column", "body",
       "--keep-case")  # fmt: skip
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("who,what,stars,timestamp\nann,Alien,5,2\nann,Brazil,1,1\n")
    ok("ingest", store, ratings, "--format", "ratings", "--user-column", "who", "--item-column",
       "what", "--rating-column", "stars", "--threshold", 4, "--in-order")  # fmt: skip
    with trustream.open_store(store, create=False) as found:
        words = [word for word in found.vocabulary().words if word is not None]
        assert sorted(words) == ["Alien", "Cat", "Dog", "x1"]
        assert found.read(["a"]).counts.sum() == 3
    table.write_text("key;body\nc;Other\n")
    message = fails("ingest", store, table, "--delimiter", ";", "--id-column", "key",
                    "--text-column", "body")  # fmt: skip
    assert "notes.csv" in message
    ok("ingest", store, table, "--delimiter", ";", "--id-column", "key", "--text-column", "body",
       "--replaced", "read")  # fmt: skip


def test_ingest_of_a_folder_and_a_pattern(tmp_path: Path) -> None:
    """In the order of names; what is no feed, and what cannot be read, is named."""
    store = tmp_path / "topics.db"
    ok("init", store, "--topics", 2, "--min-documents", 1)
    folder = tmp_path / "news"
    for name in ("b.txt", "a.txt", "sub/a.txt", "old.doc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("cats and dogs\n")
    result = CliRunner().invoke(main, ["ingest", str(store), str(folder)])
    assert result.exit_code == 0, result.output
    lines = [line.split(":")[0] for line in result.stdout.splitlines()]
    assert lines == ["a.txt", "b.txt", "sub/a.txt"]
    assert "old.doc, whose format cannot be told by its name" in result.stderr
    with trustream.open_store(store, create=False) as found:
        assert found.totals().documents == 3
        assert found.read(["sub/a.txt:1"]).counts.sum() == 2
    (folder / "c.txt").symlink_to(folder / "nowhere.txt")
    (folder / "d.txt").write_text("birds\n")
    message = fails("ingest", store, folder / "?.txt")
    assert "c.txt: No such file or directory" in message
    with trustream.open_store(store, create=False) as found:
        assert found.totals().documents == 4
    assert "none that it would name" in fails("ingest", store, folder / "*.jsonl")


def test_ingest_of_json_with_other_fields(tmp_path: Path) -> None:
    store = tmp_path / "topics.db"
    ok("init", store, "--topics", 2, "--min-documents", 1)
    posts = tmp_path / "posts.jsonl"
    posts.write_text('{"post": {"key": "a", "body": "Cats and dogs", "at": 60}}\n')
    assert "has none of text, tokens and counts" in fails("ingest", store, posts)
    assert "its fields are post" in fails("ingest", store, posts, "--text-column", "body")
    columns = ("--text-column", "post.body", "--id-column", "post.key", "--time-column", "post.at")
    assert values("ingest", store, posts, *columns)["n_tokens"] == 2
    bare = tmp_path / "bare.csv"
    bare.write_text("text\nBirds\n")
    assert values("ingest", store, bare, "--workers", 0)["n_documents"] == 1
    bare.write_text("id,text\nnot unique,Birds\nnot unique,Fish\n")
    again = ("--id-column", "", "--replaced", "read")
    assert values("ingest", store, bare, *again)["n_documents"] == 2
    with trustream.open_store(store, create=False) as found:
        assert found.read(["a", "bare.csv:2", "bare.csv:3"]).counts.sum() == 4
