"""What clients of a service share in tests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import httpx

from benchmarks.service.processes import children, command_of, until

__all__ = ["TEXTS", "computing", "events", "problem", "until"]

# What is asked for the topics of, in many tests.
TEXTS = {"texts": ["A cat at the bank.", "", "unknown"], "words": True}


def computing() -> list[int]:
    """Processes that compute for services of this one."""
    return [pid for pid in children(os.getpid()) if "compute_child" in command_of(pid)]


def events(client: httpx.Client) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, data) of events as they come."""
    with client.stream("GET", "/api/v1/events") as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))


def problem(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """The problem that an answer tells of."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["type"] == f"urn:trustream:problem:{kind}" and found["status"] == status
    assert found["detail"]
    return found
