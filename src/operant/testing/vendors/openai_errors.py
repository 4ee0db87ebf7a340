"""What OpenAI's two APIs share: the key in the header, models, declared functions, and the form of errors."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from operant.testing.vendors.functions import DeclaredFunction, check_arguments, check_functions
from operant.testing.vendors.problem import ApiProblem, invalid
from operant.testing.vendors.protocol import VendorProtocol

__all__ = ["FUNCTION_NAME", "MOST_FUNCTIONS", "OpenAIProtocol", "check_declared", "unknown_model"]


def unknown_model(name: object) -> ApiProblem:
    return ApiProblem(
        404,
        "invalid_request_error",
        f"The model `{name}` does not exist or you do not have access to it.",
        code="model_not_found",
        param="model",
    )


FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST_FUNCTIONS = 128


def check_declared(name: str, arguments: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> None:
    """A model calls only what the request declares."""
    found = [tool["function"] for tool in tools if tool.get("type") == "function"]
    declared = check_functions(
        [DeclaredFunction(one["name"], one.get("description", ""), one["parameters"]) for one in found],
        names=FUNCTION_NAME,
        most=MOST_FUNCTIONS,
    )
    if name not in declared:
        raise invalid(f"the request declares no function {name}", param="tools")
    check_arguments(declared[name], arguments)


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

    @abstractmethod
    def models(self) -> Iterable[str]:
        """The names of the models that are served."""

    def look_up(self, path: str) -> dict[str, Any]:
        listed = [
            {"id": name, "object": "model", "created": 0, "owned_by": "openai"} for name in self.models()
        ]
        if path == "/v1/models":
            return {"object": "list", "data": listed}
        name = path.removeprefix("/v1/models/")
        for model in listed:
            if model["id"] == name:
                return model
        raise unknown_model(name)

    def problem(self, problem: ApiProblem) -> dict[str, Any]:
        return {
            "error": {
                "message": problem.message,
                "type": problem.kind,
                "param": problem.param,
                "code": problem.code,
            }
        }
