"""The docstring corpus: what is read, what counts as a word, and always in the same order."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from trustream.demo import docstrings
from trustream.demo.docstrings import docstrings_of, source_files, stream, tokenise

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def prose(seed: str, n: int = 25) -> str:
    """Return ``n`` different words, none of them a stop word."""
    return " ".join(f"{seed}qq{LETTERS[index // 26]}{LETTERS[index % 26]}" for index in range(n))


def collect(root: Path, min_words: int = 20) -> list[list[str]]:
    found = [docstring for some in stream([root], min_words=min_words) for docstring in some]
    assert len({docstring.name for docstring in found}) == len(found)
    return [docstring.words for docstring in found]


def texts(source: bytes) -> list[str]:
    return [text for _, text in docstrings_of(source)]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def module(*texts: str) -> str:
    functions = [f'def f{n}():\n    """{text}"""\n' for n, text in enumerate(texts)]
    return "\n".join(functions)


def first_words(documents: list[list[str]]) -> list[str]:
    return [words[0].split("qq")[0] for words in documents]


def test_tokenise_drops_interactive_examples() -> None:
    text = "Sum of numbers.\n\n    >>> hidden = 1\n    ... concealed\n    shown"
    assert tokenise(text) == ["sum", "numbers", "shown"]


def test_docstrings_everywhere_in_source_order() -> None:
    source = b'''
"""module"""
class A:
    """class"""
    def f(self):
        """method"""
        def g():
            """nested"""
    async def h(self):
        """coroutine"""
if True:
    def i():
        """conditional"""
else:
    def j():
        """alternative"""
try:
    pass
except ImportError:
    def k():
        """handler"""
match 1:
    case 1:
        def l():
            """case"""
def m():
    x = "not a docstring"
def n():
    f"""not one either"""
'''
    assert texts(source) == [
        "module", "class", "method", "nested", "coroutine",
        "conditional", "alternative", "handler", "case",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"def broken(:\n", id="syntax"),
        pytest.param(b'"doc"\0', id="null byte"),
        pytest.param(b'# -*- coding: nonsense -*-\n"""doc"""', id="unknown encoding"),
        pytest.param(b'"""\xff\xfe"""', id="not utf-8"),
        pytest.param(b"-" * 100_000 + b"1", id="too deep"),
        pytest.param(b"", id="empty"),
    ],
)
def test_sources_that_cannot_be_parsed_have_no_docstrings(source: bytes) -> None:
    assert docstrings_of(source) == []


def test_source_encoding_is_respected() -> None:
    source = '# -*- coding: latin-1 -*-\n"""Größe"""'.encode("latin-1")
    assert texts(source) == ["Größe"]


@pytest.mark.filterwarnings("error")
def test_other_peoples_warnings_are_kept_quiet() -> None:
    assert texts(b'"""doc \\d"""\nx = 1 is 1\n') == ["doc \\d"]


def test_source_files_are_sorted_and_without_tests(tmp_path: Path) -> None:
    kept = ["a.py", "b/__init__.py", "b/z.py", "c/d/e.py"]
    dropped = [
        "a.txt", "b/__pycache__/z.py", "b/tests/t.py", "c/test/t.py", "c/test_x.py",
        "c/conftest.py", "site-packages/p.py", ".hidden/h.py", "b/testing/util.py",
    ]  # fmt: skip
    for name in reversed(kept + dropped):
        write(tmp_path / name, "")
    assert [path.relative_to(tmp_path).as_posix() for path in source_files(tmp_path)] == kept


def test_packages_take_turns(tmp_path: Path) -> None:
    for name in ("one", "two"):
        for number in "abc":
            write(tmp_path / f"{name}/{number}.py", module(prose(f"{name}{number}")))
    expected = ["onea", "twoa", "oneb", "twob", "onec", "twoc"]
    assert first_words(collect(tmp_path)) == expected
    assert collect(tmp_path) == collect(tmp_path)


def test_the_order_does_not_depend_on_the_order_of_creation(tmp_path: Path) -> None:
    names = [f"{package}/{number}.py" for package in "pqr" for number in "abc"]
    for name in names:
        write(tmp_path / "forward" / name, module(prose(name.replace("/", "")[:2])))
    for name in reversed(names):
        write(tmp_path / "backward" / name, module(prose(name.replace("/", "")[:2])))
    assert collect(tmp_path / "forward") == collect(tmp_path / "backward")


def test_names_say_where_a_docstring_stands(tmp_path: Path) -> None:
    source = f'''
class A:
    @property
    def f(self):
        """{prose("getter")}"""
    @f.setter
    def f(self, value):
        """{prose("setter")}"""
'''
    write(tmp_path / "pack/__init__.py", f'"""{prose("package")}"""')
    write(tmp_path / "pack/_inner/m.py", source)
    write(tmp_path / "single.py", module(prose("single")))
    found = {d.words[0].split("qq")[0]: d.name for some in stream([tmp_path]) for d in some}
    assert found == {
        "package": "pack",
        "getter": "pack._inner.m:A.f",
        "setter": "pack._inner.m:A.f (2)",
        "single": "single:f0",
    }


def test_short_docstrings_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "m.py", module(prose("short", 19), prose("long", 20), prose("more", 30)))
    assert first_words(collect(tmp_path)) == ["long", "more"]
    assert first_words(collect(tmp_path, min_words=25)) == ["more"]


def test_duplicates_and_bad_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.py", module(prose("same"), prose("other")))
    write(tmp_path / "b.py", module(prose("same")))
    write(tmp_path / "broken.py", b"def f(:\n")
    write(tmp_path / "huge.py", module(prose("huge")) + "#" * 1_000_001)
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    assert first_words(collect(tmp_path)) == ["same", "other"]


def test_nothing_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    write(tmp_path / "bomb.py", f'"""{prose("bomb")}"""\nraise SystemExit("imported")\n')
    assert first_words(collect(tmp_path)) == ["bomb"]
    assert "bomb" not in sys.modules


def test_default_roots_hold_the_library_and_the_packages() -> None:
    roots = docstrings.default_roots()
    assert (roots[0] / "ast.py").exists()
    assert any((root / "numpy").is_dir() for root in roots)
    assert Path.cwd() not in roots
