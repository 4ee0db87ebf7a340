"""Gemini's generateContent as strictly as it is documented, for its computer use on desktops and in browsers.

Other functions may be declared beside it. Every part of a request is checked by google-genai's own types, which refuse
unknown fields. No streaming.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from operant.actions.registry import dialect as find_dialect
from operant.errors import ActionNotExpressible
from operant.testing.vendors.functions import DeclaredFunction, check_functions, said_call
from operant.testing.vendors.pictures import picture_size
from operant.testing.vendors.problem import ApiProblem
from operant.testing.vendors.protocol import ApiRequest, VendorProtocol
from operant.types import Action, Size

__all__ = ["GEMINI_MODELS", "GeminiContent", "GeminiModel"]

VERSIONS = ("v1", "v1beta")  # SDKs below 3 ask the second
TILE = 768  # pixels a side for 258 tokens
_STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
_STATUS |= {500: "INTERNAL", 503: "UNAVAILABLE"}
FUNCTION_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")
MOST_FUNCTIONS = 512
#: What Google lists of JSON Schema.
_SCHEMA = frozenset(
    [
        *("$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items"),
        *("prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties"),
        *("additionalProperties", "required", "propertyOrdering"),
    ]
)
_BODY = frozenset(
    [
        "contents",
        "tools",
        "toolConfig",
        "safetySettings",
        "systemInstruction",
        "generationConfig",
        "cachedContent",
    ]
)


@dataclass(frozen=True)
class GeminiModel:
    """What a model takes."""

    dialect: str
    environment: str
    signed: bool
    """Whether a call has to come back with the thought signature that it was given."""
    needs_tool: bool = False
    """Whether it is made for computer use and refuses requests without that tool."""


_DESKTOP = GeminiModel("gemini", "ENVIRONMENT_DESKTOP", signed=True)
GEMINI_MODELS: Mapping[str, GeminiModel] = {
    "gemini-3.5-flash": _DESKTOP,
    "gemini-3.5-pro": _DESKTOP,
    "gemini-3-flash-preview": GeminiModel("gemini_browser", "ENVIRONMENT_BROWSER", signed=True),
    "gemini-2.5-computer-use-preview-10-2025": GeminiModel(
        "gemini_browser", "ENVIRONMENT_BROWSER", signed=False, needs_tool=True
    ),
}


class GeminiContent(VendorProtocol):
    """A conversation with a model of Google's."""

    vendor: ClassVar[str] = "gemini"
    most_bytes: ClassVar[int] = 20 * 2**20

    def __init__(self, *args: Any, confirmations: int = 0, **more: Any) -> None:
        super().__init__(*args, **more)
        self.confirmations = confirmations
        """How many of the first calls carry a safety decision that must be acknowledged."""
        self._signatures: dict[str, str] = {}  # id of a call -> the signature that came with it
        self._open: set[str] = set()  # ids of calls whose safety decision waits

    def check_key(self, headers: Mapping[str, str]) -> None:
        given = headers.get("x-goog-api-key", "")
        if not given:
            raise ApiProblem(
                403,
                "PERMISSION_DENIED",
                "Method doesn't allow unregistered callers (callers without established identity). Please use API Key"
                " or other form of API consumer identity to call this API.",
            )
        if given != self.key:
            raise ApiProblem(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
                code="API_KEY_INVALID",
            )

    def problem(self, problem: ApiProblem) -> dict[str, Any]:
        status = _STATUS.get(problem.status, "UNKNOWN")
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": problem.code}]
        more = {"details": details} if problem.code else {}
        return {"error": {"code": problem.status, "message": problem.message, "status": status, **more}}

    def too_large(self) -> ApiProblem:
        return _refused(f"Request payload size exceeds the limit: {self.most_bytes} bytes.")

    def look_up(self, path: str) -> dict[str, Any]:
        version, name, _ = _split(path)
        if name not in GEMINI_MODELS:
            raise _unknown(name, version)
        methods = ["generateContent", "countTokens"]
        return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}

    def answer(self, request: ApiRequest) -> dict[str, Any]:
        version, name, method = _split(request.path)
        model = GEMINI_MODELS.get(name)
        if model is None or method != "generateContent":
            raise _unknown(name, version)
        body = request.body
        _check_types(body)
        functions = _functions(body)
        hands = _check_tool(body, name, model, functions)
        contents: list[dict[str, Any]] = body["contents"]
        self._check_calls(contents, model)
        return self._reply(name, model, contents, _shown(contents), functions, hands=hands)

    def _check_calls(self, contents: Sequence[Mapping[str, Any]], model: GeminiModel) -> None:
        """Calls follow a user's turn, and the next turn answers each of them."""
        if contents[0].get("role") not in (None, "user") or contents[-1].get("role") not in (None, "user"):
            raise _refused("Please ensure that the first and the last content are of the role user.")
        calls: list[Mapping[str, Any]] = []
        for index, content in enumerate(contents):
            parts = content["parts"]
            answers = [_get(part, "functionResponse") for part in parts if _get(part, "functionResponse")]
            if content.get("role") in (None, "user"):
                if len(answers) != len(calls):
                    raise _refused(
                        "Please ensure that the number of function response parts is equal to the number of function"
                        " call parts of the function call turn."
                    )
                for call, given in zip(calls, answers, strict=True):
                    self._check_answer(call, given, index)
            calls = [_get(part, "functionCall") for part in parts if _get(part, "functionCall")]
            if calls and model.signed:
                self._check_signature(parts, index)

    def _check_answer(self, call: Mapping[str, Any], given: Mapping[str, Any], index: int) -> None:
        if given.get("name") != call.get("name") or given.get("id") not in (None, call.get("id")):
            raise _refused(
                f"contents[{index}]: the function response {given.get('name')!r} answers no call of the turn before."
            )
        if call.get("id") in self._open:
            if (given.get("response") or {}).get("safety_acknowledgement") != "true":
                raise _refused("The safety decision of a function call was not acknowledged.")
            self._open.discard(str(call.get("id")))

    def _check_signature(self, parts: Sequence[Mapping[str, Any]], index: int) -> None:
        """Only the first call of a turn carries one."""
        place, part = next((place, one) for place, one in enumerate(parts) if _get(one, "functionCall"))
        meant = self._signatures.get(str(_get(part, "functionCall").get("id")))
        given = _get(part, "thoughtSignature")
        if meant is not None and not given:
            raise _refused(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to"
                f" work correctly. (contents[{index}].parts[{place}])"
            )
        if meant is not None and base64.b64decode(
            given.replace("-", "+").replace("_", "/")
        ) != base64.b64decode(meant):
            raise _refused(f"Thought signature is not valid. (contents[{index}].parts[{place}])")

    def _reply(
        self,
        name: str,
        model: GeminiModel,
        contents: list[dict[str, Any]],
        shown: Size | None,
        functions: Mapping[str, DeclaredFunction],
        *,
        hands: bool,
    ) -> dict[str, Any]:
        spoken = find_dialect(model.dialect)
        parts: list[dict[str, Any]] = []
        end: Action | None = None
        calls: list[Any]
        if not hands:
            calls, end = self.decide(lambda action: _said_call(action, functions) or _no_hands(action))
        elif shown is None:
            first = "take_screenshot" if model is _DESKTOP else "open_web_browser"
            calls = [{"name": first, "args": {}}]
        else:
            frame = shown
            calls, end = self.decide(
                lambda action: _said_call(action, functions) or spoken.render(action, frame)
            )
        for place, call in enumerate(calls):
            part: dict[str, Any] = {"functionCall": {**call, "id": f"call_{self.number():06d}"}}
            if place == 0:
                part["thoughtSignature"] = base64.b64encode(f"sealed {self.number()}".encode()).decode()
                self._signatures[part["functionCall"]["id"]] = part["thoughtSignature"]
                self._ask_first(part["functionCall"])
            parts.append(part)
        if end is not None:
            parts.append({"text": self.last_words(end)})
        read = sum(len(str(part.get("text", ""))) for content in contents for part in content["parts"]) // 4
        read += sum(258 * -(-size.width // TILE) * -(-size.height // TILE) for size in _sizes(contents))
        written = len(json.dumps(parts)) // 4
        return {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0},
            ],
            "usageMetadata": {
                "promptTokenCount": read,
                "candidatesTokenCount": written,
                "totalTokenCount": read + written,
            },
            "modelVersion": name,
            "responseId": f"r{self.number():08d}",
        }

    def _ask_first(self, call: dict[str, Any]) -> None:
        if self.confirmations > 0:
            self.confirmations -= 1
            self._open.add(call["id"])
            decision = {"decision": "require_confirmation", "explanation": "Please look first."}
            call["args"] = {**call["args"], "safety_decision": decision}


