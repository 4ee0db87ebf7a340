"""Failures as answers: a status, a machine-readable code, a sentence and a hint, and never a stack trace."""

from __future__ import annotations

import http
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from loguru import logger
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException

from operant import errors
from operant.service.logs import current_request_id
from operant.service.mistakes import hint_of, mistakes, sentence_of
from operant.service.schemas.base import FieldProblem

__all__ = ["PROBLEMS", "BadBody", "Problem", "answer", "install_handlers", "problem_of"]


class Problem(BaseModel):
    """What went wrong."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "code": "unknown_session",
                "message": "there is no session 'd3f9'",
                "hint": "POST /api/v1/sessions leases a desktop",
                "request_id": "5b0c4a5e9f3b4d1e",
            }
        }
    )

    code: str = Field(description="For programs: stays the same when the sentence changes.")
    message: str = Field(description="For people.")
    hint: str | None = Field(None, description="What to do about it.")
    request_id: str = Field("", description="Names this request in the service's log.")
    fields: list[FieldProblem] = Field([], description="Every wrong field of an invalid request.")


class BadBody(RequestValidationError):
    """A body that a route checked itself, because it may come as JSON or as a form."""

    def __init__(self, model: type[BaseModel], error: ValidationError) -> None:
        super().__init__(error.errors(include_url=False))
        self.model = model


#: error -> (status, code); the first class of its family line that is listed counts
STATUS: dict[type[errors.OperantError], tuple[int, str]] = {
    errors.Unauthorized: (401, "unauthorized"),
    errors.RequestForbidden: (403, "forbidden"),
    errors.LiveScreenRefused: (403, "live_screen_refused"),
    errors.NotApproved: (403, "not_approved"),
    errors.TooManyRequests: (429, "too_many_requests"),
    errors.BodyTooLarge: (413, "too_large"),
    errors.BadPicture: (422, "bad_picture"),
    errors.SessionExpired: (404, "session_expired"),
    errors.UnknownSession: (404, "unknown_session"),
    errors.SessionBusy: (409, "session_busy"),
    errors.UnknownAttempt: (404, "unknown_attempt"),
    errors.UnknownTask: (404, "unknown_task"),
    errors.UnknownSuite: (404, "unknown_suite"),
    errors.UnknownEpisode: (404, "unknown_episode"),
    errors.UnknownModel: (404, "unknown_model"),
    errors.UnknownAgent: (404, "unknown_model"),
    errors.BadCheckpoint: (422, "bad_checkpoint"),
    errors.TrainingBusy: (409, "training_busy"),
    errors.NoTraining: (404, "no_training"),
    errors.ServiceNotReady: (503, "not_ready"),
    errors.PoolExhausted: (503, "no_free_desktop"),
    errors.PanicStop: (409, "panic_stop"),
    errors.InvalidAction: (422, "invalid_action"),
    errors.InvalidPath: (422, "invalid_path"),
    errors.ConfigError: (422, "invalid_setting"),
    errors.TaskError: (422, "invalid_task"),
    errors.VerifierError: (409, "not_verifiable"),
    errors.NotSupported: (409, "not_supported"),
    errors.SetupFailed: (503, "setup_failed"),
    errors.ApplicationError: (409, "application_failed"),
    errors.AgentError: (503, "agent_failed"),
    errors.DesktopError: (503, "desktop_failed"),
    errors.SandboxUnavailable: (503, "sandbox_unavailable"),
    errors.MissingProgram: (503, "missing_program"),
    errors.MissingDependency: (503, "missing_package"),
    errors.ResultsError: (503, "storage_failed"),
}

_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}

#: for ``responses=`` of routers: every answer that is not the asked-for one looks the same
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": http.HTTPStatus(status).phrase}
    for status in (400, 401, 403, 404, 405, 409, 413, 422, 429, 503)
}


def problem_of(error: errors.OperantError) -> tuple[int, Problem]:
    """The status and the body for an error."""
    for kind in type(error).__mro__:
        if kind in STATUS:
            status, code = STATUS[kind]
            return status, Problem(
                code=code, message=error.message, hint=error.hint, request_id=current_request_id()
            )
    logger.error("no status is known for {}: {}", type(error).__name__, error.message)
    return 503, Problem(
        code="failed", message=error.message, hint=error.hint, request_id=current_request_id()
    )


def answer(status: int, problem: Problem) -> JSONResponse:
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}, 503: {"Retry-After": "2"}}
    return JSONResponse(problem.model_dump(), status, headers.get(status))


def install_handlers(app: FastAPI) -> None:
    """Answer every failure of a route with a problem."""

    @app.exception_handler(errors.OperantError)
    async def expected(request: Request, error: errors.OperantError) -> JSONResponse:
        status, problem = problem_of(error)
        logger.bind(code=problem.code).info("{} {}: {}", status, problem.code, error.message)
        return answer(status, problem)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        found = mistakes(error.errors(), _model_of(request, error))
        logger.bind(code="invalid_request").info("422 invalid_request: {}", sentence_of(found))
        return answer(422, _malformed(found))

    @app.exception_handler(HTTPException)
    async def framework(request: Request, error: HTTPException) -> JSONResponse:
        code = _CODES.get(error.status_code, "bad_request")
        problem = Problem(code=code, message=str(error.detail), request_id=current_request_id())
        response = answer(error.status_code, problem)
        response.headers.update(error.headers or {})
        return response


def _malformed(found: list[FieldProblem]) -> Problem:
    return Problem(
        code="invalid_request",
        message=sentence_of(found),
        hint=hint_of(found),
        request_id=current_request_id(),
        fields=found,
    )


def _model_of(request: Request, error: RequestValidationError) -> Any:
    """The model that the body was checked against: it knows the right names."""
    if isinstance(error, BadBody):
        return error.model
    body = getattr(request.scope.get("route"), "body_field", None)
    return body.field_info.annotation if body is not None else None
