"""Put the data of a report on a page: one HTML file with everything that it needs."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from typing import Any

from trustream._regular_file import PathLike, replace_file
from trustream.topics.report.data import BINS, report_data

# The first of the modules, which imports the others, and the style sheets.
_ENTRY, _STYLES = "report-page.js", ("theme.css", "components.css")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_DECLARED = re.compile(r"^(?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)


def write_report(
    path: PathLike,
    model: Any,
    documents: Any = None,
    *,
    title: str = "Topics",
    times: Any = None,
    bins: Any = BINS,
    n_documents: int = 5,
    n_words: int = 20,
) -> None:
    """Write a page about topics that you can open in any browser, or send to a colleague.

    The page has a map of the topics; the words of each, with a slider between the most probable
    ones and those of this topic only (relevance, as in LDAvis); its share over time with intervals,
    and whether it is new, rising or fading; the documents that are most about it; a table that can
    be sorted and searched; and the hierarchy. It is one HTML file that needs no network and sends
    nothing anywhere: about half a megabyte for 100 topics. Without documents it has what the model
    knows by itself, and without times no trends.

    It shows words, titles and keys of documents: look whether they may be given away.

    Parameters
    ----------
    path : str or path
        The file, which is replaced whole or not at all. Devices and pipes are refused.
    model : LatentDirichletAllocation, TopicModel or TopicSet
        With a TopicSet, its words, ids and labels are used.
    documents : matrix of shape (n_documents, n_words), DocumentBatch, or iterable of either
        Read once, batch by batch, as in `trustream.topics.documents.as_batches`; for example
        ``stored_batches(store, topics.words)``. Keys, titles and times of batches are shown.
    title : str, default="Topics"
        Of the page.
    times : sequence, default=None
        When each document of a matrix was made, as in `topics_over_time`; batches have their own.
    bins : int, sequence of edges, FixedBins or GrowingBins, default=32
        As in `topics_over_time`. Of a stream of batches, whose first and last time are not known
        before they are read, a number of bins is the largest there may be: their width doubles
        until they are enough.
    n_documents : int, default=5
        Documents of each topic that are shown; 0 shows none.
    n_words : int, default=20
        Words of each topic that are shown at a time.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from trustream.topics import TopicSet
    >>> topics = TopicSet.of([[6.0, 2.0, 1.0], [1.0, 2.0, 7.0]], 0.1, ["cat", "the", "bank"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "report.html")
    ...     write_report(path, topics, np.array([[3, 1, 0], [0, 1, 4]]), title="Pets and money")
    ...     "<title>Pets and money</title>" in path.read_text(encoding="utf-8")
    True
    """
    data = report_data(
        model,
        documents,
        title=title,
        times=times,
        bins=bins,
        n_documents=n_documents,
        n_words=n_words,
    )
    replace_file(path, [page(data).encode("utf-8")])


def page(data: dict[str, Any]) -> str:
    """Return the HTML of a page that shows what `report_data` returned.

    A Content-Security-Policy allows the page's own script and style, by their hashes, and nothing
    else: no network, no other scripts, no text that becomes markup.

    >>> from trustream.topics import TopicSet
    >>> text = page(report_data(TopicSet.of([[1.0]], 0.1, ["</script>"])))
    >>> text.count("</script>"), "default-src 'none'" in text
    (2, True)
    """
    script, style = bundled(_ENTRY), "\n".join(_asset(name) for name in _STYLES)
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )
    title = html.escape(data["title"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="trustream">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main id="report"><h1>{title}</h1><noscript><p>This page needs JavaScript.</p></noscript></main>
<script type="application/json" id="data">{as_json(data)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def as_json(data: Any) -> str:
    r"""Return JSON that can stand in HTML: no character in it begins a tag, a comment or an entity.

    >>> as_json(["</script><!--", "żółw", 1.0])
    '["\\u003c/script\\u003e\\u003c!--","żółw",1.0]'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Only strings can have these characters, in which JSON knows them by their numbers.
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def bundled(entry: str) -> str:
    """Return modules of `trustream/web` as one, those first that others import.

    A module that stands in a page cannot import another one. So imports are left out, and all
    modules share one scope, in which a name is declared once.
    """
    parts: dict[str, str] = {}
    owners: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        source = _asset(name)
        for needed in _IMPORT.findall(source):
            add(needed)
        source = re.sub(r"^export ", "", _IMPORT.sub("", source), flags=re.MULTILINE)
        for declared in _DECLARED.findall(source):
            other = owners.setdefault(declared, name)
            assert other == name, f"{declared} is declared in {other} and in {name}"
        parts[name] = source

    add(entry)
    joined = "\n".join(parts.values())
    assert "</script" not in joined and not re.search(r"^(import|export) ", joined, re.MULTILINE)
    return joined


def _asset(name: str) -> str:
    return (resources.files("trustream") / "web" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    found = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(found).decode('ascii')}"