def _refused(message: str) -> ApiProblem:
    return ApiProblem(400, "INVALID_ARGUMENT", message)


def _split(path: str) -> tuple[str, str, str]:
    """The API's version, the model and the method of a path."""
    version, models, rest = (*path.lstrip("/").split("/", 2), "", "")[:3]
    if version not in VERSIONS or models != "models":
        raise ApiProblem(404, "NOT_FOUND", "")
    name, _, method = rest.partition(":")
    return version, name, method


def _unknown(name: str, version: str) -> ApiProblem:
    return ApiProblem(
        404,
        "NOT_FOUND",
        f"models/{name} is not found for API version {version}, or is not supported for generateContent.",
    )


def _get(part: Mapping[str, Any], name: str) -> Any:
    """A field in either of the spellings that the API takes."""
    snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
    return part.get(name, part.get(snake))


def _check_types(body: Mapping[str, Any]) -> None:
    from google.genai import types
    from pydantic import BaseModel, ValidationError

    unknown = set(body) - _BODY
    if unknown:
        name = min(unknown)
        raise _refused(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
    if not body.get("contents"):
        raise _refused("* GenerateContentRequest.contents: contents is not specified")
    checks: list[tuple[str, type[BaseModel], Any]] = [
        *((f"contents[{place}]", types.Content, one) for place, one in enumerate(body["contents"])),
        *((f"tools[{place}]", types.Tool, one) for place, one in enumerate(body.get("tools") or [])),
        ("system_instruction", types.Content, body.get("systemInstruction")),
        ("generation_config", types.GenerationConfig, body.get("generationConfig")),
        ("tool_config", types.ToolConfig, body.get("toolConfig")),
    ]
    for path, kind, value in checks:
        if value is None:
            continue
        try:
            kind.model_validate_json(json.dumps(value))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(step) for step in (path, *first["loc"][:-1]))
            if first["type"] == "extra_forbidden":
                said = f"Unknown name \"{first['loc'][-1]}\" at '{where}': Cannot find field."
            else:
                said = f"Invalid value at '{where}.{first['loc'][-1]}': {first['msg']}"
            raise _refused(f"Invalid JSON payload received. {said}") from error
    for place, content in enumerate(body["contents"]):
        if content.get("role") not in (None, "user", "model"):
            raise _refused(f"Please use a valid role: user, model. (contents[{place}])")
        if not content.get("parts"):
            raise _refused(
                f"* GenerateContentRequest.contents[{place}].parts: contents.parts must not be empty."
            )


