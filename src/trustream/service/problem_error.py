"""A request that is refused, with problem details (RFC 9457) that name the field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

# A process that only computes answers nobody by HTTP.
if TYPE_CHECKING:
    from fastapi import Response

TYPE = "application/problem+json"


class ProblemError(Exception):
    """A request that is refused.

    Args:
        status: of HTTP.
        kind: what programs tell problems by, such as "no-model".
        detail: what came, what was expected and what to do.
        errors: faults of single fields, see `schemas.Fault`.
        headers: of the answer.
        more: other fields of the answer.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        errors: Sequence[dict[str, Any]] = (),
        headers: dict[str, str] | None = None,
        more: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail = status, kind, detail
        self.errors, self.headers, self.more = list(errors), headers or {}, more or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.status, self.kind, self.detail, self.errors, self.headers, self.more,
        )  # fmt: skip

    def response(self) -> Response:
        """The answer, in ASCII as all others."""
        from fastapi import Response

        content = {
            "type": f"urn:trustream:problem:{self.kind}",
            "title": self.kind.replace("-", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "errors": self.errors,
            **self.more,
        }
        return Response(json.dumps(content), self.status, self.headers, TYPE)
