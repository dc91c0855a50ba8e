"""Requests that schemathesis makes of the service's own OpenAPI description.

The endless stream of events is left out. No answer is a 5xx, and each has the status, the type and
the shape that the description says.
"""

from __future__ import annotations

import contextlib
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.service.clients import until
from trustream.service import ServiceSettings, serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def address(filled_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service in this process, which computes in another, as `trustream serve` does."""
    path = str(tmp_path_factory.mktemp("fuzzed") / "topics.db")
    shutil.copy(filled_file, path)
    with serving(ServiceSettings(path, report_every=0.1, compute_apart=True)) as address:
        until(lambda: get(f"{address}/api/v1/report").status_code == 200)
        yield address


def get(url: str) -> httpx.Response:
    return httpx.get(url, trust_env=False, timeout=60)


def operations(address: str) -> list[Any]:
    schema = schemathesis.openapi.from_dict(get(f"{address}/api/v1/openapi.json").json())
    found = [result.ok() for result in schema.get_all_operations()]
    return [one for one in found if not one.path.endswith("/events")]


def fuzz(address: str, n: int) -> None:
    """Send n requests to each operation, half of them wrong on purpose."""
    statuses: Counter[int] = Counter()
    with requests.Session() as session:
        session.trust_env = False
        for operation in operations(address):
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _fuzz(operation, mode, address, session, max(n // 2, 1), statuses)
    assert statuses[200] > 3 * n and statuses[422] > n, statuses


def _fuzz(
    operation: Any,
    mode: GenerationMode,
    address: str,
    session: requests.Session,
    n: int,
    statuses: Counter[int],
) -> None:
    @settings(
        max_examples=n,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case: Any) -> None:
        answer = case.call(base_url=address, session=session, timeout=60)
        case.validate_response(answer, checks=CHECKS)
        statuses[answer.status_code] += 1

    with contextlib.suppress(Unsatisfiable):  # nothing can be wrong about a request without values
        one()


def test_the_description_is_openapi_3_1(address: str) -> None:
    described = get(f"{address}/api/v1/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    wanted = {
        ("/api/v1/documents", "post"), ("/api/v1/documents/{id}", "get"),
        ("/api/v1/documents/{id}", "delete"), ("/api/v1/topics", "get"),
        ("/api/v1/topics/{topic}", "get"), ("/api/v1/infer", "post"), ("/api/v1/status", "get"),
        ("/api/v1/events", "get"), ("/metrics", "get"),
    }  # fmt: skip
    there = {(path, method) for path, methods in described["paths"].items() for method in methods}
    assert wanted <= there
    assert len(operations(address)) == len(there) - 1


def test_fuzzed_requests(address: str) -> None:
    fuzz(address, 6)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_fuzzed_requests(address: str) -> None:
    fuzz(address, 300)
