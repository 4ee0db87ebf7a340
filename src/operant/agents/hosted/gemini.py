"""Google's generateContent with Gemini's computer use: the desktop's functions of 3.5, or the browser's of 2.5.

Functions of applications are declared beside them. Replies go back unchanged, with the signatures of their thinking.
Every call gets a response, the last one with the screen. Old screens are removed in batches, so that the server's cache
of what came before stays of use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import httpx
from google import genai
from google.genai import errors, types

from operant.actions import gemini as dialect
from operant.actions.dialect import Dialect
from operant.actions.registry import DIALECTS
from operant.actions.tool_calls import read_arguments
from operant.agents.base import Usage
from operant.agents.hosted.base import CallResult, Dialogue, ModelCall, ModelReply, Seen
from operant.agents.hosted.pictures import EncodedPicture, within
from operant.agents.hosted.requests import (
    TOO_SLOW,
    UNREACHABLE,
    UNREADABLE,
    Failure,
    json_object,
    read_body,
    retry_after,
)
from operant.calls.declaration import Function
from operant.calls.tools import function_of_tool, tool_call, tool_schema
from operant.config.hosted import HostedSettings
from operant.config.settings import read_environment
from operant.errors import ConfigError, InvalidAction
from operant.types import Point, Size

__all__ = ["GeminiDialogue", "function_set"]

#: The preview models and the short names of models are only there; the SDK's own default is v1.
API_VERSION = "v1beta"
DESKTOP, BROWSER = "gemini", "gemini_browser"
#: Where a browser's response says which page it shows; a desktop shows none.
NO_PAGE = {"url": "about:blank"}
PRUNE_EVERY = 10
MOST_BYTES = 14 * 2**20  # a request may have 20 MB
MOST_REPEATS = 2
ENDS = {
    "MAX_TOKENS": "token_limit",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR"),
        "refusal",
    ),
}
#: The model wrote a call that Google could not read: it is asked again.
GARBLED = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})
#: Decisions of Google's safety system that ask for nothing.
HARMLESS = frozenset({"", "regular", "allow", "allowed"})
LEVELS = {"low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "XHIGH"}
_MODEL = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_DELAY = re.compile(r"(\d{1,4}(?:\.\d{1,9})?)s")


def function_set(model: str) -> str:
    """The dialect that goes with a model's name; an unknown one is taken for a new one."""
    found = _MODEL.search(model)
    old = found is not None and (int(found[1]), int(found[2] or 0)) < (3, 5)
    return BROWSER if old else DESKTOP


