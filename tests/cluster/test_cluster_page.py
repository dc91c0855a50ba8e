"""The page about clusters runs from top to bottom."""

from __future__ import annotations

import pytest

from tests.test_docs import ROOT, blocks


@pytest.mark.usefixtures("ray_cluster")
def test_the_page_runs_from_top_to_bottom() -> None:
    found = blocks(ROOT / "docs" / "cluster.md")
    assert found
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, "cluster.md", "exec"), names)
