"""Chat Completions as strictly as OpenAI and the usual local servers have it, in any dialect of text or functions.

Coordinates are counted as the request's own system prompt tells the model to count, so a prompt that disagrees with
the client's reader is found out. No streaming.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operant.actions.coordinates import Units
from operant.actions.registry import dialect as find_dialect
from operant.errors import ActionNotExpressible
from operant.testing.vendors.openai_errors import OpenAIProtocol, check_declared, unknown_model
from operant.testing.vendors.pictures import data_url_size
from operant.testing.vendors.problem import ApiProblem, invalid
from operant.testing.vendors.protocol import ApiRequest
from operant.testing.vendors.sdk_types import check_typed
from operant.types import Action, ActionKind, Size

__all__ = ["CHAT_MODELS", "ChatModel", "OpenAIChat"]

TILE = 32  # pixels a side for one token
_COUNTED = re.compile(r"Coordinates [^.]*\.")


@dataclass(frozen=True)
class ChatModel:
    """What a model takes."""

    tools: bool = True
    max_tokens: bool = True
    """Whether it takes ``max_tokens``; OpenAI's own models want ``max_completion_tokens``."""
    sampling: bool = True
    alternates: bool = False
    """Whether user and assistant have to take turns, as most chat templates of open models insist."""
    pictures: int = 0
    """How many a request may hold; 0 is no limit, -1 none at all."""


CHAT_MODELS: Mapping[str, ChatModel] = {
    "gpt-5.6-terra": ChatModel(max_tokens=False),
    "gpt-6-astra": ChatModel(tools=False, max_tokens=False, sampling=False),
    "local-vlm": ChatModel(tools=False, alternates=True, pictures=5),
    "local-vlm-tools": ChatModel(pictures=5),
    "local-llm": ChatModel(tools=False, alternates=True, pictures=-1),
}


