"""The shapes of what the service takes and answers, as its OpenAPI description shows them.

Topics, maps, hierarchies and trends have the names and values of `trustream.topics.report_data`, so
that a page draws both by the same components.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# Times are seconds since 1970, shares and proportions between 0 and 1, scores nats per word.
Id = Annotated[str, Field(description="key of a document, 1 to 500 characters")]


class Answer(BaseModel):
    """Something that the service answers; fields may be added by later versions."""

    model_config = ConfigDict(extra="allow")


# --- problems (RFC 9457)


class Fault(Answer):
    """One thing that is wrong with a request."""

    field: str | None = Field(description="the field, as in `counts` or `texts[3]`; None for all")
    message: str
    line: int | None = Field(None, description="line of a stream of lines, from 1 on")
    index: int | None = Field(None, description="place in a list of documents, from 0 on")


class Problem(Answer):
    """Why a request was refused, as application/problem+json."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[Fault] = []


# --- status


class StoreTotals(Answer):
    documents: int
    training: int
    held_out: int
    tokens: int
    words: int
    arrived: int = Field(description="documents ever added")
    sequence: int = Field(description="rises with every change")


class Rate(Answer):
    """How fast documents arrive, over the last `seconds`."""

    documents: float = Field(description="per second")
    tokens: float = Field(description="per second")
    seconds: float


class PublishedModel(Answer):
    name: str
    version: int = Field(description="rises with every checkpoint")
    n_topics: int
    n_steps: int
    rho: float | None
    last_score: float | None = Field(description="held-out score, nats per word")
    best_score: float | None


class Trainer(Answer):
    """Who holds the lease of the model, wherever it runs."""

    host: str
    pid: int
    since: float
    silent: float
    is_silent: bool
    text: str


class Training(Answer):
    """The trainer that the service itself runs (`--train`)."""

    state: Literal["off", "starting", "running", "waiting", "restarting"]
    pid: int | None = None
    n_restarts: int = 0
    problem: str | None = None


class ReportState(Answer):
    """What the report was computed from."""

    version: int = Field(description="of the model")
    computed: float
    n_documents: int = Field(description="documents that were read")
    n_stored: int = Field(description="documents that the store had")
    is_sample: bool


class ServiceState(Answer):
    version: str
    started: float
    now: float


class StoreState(Answer):
    name: str
    keep_text: int = Field(description="characters of each text that are kept; 0 keeps none")
    held_out: float


class Access(Answer):
    """What the sender of the request may do."""

    name: str | None = Field(description="of the token; None without one")
    scopes: list[Literal["read", "append", "admin"]]


class Status(Answer):
    service: ServiceState
    store: StoreState
    totals: StoreTotals
    rate: Rate
    model: PublishedModel | None
    trainer: Trainer | None
    training: Training
    report: ReportState | None
    access: Access


# --- topics


class WordWeight(Answer):
    word: str
    probability: float = Field(description="in the topic")
    relevance: float


class TopicTrend(Answer):
    kind: str = Field(description="new, growing, steady, shrinking, fading or similar")
    p_value: float | None
    time: float | None
    before: float | None
    after: float | None


class Topic(Answer):
    topic: int = Field(description="id")
    label: str = Field(description="the given one, or the most relevant words")
    labelled: bool
    share: float | None = Field(description="of all tokens")
    n_documents: int | None = Field(description="documents that are mostly about it")
    n_documents_with: int | None
    coherence: float | None
    words: list[WordWeight] = Field(description="the most relevant first")
    shares: list[float | None] | None = Field(description="by bin of time")
    trend: TopicTrend | None


class TopicPage(Answer):
    version: int
    items: list[Topic]
    total: int
    limit: int
    offset: int
    next: str | None = Field(description="address of the next page")


class TopicDocument(Answer):
    """A document that is much about a topic."""

    row: int | None = None
    key: Id | None
    title: str | None
    excerpt: str | None = None
    proportion: float | None
    n_tokens: float | None


class TimeBins(Answer):
    edges: list[float]
    level: float
    n_documents: list[int]
    n_without_time: int
    n_outside: int
    n_without_words: int


class TopicDetail(Topic):
    version: int
    position: list[float | None] = Field(description="on the map, x and y")
    lower: list[float | None] | None
    upper: list[float | None] | None
    time: TimeBins | None
    documents: list[TopicDocument]


class TopicDocumentPage(Answer):
    version: int
    topic: int
    items: list[TopicDocument]
    total: int
    limit: int
    offset: int
    next: str | None
    is_sample: bool


class Report(Answer):
    """All that the report page shows: `trustream.topics.report_data`, and what it is of.

    In `topics` words are numbers in `words`, as in the report.
    """

    version: int
    computed: float
    n_stored: int
    is_sample: bool
    format: int
    title: str
    n_documents: int | None
    n_tokens: float | None
    n_words: int
    threshold: float
    explained: float | None
    relevance: dict[str, Any]
    time: TimeBins | None
    hierarchy: Hierarchy
    topics: list[dict[str, Any]]
    words: list[str]
    frequencies: list[float | None]


class Merger(Answer):
    left: int
    right: int
    distance: float | None
    label: str


class Hierarchy(Answer):
    order: list[int]
    distance: str
    mergers: list[Merger]


class MapTopic(Answer):
    topic: int
    label: str
    share: float | None
    position: list[float | None]


class TopicMap(Answer):
    version: int
    explained: float | None
    topics: list[MapTopic]
    hierarchy: Hierarchy


class TrendTopic(Answer):
    topic: int
    label: str
    share: float | None
    shares: list[float | None]
    lower: list[float | None]
    upper: list[float | None]
    trend: TopicTrend


class Trends(Answer):
    version: int
    is_sample: bool
    time: TimeBins | None = Field(description="None if all documents have the same time")
    topics: list[TrendTopic]


