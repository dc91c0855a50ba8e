"""The command ``trustream ingest``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.cluster_parameters import cluster_option, say_start
from trustream.cli.completion import file_names
from trustream.cli.file_parameters import InputFile
from trustream.cli.interruption import if_interrupted
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.option_names import in_current_options
from trustream.cli.output import echo, echo_json, progress
from trustream.cli.shared_parameters import json_option, opened, store_argument
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options

if TYPE_CHECKING:
    from trustream import feeds
    from trustream.terminal import Advance

# Repeated here, so that --help does not load the readers; a test compares them.
FORMATS = ("jsonl", "text", "csv", "ratings", "parquet", "uci", "ldac", "mediawiki")

# Suffixes of files whose progress is counted in rows.
_ROW_SUFFIXES = (".parquet", ".pq")


def _limit(name: str, default: int, text: str) -> Callable[..., Any]:
    """Return an option that limits the size of a record; its default is that of `feeds.Options`."""
    return click.option(name, default=default, type=Whole(1), help=text)


_EPILOG = """\b
Examples:
  trustream ingest topics.db news.jsonl
  trustream ingest topics.db articles/ "archive/*.jsonl.gz"
  trustream ingest topics.db posts.jsonl --text-column post.body
  trustream ingest topics.db enwiki-pages-articles.xml.bz2
  trustream ingest topics.db log.txt --follow     # goes on as lines are added
  trustream ingest topics.db news.jsonl --again --replace   # corrected
  tail -f events.jsonl | trustream ingest topics.db - --format jsonl
  trustream ingest postgresql://db/news /shared/news --cluster auto
