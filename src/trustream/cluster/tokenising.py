"""Make counts of words from texts with Ray Data: Parquet files in, Parquet files out."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trustream.cluster.addresses import parse_address
from trustream.cluster.connection import connected
from trustream.cluster.errors import ClusterError
from trustream.cluster.parquet_corpus import parquet_files
from trustream.cluster.parquet_counts import COUNTS
from trustream.cluster.text_tables import Columns, Split, document_frequencies, with_counts
from trustream.text import Tokeniser
from trustream.tokenisers import Tokenise

VOCABULARY = "vocabulary.txt"
# Rows that a task works on at a time, and bytes of a block of Ray Data: what a core holds at once.
_BATCH, _BLOCK_BYTES = 2000, 2**25


@dataclass(frozen=True, slots=True)
class Tokenised:
    """What was written to a folder.

    Attributes:
        folder: with Parquet files, and the words in `vocabulary.txt`.
        words: by column.
        n_documents: rows of all files.
        n_tokens: words that were counted.
    """

    folder: str
    words: list[str]
    n_documents: int
    n_tokens: int


def tokenise(
    source: str | Path | Sequence[str | Path],
    folder: str | Path,
    *,
    words: Sequence[str] | None = None,
    tokeniser: Tokenise | None = None,
    text_column: str = "text",
    min_documents: int = 5,
    max_words: int = 1_000_000,
    cluster: str = "local",
    workers: int | None = None,
) -> Tokenised:
    """Count the words of texts once, for fits and evaluations that then only read numbers.

    Ray Data reads Parquet files, workers split texts, and Parquet files are written: in the place
    of the column of texts they have `indices` and `counts`, as `trustream.cluster.fit` reads them
    and `write_counts` writes them; all other columns stay. Rows keep their order. Nothing but the
    vocabulary passes through this process. The folder appears when all of it is there.

    Parameters
    ----------
    source : str, Path or sequence of them
        Parquet files: a file, a folder, a pattern, a list.
    folder : str or Path
        Where to write, on storage that all workers share. It must not be there yet.
    words : sequence of str, default=None
        The words to count, by column, such as those of a model; None takes those of the texts that
        are in `min_documents` of them, the most frequent first, at most `max_words`. That is a pass
        of its own, and this process holds a number for each different word.
    tokeniser : Tokeniser or callable, default=None
        What makes words of texts; None is `trustream.text.Tokeniser()`. Lists of words are taken as
        they are.
    text_column : str, default="text"
        Column of texts, or of lists of words.
    min_documents, max_words : int, default=5, 1,000,000
        Which words are counted if `words` does not say.
    cluster, workers
        As in `trustream.cluster.transform`.

    Returns
    -------
    Tokenised
    """
    files = [file.path for file in parquet_files(source)]
    _check(files[0], text_column, min_documents, max_words, workers)
    out = Path(os.path.abspath(folder))
    if out.exists():
        raise ValueError(f"{out} is there already: give a new folder, or remove it first")
    split = Split(Tokeniser() if tokeniser is None else tokeniser, text_column)
    with connected(parse_address(cluster), n_cpus=workers) as ray, _ordered_data() as data:
        # Ray Data would make some two hundred tasks of a few small files.
        n_bytes = sum(path.stat().st_size for path in files)
        n_blocks = max(1, min(len(files), 1000), n_bytes // _BLOCK_BYTES)
        table = data.read_parquet([str(path) for path in files], override_num_blocks=n_blocks)
        options = {"batch_size": _BATCH, "batch_format": "pyarrow", "concurrency": workers}
        if words is None:
            # Words of documents as small tables; the driver adds them up in any order.
            frequencies = Counter[str]()
            counted = table.select_columns([text_column]).map_batches(
                document_frequencies, fn_args=(split,), **options
            )
            for some in _rows(counted.iter_batches(batch_size=None, batch_format="pyarrow")):
                for word, n in zip(some["word"].to_pylist(), some["n"].to_pylist(), strict=True):
                    frequencies[word] += n
            words = _most_frequent(frequencies, min_documents, max_words)
        words = list(words)
        if not words:
            raise ValueError(f"no word is in {min_documents} documents: give a lower min_documents")
        temporary = out.with_name(f".{out.name}.{uuid.uuid4().hex}")
        try:
            coder = table.map_batches(
                with_counts, fn_args=(split, ray.put(Columns(words))), **options
            )
            with _errors():
                coder.write_parquet(str(temporary))
            n_documents, n_tokens = _totals(temporary)
            (temporary / VOCABULARY).write_text("".join(f"{word}\n" for word in words))
            os.rename(temporary, out)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return Tokenised(str(out), words, n_documents, n_tokens)


def _most_frequent(frequencies: Counter[str], min_documents: int, max_words: int) -> list[str]:
    """Words that are in enough documents, the most frequent first, equal ones by the alphabet.

    >>> _most_frequent(Counter({"b": 3, "a": 3, "c": 9, "d": 1}), 2, 2)
    ['c', 'a']
    """
    enough = [(-n, word) for word, n in frequencies.items() if n >= min_documents]
    return [word for _, word in sorted(enough)[:max_words]]


def _check(
    path: Path, text_column: str, min_documents: int, max_words: int, workers: int | None
) -> None:
    from pyarrow import parquet

    names = parquet.ParquetFile(path).schema_arrow.names
    if text_column not in names:
        raise ValueError(
            f"{path} has no column {text_column!r}; its columns are {', '.join(names)}: name the "
            "column of texts by text_column"
        )
    numbers = {"min_documents": min_documents, "max_words": max_words, "workers": workers}
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}, expected 1 or more")


@contextmanager
def _ordered_data() -> Iterator[Any]:
    """Ray Data that keeps the order of rows and says nothing by itself."""
    import logging

    import ray.data as data

    context = data.DataContext.get_current()
    # The second way of reading asks for file systems in several threads, one of which may find a
    # module half imported.
    wanted = {
        "enable_progress_bars": False,
        "print_on_execution_start": False,
        "target_max_block_size": _BLOCK_BYTES,
        "use_datasource_v2": False,
    }
    before = {name: getattr(context, name) for name in wanted if hasattr(context, name)}
    in_order, level = context.execution_options.preserve_order, logging.getLogger("ray.data").level
    try:
        for name in before:
            setattr(context, name, wanted[name])
        context.execution_options.preserve_order = True
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        yield data
    finally:
        for name, value in before.items():
            setattr(context, name, value)
        context.execution_options.preserve_order = in_order
        logging.getLogger("ray.data").setLevel(level)


# The error of a worker's own code in what Ray Data makes of it.
_CAUSE = re.compile(r"^[\w.]*(?:Error|Exception): (.*?)\n\nThe above exception", re.M | re.S)


@contextmanager
def _errors() -> Iterator[None]:
    """Errors of workers, with what was said there."""
    import ray

    try:
        yield
    except ray.exceptions.RayTaskError as error:
        said = _CAUSE.findall(str(error))
        if not said:
            raise ClusterError(f"the texts could not be counted: {error}") from error
        raise ValueError(said[0]) from None
    except ray.exceptions.RayError as error:
        raise ClusterError(f"the texts could not be counted: {error}") from error


def _rows(batches: Any) -> Iterator[Any]:
    with _errors():
        yield from batches


def _totals(folder: Path) -> tuple[int, int]:
    """Rows and tokens of all files."""
    from pyarrow import compute, parquet

    n_documents = n_tokens = 0
    for path in sorted(folder.glob("*.parquet")):
        file = parquet.ParquetFile(path)
        n_documents += file.metadata.num_rows
        for group in range(file.num_row_groups):
            values = file.read_row_group(group, columns=[COUNTS])[COUNTS]
            n_tokens += int(compute.sum(compute.list_flatten(values)).as_py() or 0)
    return n_documents, n_tokens
