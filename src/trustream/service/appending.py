"""Append documents from many requests by one thread, so that they share what makes them durable."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from trustream.service.store_handle import StoreHandle
from trustream.store.errors import RecordError, StoreError
from trustream.store.protocol import Store
from trustream.store.records import Appended, Record

# Records that are appended together, at most, but for those of a single request.
_TOGETHER = 20_000


@dataclass(eq=False)
class _Task:
    """Some work with the store: records to append, or something else."""

    records: Sequence[Record] | None
    other: Callable[[Store], Any] | None
    done: Future[Any] = field(default_factory=Future)


class Appender:
    """A thread with a store of its own that makes all changes, one after the other.

    What waits when it is free goes into one transaction (`Store.append_groups`). A request is
    answered when its transaction is durable, never before.
    """

    def __init__(self, url: str) -> None:
        self._store = StoreHandle(url)
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="trustream-appender", daemon=True)
        self._closed = False

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    async def append(self, records: Sequence[Record]) -> Appended:
        """Append records; returns when they are durable."""
        result: Appended = await self._submit(_Task(records, None))
        return result

    async def run(self, work: Callable[[Store], Any]) -> Any:
        """Change the store in another way."""
        return await self._submit(_Task(None, work))

    async def _submit(self, task: _Task) -> Any:
        if self._closed:
            raise StoreError("the service is being stopped; send the request again")
        self._tasks.put(task)
        # Whether somebody still waits for the answer does not matter: it is done.
        return await asyncio.shield(asyncio.wrap_future(task.done))

    def close(self) -> None:
        """Do what waits, and close the store."""
        self._closed = True
        self._tasks.put(None)
        if self._thread.is_alive():
            self._thread.join()

    # --- in the thread

    def _run(self) -> None:
        ending = False
        while not ending:
            tasks: list[_Task] = []
            task = self._tasks.get()
            while True:
                if task is None:
                    ending = True
                else:
                    tasks.append(task)
                n = sum(len(one.records) for one in tasks if one.records is not None)
                if ending or n >= _TOGETHER or task is None or task.records is None:
                    break
                try:
                    task = self._tasks.get_nowait()
                except queue.Empty:
                    break
            self._do(tasks)
        self._store.close()

    def _do(self, tasks: Sequence[_Task]) -> None:
        appends = [task for task in tasks if task.records is not None]
        if len(appends) == 1:
            self._settle(appends[0], self._append_one)
        elif appends:
            self._append_together(appends)
        for task in tasks:
            if task.other is not None:
                self._settle(task, lambda store, task: task.other(store))  # type: ignore[misc]

    def _append_together(self, tasks: Sequence[_Task]) -> None:
        try:
            groups = [task.records for task in tasks if task.records is not None]
            results = self._store.call(lambda store: store.append_groups(groups))
        except RecordError:
            # One of them is to blame: the others are not refused for it.
            for task in tasks:
                self._settle(task, self._append_one)
        except BaseException as error:
            for task in tasks:
                task.done.set_exception(error)
        else:
            for task, result in zip(tasks, results, strict=True):
                task.done.set_result(result)

    @staticmethod
    def _append_one(store: Store, task: _Task) -> Appended:
        assert task.records is not None
        return store.append(task.records)

    def _settle(self, task: _Task, work: Callable[[Store, _Task], Any]) -> None:
        try:
            task.done.set_result(self._store.call(lambda store: work(store, task)))
        except BaseException as error:
            task.done.set_exception(error)
