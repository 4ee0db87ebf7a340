"""Anthropic's Messages API as strictly as it is documented, for the computer tool in three generations.

Other tools may be declared beside it. The rules that a client can break (headers, tools by model, results by call,
pictures, thinking blocks, sampling) end in the documented status and a message in the API's words. No streaming.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from operant.actions import anthropic as dialect
from operant.actions.frames import ANTHROPIC, ANTHROPIC_OLDER, SameShape
from operant.errors import ActionNotExpressible
from operant.testing.vendors.functions import DeclaredFunction, SaidCall, check_functions, said_call
from operant.testing.vendors.pictures import picture_size
from operant.testing.vendors.problem import ApiProblem, invalid
from operant.testing.vendors.protocol import ApiRequest, VendorProtocol
from operant.testing.vendors.sdk_types import check_typed
from operant.types import Action, ActionKind, Size

__all__ = ["MODELS", "AnthropicMessages", "AnthropicModel"]

#: SDKs below 2.9 send the first.
API_VERSIONS = ("2023-06-01", "2026-10-21")
MANY_PICTURES = 20
MANY_PICTURES_SIDE = 2000
MOST_PICTURES = 600
BREAKPOINTS = 4
FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST_FUNCTIONS = 10_000
NOT_EXECUTED = "Not executed: an earlier computer action in this turn failed."
_CONTROLS = "thinking-binding-controls-2026-08-01"


@dataclass(frozen=True)
class AnthropicModel:
    """What a model takes."""

    tools: frozenset[str]
    pictures: SameShape = ANTHROPIC
    sampling: bool = False
    """Whether temperature, top_p and top_k may differ from their defaults."""
    budget: bool = False
    """Whether thinking takes ``budget_tokens``."""
    forced: bool = True
    """Whether ``tool_choice`` may force a tool."""
    bound: bool = False
    """Whether thinking blocks are signed over all that came before them."""


_TOOLSET, _NOV, _JAN = dialect.TOOLSET, "computer_20251124", "computer_20250124"
_BOTH = frozenset({_TOOLSET, _NOV})
MODELS: Mapping[str, AnthropicModel] = {
    "claude-opus-5-5": AnthropicModel(frozenset({_TOOLSET}), forced=False, bound=True),
    "claude-sonnet-5-5": AnthropicModel(frozenset({_TOOLSET}), forced=False),
    "claude-haiku-5-5": AnthropicModel(frozenset({_TOOLSET}), forced=False),
    "claude-fable-5-1": AnthropicModel(_BOTH, bound=True),
    "claude-opus-5": AnthropicModel(_BOTH),
    "claude-sonnet-5": AnthropicModel(_BOTH),
    "claude-opus-4-8": AnthropicModel(_BOTH),
    "claude-opus-4-5": AnthropicModel(frozenset({_NOV}), ANTHROPIC_OLDER, sampling=True, budget=True),
    "claude-sonnet-4-6": AnthropicModel(frozenset({_NOV}), ANTHROPIC_OLDER, sampling=True, budget=True),
    "claude-sonnet-4-5": AnthropicModel(frozenset({_JAN}), ANTHROPIC_OLDER, sampling=True, budget=True),
    "claude-haiku-4-5": AnthropicModel(frozenset({_JAN}), ANTHROPIC_OLDER, sampling=True, budget=True),
}
_DEFAULTS = {"temperature": 1, "top_p": 1, "top_k": None}
#: Older models take these; the SDK's types have not listed them since 2.9.
DOCUMENTED = {"MessageCreateParamsNonStreaming": frozenset(_DEFAULTS)}


class AnthropicMessages(VendorProtocol):
    """A conversation with a model of Anthropic's."""

    vendor: ClassVar[str] = "anthropic"
    most_bytes: ClassVar[int] = 32_000_000

    def __init__(self, *args: Any, thinks: bool = True, **more: Any) -> None:
        super().__init__(*args, **more)
        self.thinks = thinks
        self._secret = b"strict vendor server"
        self._thoughts: dict[str, dict[str, Any]] = {}  # id of a call -> the thinking block before it

    def check_key(self, headers: Mapping[str, str]) -> None:
        bearer = headers.get("authorization", "")
        given = headers.get("x-api-key") or bearer.removeprefix("Bearer ")
        if not given:
            raise ApiProblem(401, "authentication_error", "x-api-key header is required")
        if given != self.key:
            raise ApiProblem(401, "authentication_error", "invalid x-api-key")

    def problem(self, problem: ApiProblem) -> dict[str, Any]:
        error = {"type": problem.kind, "message": problem.message}
        return {"type": "error", "error": error, "request_id": f"req_{self.number()}"}

    def look_up(self, path: str) -> dict[str, Any]:
        name = path.removeprefix("/v1/models/")
        if name not in MODELS:
            raise ApiProblem(404, "not_found_error", f"model: {name}")
        return {"type": "model", "id": name, "display_name": name, "created_at": "2026-08-01T00:00:00Z"}

    def answer(self, request: ApiRequest) -> dict[str, Any]:
        if request.path != "/v1/messages":
            raise ApiProblem(404, "not_found_error", "Not found")
        if request.headers.get("anthropic-version") not in API_VERSIONS:
            raise invalid("anthropic-version: header is required")
        betas = {part.strip() for part in request.headers.get("anthropic-beta", "").split(",")} - {""}
        body = request.body
        _check_types(body, beta=bool(betas) or "beta=true" in request.query)
        model = MODELS.get(body["model"])
        if model is None:
            raise ApiProblem(404, "not_found_error", f"model: {body['model']}")
        functions = _functions(body)
        tool = _computer_tool(body, model, betas, needed=not functions)
        _check_sampling(body, model)
        _check_breakpoints(body)
        messages = [{**message, "content": _blocks(message["content"])} for message in body["messages"]]
        shown = _check_pictures(messages, model, tool)
        self._check_calls(messages)
        self._check_thinking(messages, body, model, betas)
        return self._reply(body, messages, model, tool, shown, functions)

    def _check_calls(self, messages: list[dict[str, Any]]) -> None:
        """Every call has its result at the start of the next message, and every result its call."""
        if messages[0]["role"] != "user":
            raise invalid('messages: first message must use the "user" role')
        if messages[-1]["role"] != "user":
            raise invalid("This model does not support assistant message prefill.")
        for index, message in enumerate(messages):
            path = f"messages.{index}"
            before = messages[index - 1]["content"] if index else []
            calls = {block["id"]: block for block in before if block["type"] == "tool_use"}
            results = [block for block in message["content"] if block["type"] == "tool_result"]
            if message["role"] == "assistant":
                if results:
                    raise invalid(f"{path}: `tool_result` blocks can only be in `user` messages")
                continue
            missing = set(calls) - {block["tool_use_id"] for block in results}
            if missing:
                raise invalid(
                    f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately"
                    f" after: {', '.join(sorted(missing))}. Each `tool_use` block must have a corresponding"
                    " `tool_result` block in the next message."
                )
            if results and message["content"][: len(results)] != results:
                raise invalid(f"{path}: `tool_result` blocks must come first in the content")
            for result in results:
                call = calls.get(result["tool_use_id"])
                if call is None:
                    raise invalid(
                        f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {result['tool_use_id']}."
                        " Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                    )
                _check_result(call, result, path)

    def _check_thinking(
        self, messages: list[dict[str, Any]], body: Mapping[str, Any], model: AnthropicModel, betas: set[str]
    ) -> None:
        binding = body.get("thinking", {}).get("block_binding") or {}
        if binding and _CONTROLS not in betas:
            raise invalid(f"thinking.block_binding: requires the beta header {_CONTROLS}")
        drops = binding.get("prefix_mismatch_behavior") == "drop_block"
        latest = max((i for i, one in enumerate(messages) if one["role"] == "assistant"), default=-1)
        for index, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            blocks = message["content"]
            calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            meant = next((self._thoughts[one] for one in calls if one in self._thoughts), None)
            sent = [block for block in blocks if block["type"] == "thinking"]
            if index == latest and meant is not None:
                if not sent:
                    raise invalid(
                        f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found"
                        f" `{blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start"
                        " with a thinking block."
                    )
                if {**sent[0], "type": "thinking"} != meant:
                    raise invalid(
                        f"messages.{index}.content.0: `thinking` or `redacted_thinking` blocks in the latest"
                        " assistant message cannot be modified."
                    )
            for place, block in enumerate(sent):
                path = f"messages.{index}.content.{place}"
                mark, _, prefix = str(block["signature"]).partition(".")
                if mark != self._sign(block["thinking"]):
                    raise invalid(f"{path}: Invalid `signature` in `thinking` block")
                if model.bound and not drops and prefix != self._sign(_prefix(messages[:index], body)):
                    raise invalid(
                        f"{path}: the messages before this `thinking` block have changed since it was made"
                    )

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:32]

    def _reply(
        self,
        body: Mapping[str, Any],
        messages: list[dict[str, Any]],
        model: AnthropicModel,
        tool: Mapping[str, Any] | None,
        shown: Size | None,
        functions: Mapping[str, DeclaredFunction],
    ) -> dict[str, Any]:
        toolset = tool is not None and tool["type"] == _TOOLSET
        if tool is not None and not toolset:
            shown = Size(tool["display_width_px"], tool["display_height_px"])
        parallel = not body.get("tool_choice", {}).get("disable_parallel_tool_use", False)
        content: list[dict[str, Any]] = []
        thinking = body.get("thinking", {}).get("type") != "disabled"
        if self.thinks and thinking:
            text = f"Thought {self.number()}."
            signature = f"{self._sign(text)}.{self._sign(_prefix(messages, body))}"
            content.append({"type": "thinking", "thinking": text, "signature": signature})
        looked = any(block["type"] == "image" for one in messages for block in _pictures_in(one["content"]))
        end: Action | None = None
        calls: list[Any]
        if tool is None:
            calls, end = self.decide(lambda action: _said_without_tool(action, functions), batches=parallel)
        elif shown is None or not looked:
            calls = [dialect.render(Action(ActionKind.SCREENSHOT), Size(1, 1))]
        else:
            frame, lacks = shown, dialect.VERSIONS[tool["type"]].lacks
            calls, end = self.decide(
                lambda action: said_call(action, functions) or _said(action, frame, lacks), batches=parallel
            )
        for call in calls:
            block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{self.number():08d}"}
            if isinstance(call, SaidCall):
                block |= {"name": call.name, "input": dict(call.arguments)}
            elif not toolset:
                block |= {"name": "computer", "input": call}
            else:
                given = dict(call)
                block |= {"name": given.pop("action"), "toolset_name": "computer", "input": given}
            if content and content[0]["type"] == "thinking":
                self._thoughts[block["id"]] = content[0]
            content.append(block)
        if end is not None:
            content.append({"type": "text", "text": self.last_words(end)})
        return {
            "id": f"msg_{self.number():08d}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "end_turn" if end is not None else "tool_use",
            "stop_sequence": None,
            "usage": _usage(body, messages, model, content),
        }


