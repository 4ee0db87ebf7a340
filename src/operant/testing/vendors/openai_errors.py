"""What OpenAI's two APIs share: the key in the header, and the form of errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from operant.testing.vendors.problem import ApiProblem
from operant.testing.vendors.protocol import VendorProtocol

__all__ = ["OpenAIProtocol"]


class OpenAIProtocol(VendorProtocol):
    """A conversation whose base URL ends with ``/v1`` and whose key is a bearer token."""

    vendor: ClassVar[str] = "openai"
    most_bytes: ClassVar[int] = 50_000_000
    base: ClassVar[str] = "/v1"

    def check_key(self, headers: Mapping[str, str]) -> None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not given:
            raise ApiProblem(401, "invalid_request_error", "You didn't provide an API key.")
        if given != self.key:
            raise ApiProblem(
                401, "invalid_request_error", "Incorrect API key provided.", code="invalid_api_key"
            )

    def problem(self, problem: ApiProblem) -> dict[str, Any]:
        return {
            "error": {
                "message": problem.message,
                "type": problem.kind,
                "param": problem.param,
                "code": problem.code,
            }
        }