class OpenAIChat(OpenAIProtocol):
    """A conversation with a model that answers in ``dialect``."""

    def __init__(self, *args: Any, dialect: str = "json", thinks: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self.dialect = find_dialect(dialect)
        self.thinks = thinks
        """Whether replies begin with ``<think>``."""
        self._asked: dict[str, str] = {}  # id of a call -> its function

    def models(self) -> Iterable[str]:
        return CHAT_MODELS

    def answer(self, request: ApiRequest) -> dict[str, Any]:
        if request.path != "/v1/chat/completions":
            raise ApiProblem(404, "invalid_request_error", f"Invalid URL (POST {request.path})")
        from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

        body = request.body
        check_typed({**body}, CompletionCreateParamsNonStreaming)
        model = CHAT_MODELS.get(body["model"])
        if model is None:
            raise unknown_model(body["model"])
        _check_options(body, model)
        messages: list[dict[str, Any]] = body["messages"]
        self._check_calls(messages)
        _check_turns(messages, model)
        shown = _check_pictures(messages, model)
        return self._reply(body, messages, shown or self.mind.screen)

    def _check_calls(self, messages: list[dict[str, Any]]) -> None:
        waiting: list[str] = []
        for index, message in enumerate(messages):
            if message["role"] == "tool":
                if message["tool_call_id"] not in waiting:
                    raise invalid(
                        "Invalid parameter: messages with role 'tool' must be a response to a preceding message"
                        " with 'tool_calls'.",
                        param=f"messages.[{index}].role",
                    )
                waiting.remove(message["tool_call_id"])
                continue
            if waiting:
                raise invalid(
                    "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
                    " 'tool_call_id'. The following tool_call_ids did not have response messages: "
                    + ", ".join(waiting),
                    param=f"messages.[{index}].role",
                )
            waiting = [call["id"] for call in message.get("tool_calls") or []]
        if waiting:
            raise invalid(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
                " 'tool_call_id'. The following tool_call_ids did not have response messages: "
                + ", ".join(waiting),
                param="messages",
            )

    def _reply(self, body: Mapping[str, Any], messages: list[dict[str, Any]], shown: Size) -> dict[str, Any]:
        family = self._told_units(messages, shown)

        typed = {one["function"]["name"] for one in body.get("tools") or []}

        def render(action: Action) -> Any:
            tool = action.function.replace(".", "_")
            if action.kind is ActionKind.CALL and tool in typed:
                return {"name": tool, "arguments": dict(action.kwargs)}
            return self.dialect.render(action, shown, family)

        functions = self.dialect.way == "functions"
        parallel = body.get("parallel_tool_calls", True) is not False
        payloads, end = self.decide(render, batches=parallel)
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
        finish = "stop"
        if end is not None:
            message["content"] = self._thought() + self._over(end, render)
        elif functions:
            finish = "tool_calls"
            message["tool_calls"] = [self._call(payload, body.get("tools") or []) for payload in payloads]
        else:
            message["content"] = self._thought() + "\n".join(payloads)
        if functions and end is not None and isinstance(called := _called(message["content"]), dict):
            message |= {"content": None, "tool_calls": [self._call(called, body.get("tools") or [])]}
            finish = "tool_calls"
        read = len(json.dumps([_words(one) for one in messages])) // 4
        for size in _sizes(messages):
            read += -(-size.width // TILE) * -(-size.height // TILE)
        written = len(json.dumps(message)) // 4
        return {
            "id": f"chatcmpl-{self.number():08d}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
        }

    def _told_units(self, messages: Sequence[Mapping[str, Any]], shown: Size) -> Units | None:
        """What the system prompt says that coordinates count; None for what the dialect's models count."""
        told = " ".join(_words(one) for one in messages if one["role"] in ("system", "developer"))
        families: list[Units | None] = [None, *Units]
        for family in families:
            sentences = [_COUNTED.findall(self.dialect.prompt(one, family)) for one in (shown, None)]
            if any(sentence in told for found in sentences for sentence in found):
                return family
        return None

    def _thought(self) -> str:
        return (
            f"<think>\nThought {self.number()}: click(1, 1) would be wrong.\n</think>\n"
            if self.thinks
            else ""
        )

    def _over(self, end: Action, render: Any) -> str:
        """The end in the dialect's words, or in plain text where it has none."""
        try:
            said = render(end)
        except ActionNotExpressible:
            if end.kind is ActionKind.ANSWER:
                self.differences.add("answer in a line of plain text")
                return f"ANSWER: {end.text}"
            if end.kind not in self.dialect.carries:
                return self.last_words(end)
            said = render(Action(end.kind))
        return said if isinstance(said, str) else json.dumps(said)

    def _call(self, payload: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        inner = payload.get("function", payload)
        name = inner["name"]
        given = inner.get("arguments", inner.get("args", {}))
        arguments = json.loads(given) if isinstance(given, str) else given
        check_declared(name, arguments, tools)
        return {
            "id": f"call_{self.number():08d}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }


def _called(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _check_options(body: Mapping[str, Any], model: ChatModel) -> None:
    name = body["model"]
    if not body["messages"]:
        raise invalid("[] is too short - 'messages'", param="messages")
    if body.get("tools") and not model.tools:
        raise invalid(
            f"Function tools are not supported with {name} in /v1/chat/completions. Please use /v1/responses instead.",
            param="tools",
        )
    if body.get("tools") == []:
        raise invalid("Invalid 'tools': empty array. Expected an array with minimum length 1.", param="tools")
    if body.get("max_tokens") is not None and not model.max_tokens:
        raise invalid(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
            " instead.",
            code="unsupported_parameter",
            param="max_tokens",
        )
    for option in ("temperature", "top_p", "logprobs"):
        if not model.sampling and body.get(option) is not None:
            raise invalid(
                f"Unsupported parameter: '{option}' is not supported with this model.",
                code="unsupported_parameter",
                param=option,
            )


def _check_turns(messages: Sequence[Mapping[str, Any]], model: ChatModel) -> None:
    roles = [one["role"] for one in messages if one["role"] not in ("system", "developer", "tool")]
    if not roles or messages[-1]["role"] == "assistant":
        raise invalid("the last message must be the user's or a tool's", param="messages")
    wanted = ["user", "assistant"] * len(roles)
    if model.alternates and roles != wanted[: len(roles)]:
        raise invalid("Conversation roles must alternate user/assistant/user/assistant/...")


def _parts(message: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in _parts(message))


def _sizes(messages: Sequence[Mapping[str, Any]]) -> list[Size]:
    return [
        data_url_size(part["image_url"]["url"], f"messages[{index}].image_url")
        for index, message in enumerate(messages)
        for part in _parts(message)
        if part.get("type") == "image_url"
    ]


def _check_pictures(messages: Sequence[Mapping[str, Any]], model: ChatModel) -> Size | None:
    sizes = _sizes(messages)
    if sizes and model.pictures < 0:
        raise invalid("This model does not support image inputs.", param="messages")
    if 0 < model.pictures < len(sizes):
        raise invalid(f"At most {model.pictures} image(s) may be provided in one prompt.", param="messages")
    return sizes[-1] if sizes else None