"""


@click.command(epilog=_EPILOG, short_help="Add documents of files to a STORE, each once.")
@store_argument
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=file_names)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="Of all FILEs.  [default: by the name]"
)
@click.option(
    "--on-error",
    default="stop",
    type=click.Choice(["stop", "skip"]),
    help="What to do at a bad record.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Read a file from its start, though it was read; needs --replace or --add.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="Replace the document of a record's id, instead of adding words to it.",
)
@click.option("--add", is_flag=True, help="Add words to documents that are there, as by default.")
@click.option("--follow", is_flag=True, help="Wait at the end for lines to be added.")
@click.option("--idle", type=Real(0), help="Stop following after so many idle seconds.")
@click.option("--batch", default=1000, type=Whole(1), help="Records per commit.")
@click.option("--vocabulary", type=InputFile(), help="Words by number, for uci and ldac.")
@click.option(
    "--replaced",
    default="stop",
    type=click.Choice(["stop", "read"]),
    help="What to do with a file that is not the one that was read before.",
)
@click.option("--name", help="Names documents without an id: NAME:7.  [default: the file's name]")
@click.option("--delimiter", help="Between columns.  [default: by the file's name]")
@click.option(
    "--id-column", default="id", help='Of csv, parquet and jsonl, where a.b is b in a; "" for none.'
)
@click.option("--text-column", default="text", help="Of csv, parquet and jsonl.")
@click.option("--time-column", help="Of csv, parquet and jsonl, if there is one.")
@click.option(
    "--title-column", default="title", help="Of csv, parquet and jsonl, in stores that keep texts."
)
@click.option("--user-column", default="user", help="Of ratings.")
@click.option("--item-column", default="item", help="Of ratings.")
@click.option("--rating-column", default="rating", help="Of ratings.")
@click.option("--timestamp-column", default="timestamp", help="Of ratings.")
@click.option("--threshold", type=Real(), help="Of ratings: liked from here on.")
@click.option("--in-order", is_flag=True, help="Sort ratings by time first.")
@click.option(
    "--page-key",
    default="title",
    type=click.Choice(["title", "id"]),
    help="What names a page of a MediaWiki dump.",
)
@tokeniser_options("the store's")
@click.option(
    "--workers",
    type=Whole(0),
    help="Processes that help to read a large file, 0 for none; with --cluster its workers, each "
    "of which reads a file at a time.  [default: by its size; one per CPU of a cluster]",
)
@cluster_option
@_limit("--max-bytes", 2**25, "Bytes of a line, row or page; a longer one is a bad record.")
@_limit("--max-words", 2**22, "Words of a record; one with more is a bad record.")
@_limit("--max-columns", 10_000, "Columns of a table; one with more is not read.")
@_limit("--max-depth", 200, "JSON inside JSON; a line with more levels is a bad record.")
@json_option
def ingest(
    store: str,
    files: tuple[str, ...],
    format_: str | None,
    on_error: str,
    again: bool,
    replace: bool,
    add: bool,
    replaced: str,
    follow: bool,
    idle: float | None,
    batch: int,
    vocabulary: Path | None,
    cluster: str | None,
    workers: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Add documents of files, or of standard input (-), to a STORE, each exactly once.

    A FILE may be a folder, whose files are read in the order of their names, or a pattern in
    quotes. A file that was read before adds only what was appended to it since. An ingest that was
    stopped or killed goes on where it was when it is run again. A record whose id is in the store
    adds its words to that document, or replaces it with --replace.

    Texts are split into words as the STORE says (`trustream tokeniser`). The options for it are
    refused if they say something else; a STORE that does not say keeps those of the first ingest.

    With --cluster, workers on its nodes read the FILEs, which they must find under the same names,
    and write to the STORE. A file whose worker is lost is gone on with by another.
    """
    from trustream import feeds

    if replace and add:
        raise click.UsageError("--replace and --add exclude each other; give one of them.")
    if again and not (replace or add):
        raise click.UsageError(
            "--again reads records that may be in the store already; give --replace to replace "
            "their documents, or --add to add their words once more."
        )
    if vocabulary is not None:
        options["vocabulary"] = feeds.read_vocabulary(vocabulary)
    options["id_column"] = options["id_column"] or None
    with opened(store) as found:
        tokeniser = taken_tokeniser(options, found.tokeniser())
        if tokeniser is not None:
            options["tokenise"] = tokeniser
        replaces = replace if replace or add else None
        hint = replaces is None and format_ != "ratings"
        if cluster is not None:
            if follow or "-" in files:
                raise click.UsageError("Workers read files that are complete, and no other feeds.")
            given = {"batch": batch, "on_error": on_error, "replaced": replaced, **options}
            given |= {"format": format_, "again": again, "replace": replaces}
            _by_workers(found.url, files, cluster, workers, given, hint, as_json)
            return
        options["workers"] = workers
        for file, title, name in _listed(files, format_):
            so_far = _SoFar(found.name, title, from_file=file != "-", again=again)
            if_interrupted(so_far.advice)
            size, unit = _size(file, format_, follow)
            with progress(title, size, unit) as advance:
                so_far.advance = advance
                result = feeds.ingest(
                    found,
                    file,
                    format=format_,
                    batch=batch,
                    on_error=on_error,
                    again=again,
                    replace=replaces,
                    replaced=replaced,
                    follow=follow,
                    idle=idle,
                    progress=so_far.moved,
                    **(options if name is None else {**options, "name": options["name"] or name}),
                )
            _print(file, title, result, hint, as_json)


def _print(
    file: str, title: str, result: feeds.IngestResult, hint: bool, as_json: bool, **more: Any
) -> None:
    """Say what was added of a file, and what was not."""
    for problem in result.problems:
        echo(in_current_options(f"left out: {problem}"), err=True)
    if result.note is not None:
        echo(
            f"Note on {title}: {in_current_options(result.note)}, by `trustream tokeniser "
            "STORE`, and ingest the file again with --again --replace",
            err=True,
        )
    if as_json:
        values = dataclasses.asdict(result)
        echo_json({"file": file, **values, "problems": result.problems, **more})
        return
    echo(
        f"{title}: {result.n_records:,} records, {result.n_documents:,} new documents, "
        f"{result.n_tokens:,} tokens" + _others(result)
    )
    for line in _about_documents(result, hint):
        echo(line)


