"""OpenAI's Responses API with its computer tool, or with our functions, which also work without pictures.

Functions of applications are tools beside either. The server keeps the conversation and a request adds to it. So a
request holds one turn and one picture, however long the episode is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import openai

from operant.actions.coordinates import Units
from operant.actions.dialect import Dialect
from operant.actions.frames import OPENAI
from operant.actions.registry import DIALECTS
from operant.actions.tool_calls import read_arguments
from operant.agents.base import Usage
from operant.agents.hosted.base import CallResult, Dialogue, ModelCall, ModelReply, Seen
from operant.agents.hosted.pictures import EncodedPicture, within
from operant.agents.hosted.requests import Failure, look_up_model, read_reply, sdk_failure
from operant.calls.declaration import Function
from operant.calls.tools import function_of_tool, tool_call, tool_schema
from operant.config.hosted import HostedSettings
from operant.config.settings import read_environment
from operant.errors import ConfigError, InvalidAction
from operant.types import ActionKind, Size

__all__ = ["OpenAIDialogue", "function_tool", "openai_client", "without_hands"]

NO_TEMPERATURE = ("gpt-5", "gpt-6", "o1", "o3", "o4")
COMPUTER, FUNCTIONS = "openai", "function_tools"
ENDS = {"max_output_tokens": "token_limit", "content_filter": "refusal"}


def openai_client(settings: HostedSettings, key: str) -> openai.OpenAI:
    """Their client, without retries of its own; a server without keys is sent a word in place of one."""
    url = settings.base_url or read_environment().get("OPENAI_BASE_URL")
    return openai.OpenAI(api_key=key or "none", base_url=url, max_retries=0)


class OpenAIDialogue(Dialogue):
    """One conversation by Responses."""

    limits = OPENAI
    key_variables = ("OPENAI_API_KEY",)
    url_variables = ("OPENAI_BASE_URL",)
    calls_by = "tools"

    def __init__(self, settings: HostedSettings, key: str) -> None:
        super().__init__(settings, key)
        if settings.temperature is not None and settings.model.startswith(NO_TEMPERATURE):
            raise ConfigError(f"{settings.model} takes no temperature", hint="set effort instead")
        blind = settings.observation == "a11y_tree"
        chosen = settings.dialect or (FUNCTIONS if blind else COMPUTER)
        if chosen not in (COMPUTER, FUNCTIONS):
            raise ConfigError(
                f"{chosen!r} is no dialect of openai", hint=f"dialects: {COMPUTER}, {FUNCTIONS}"
            )
        if blind and chosen == COMPUTER:
            raise ConfigError("openai's computer tool needs pictures", hint=f"dialect: {FUNCTIONS}")
        self._dialect: Dialect = DIALECTS[chosen]
        self._with_functions = chosen == FUNCTIONS
        self._instructions = ""
        self._by_function: frozenset[str] = frozenset()
        self._client = openai_client(settings, key)
        self._items: list[dict[str, Any]] = []
        self._previous: str | None = None
        self._checks: dict[str, list[dict[str, Any]]] = {}

    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        self.shown = shown
        self._previous, self._checks = None, {}
        self._instructions = self.task_words
        if self._with_functions:
            sees: Literal["picture", "tree"] = "picture" if seen.picture else "tree"
            self._instructions = self._dialect.prompt(shown, Units.PIXELS, sees=sees)
        self._items = [_user(instruction, seen)]

    def answer(self, results: Sequence[CallResult], seen: Seen) -> None:
        self._items = [
            self._told(one, seen, last=one is results[-1])
            if one.call.id in self._by_function
            else self._output(one, seen)
            for one in results
        ]
        # The computer tool's answer holds a picture only.
        silent = [one for one in results if one.call.id not in self._by_function]
        errors = [one.error for one in silent if one.error]
        if errors or (seen.text and results[-1].call.id not in self._by_function):
            self._items.append(_user("\n".join([*errors, seen.text]).strip()))

    def _told(self, result: CallResult, seen: Seen, *, last: bool) -> dict[str, Any]:
        """The answer to a call of a function: text, what a zoom showed, and after the last one the screen."""
        done = result.last
        said = f"Error: {result.error}" if result.error else (done.text if done else "") or "OK"
        parts: list[dict[str, Any]] = [{"type": "input_text", "text": said}]
        if done is not None and done.screen is not None and done.action.region is not None:
            parts.append(_image(within(done.screen, self.shown)))
        if last:
            parts += _parts(seen)
        return {"type": "function_call_output", "call_id": result.call.id, "output": parts}

    def _output(self, result: CallResult, seen: Seen) -> dict[str, Any]:
        url = seen.picture.url if seen.picture is not None else ""
        shot = {"type": "computer_screenshot", "image_url": url, "detail": "original"}
        checks = self._checks.get(result.call.id)
        acknowledged = {"acknowledged_safety_checks": checks} if checks else {}
        return {"type": "computer_call_output", "call_id": result.call.id, "output": shot, **acknowledged}

    def remark(self, why: str, seen: Seen) -> None:
        self._items = [_user(why, seen)]

    def send(self, timeout_s: float) -> ModelReply:
        body: dict[str, Any] = {
            "input": self._items,
            "instructions": self._instructions,
            "tools": self._tools(),
            "truncation": "auto",
            "max_output_tokens": self.settings.max_tokens,
        }
        if self._previous is not None:
            body["previous_response_id"] = self._previous
        if self.settings.effort is not None:
            body["reasoning"] = {"effort": self.settings.effort}
        if self.settings.temperature is not None:
            body["temperature"] = self.settings.temperature
        try:
            with self._client.responses.with_streaming_response.create(
                model=self.settings.model, extra_body=body, timeout=timeout_s
            ) as response:
                return self._read(read_reply(response.iter_bytes(), timeout_s))
        except openai.APIError as error:
            raise sdk_failure(error) from error
        except OSError as error:
            raise Failure(0, "the connection broke") from error

    def _tools(self) -> list[dict[str, Any]]:
        own = self._dialect.tools(self.shown)
        if not self.hands:
            own = without_hands(own)
        return [_flat(tool) for tool in (*own, *map(function_tool, self.functions))]

    def _read(self, reply: dict[str, Any]) -> ModelReply:
        error = reply.get("error")
        if isinstance(error, dict):
            raise Failure(500, str(error.get("message") or error.get("code")))
        if isinstance(reply.get("id"), str):
            self._previous = reply["id"]
        items = [item for item in reply.get("output") or [] if isinstance(item, dict)]
        kinds = ("function_call",) if self._with_functions else ("function_call", "computer_call")
        found = [item for item in items if item.get("type") in kinds]
        self._by_function = frozenset(
            str(item.get("call_id")) for item in found if item["type"] == "function_call"
        )
        parts = [
            part
            for item in items
            if item.get("type") == "message"
            for part in item.get("content") or []
            if isinstance(part, dict)
        ]
        text = "\n".join(
            str(part["text"]) for part in parts if part.get("type") == "output_text" and "text" in part
        )
        refused = next((str(part.get("refusal")) for part in parts if part.get("type") == "refusal"), "")
        why = str((reply.get("incomplete_details") or {}).get("reason"))
        end = "refusal" if refused else ENDS.get(why, "") if reply.get("status") == "incomplete" else ""
        self._checks = {
            str(item.get("call_id")): [
                one for one in item.get("pending_safety_checks") or [] if isinstance(one, dict)
            ]
            for item in found
        }
        checks = tuple(
            str(one.get("message") or one.get("code")) for pending in self._checks.values() for one in pending
        )
        return ModelReply(
            tuple(map(self._call, found)), text or refused, end, checks, _usage(reply.get("usage"))
        )

    def _call(self, item: dict[str, Any]) -> ModelCall:
        identity = str(item.get("call_id"))
        function = item["type"] == "function_call"
        name = str(item.get("name")) if function else "computer"
        try:
            if function and (not self._with_functions or function_of_tool(name) is not None):
                return ModelCall(identity, name, (tool_call(name, read_arguments(item.get("arguments"))),))
            actions = self._dialect.parse(item, self.shown, Units.PIXELS)
        except InvalidAction as error:
            return ModelCall(identity, name, error=error.message)
        return ModelCall(identity, name, tuple(actions))

    def look_up(self, timeout_s: float) -> None:
        look_up_model(self._client.models, self.settings.model, timeout_s, openai.APIError)

    def close(self) -> None:
        self._client.close()


def function_tool(function: Function) -> dict[str, Any]:
    """A function of an application as an entry of ``tools``, as Chat Completions has it."""
    told = {"name": function.tool_name, "description": function.doc, "parameters": tool_schema(function)}
    return {"type": "function", "function": told}


def without_hands(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that need neither pointer nor keyboard; the computer tool does."""
    allowed = {kind.value for kind in ActionKind if not kind.uses_hands} | {"infeasible"}
    return [tool for tool in tools if tool.get("function", {}).get("name") in allowed]


def _flat(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as Responses has it: functions are not nested, and strict unless told otherwise."""
    return {"type": "function", "strict": False, **tool["function"]} if "function" in tool else tool


def _image(picture: EncodedPicture) -> dict[str, Any]:
    return {"type": "input_image", "image_url": picture.url, "detail": "original"}


def _parts(seen: Seen) -> list[dict[str, Any]]:
    text = [{"type": "input_text", "text": seen.text}] if seen.text else []
    return [*text, _image(seen.picture)] if seen.picture is not None else text


def _user(text: str, seen: Seen | None = None) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}, *(_parts(seen) if seen is not None else [])]
    return {"type": "message", "role": "user", "content": content}


def _usage(given: Any) -> Usage:
    if not isinstance(given, dict):
        return Usage()
    details = given.get("input_tokens_details") or {}
    return Usage(
        int(given.get("input_tokens") or 0),
        int(details.get("cached_tokens") or 0),
        int(given.get("output_tokens") or 0),
        written_tokens=int(details.get("cache_write_tokens") or 0),
    )
