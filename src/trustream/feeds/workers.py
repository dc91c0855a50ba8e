"""Read a file by several processes: one cuts it into blocks and stores, others make the records.

Blocks are given to the processes in turn and their answers are taken in the same order, so that
records come as they stand in the file. Few blocks are under way at a time. A process that has lost
its parent finds the end of its input and ends.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress

from trustream.feeds.blocks import ENDS, Block, cut
from trustream.feeds.errors import FeedError
from trustream.feeds.feed import Feed
from trustream.feeds.items import Item, Mark
from trustream.feeds.lines import ends_a_line
from trustream.feeds.packed_items import HEADER, PackedItems, Unpacker, frame
from trustream.feeds.rows import Rows
from trustream.feeds.sources import FileSource
from trustream.feeds.worker_process import Task
from trustream.text import Tokeniser, letter_rules, tokenise
from trustream.word_order import OrderedTokeniser

# Bytes of a file from which on processes pay, compressed ones counted several times.
LARGE = 2**25
_COMPRESSION = 4
_MOST, _ENOUGH = 8, 2
# Blocks of a process that are under way, and bytes of all of them: what it reads while a
# transaction is stored.
_DEPTH, _MAX_BYTES = 32, 2**25
# A record is read by blocks up to this length, though it is a bad one.
_LONG = 2**22
_PIPE = 2**20
# Bytes that are kept of what a process complains about.
_SAID = 2**12
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from trustream.feeds.worker_process import main; main()"
)


def can_share(feed: Feed) -> bool:
    """Whether several processes can read a feed.

    >>> import io
    >>> from trustream.feeds.feed import open_feed
    >>> can_share(open_feed(io.BytesIO(), format="text"))
    False
    """
    given = feed.options.tokenise
    plain = given is tokenise or type(given) in (Tokeniser, OrderedTokeniser)
    is_file = isinstance(feed.source, FileSource) and not feed.source.follow
    return os.name == "posix" and bool(sys.executable) and is_file and plain and feed.format in ENDS


def number_of_workers(feed: Feed, mark: Mark) -> int:
    """How many processes should make the records of a feed after a mark; 0 for none but this one.

    >>> import io
    >>> from trustream.feeds.feed import open_feed
    >>> number_of_workers(open_feed(io.BytesIO(), format="text"), Mark())
    0
    """
    source = feed.source
    if not can_share(feed) or not isinstance(source, FileSource):
        return 0
    size = source.size() * _COMPRESSION if source.compressed else source.size()
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if size - mark.offset < LARGE or cores == 1:
        return 0
    if letter_rules(feed.options.tokenise) is not None:
        # Such records are made faster than one process stores them, which needs a core for itself.
        return min(cores - 1, _ENOUGH)
    return min(cores, _MOST)


def shared_items(
    feed: Feed, alone: Feed, mark: Mark, n_workers: int
) -> Generator[Item | Rows, None, None]:
    """The items of a feed after a mark, as `Feed.items` yields them, made by several processes.

    Many records of lines may come together as rows.

    Args:
        feed: what is read.
        alone: the same, as this process reads what it cannot share.
        mark: where reading begins.
        n_workers: how many processes.

    Raises:
        FeedError: the feed cannot be read any further, or a process has ended before its time.
    """
    source = feed.source
    if not isinstance(source, FileSource) or not ends_a_line(source, mark.offset):
        yield from alone.items(mark)
        return
    longest = max(feed.options.max_bytes, _LONG)
    blocks = cut(source.chunks(mark.offset), mark, ENDS[feed.format], longest)
    task = Task(os.fspath(source.path), feed.format, feed.options)
    with _WorkerProcesses(n_workers, task, source.name) as workers:
        rest = yield from workers.items(blocks)
    if rest is not None:
        yield from alone.items(rest)


class _WorkerProcesses:
    """Processes that make records of blocks.

    Args:
        n: how many.
        task: what they read.
        name: of the file, for errors.
    """

    def __init__(self, n: int, task: Task, name: str) -> None:
        self._name = name
        self._all: list[_Worker] = []
        try:
            for _ in range(n):
                self._all.append(_Worker(task, name))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> _WorkerProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        try:
            for worker in self._all:
                worker.process.kill()
        finally:
            for worker in self._all:
                worker.close()

    def items(self, blocks: Iterator[Block]) -> Generator[Item | Rows, None, Mark | None]:
        """Items of blocks; returns where to go on, if the rest has to be read in another way."""
        waiting: deque[tuple[_Worker, int]] = deque()
        number, n_bytes = 0, 0
        rest: Mark | None = None
        failure: FeedError | None = None
        more = True
        while more or waiting:
            while more and (
                not waiting or (len(waiting) < _DEPTH * len(self._all) and n_bytes < _MAX_BYTES)
            ):
                try:
                    block = next(blocks, None)
                except FeedError as error:
                    # What stands before the damage comes first.
                    block, failure = None, error
                if block is None or block.content is None:
                    more, rest = False, block and block.mark
                    continue
                worker = self._all[number % len(self._all)]
                worker.send(block)
                waiting.append((worker, len(block.content)))
                number, n_bytes = number + 1, n_bytes + len(block.content)
            if waiting:
                worker, size = waiting.popleft()
                n_bytes -= size
                yield from worker.unpacker.items(self._answer_of(worker))
        if failure is not None:
            raise failure
        return rest

    def _answer_of(self, worker: _Worker) -> PackedItems:
        """Its next answer; meanwhile the pipes of all are served, so that nobody waits for us."""
        while (answer := worker.answer()) is None:
            readers = {worker.outbox: worker.read for worker in self._all}
            # A process whose complaints nobody reads would stop at some point.
            readers |= {w.complaints: w.read_complaints for w in self._all if w.complains}
            writers = {worker.inbox: worker.write for worker in self._all if worker.unsent}
            can_read, can_write, _ = select.select(readers, writers, [])
            for descriptor in can_write:
                writers[descriptor]()
            for descriptor in can_read:
                readers[descriptor]()
        return answer


class _Worker:
    """A process, what it has not been sent yet, and what came from it.

    Attributes:
        inbox, outbox, complaints: descriptors of the pipes to it and from it.
        complains: whether it may still write to the last of them.
        unsent: what the pipe to it has not taken yet.
        unpacker: of its answers.
    """

    def __init__(self, task: Task, name: str) -> None:
        self._name = name
        self.unpacker = Unpacker()
        self.unsent: deque[memoryview] = deque()
        self._received = bytearray()
        self._said, self.complains = b"", True
        # In a session of its own: Ctrl-C is for the process that stores.
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            start_new_session=True,
        )  # fmt: skip
        pipes = self.process.stdin, self.process.stdout, self.process.stderr
        self.inbox, self.outbox, self.complaints = (pipe.fileno() for pipe in pipes if pipe)
        for descriptor in (self.inbox, self.outbox):
            os.set_blocking(descriptor, False)
            # Where pipes cannot be made larger, processes wait for each other more often.
            with suppress(ImportError, OSError, AttributeError):
                import fcntl

                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE)
        self.send(task)

    def send(self, message: object) -> None:
        """Send a message, at once as much of it as the pipe takes."""
        self.unsent.append(memoryview(frame(message)))
        self.write()

    def write(self) -> None:
        """Send what is left, as much as the pipe takes."""
        try:
            while self.unsent:
                n = os.write(self.inbox, self.unsent[0])
                if n < len(self.unsent[0]):
                    self.unsent[0] = self.unsent[0][n:]
                else:
                    self.unsent.popleft()
        except BlockingIOError:
            pass
        except BrokenPipeError:
            raise self._ended() from None

    def read(self) -> None:
        """Receive what there is."""
        with suppress(BlockingIOError):
            received = os.read(self.outbox, _PIPE)
            if not received:
                raise self._ended()
            self._received += received

    def read_complaints(self) -> None:
        """Receive what it wrote to its standard error, of which the end is kept."""
        received = os.read(self.complaints, _PIPE)
        self._said = (self._said + received)[-_SAID:]
        self.complains = bool(received)

    def answer(self) -> PackedItems | None:
        """The next answer, None if it has not come as a whole."""
        data = self._received
        if len(data) < HEADER.size:
            return None
        end = HEADER.size + HEADER.unpack_from(data)[0]
        if len(data) < end:
            return None
        answer = pickle.loads(memoryview(data)[HEADER.size : end])
        self._received = data[end:]
        return answer if isinstance(answer, PackedItems) else None

    def _ended(self) -> FeedError:
        """The error that says that the process is not there any more."""
        while self.complains:
            self.read_complaints()
        code = self.process.wait()
        how = (
            f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        )
        last = self._said.decode(errors="replace").strip().splitlines()[-1:]
        how += "".join(f" ({line})" for line in last)
        return FeedError(
            f"a process that helps to read {self._name} {how}; what stands before is stored. "
            "Ingest the file again, and it goes on there; with workers=0 without such processes, "
            "which takes less memory"
        )

    def close(self) -> None:
        """End it and let go of its pipes."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        self.process.wait()