def _said_without_tool(action: Action, functions: Mapping[str, DeclaredFunction]) -> SaidCall:
    said = said_call(action, functions)
    if said is None:
        raise ActionNotExpressible(f"no computer tool is declared for {action.kind.value}")
    return said


def _said(action: Action, frame: Size, lacks: frozenset[str]) -> dict[str, Any]:
    said = dialect.render(action, frame)
    if said["action"] in lacks:
        raise ActionNotExpressible(f"this version of the tool has no {said['action']}")
    return said


def _check_types(body: Mapping[str, Any], *, beta: bool) -> None:
    if beta:
        from anthropic.types.beta import message_create_params as beta_params

        check_typed({**body}, beta_params.MessageCreateParamsNonStreaming, allow=DOCUMENTED)
    else:
        from anthropic.types import message_create_params

        check_typed({**body}, message_create_params.MessageCreateParamsNonStreaming, allow=DOCUMENTED)
    if not body["messages"]:
        raise invalid("messages: at least one message is required")
    if body["max_tokens"] < 1:
        raise invalid("max_tokens: must be greater than or equal to 1")


def _functions(body: Mapping[str, Any]) -> dict[str, DeclaredFunction]:
    """The tools that the client declares itself."""
    own = [tool for tool in body.get("tools", []) if "input_schema" in tool]
    return check_functions(
        [DeclaredFunction(one["name"], one.get("description", ""), one["input_schema"]) for one in own],
        names=FUNCTION_NAME,
        most=MOST_FUNCTIONS,
    )


