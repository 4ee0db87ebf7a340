"""A request that a vendor declines: status, kind and message. Each protocol writes it in its own form."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ApiProblem", "invalid"]


class ApiProblem(Exception):
    """Ends a request with this status."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.code = code
        self.param = param
        self.headers = dict(headers or {})


def invalid(message: str, *, code: str | None = None, param: str | None = None) -> ApiProblem:
    """A request that breaks a rule: status 400."""
    return ApiProblem(400, "invalid_request_error", message, code=code, param=param)