class FoundTopic(Answer):
    topic: int
    label: str
    share: float | None
    word: str
    rank: int = Field(description="of the word in the topic by relevance, from 1 on")
    probability: float = Field(description="of the word in the topic")
    relevance: float
    topic_given_word: float = Field(description="share of the word's tokens that are the topic's")


class WordSearch(Answer):
    version: int
    query: str
    words: list[str] = Field(description="words of the model that match, the most frequent first")
    items: list[FoundTopic]


# --- documents


class DocumentTopic(Answer):
    topic: int
    label: str
    proportion: float


class DocumentWord(Answer):
    word: str
    count: float
    topic: int | None = Field(description="the most probable one; None if the model knows it not")
    probability: float | None = Field(description="of that topic, for this word in this document")


class Segment(Answer):
    """A piece of a text; pieces one after the other are the text."""

    text: str
    word: str | None = Field(None, description="None between words")
    topic: int | None = None


class Document(Answer):
    id: Id
    title: str | None
    time: float
    arrived_untimed: bool = Field(description="whether the time is that of its arrival")
    n_tokens: float
    text: str | None = Field(description="what the store keeps of the text")
    segments: list[Segment] | None = Field(description="the text with its words' topics")
    words: list[DocumentWord]
    topics: list[DocumentTopic] = Field(description="largest first; empty without a model")
    version: int | None = Field(description="of the model")


class ListedDocument(Answer):
    id: Id
    title: str | None
    excerpt: str | None
    time: float
    n_tokens: float
    number: int = Field(description="in the order of arrival")


class DocumentPage(Answer):
    items: list[ListedDocument]
    total: int
    limit: int
    next: str | None


class Appended(Answer):
    """What an append did; it is durable."""

    n_records: int
    n_documents: int = Field(description="documents that were not there before")
    n_tokens: int
    n_repeated: int = Field(description="records left out because their append id was known")
    n_replaced: int
    sequence: int


class Deleted(Answer):
    n_deleted: int


class InferenceRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")
    texts: list[str] = Field(min_length=1, max_length=1000)
    top: int = Field(5, ge=1, le=1000, description="topics to list for each text")
    words: bool = Field(False, description="whether to tell the topics of words, too")


class InferredText(Answer):
    topics: list[DocumentTopic]
    n_tokens: float
    n_known: float = Field(description="tokens of words that the model knows")
    words: list[DocumentWord] | None
    segments: list[Segment] | None


class Inference(Answer):
    version: int
    documents: list[InferredText]


class NearestRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str
    limit: int = Field(10, ge=1, le=100)


class NearDocument(Answer):
    id: Id
    title: str | None
    excerpt: str | None
    similarity: float = Field(description="1 minus the Hellinger distance of topic proportions")


class Nearest(Answer):
    version: int
    items: list[NearDocument]
    n_searched: int
    n_stored: int


# --- history


class HistoryPoint(Answer):
    time: float
    documents: int
    tokens: int
    words: int
    n_steps: int | None
    n_topics: int | None
    score: float | None


class Retention(Answer):
    """How long history is kept."""

    fine_seconds: float = Field(description="one point for so many seconds, at most")
    fine_days: float = Field(description="for so many days")
    coarse_seconds: float = Field(description="later one for so many seconds")
    coarse_days: float = Field(description="up to an age of so many days")


class History(Answer):
    items: list[HistoryPoint]
    retention: Retention


class TopicChange(Answer):
    topic: int
    label: str
    change: Literal["appeared", "gone", "grown", "shrunk", "steady"]
    before: float | None = Field(description="share")
    after: float | None
    words_in: list[str] = Field([], description="words that came among the first")
    words_out: list[str] = []


class Changes(Answer):
    since: float | None = Field(description="time of the point compared with; None if none is kept")
    until: float
    before: HistoryPoint | None
    after: HistoryPoint
    topics: list[TopicChange] = Field(description="the largest change first")
    retention: Retention


# --- sessions


class Login(BaseModel):
    model_config = ConfigDict(extra="forbid")
    token: str = Field(min_length=1, max_length=500)


class Session(Answer):
    required: bool = Field(description="whether the service asks for a token")
    authenticated: bool
    name: str | None
    scopes: list[Literal["read", "append", "admin"]]
    expires: float | None


# --- events, as the data of server-sent events of these names


class HelloEvent(Answer):
    """`hello`: first in every stream, also after a cut; the others follow as they are now."""

    now: float
    interval: float = Field(description="seconds after which something is sent at the latest")


class TotalsEvent(Answer):
    """`totals`: documents came or went."""

    time: float
    totals: StoreTotals
    rate: Rate


class StepEvent(Answer):
    """`step`: the trainer of this service has learned; twice a second at most."""

    time: float
    n_steps: int
    rho: float | None
    looks: float | None
    last_score: float | None


class ScoreEvent(Answer):
    """`score`: held-out documents were scored."""

    time: float
    n_steps: int
    score: float


class ModelEvent(Answer):
    """`model`: a new version of the model is read from now on."""

    time: float
    model: PublishedModel


class TopicsEvent(Answer):
    """`topics`: the report was computed anew; fetch it again. Says which topics changed."""

    time: float
    report: ReportState
    changed: list[TopicChange]


class TrainerEvent(Answer):
    """`trainer`: a trainer began, ended or fell silent."""

    time: float
    trainer: Trainer | None
    training: Training


EVENTS: dict[str, type[Answer]] = {
    "hello": HelloEvent,
    "totals": TotalsEvent,
    "step": StepEvent,
    "score": ScoreEvent,
    "model": ModelEvent,
    "topics": TopicsEvent,
    "trainer": TrainerEvent,
}
Report.model_rebuild()
