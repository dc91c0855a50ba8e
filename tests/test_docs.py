"""The code in the documents runs, and what they name exists."""

import builtins
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from sklearn import datasets
from sklearn.utils import Bunch

from trustream.cli import main
from trustream.store import open_store

ROOT = Path(__file__).parents[1]


def blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


PAGES = sorted(
    path.relative_to(ROOT / "docs").as_posix()
    for folder in ("", "howto")
    for path in (ROOT / "docs" / folder).glob("*.md")
    if blocks(path)
)
# With the others that need Ray: tests/cluster/test_cluster_page.py.
PAGES.remove("cluster.md")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_from_top_to_bottom(page: str) -> None:
    names: dict[str, object] = {}
    for block in blocks(ROOT / "docs" / page):
        exec(compile(block, page, "exec"), names)


def test_pages_with_code() -> None:
    assert {"guide.md", "evaluation.md", "recommender.md"} <= set(PAGES)
    assert len(blocks(ROOT / "docs" / "guide.md")) >= 7


def without_extras(real: Callable[..., Any]) -> Callable[..., Any]:
    """An import by which trustream finds nothing that `pip install .` does not install."""
    extras = {
        "pandas",
        "polars",
        "pyarrow",
        "matplotlib",
        "fastapi",
        "ray",
        "psycopg",
        "stop_words",
    }

    def imported(name: str, *args: Any, **options: Any) -> Any:
        caller = (args[0] or {}).get("__name__", "") if args else ""
        if caller.split(".")[0] == "trustream" and name.split(".")[0] in extras:
            raise ImportError(f"{name} is not installed here")
        return real(name, *args, **options)

    return imported


def test_the_first_example_of_the_site_tells_its_subjects_apart() -> None:
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "docs" / "index.md"):
        exec(compile(block, "index.md", "exec"), names)
    money, market, team, players = names["model"].transform(names["texts"][:4]).argmax(axis=1)
    assert money == market != team == players


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands after `pip install .`, with a few texts for those that it downloads."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(builtins, "__import__", without_extras(builtins.__import__))
    texts = [f"cat dog {'bird' * (i % 3)} bank rate stock{i % 7} bond{i % 5}" for i in range(60)]
    monkeypatch.setattr(datasets, "fetch_20newsgroups", lambda subset: Bunch(data=texts))
    names: dict[str, object] = {}
    for block in blocks(ROOT / "README.md"):
        code = block.replace("max_df=0.3", "max_df=1.0")
        exec(compile(code, "README.md", "exec"), names)
    assert (tmp_path / "topics.safetensors").is_file()
    # The file that it writes is one that its commands read.
    for command in ("init topics.db --topics 3", "ingest topics.db articles.jsonl"):
        done = CliRunner().invoke(main, command.split())
        assert done.exit_code == 0, done.output
    with open_store(tmp_path / "topics.db", create=False) as opened:
        assert opened.totals().documents == len(texts)


TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
TEXTS += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))


def anchors(path: Path) -> set[str]:
    """Return the names by which links reach the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", TEXTS)
def test_links_lead_somewhere(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        page = (ROOT / path).parent / target if target else ROOT / path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), f"{target}#{anchor}"


@pytest.mark.parametrize("path", TEXTS)
def test_what_is_installed_comes_from_a_clone(path: str) -> None:
    """No package index has trustream yet."""
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not re.findall(r"pip install [^`\n]*\btrustream\b.*", text)


def test_every_page_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in text, page.name
    notes = (ROOT / "docs" / "notes" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "notes").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in notes, page.name


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each command on a page, in a line of its own or in a sentence.

    >>> text = "Use `trustream train\\nSTORE`:\\n\\n    trustream topics a.db  # look\\n"
    >>> list(commands(text))
    [['train', 'STORE'], ['topics', 'a.db']]
    """
    in_sentences = re.findall(r"(?<!`)`trustream ([^`]*)`", text)
    in_lines = re.findall(r"^    (?:\.venv/bin/)?trustream (.*)$", text, re.MULTILINE)
    for line in [*in_sentences, *in_lines]:
        words = shlex.split(line, comments=True)
        end = next((i for i, word in enumerate(words) if re.match(r"[0-9]?[<>|;&]", word)), None)
        yield words[:end]


def refused(words: list[str]) -> str:
    """Why the command line does not know a command, or nothing."""
    command: click.Command = main
    while isinstance(command, click.Group) and words and words[0][0] != "-":
        if words[0] not in command.commands:
            return "" if words[0].isupper() else f"there is no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    try:
        _, left, _ = command.make_parser(click.Context(command)).parse_args([*words])
    except click.BadOptionUsage:
        return ""  # an option whose value a sentence leaves out
    except click.UsageError as error:
        return error.format_message()
    return f"what is {left}?" if left and command is not main else ""


@pytest.mark.parametrize("path", TEXTS)
def test_commands_are_known_with_their_options(path: str) -> None:
    found = list(commands((ROOT / path).read_text(encoding="utf-8")))
    assert [(words, refused(words)) for words in found if refused(words)] == []


def test_wrong_commands_are_found() -> None:
    assert refused(["report", "STORE", "-o", "topics.html"]) == "No such option '-o'."
    assert refused(["merged", "STORE"]) == "there is no command merged"
    assert refused(["token", "make", "STORE"]) == "there is no command make"
    assert refused(["topics", "STORE", "MORE"]) == "what is ['MORE']?"
    assert len(list(commands((ROOT / "docs/commands.md").read_text(encoding="utf-8")))) > 50
