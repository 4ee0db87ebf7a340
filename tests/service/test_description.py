"""The OpenAPI description: complete, and kept to whatever is asked within it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import checks
from starlette.testclient import TestClient
from tests.service.conftest import Serve

KEPT = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.fixture
def description(serve: Serve, listening: Callable[[TestClient], str]) -> Any:
    client = serve(
        agent="done",
        count=40,  # a busy pool is a 503 of the right kind, but not what is looked for here
        training_command=("true",),
        lease_timeout_s=5.0,
        session_ttl_s=5.0,
        requests_per_s=1e6,
        request_burst=10**6,
    )
    return schemathesis.openapi.from_url(f"http://{listening(client)}/openapi.json")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_within_the_description_breaks_it(description: Any) -> None:
    asked = 0
    for found in description.get_all_operations():
        operation = found.ok()

        @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            nonlocal asked
            asked += 1
            case.call_and_validate(checks=KEPT)

        ask()
    assert asked > 200


def test_every_operation_is_described(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    operations = [one for path in described["paths"].values() for one in path.values()]
    assert len(operations) > 30
    for operation in operations:
        assert operation["description"]
        assert operation["tags"]
        assert operation["responses"]["429"]["content"]["application/json"]["schema"]["$ref"].endswith(
            "/Problem"
        )


def test_the_promised_addresses_are_there(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for method, path in (
        ("post", "/api/v1/agent/predict"),
        ("post", "/api/v1/agent/execute"),
        ("post", "/api/v1/agent/complete-task"),
        ("get", "/api/v1/agent/model-info"),
        ("get", "/api/v1/agent/models"),
        ("post", "/api/v1/agent/models"),
        ("get", "/api/v1/monitoring/metrics"),
        ("post", "/api/v1/monitoring/reset-metrics"),
        ("get", "/metrics"),
        ("get", "/health"),
        ("get", "/ready"),
        ("post", "/api/v1/training/start"),
        ("get", "/api/v1/training/status"),
        ("post", "/api/v1/training/stop"),
        ("get", "/api/v1/training/runs"),
        ("get", "/api/v1/episodes"),
    ):
        assert method in paths[path]
