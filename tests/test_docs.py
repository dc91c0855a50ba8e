"""The code in the documents runs, and what they name exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def test_the_guide_runs_from_top_to_bottom() -> None:
    names: dict[str, object] = {}
    code = blocks(ROOT / "docs" / "guide.md")
    assert len(code) >= 7
    for block in code:
        exec(compile(block, "guide.md", "exec"), names)


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With texts in the place of the reader's own."""
    monkeypatch.chdir(tmp_path)
    texts = [f"cat dog {'bird' * (i % 3)} bank rate stock{i % 7} bond{i % 5}" for i in range(60)]
    names: dict[str, object] = {"new_texts": texts[:5]}
    for block in blocks(ROOT / "README.md"):
        code = block.replace("texts = [...]", f"texts = {texts!r}")
        code = code.replace("max_df=0.3", "max_df=1.0")
        exec(compile(code, "README.md", "exec"), names)
    assert (tmp_path / "topics.safetensors").is_file()


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md", "docs/guide.md"])
def test_links_lead_somewhere(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / path).parent / target).exists(), target
