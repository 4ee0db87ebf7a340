"""OpenAI's Responses API as strictly as it is documented, for the tool ``computer``, for our functions, and for both.

No streaming.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from operant.actions import openai as dialect
from operant.actions.coordinates import Units
from operant.actions.registry import dialect as find_dialect
from operant.errors import ActionNotExpressible
from operant.testing.vendors.functions import (
    DeclaredFunction,
    SaidCall,
    check_arguments,
    check_functions,
    said_call,
)
from operant.testing.vendors.openai_errors import FUNCTION_NAME, MOST_FUNCTIONS, OpenAIProtocol
from operant.testing.vendors.pictures import data_url_size
from operant.testing.vendors.problem import ApiProblem, invalid
from operant.testing.vendors.protocol import ApiRequest
from operant.testing.vendors.sdk_types import check_typed
from operant.types import Action, ActionKind, Size

__all__ = ["RESPONSES_MODELS", "OpenAIResponses", "ResponsesModel"]

#: The guide sends it, the SDK's type of a screenshot lacks it.
DOCUMENTED = {"ResponseComputerToolCallOutputScreenshotParam": frozenset({"detail"})}
CALLS = ("computer_call", "function_call")
OUTPUTS = tuple(f"{kind}_output" for kind in CALLS)
OWN = find_dialect("function_tools")
MOST_PICTURES = 1500
TILE = 32  # pixels a side for one token


@dataclass(frozen=True)
class ResponsesModel:
    """What a model takes."""

    sampling: bool = True
    """Whether it takes temperature and top_p."""
    efforts: tuple[str, ...] = ("none", "minimal", "low", "medium", "high", "xhigh")


_NEWEST = ResponsesModel(sampling=False, efforts=("minimal", "low", "medium", "high", "xhigh"))
RESPONSES_MODELS: Mapping[str, ResponsesModel] = {
    "gpt-5.4": ResponsesModel(),
    "gpt-5.6-terra": ResponsesModel(),
    "gpt-6-astra": _NEWEST,
    "gpt-6.1-sol": _NEWEST,
}


class OpenAIResponses(OpenAIProtocol):
    """A conversation with a model of OpenAI's."""

    def __init__(self, *args: Any, checks: int = 0, **more: Any) -> None:
        super().__init__(*args, **more)
        self.checks = checks
        """How many of the first calls carry a safety check that must be acknowledged."""
        self._stored: dict[str, list[dict[str, Any]]] = {}  # id of a response -> all items up to its end
        self._reasoning: dict[str, str] = {}  # id of a call's item -> id of the reasoning before it
        self._pending: dict[str, list[str]] = {}  # id of a call -> its safety checks

    def models(self) -> Iterable[str]:
        return RESPONSES_MODELS

    def answer(self, request: ApiRequest) -> dict[str, Any]:
        if request.path != "/v1/responses":
            raise ApiProblem(404, "invalid_request_error", f"Invalid URL (POST {request.path})")
        from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

        body = request.body
        check_typed({**body}, ResponseCreateParamsNonStreaming, allow=DOCUMENTED)
        name = body.get("model")
        model = RESPONSES_MODELS.get(str(name))
        if model is None:
            raise invalid(
                f"The requested model '{name}' does not exist.", code="model_not_found", param="model"
            )
        declared = _functions(body)
        _check_options(body, model, functions=bool(declared))
        items = self._items(body)
        self._check_calls(items)
        return self._reply(body, items, _shown(items), declared)

    def _items(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        given = body.get("input", [])
        new = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        previous = body.get("previous_response_id")
        if previous is None:
            return new
        if previous not in self._stored:
            raise invalid(
                f"Previous response with id '{previous}' not found.",
                code="previous_response_not_found",
                param="previous_response_id",
            )
        return self._stored[previous] + new

    def _check_calls(self, items: list[dict[str, Any]]) -> None:
        calls = {item["call_id"]: item for item in items if item.get("type") in CALLS}
        outputs = {item["call_id"]: item for item in items if item.get("type") in OUTPUTS}
        reasoning = {item["id"] for item in items if item.get("type") == "reasoning"}
        for call_id, item in outputs.items():
            if call_id not in calls:
                raise invalid(f"No tool call found for {_kind(item)} with call_id {call_id}.", param="input")
            if item["type"] != f"{calls[call_id]['type']}_output":
                raise invalid(
                    f"No tool output found for {_kind(calls[call_id])} {call_id}: {item['type']} does not answer it.",
                    param="input",
                )
            done = {check["id"] for check in item.get("acknowledged_safety_checks") or []}
            open_checks = [check for check in self._pending.get(call_id, []) if check not in done]
            if open_checks:
                raise invalid(
                    f"Computer tool has unacknowledged safety check for {open_checks}", param="input"
                )
        for call_id, item in calls.items():
            if call_id not in outputs:
                raise invalid(f"No tool output found for {_kind(item)} {call_id}.", param="input")
            needed = self._reasoning.get(item["id"])
            if needed is not None and needed not in reasoning:
                raise invalid(
                    f"Item '{item['id']}' of type '{item['type']}' was provided without its required 'reasoning'"
                    f" item: '{needed}'.",
                    param="input",
                )

    def _reply(
        self,
        body: Mapping[str, Any],
        items: list[dict[str, Any]],
        shown: Size | None,
        declared: Mapping[str, DeclaredFunction],
    ) -> dict[str, Any]:
        output: list[dict[str, Any]] = []
        end: Action | None = None
        frame = shown or self.mind.screen
        computer = any(tool["type"] == "computer" for tool in body.get("tools", []))
        actions: list[Any]
        if not computer:
            actions, end = self.decide(lambda action: _said_function(action, declared, frame))
        elif shown is None:
            actions = [{"type": "screenshot"}]
        else:
            actions, end = self.decide(lambda action: said_call(action, declared) or _said(action, frame))
        thought = {"type": "reasoning", "id": f"rs_{self.number():08d}", "summary": []}
        output.append({**thought, "encrypted_content": f"sealed {thought['id']}"})
        if end is not None:
            text = {"type": "output_text", "text": self.last_words(end), "annotations": []}
            output.append(
                {
                    "type": "message",
                    "id": f"msg_{self.number():08d}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [text],
                }
            )
        else:
            # Actions of the computer tool that follow each other come in one call.
            for by_function, group in itertools.groupby(actions, lambda one: isinstance(one, SaidCall)):
                if by_function:
                    output += [self._function(one, str(thought["id"])) for one in group]
                else:
                    output.append(self._call(list(group), str(thought["id"])))
        reply_id = f"resp_{self.number():08d}"
        if body.get("store", True) is not False:
            self._stored[reply_id] = items + output
        read = len(str([_without_pictures(item) for item in items])) // 4
        for size in map(_picture, items):
            read += 0 if size is None else -(-size.width // TILE) * -(-size.height // TILE)
        written = len(str(output)) // 4
        return {
            "id": reply_id,
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "model": body["model"],
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body.get("tools", []),
            "usage": {
                "input_tokens": read,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": written,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": read + written,
            },
        }

    def _function(self, said: SaidCall, thought: str) -> dict[str, Any]:
        call = {
            "type": "function_call",
            "id": f"fc_{self.number():08d}",
            "call_id": f"call_{self.number():08d}",
            "name": said.name,
            "arguments": json.dumps(dict(said.arguments)),
            "status": "completed",
        }
        self._reasoning[call["id"]] = thought
        return call

    def _call(self, actions: list[dict[str, Any]], thought: str) -> dict[str, Any]:
        call = {
            "type": "computer_call",
            "id": f"cu_{self.number():08d}",
            "call_id": f"call_{self.number():08d}",
        }
        self._reasoning[call["id"]] = thought
        checks: list[dict[str, str]] = []
        if self.checks > 0:
            self.checks -= 1
            check = f"cu_sc_{self.number():08d}"
            checks = [{"id": check, "code": "malicious_instructions", "message": "Please look first."}]
            self._pending[call["call_id"]] = [check]
        return {**call, "actions": actions, "pending_safety_checks": checks, "status": "completed"}


def _functions(body: Mapping[str, Any]) -> dict[str, DeclaredFunction]:
    tools = [tool for tool in body.get("tools", []) if tool["type"] == "function"]
    return check_functions(
        [DeclaredFunction(one["name"], one.get("description") or "", one["parameters"]) for one in tools],
        names=FUNCTION_NAME,
        most=MOST_FUNCTIONS,
    )


def _said_function(action: Action, declared: Mapping[str, DeclaredFunction], frame: Size) -> SaidCall:
    """By a tool for the function that is called, or by one of our own functions."""
    if action.kind is ActionKind.CALL and action.function.replace(".", "_") in declared:
        said = said_call(action, declared)
    else:
        own: Any = OWN.render(action, frame, Units.PIXELS)
        if own["name"] not in declared:
            raise ActionNotExpressible(f"the request declares no function {own['name']}")
        said = SaidCall(own["name"], own["arguments"])
        check_arguments(declared[said.name], said.arguments)
    assert said is not None
    return said


def _said(action: Action, frame: Size) -> dict[str, Any]:
    said = dialect.render(action, frame)
    # The SDK's type of a double click always has keys.
    return {**said, "keys": said.get("keys")} if said["type"] == "double_click" else said


def _kind(item: Mapping[str, Any]) -> str:
    return "function call" if str(item["type"]).startswith("function") else "computer call"


def _check_options(body: Mapping[str, Any], model: ResponsesModel, *, functions: bool) -> None:
    name = body["model"]
    tools = [tool["type"] for tool in body.get("tools", [])]
    if "computer_use_preview" in tools:
        raise invalid(f"Tool 'computer_use_preview' is not supported with {name}.", param="tools")
    if "computer" not in tools and not functions:
        raise invalid("no computer tool is declared", param="tools")
    for option in ("temperature", "top_p", "top_logprobs"):
        if not model.sampling and body.get(option) is not None:
            raise invalid(
                f"Unsupported parameter: '{option}' is not supported with this model.",
                code="unsupported_parameter",
                param=option,
            )
    effort = (body.get("reasoning") or {}).get("effort")
    if effort is not None and effort not in model.efforts:
        raise invalid(
            f"Unsupported value: 'reasoning.effort' does not support '{effort}' with this model.",
            code="unsupported_value",
            param="reasoning.effort",
        )


def _picture(item: Mapping[str, Any]) -> Size | None:
    """The last picture of an item."""
    if item.get("type") == "computer_call_output":
        return data_url_size(item["output"].get("image_url"), "input.output.image_url")
    content = item.get("output") if item.get("type") == "function_call_output" else item.get("content")
    parts = content if isinstance(content, list) else []
    urls = [
        part["image_url"] for part in parts if part.get("type") == "input_image" and part.get("image_url")
    ]
    return data_url_size(urls[-1], "input.content.image_url") if urls else None


def _shown(items: list[dict[str, Any]]) -> Size | None:
    sizes = [size for size in map(_picture, items) if size is not None]
    if len(sizes) > MOST_PICTURES:
        raise invalid(f"Too many images: {len(sizes)}", param="input")
    return sizes[-1] if sizes else None


def _without_pictures(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": item.get("type")} if item.get("type") in OUTPUTS else item