def _by_workers(
    store: str,
    files: tuple[str, ...],
    cluster: str,
    workers: int | None,
    options: dict[str, Any],
    hint: bool,
    as_json: bool,
) -> None:
    """Have the workers of a cluster ingest files, and say what each of them added."""
    from trustream.cluster.ingesting import ingest as on_cluster

    if_interrupted(lambda: "What was added is safe; the same command goes on from there.")
    say_start(cluster)
    for done in on_cluster(store, files, cluster=cluster, workers=workers or None, **options):
        _print(done.file, done.name, done.result, hint, as_json, before=done.n_before)
        if done.n_before and not as_json:
            echo(f"{done.n_before:,} lines or rows before that were added by a worker that died")


class _SoFar:
    """How far the ingest of a file is: shown as progress, and said if it is interrupted."""

    def __init__(self, store: str, title: str, *, from_file: bool, again: bool) -> None:
        self._store, self._title = store, title
        self._from_file, self._again = from_file, again
        self._n_records = 0
        self.advance: Advance | None = None

    def moved(self, at: feeds.Progress) -> None:
        """Called after each transaction."""
        self._n_records = at.result.n_records
        if self.advance is not None:
            self.advance(at.done, f"{at.result.n_records:,} records")

    def advice(self) -> str:
        """What is safe and how to go on."""
        n = self._n_records
        added = f"{n:,} record{'s were' if n > 1 else ' was'}" if n else "Nothing was"
        safe = f"{added} added from {self._title} to {self._store}"
        if not self._from_file:
            return f"{safe}; what was read after that is not stored: send it again."
        same = "the same command without --again" if self._again else "the same command"
        return f"{safe}; {same} goes on from there."


def _listed(files: tuple[str, ...], format_: str | None) -> Iterator[tuple[str, str, str | None]]:
    """Yield each file, its title, and what names its documents unless it is the file's name.

    Those of a folder or a pattern that cannot be read are named at the end, as a failure.
    """
    from trustream.feeds import FeedError, find_files

    unreadable: list[str] = []
    for file in files:
        path = Path(file)
        if file == "-" or (path.exists() and not path.is_dir()):
            yield file, "standard input" if file == "-" else path.name, None
            continue
        found = find_files(file, format_)
        for unknown in found.unknown:
            echo(f"left out: {unknown}, whose format cannot be told by its name", err=True)
        unreadable += [f"{there}: {why}" for there, why in found.unreadable]
        for some in found.files:
            yield str(some.path), some.name, some.name
    if unreadable:
        raise FeedError(f"cannot read {'; '.join(unreadable)}. All other files were read")


def _size(file: str, format_: str | None, follow: bool) -> tuple[int | None, str]:
    """Return how much there is to read, None if it is not known, and its unit."""
    path = Path(file)
    rows = format_ == "parquet" or path.suffix.lower() in _ROW_SUFFIXES
    known = not (follow or file == "-" or rows) and os.path.isfile(path)
    return path.stat().st_size if known else None, "rows" if rows else "bytes"


def _others(result: Any) -> str:
    parts = []
    if result.n_repeated:
        parts.append(f"{result.n_repeated:,} repeated")
    if result.n_bad:
        parts.append(f"{result.n_bad:,} bad left out")
    return f" ({', '.join(parts)})" if parts else ""


def _about_documents(result: Any, hint: bool) -> list[str]:
    """What became of documents that were in the store already, a sentence each."""
    lines = []
    if result.n_extended:
        there = _documents(result.n_extended)
        lines.append(
            f"words added to {there} that {_were(result.n_extended)} there before this feed"
            + ("; --replace replaces such documents instead" * hint)
        )
    if result.n_replaced:
        there = _documents(result.n_replaced)
        lines.append(f"replaced {there} that {_were(result.n_replaced)} there before this feed")
    if result.n_superseded:
        lines.append(
            f"{result.n_superseded:,} records replaced an earlier one of the same id in this feed"
        )
    return lines


def _documents(n: int) -> str:
    return f"{n:,} document{'s' * (n != 1)}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"
