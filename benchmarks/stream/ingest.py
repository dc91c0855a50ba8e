"""Files into a store: documents per second, next to scikit-learn's CountVectorizer.

Both make counts of the same texts, in turn. CountVectorizer has them in memory as strings and
leaves a matrix there; `ingest` reads a file and leaves rows in a database that survive a loss
of power. Processor time is noted beside, that of helping processes included: on a machine that does
other things as well it says more than the clock.
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.harness.rows import Row, Setup, at_least, information
from trustream.feeds import ingest
from trustream.store import open_store

FILES: tuple[str, ...] = ()
N_TOKENS, N_WORDS, AT_LEAST = 100, 50_000, 1.5
# Words of an article of the dump; markup comes to it.
_ARTICLE = 400
_NOTE = (
    '<ref name="{0}">{{{{cite web |url=https://www.example.org/{0}/{1}.html |title={1} {0} '
    "|date=2015-07-06 |publisher={0}}}}}</ref>"
)


def measure(setup: Setup) -> Iterator[Row]:
    """JSON lines, then a MediaWiki dump, each in turn with CountVectorizer."""
    n = setup.choose(200_000, 100_000)
    rng = np.random.default_rng(0)
    names = _names(rng)
    with tempfile.TemporaryDirectory() as folder:
        lines, dump = Path(folder, "documents.jsonl"), Path(folder, "dump.xml")
        texts = [" ".join(words) for words in _draws(rng, names, n, N_TOKENS)]
        with lines.open("w", encoding="utf-8") as file:
            for i, text in enumerate(texts):
                file.write(json.dumps({"id": f"document-{i}", "text": text}) + "\n")
        n_articles = n * N_TOKENS // (2 * _ARTICLE)
        with dump.open("w", encoding="utf-8") as file:
            file.write("<mediawiki>\n")
            for i, words in enumerate(_draws(rng, names, n_articles, _ARTICLE)):
                file.write(_page(i, words))
            file.write("</mediawiki>\n")
        tasks: dict[str, Callable[[], object]] = {
            "CountVectorizer": lambda: CountVectorizer().fit_transform(texts),
            "JSON lines": partial(_ingest, lines),
            "dump": partial(_ingest, dump),
        }
        runs = _in_turn(tasks, setup.choose(3, 2))
        size = {"JSON lines": lines.stat().st_size, "dump": dump.stat().st_size}
    yield from _rows(runs, size, n, n_articles)


def _rows(
    runs: dict[str, list[tuple[float, float]]], size: dict[str, int], n: int, n_articles: int
) -> Iterator[Row]:
    best = {name: min(wall for wall, _ in times) for name, times in runs.items()}
    details = {
        name: {"seconds": [wall for wall, _ in times], "processor": [used for _, used in times]}
        for name, times in runs.items()
    }
    peer = n / best["CountVectorizer"]
    yield information("CountVectorizer, texts to a matrix", peer, "documents/s")
    rate = n / best["JSON lines"]
    title = f"JSON lines to rows, {n:,} documents of {N_TOKENS} words, {size['JSON lines']:,} bytes"
    yield information(title, rate, "documents/s")
    yield at_least("the same over CountVectorizer", rate / peer, AT_LEAST, "x", **details)
    bytes_of_peer = size["JSON lines"] / best["CountVectorizer"]
    rate = size["dump"] / best["dump"]
    title = f"a MediaWiki dump to rows, {n_articles:,} articles, {size['dump']:,} bytes"
    yield information(title, rate / 1e6, "MB/s")
    title = "the same over CountVectorizer, bytes per second"
    yield at_least(title, rate / bytes_of_peer, AT_LEAST, "x", **details)


def _in_turn(
    tasks: dict[str, Callable[[], object]], rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """Seconds by the clock and of processors, of each run; the first round warms up."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in tasks}
    for number in range(rounds + 1):
        for name, task in tasks.items():
            # What a run before left to be written must not slow this one.
            os.sync()
            start, used = time.perf_counter(), _processor()
            task()
            if number:
                runs[name].append((time.perf_counter() - start, _processor() - used))
    return runs


def _processor() -> float:
    """Seconds that processors worked for this process and its children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _ingest(path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        with open_store(Path(folder, "documents.db")) as store:
            result = ingest(store, path)
    if not result.finished or result.n_bad:
        raise RuntimeError(f"{path.name} was not read as it should be: {result}")


def _names(rng: np.random.Generator) -> list[str]:
    """Different words of letters, about as long as those of a language."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names: dict[str, None] = {}
    while len(names) < N_WORDS:
        length = int(np.clip(rng.normal(6.8, 2.2), 3, 14))
        names["".join(rng.choice(letters, length))] = None
    return list(names)


def _draws(
    rng: np.random.Generator, names: list[str], n: int, n_tokens: int
) -> Iterator[list[str]]:
    """Words of documents, a few of them often."""
    words = np.array(names, object)
    for first in range(0, n, 1000):
        tail = np.minimum(20 * rng.pareto(0.6, (min(1000, n - first), n_tokens)), 1e9)
        yield from words[tail.astype(np.int64) % len(names)].tolist()


def _page(number: int, words: list[str]) -> str:
    """A page of a dump with the markup that articles have: links, notes, headings, a box."""
    parts = [f"{{{{Infobox thing\n| name = {words[0]}\n| kind = {words[1]}\n}}}}\n'''{words[0]}'''"]
    for i, word in enumerate(words):
        if i % 9 == 4:
            parts.append(f"[[{word}|{words[i - 1]}]]" if i % 2 else f"[[{word}]]")
        elif i % 80 == 60:
            parts.append(_NOTE.format(word, words[i - 1]))
        elif i % 100 == 99:
            parts.append(f"{word}.\n\n== {word.capitalize()} ==\n")
        else:
            parts.append(f"{word}," if i % 11 == 0 else word)
    parts.append(f"\n{{{{Reflist}}}}\n[[Category:{words[2]}]]\n[[Category:{words[3]}]]")
    text = " ".join(parts).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        f"  <page>\n    <title>{words[0]} {number}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n"
        f"    <revision>\n      <id>{number}</id>\n"
        f"      <timestamp>2015-07-06T12:00:00Z</timestamp>\n"
        f'      <text bytes="{len(text)}" xml:space="preserve">{text}</text>\n'
        "    </revision>\n  </page>\n"
    )