class GeminiDialogue(Dialogue):
    """One conversation by generateContent."""

    key_variables = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    url_variables = ("GOOGLE_GEMINI_BASE_URL",)
    calls_by = "tools"

    def __init__(self, settings: HostedSettings, key: str) -> None:
        super().__init__(settings, key)
        chosen = settings.dialect or function_set(settings.model)
        if chosen not in (DESKTOP, BROWSER):
            raise ConfigError(f"{chosen!r} is no dialect of Gemini", hint=f"dialects: {DESKTOP}, {BROWSER}")
        if settings.effort is not None and (chosen == BROWSER or settings.effort not in LEVELS):
            raise ConfigError(
                f"{settings.model} takes no effort {settings.effort!r}",
                hint="leave it out" if chosen == BROWSER else f"one of {', '.join(LEVELS)}",
            )
        self._dialect: Dialect = DIALECTS[chosen]
        self.limits = self._dialect.limits
        self._page = NO_PAGE if chosen == BROWSER else {}
        self._http = _BoundedClient(follow_redirects=True)
        self._client = genai.Client(
            vertexai=False,
            api_key=key,
            http_options=types.HttpOptions(
                base_url=settings.base_url or read_environment().get("GOOGLE_GEMINI_BASE_URL"),
                api_version=API_VERSION,
                httpx_client=self._http,
            ),
        )
        self._contents: list[dict[str, Any]] = []
        self._confirmed: frozenset[str] = frozenset()
        self._repeats = 0

    def locate(self, point: Point, shown: Size) -> tuple[float, float]:
        return self._dialect.grid(shown).locate(point)

    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        self.shown = shown
        self._confirmed = frozenset()
        self._contents = [_user({"text": instruction}, *_seen(seen))]

    def answer(self, results: Sequence[CallResult], seen: Seen) -> None:
        self._contents.append(_user(*(self._response(one, seen, one is results[-1]) for one in results)))
        self._prune()

    def remark(self, why: str, seen: Seen) -> None:
        told = _user({"text": why}, *_seen(seen))
        if self._contents[-1]["role"] == "user":
            self._contents[-1]["parts"] += told["parts"]
        else:
            self._contents.append(told)
        self._prune()

    def _response(self, result: CallResult, seen: Seen, last: bool) -> dict[str, Any]:
        identity = result.call.id.partition(":")[2]
        done = result.last
        said = (done.text if done is not None else "") or "done"
        told: dict[str, Any] = {"error": result.error} if result.error else {"output": said}
        if result.call.id in self._confirmed:
            told["safety_acknowledgement"] = "true"
        pictures: list[EncodedPicture | None] = []
        if last:
            pictures = [seen.picture]
            told |= {"screen": seen.text} if seen.text else {}
        elif done is not None and done.screen is not None and seen.picture is not None:
            pictures = [within(done.screen, self.shown)]
        parts = [_image(picture) for picture in pictures if picture is not None]
        response = {"name": result.call.name, "response": {**told, **self._page}}
        return {
            "functionResponse": {
                **({"id": identity} if identity else {}),
                **response,
                **({"parts": parts} if parts else {}),
            }
        }

    def _prune(self) -> None:
        """Remove old pictures, many at once."""
        places = self._pictures()
        size = sum(len(parts[index]["inlineData"]["data"]) for parts, index in places)
        if len(places) >= self.settings.history + PRUNE_EVERY or size > MOST_BYTES:
            _remove(places[: -self.settings.history])

    def _pictures(self) -> list[tuple[list[dict[str, Any]], int]]:
        """Where the pictures stand, the oldest first."""
        found = []
        for content in self._contents:
            if content["role"] != "user":
                continue
            lists = [content["parts"]]
            lists += [
                part["functionResponse"].get("parts", []) for part in content["parts"] if _answers(part)
            ]
            found += [
                (parts, index) for parts in lists for index, one in enumerate(parts) if "inlineData" in one
            ]
        return found

    # Requests.

    def send(self, timeout_s: float) -> ModelReply:
        generation: dict[str, Any] = {"maxOutputTokens": self.settings.max_tokens}
        if self.settings.temperature is not None:
            generation["temperature"] = self.settings.temperature
        if self.settings.effort is not None:
            generation["thinkingConfig"] = {"thinkingLevel": LEVELS[self.settings.effort]}
        body = {
            "contents": self._contents,
            "systemInstruction": {"parts": [{"text": self.task_words}]},
            "tools": self._tools(),
            "generationConfig": generation,
        }
        config = types.GenerateContentConfig(
            # As it is: the SDK's own types would drop what they do not know from a reply that goes back.
            http_options=types.HttpOptions(timeout=max(1, round(timeout_s * 1000)), extra_body=body),
            should_return_http_response=True,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        try:
            response = self._client.models.generate_content(
                model=self.settings.model, contents="replaced by extra_body", config=config
            ).sdk_http_response
        except (errors.APIError, httpx.HTTPError, OSError) as error:
            raise _failure(error) from error
        said = response.body if response is not None else ""
        return self._read(json_object((said or "").encode("utf-8", "replace")))

    def _tools(self) -> list[dict[str, Any]]:
        own = self._dialect.tools(self.shown)
        if not self.hands:
            # Models that are made for computer use refuse requests without the tool: then it is declared empty.
            needed = "computer-use" in self.settings.model
            own = [dialect.declaration("ENVIRONMENT_BROWSER", dialect.BROWSER_FUNCTIONS)] if needed else []
        declared = [_declaration(one) for one in self.functions]
        return [*own, {"functionDeclarations": declared}] if declared else own

    def _read(self, reply: dict[str, Any]) -> ModelReply:
        usage = _usage(reply.get("usageMetadata"))
        candidates = [one for one in reply.get("candidates") or [] if isinstance(one, dict)]
        if not candidates:
            blocked = reply.get("promptFeedback")
            if isinstance(blocked, dict) and blocked.get("blockReason"):
                return ModelReply(text=str(blocked["blockReason"]), end="refusal", usage=usage)
            raise Failure(UNREADABLE, "the reply holds no candidate")
        reason = str(candidates[0].get("finishReason") or "")
        content = candidates[0].get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        parts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        if not parts and reason in GARBLED and self._repeats < MOST_REPEATS:
            self._repeats += 1
            raise _GarbledCall(UNREADABLE, f"the model's call could not be read ({reason})")
        self._repeats = 0
        if parts:
            self._contents.append({"role": "model", "parts": parts})
        calls = [one for part in parts if isinstance(one := part.get("functionCall"), dict)]
        text = "\n".join(str(part["text"]) for part in parts if "text" in part and not part.get("thought"))
        read = tuple(self._call(number, call) for number, call in enumerate(calls))
        checks = {
            one.id: str(decision.get("explanation") or decision.get("decision"))
            for one, call in zip(read, calls, strict=True)
            if (decision := _decision(call)) is not None
        }
        self._confirmed = frozenset(checks)
        return ModelReply(read, text, ENDS.get(reason, ""), tuple(checks.values()), usage)

    def _call(self, number: int, call: dict[str, Any]) -> ModelCall:
        # The identity may be missing, so the place in the reply tells two calls apart.
        identity, name = f"{number}:{call.get('id') or ''}", str(call.get("name"))
        try:
            if function_of_tool(name) is not None:
                given = dict(read_arguments(call.get("args") or {}))
                given.pop("safety_decision", None)
                return ModelCall(identity, name, (tool_call(name, given),))
            return ModelCall(identity, name, tuple(self._dialect.parse(call, self.shown)))
        except InvalidAction as error:
            return ModelCall(identity, name, error=error.message)

    def mend(self, failure: Failure) -> bool:
        too_large = failure.status == 413 or (failure.status == 400 and "payload size" in failure.message)
        if too_large and len(places := self._pictures()) > 1:
            _remove(places[: -(len(places) // 2)])
            return True
        return isinstance(failure, _GarbledCall)

    def look_up(self, timeout_s: float) -> None:
        options = types.HttpOptions(timeout=round(timeout_s * 1000))
        try:
            self._client.models.get(
                model=self.settings.model, config=types.GetModelConfig(http_options=options)
            )
        except (errors.APIError, httpx.HTTPError, OSError) as error:
            raise _failure(error) from error
        except (ValueError, TypeError, AttributeError) as error:
            raise Failure(UNREADABLE, "the server answered with something that is no model") from error

    def close(self) -> None:
        self._client.close()
        self._http.close()


def _declaration(function: Function) -> dict[str, Any]:
    schema = tool_schema(function)
    properties = {name: _described(one) for name, one in schema["properties"].items()}
    return {
        "name": function.tool_name,
        "description": function.doc,
        "parametersJsonSchema": {**schema, "properties": properties},
    }


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    """With the default in words: it is not among the keywords of JSON Schema that Google lists."""
    if "default" not in schema:
        return schema
    rest = {name: value for name, value in schema.items() if name != "default"}
    return {**rest, "description": f"Default: {json.dumps(schema['default'])}"}


class _GarbledCall(Failure):
    """A reply that Google itself could not read; the same request is sent again."""


class _BoundedClient(httpx.Client):
    """Reads replies as the other adapters do: an endless one ends by size or by time."""

    def send(self, request: httpx.Request, *, stream: bool = False, **more: Any) -> httpx.Response:
        response = super().send(request, stream=True, **more)
        limits = request.extensions.get("timeout") or {}
        try:
            body = read_body(response.iter_bytes(), limits.get("read") or 60.0)
        finally:
            response.close()
        kept = [
            (name, value) for name, value in response.headers.multi_items() if name not in _ABOUT_THE_STREAM
        ]
        return httpx.Response(response.status_code, headers=kept, content=body, request=request)


_ABOUT_THE_STREAM = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def _failure(error: errors.APIError | httpx.HTTPError | OSError) -> Failure:
    if isinstance(error, errors.APIError):
        page = "<html" in str(error.message)[:400].lower()
        said = "the server answered with a web page" if page else str(error.message or error.status)
        pause = retry_after(getattr(error.response, "headers", {}))
        wrong_key = error.code == 400 and "API key" in said  # Google has no 401 for it
        return Failure(
            401 if wrong_key else int(error.code or 0),
            said,
            _delay(error.details) if pause is None else pause,
        )
    if isinstance(error, httpx.TimeoutException):
        return Failure(TOO_SLOW, "no answer in time")
    return Failure(UNREACHABLE, f"no connection ({type(error).__name__})")


def _delay(details: Any) -> float | None:
    """The pause that Google asks for inside an error."""
    error = details.get("error") if isinstance(details, dict) else None
    for one in (error.get("details") if isinstance(error, dict) else None) or []:
        found = _DELAY.fullmatch(str(one.get("retryDelay"))) if isinstance(one, dict) else None
        if found:
            return float(found[1])
    return None


def _decision(call: dict[str, Any]) -> dict[str, Any] | None:
    """The safety decision of a call that has to be confirmed."""
    given = call.get("args")
    decision = given.get("safety_decision") if isinstance(given, dict) else None
    if isinstance(decision, dict) and str(decision.get("decision") or "").lower() not in HARMLESS:
        return decision
    return None


def _remove(places: list[tuple[list[dict[str, Any]], int]]) -> None:
    for parts, index in reversed(places):
        del parts[index]


def _answers(part: dict[str, Any]) -> bool:
    return "functionResponse" in part


def _user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def _image(picture: EncodedPicture) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": picture.data}}


def _seen(seen: Seen) -> list[dict[str, Any]]:
    text = [{"text": seen.text}] if seen.text else []
    return [*text, _image(seen.picture)] if seen.picture is not None else text


def _usage(given: Any) -> Usage:
    """Google counts the thinking and what tools added apart."""
    if not isinstance(given, dict):
        return Usage()
    prompt, tools, cached, said, thought = (
        int(given.get(name) or 0)
        for name in (
            "promptTokenCount",
            "toolUsePromptTokenCount",
            "cachedContentTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
        )
    )
    return Usage(prompt + tools, cached, said + thought)