def _functions(body: Mapping[str, Any]) -> dict[str, DeclaredFunction]:
    found = [one for tool in body.get("tools") or [] for one in _get(tool, "functionDeclarations") or []]
    declared = [
        DeclaredFunction(one["name"], one.get("description", ""), _get(one, "parametersJsonSchema") or {})
        for one in found
    ]
    try:
        return check_functions(declared, names=FUNCTION_NAME, most=MOST_FUNCTIONS, keywords=_SCHEMA)
    except ApiProblem as problem:
        raise _refused(problem.message) from problem


def _said_call(action: Action, functions: Mapping[str, DeclaredFunction]) -> dict[str, Any] | None:
    """As a call of a declared function; the old browser set has calls of its own (``open_web_browser``)."""
    if "." not in action.function:
        return None
    said = said_call(action, functions)
    return None if said is None else {"name": said.name, "args": dict(said.arguments)}


def _no_hands(action: Action) -> Any:
    raise ActionNotExpressible(f"no computer use is declared for {action.kind.value}")


def _check_tool(
    body: Mapping[str, Any], name: str, model: GeminiModel, functions: Mapping[str, DeclaredFunction]
) -> bool:
    """Whether the model has pointer and keyboard."""
    tools = [found for tool in body.get("tools") or [] if (found := _get(tool, "computerUse")) is not None]
    if not tools and functions and not model.needs_tool:
        return False
    if len(tools) != 1:
        raise _refused(f"Model {name} requires the use of the Computer Use tool.")
    excluded = set(_get(tools[0], "excludedPredefinedFunctions") or ())
    environment = tools[0].get("environment")
    if environment != model.environment:
        raise _refused(f"Computer Use environment {environment} is not supported for model {name}.")
    return "click_at" not in excluded and "click" not in excluded


def _blobs(contents: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for place, content in enumerate(contents):
        for part in content["parts"]:
            answer = _get(part, "functionResponse") or {}
            for one in (part, *(answer.get("parts") or [])):
                if (blob := _get(one, "inlineData")) is not None:
                    yield f"contents[{place}]", blob


def _sizes(contents: Sequence[Mapping[str, Any]]) -> list[Size]:
    return [_size(blob, path) for path, blob in _blobs(contents)]


def _size(blob: Mapping[str, Any], path: str) -> Size:
    data = str(blob.get("data")).replace("-", "+").replace("_", "/")
    try:
        return picture_size(data, _get(blob, "mimeType"), path)
    except ApiProblem as problem:
        raise _refused(
            "Unable to process input image. Please retry or report in the documentation."
        ) from problem


def _shown(contents: Sequence[Mapping[str, Any]]) -> Size | None:
    sizes = _sizes(contents)
    return sizes[-1] if sizes else None
