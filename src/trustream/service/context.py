"""What the routes of a service share, from its start to its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from fastapi import Request

from trustream.service import access
from trustream.service.access import ANYBODY, Scope, Token
from trustream.service.appending import Appender
from trustream.service.compute_process import ComputeProcess
from trustream.service.computing import Compute, Computing, ComputingTask
from trustream.service.documents_in import Before, DocumentsIn, is_for_compiled_code
from trustream.service.events import Events
from trustream.service.forgetting import Forgetter
from trustream.service.problem_error import ProblemError
from trustream.service.published_model import no_model, unreadable_model
from trustream.service.rate_limit import RateLimit
from trustream.service.readers import Readers
from trustream.service.settings import ServiceSettings
from trustream.service.shown_report import ShownReport
from trustream.service.trainer_process import TrainerProcess
from trustream.service.watcher import Watcher
from trustream.store import open_store
from trustream.store.protocol import Store
from trustream.store.records import Record

COOKIE = "trustream_session"
# Times that a request waits for an answer, after which what computes is taken to be stuck.
_FORGOTTEN = 10


class Context:
    """Threads, handles and what was read last, of one service.

    Args:
        settings: how it runs.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.started = time.time()
        self.events = Events(settings.max_events)
        self.readers = Readers(settings.store, settings.n_readers)
        self.appender = Appender(settings.store)
        # One thread makes records of small bodies: it keeps words that it has met.
        self._parser, self._documents_in = Readers(settings.store, 1), DocumentsIn()
        with open_store(settings.store, create=False) as store:
            self.store_settings = store.settings
            self.title, self._name = store_title(store), store.name
        self._compute = self._computing()
        self.forgetter = Forgetter(settings.store, self.compute)
        self.watcher = Watcher(settings, self.events, self._compute)
        self.trainer = self._trainer() if settings.train else None
        # What the store keeps of tokens, by the version that was read.
        self._access: tuple[int | None, dict[str, Any]] | None = None
        # Wrong tokens, of one address.
        self._failures = RateLimit(1.0, 20)

    async def start(self) -> None:
        """Begin."""
        self.events.start()
        self.appender.start()
        await self.readers.run(self.watcher.start)
        if self.trainer is not None:
            self.trainer.start()

    async def stop(self) -> None:
        """End: answer what was begun, and close all handles."""
        self.events.stop()
        loop = asyncio.get_running_loop()
        self.watcher.end()
        self.forgetter.stop()
        ends = [
            self._compute.close, self.watcher.join, self._parser.close, self.appender.close,
            self.forgetter.close, self.readers.close,
        ]  # fmt: skip
        if self.trainer is not None:
            ends.insert(0, self.trainer.stop)
        for end in ends:
            await loop.run_in_executor(None, end)

    def _computing(self) -> Compute:
        settings = self.settings
        task = ComputingTask(
            settings.store, settings.model, self.title, settings.sample, settings.n_readers
        )
        if settings.compute_apart:
            longest = _FORGOTTEN * settings.answer_seconds
            return ComputeProcess(
                task, settings.idle_seconds, silent_seconds=settings.silent_seconds, longest=longest
            )
        return Computing(task)

    async def compute(self, name: str, *arguments: Any) -> Any:
        """What an operation of `Computing` returns; a problem if it takes too long."""
        done = asyncio.wrap_future(self._compute.submit(name, *arguments))
        try:
            return await asyncio.wait_for(done, self.settings.answer_seconds)
        except TimeoutError:
            raise ProblemError(
                503,
                "busy",
                "what computes with topics does not answer in time: try again",
                headers={"Retry-After": "5"},
            ) from None

    async def records(
        self, body: bytes, kind: str, key: str | None, before: Before
    ) -> Sequence[Record]:
        """Records of a body, see `DocumentsIn.read`."""
        if is_for_compiled_code(body):
            found: Sequence[Record] = await self.compute("parse", body, kind, key, before)
            return found
        return await self._parser.run(
            lambda store: self._documents_in.read(store, body, kind, key, before)
        )

    def _trainer(self) -> TrainerProcess:
        settings, events, watcher = self.settings, self.events, self.watcher
        score: float | None = None

        def tell(state: dict[str, Any]) -> None:
            if state["problem"] is not None:
                # Where the store is, is for those who run the service.
                state = state | {"problem": state["problem"].replace(self._name, self.title)}
            watcher.training = state
            watcher.send_trainer()

        def step(progress: dict[str, Any]) -> None:
            nonlocal score
            events.send("step", progress)
            found = progress["last_score"]
            if found is not None and found != score:
                score = found
                watcher.send_score(progress["n_steps"], found)

        asked = {
            "store": settings.store,
            "model": settings.model,
            "checkpoint_every": settings.checkpoint_every,
            "n_jobs": settings.n_jobs,
        }
        return TrainerProcess(asked, tell, step)

    # --- what is shown

    @property
    def has_model(self) -> bool:
        """Whether there is a model, also one that is still being loaded."""
        return self.watcher.model is not None or self.watcher.is_loading

    def check_model(self) -> None:
        """Raise a problem if there is no model."""
        if not self.has_model:
            make = unreadable_model if self.watcher.is_refused else no_model
            raise make(self.settings.model, self.title)

    @property
    def report(self) -> ShownReport:
        """The last report; a problem if there is none yet."""
        self.check_model()
        report = self.watcher.report
        if report is None:
            raise ProblemError(
                503,
                "not-ready",
                f"the report on the model {self.settings.model!r} is being computed: try again",
                headers={"Retry-After": "1"},
            )
        return report

    # --- who asks

    async def sender(self, request: Request) -> Token | None:
        """The token of a request; None if it has none that is valid."""
        if not self.settings.requires_token:
            return ANYBODY
        secret = bearer(request) or request.cookies.get(COOKIE)
        if not secret or len(secret) > 500:
            return None
        return await self.find_token(secret)

    def _find(self, store: Store, secret: str) -> Token | None:
        version, known = store.saved_version(access.SAVED), self._access
        if known is None or known[0] != version:
            known = self._access = version, access.load(store)
        return access.lookup(known[1], secret)

    def count_failure(self, request: Request) -> None:
        """Note a wrong token; a problem if there were too many from the same address."""
        if not self._failures.allows(request.client.host if request.client else ""):
            raise ProblemError(
                429,
                "too-many-failures",
                "too many wrong tokens: slow down",
                headers={"Retry-After": "5"},
            )

    async def find_token(self, secret: str) -> Token | None:
        """What a token or a session allows; None if it is not valid."""
        return await self.readers.run(lambda store: self._find(store, secret))

    @staticmethod
    def no_token() -> ProblemError:
        """The refusal of a request without a token that is valid."""
        return ProblemError(
            401,
            "no-token",
            "this service asks for a token: send it as Authorization: Bearer ..., or log in",
            headers={"WWW-Authenticate": 'Bearer realm="trustream"'},
        )

    async def still_allows(self, request: Request, scope: Scope) -> bool:
        """Whether the token of a request that takes long is valid as it was when it began."""
        token = await self.sender(request)
        return token is not None and token.allows(scope)

    async def require(self, request: Request, scope: Scope) -> Token:
        """The token of a request that allows something; a problem if it does not."""
        token = request.scope.get("state", {}).get("token") or await self.sender(request)
        if token is None:
            raise self.no_token()
        if not token.allows(scope):
            raise ProblemError(
                403,
                "not-allowed",
                f"the token {token.name!r} allows {', '.join(token.scopes)}, and this needs "
                f"{scope}: make another by trustream token create",
            )
        return token


def bearer(request: Request) -> str | None:
    """The token in the header of a request."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" and secret.strip() else None


def store_title(store: Store) -> str:
    """The name of a store without its place: a file, or a database.

    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         store_title(store)
    'topics.db'
    """
    return store.name.split("?")[0].rstrip("/").rsplit("/", 1)[-1] or "store"


def context_of(request: Request) -> Context:
    """The context of the application that a request came to."""
    context: Context = request.app.state.context
    return context


async def reading(request: Request) -> Token:
    """Let a route begin only for those who may read."""
    return await context_of(request).require(request, "read")


async def appending(request: Request) -> Token:
    """Let a route begin only for those who may append."""
    return await context_of(request).require(request, "append")


async def administering(request: Request) -> Token:
    """Let a route begin only for administrators."""
    return await context_of(request).require(request, "admin")
