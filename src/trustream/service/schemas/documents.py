"""Documents: appended, listed, read, deleted; topics of texts, and what is near."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from trustream.service.schemas.common import Answer, Id

# An answer is many times larger than its request where words are told, and where texts are many.
_MOST_CHARACTERS, _MOST_TOPICS = 1_000_000, 100_000


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
    overwritten: bool = Field(
        description="whether nothing of it is in the log of a SQLite store any more; false on "
        "PostgreSQL, whose files are the server's"
    )


class InferenceRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")
    texts: list[str] = Field(min_length=1, max_length=1000)
    top: int = Field(5, ge=1, le=1000, description="topics to list for each text")
    words: bool = Field(
        False, description="whether to tell the topics of words, too, of a million characters"
    )

    @model_validator(mode="after")
    def _is_answerable(self) -> InferenceRequest:
        if self.words and sum(map(len, self.texts)) > _MOST_CHARACTERS:
            raise ValueError(
                f"with words, texts have at most {_MOST_CHARACTERS:,} characters together: send "
                "several requests"
            )
        if len(self.texts) * self.top > _MOST_TOPICS:
            raise ValueError(
                f"texts times top is more than {_MOST_TOPICS:,}: send several requests"
            )
        return self


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