def _computer_tool(
    body: Mapping[str, Any], model: AnthropicModel, betas: set[str], *, needed: bool
) -> Mapping[str, Any] | None:
    tools = [tool for tool in body.get("tools", []) if str(tool.get("type", "")).startswith("computer_")]
    named = [tool for tool in body.get("tools", []) if tool.get("name") == "computer" or tool in tools]
    if not named and not needed:
        return None
    if len(named) != 1 or not tools:
        raise invalid(
            "tools: Tool names must be unique." if len(named) > 1 else "tools: no computer tool is declared"
        )
    tool: Mapping[str, Any] = tools[0]
    if tool["type"] not in model.tools:
        wanted = ", ".join(sorted(model.tools))
        raise invalid(
            f"'{body['model']}' does not support tool types: {tool['type']}. Did you mean one of {wanted}?",
            param="tools",
        )
    header = dialect.VERSIONS[tool["type"]].beta
    if header is not None and header not in betas:
        raise invalid(f"tools.0: Input tag '{tool['type']}' requires the beta header {header}")
    return tool


def _check_sampling(body: Mapping[str, Any], model: AnthropicModel) -> None:
    for name, usual in _DEFAULTS.items():
        if not model.sampling and body.get(name, usual) != usual:
            raise invalid(f"{name}: this model does not take other values than the default")
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled" and not model.budget:
        raise invalid(
            "thinking.type: `enabled` with `budget_tokens` is not supported by this model; use `adaptive`"
        )
    if thinking.get("type") == "enabled" and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        raise invalid("thinking.budget_tokens: must be at least 1024 and less than max_tokens")
    choice = body.get("tool_choice", {})
    if choice.get("type") in ("any", "tool") and (
        not model.forced or choice.get("name") not in (None, "computer")
    ):
        raise invalid("tool_choice: forcing this tool is not supported")


