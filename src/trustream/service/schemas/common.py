"""What all answers have in common, and why a request was refused (RFC 9457)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# Times are seconds since 1970, shares and proportions between 0 and 1, scores nats per word.
Id = Annotated[str, Field(description="key of a document, 1 to 500 characters")]


class Answer(BaseModel):
    """Something that the service answers; fields may be added by later versions."""

    model_config = ConfigDict(extra="allow")


class Fault(Answer):
    """One thing that is wrong with a request."""

    field: str | None = Field(
        description="the field, as in `counts` or `texts[3]`; None for all, or if it is not known"
    )
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
    added: dict[str, int] | None = Field(
        None, description="what lines that came `in_parts` have added before, as `Appended`"
    )
