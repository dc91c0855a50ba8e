"""Print a table of topics in few lines, in a shell and in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from trustream.terminal import shown

if TYPE_CHECKING:
    from trustream.topics.table import TopicTable

# Rows of a printed table, words in a row, and characters of a label or of all words.
_ROWS = 20
_WORDS = 7
_LABEL = 30
_LINE = 80


def as_text(table: TopicTable) -> str:
    """Return a title and a line for each of the largest topics: id, share, label and words.

    Labels are shown if any topic was given one; one without is called by its words.
    """
    headings, rows = _cells(table)
    widths = [max(len(row[i]) for row in (headings, *rows)) for i in range(len(headings) - 1)]
    lines = [_title(table)]
    for row in (headings, *rows):
        cells = [
            cell.ljust(width) if i == 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join([*lines, *_more(table)])


def as_html(table: TopicTable) -> str:
    """Return the same as a table of HTML, in which labels and words are escaped."""
    headings, rows = _cells(table)
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    more = "".join(f"<p>{line}</p>" for line in _more(table))
    return (
        f"<p>{_title(table)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _title(table: TopicTable) -> str:
    title = f"{len(table)} topic{'' if len(table) == 1 else 's'}"
    if table.n_documents is not None:
        title += f" in {table.n_documents:,} document{'' if table.n_documents == 1 else 's'}"
    return f"{title}, words by relevance {table.relevance:g}"


def _more(table: TopicTable) -> list[str]:
    return [f"... and {len(table) - _ROWS} more"] if len(table) > _ROWS else []


def _cells(table: TopicTable) -> tuple[list[str], list[list[str]]]:
    """The headings, and what stands in each row."""
    labelled = any(info.labelled for info in table)
    headings = ["topic", "share", *(["label"] if labelled else []), "words"]
    rows = []
    for info in table.topics[:_ROWS]:
        row = [str(info.topic), "-" if info.share != info.share else f"{info.share:.1%}"]
        if labelled:
            row.append(_shortened(info.label, _LABEL) if info.labelled else "")
        row.append(_shortened(" ".join(e.word for e in info.relevant[:_WORDS]), _LINE))
        rows.append(row)
    return headings, rows


def _shortened(text: str, longest: int) -> str:
    text = shown(text)
    return text if len(text) <= longest else text[: longest - 3].rstrip() + "..."
