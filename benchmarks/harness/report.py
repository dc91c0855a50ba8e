"""Rows as a table for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.harness.rows import Row


def number(value: float | None) -> str:
    """Three digits that matter, without an exponent.

    >>> number(1234.6), number(1.2345), number(0.01234), number(None)
    ('1235', '1.23', '0.0123', '-')
    """
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def print_table(console: Console, rows: Sequence[Row]) -> None:
    """The table, without colours and frames where nobody looks."""
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else box.ASCII2)
    for heading in ("measurement", "measured", "unit", "target", "met"):
        justify = "right" if heading in ("measured", "target") else "left"
        table.add_column(heading, justify=justify, no_wrap=not console.is_terminal)
    for row in rows:
        met = {True: "[green]yes", False: "[red]no", None: ""}[row.met]
        if "error" in row.details:
            met = "[red]failed"
        table.add_row(row.name, number(row.measured), row.unit, row.target, met)
    console.print(table)


def console() -> Console:
    """Standard output, wide enough for a row a line when it goes to a file."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=120)


def write_json(path: Path, machine: dict[str, Any], rows: Sequence[Row], **more: Any) -> None:
    """Everything, raw timings included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine, **more, "rows": [row.as_json() for row in rows]}
    path.write_text(json.dumps(content, indent=1) + "\n")
