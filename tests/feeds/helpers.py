"""Small feeds, and what is in a store as plain dictionaries."""

from __future__ import annotations

import bz2
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from trustream.store import DocumentStore, open_store

WORDS = [f"word{chr(97 + i)}" for i in range(20)]

DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="de">
  <siteinfo>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">Datei</namespace>
    </namespaces>
  </siteinfo>
  <page>
    <title>Cat &amp; dog</title>
    <ns>0</ns>
    <id>12</id>
    <revision>
      <id>99</id>
      <timestamp>1970-01-01T00:02:00Z</timestamp>
      <text bytes="9" xml:space="preserve">{{Infobox|name=hidden}}'''Cats''' chase [[mouse|mice]].
&lt;ref&gt;hidden source&lt;/ref&gt; [[Datei:Cat.jpg|thumb|hidden [[caption]]]] [[Category:Hidden]]
Cats sleep.</text>
    </revision>
  </page>
  <page>
    <title>Kitty</title>
    <ns>0</ns>
    <id>13</id>
    <redirect title="Cat" />
    <revision><id>1</id><text>#REDIRECT [[Cat]]</text></revision>
  </page>
  <page>
    <title>Talk:Cat</title>
    <ns>1</ns>
    <id>14</id>
    <revision><id>2</id><text>chatter</text></revision>
  </page>
  <page>
    <title>Bird</title>
    <ns>0</ns>
    <id>15</id>
    <revision><id>3</id><text>Birds fly &amp;amp; sing</text></revision>
  </page>
</mediawiki>
"""
DUMP_DOCUMENTS = {
    "Cat & dog": {"cats": 2, "chase": 1, "mice": 1, "sleep": 1},
    "Bird": {"birds": 1, "fly": 1, "sing": 1},
}


def new_store(folder: Path, name: str = "topics.db") -> DocumentStore:
    """A store in which every word takes part at once."""
    return open_store(folder / name, min_documents=1, max_words=None)


def documents(store: DocumentStore) -> dict[str, dict[str, int]]:
    """Everything in a store: words and counts by key."""
    words = store.vocabulary().words
    found: dict[str, dict[str, int]] = {}
    for block in store.scan():
        for row, key in enumerate(block.keys):
            part = slice(block.indptr[row], block.indptr[row + 1])
            columns, counts = block.indices[part], block.counts[part]
            pairs = zip(columns, counts, strict=True)
            found[key] = {str(words[column]): int(count) for column, count in pairs}
    return found


def random_records(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Records of random words, some of them parts of the same document."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 8, n)
    keys = rng.integers(0, max(1, n // 2), n)
    return [
        {"id": f"d{key}", "tokens": list(rng.choice(WORDS, length))}
        for key, length in zip(keys, lengths, strict=True)
    ]


def expected(records: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """The documents of records with tokens, each counted once."""
    counts: dict[str, Counter[str]] = {}
    for record in records:
        counts.setdefault(record["id"], Counter()).update(record["tokens"])
    return {key: dict(count) for key, count in counts.items()}


def write_dump(path: Path) -> Path:
    """A MediaWiki dump, compressed if its name says so."""
    content = DUMP.encode()
    path.write_bytes(bz2.compress(content) if path.suffix == ".bz2" else content)
    return path