def _check_breakpoints(body: Mapping[str, Any]) -> None:
    found = json.dumps([body.get("system"), body.get("tools"), body["messages"]]).count('"cache_control": {')
    if found > BREAKPOINTS:
        raise invalid(f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {found}.")


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _pictures_in(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if block["type"] == "image":
            yield block
        elif block["type"] == "tool_result":
            yield from _pictures_in(_blocks(block.get("content", [])))


def _check_pictures(
    messages: list[dict[str, Any]], model: AnthropicModel, tool: Mapping[str, Any] | None
) -> Size | None:
    """Refuses pictures that are too large or too many; returns the size of the last one of the whole screen."""
    shown: Size | None = None
    sizes: list[tuple[str, Size]] = []
    zooms: set[str] = set()
    for index, message in enumerate(messages):
        for place, block in enumerate(message["content"]):
            if block["type"] == "tool_use" and "zoom" in (block["name"], block["input"].get("action")):
                zooms.add(block["id"])
            for picture in _pictures_in([block]):
                path = f"messages.{index}.content.{place}"
                source = picture["source"]
                if source["type"] != "base64":
                    raise invalid(f"{path}: only base64 pictures are served here")
                size = picture_size(source["data"], source["media_type"], path)
                sizes.append((path, size))
                strict = (tool is not None and tool["type"] == _TOOLSET) or (
                    picture.get("transformations") or {}
                ).get("oversized_image") == "error"
                if strict and not model.pictures.holds(size):
                    fits = model.pictures.fit(size)
                    raise invalid(
                        f"{path}: image of {size} exceeds the maximum size for this model; {fits} fits"
                    )
                if block.get("tool_use_id") not in zooms:
                    shown = size
    if len(sizes) > MOST_PICTURES:
        raise invalid(f"messages: too many images: {len(sizes)} > {MOST_PICTURES}")
    for path, size in sizes if len(sizes) > MANY_PICTURES else []:
        if max(size) > MANY_PICTURES_SIDE:
            raise invalid(
                f"{path}: At least one of the image dimensions exceed max allowed size for many-image requests:"
                f" {MANY_PICTURES_SIDE} pixels"
            )
    return shown


def _check_result(call: Mapping[str, Any], result: Mapping[str, Any], path: str) -> None:
    if result.get("toolset_name") != call.get("toolset_name"):
        raise invalid(
            f"{path}: `tool_result` for {call['id']} must carry toolset_name {call.get('toolset_name')!r}"
        )
    if call.get("toolset_name") is None:
        return
    blocks = _blocks(result.get("content", []))
    if any(block["type"] not in ("text", "image") for block in blocks):
        raise invalid(f"{path}: a toolset's results hold only text and images")
    pictures = any(block["type"] == "image" for block in blocks)
    if call["name"] in ("screenshot", "zoom") and not pictures and not result.get("is_error"):
        raise invalid(f"{path}: the result of {call['name']} must hold an image")


def _prefix(messages: list[dict[str, Any]], body: Mapping[str, Any]) -> str:
    """Tools and conversation as a model reads it: cache breakpoints say nothing to it."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: bare(one)
                for name, one in sorted(value.items())
                if name != "cache_control" and one is not None
            }
        return [bare(one) for one in value] if isinstance(value, list) else value

    return json.dumps([bare(body.get("tools")), [[one["role"], bare(one["content"])] for one in messages]])


def _usage(
    body: Mapping[str, Any],
    messages: list[dict[str, Any]],
    model: AnthropicModel,
    content: list[dict[str, Any]],
) -> dict[str, Any]:
    """Tokens by rule of thumb: a tile of a picture is one, and so are four characters."""

    def tokens(blocks: list[dict[str, Any]]) -> int:
        count = 0
        for picture in _pictures_in(blocks):
            size = picture_size(picture["source"]["data"], picture["source"]["media_type"], "")
            count += math.ceil(size.width / 28) * math.ceil(size.height / 28)
        texts = [block.get("text", "") for block in blocks if block["type"] == "text"]
        return count + sum(map(len, texts)) // 4 + 4

    read = sum(tokens(message["content"]) for message in messages)
    return {
        "input_tokens": read,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": len(json.dumps(content)) // 4,
    }
