"""Chat Completions of any OpenAI-compatible server, with actions as plain text or as calls of our functions.

Plain text works with models and servers that know no tools. With function tools every call is answered by a message
of its own, which may hold text only: the screen follows in a user's message. Pictures and widgets are sent for the
last turns; the replies stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import openai

from operant.actions.coordinates import Units
from operant.actions.registry import DIALECTS, TEXT_DIALECTS
from operant.actions.thinking import without_thinking
from operant.actions.tool_calls import read_arguments
from operant.agents.base import Usage
from operant.agents.hosted.base import CallResult, Dialogue, ModelCall, ModelReply, Seen
from operant.agents.hosted.openai import function_tool, openai_client, without_hands
from operant.agents.hosted.pictures import EncodedPicture, within
from operant.agents.hosted.requests import UNREADABLE, Failure, read_reply, sdk_failure
from operant.calls.tools import function_of_tool, tool_call
from operant.config.hosted import HostedSettings
from operant.errors import ConfigError, InvalidAction
from operant.types import ActionKind, Point, Size

__all__ = ["ChatDialogue"]

FUNCTIONS = "function_tools"
ENDS = {"length": "token_limit", "content_filter": "refusal"}
#: How OpenAI, vLLM and llama.cpp say that a conversation does not fit the model any more.
TOO_LONG = re.compile(r"context (length|size|window)|context_length|exceed_context", re.IGNORECASE)
NO_PICTURE = "(an earlier screen)"
NOW = "The screen now."
#: For dialects that have no word for an answer.
ANSWERS = "If the task asks for something, end it by a line with ANSWER: and nothing but the answer."
_ANSWER = re.compile(r"^ANSWER:.*\S", re.MULTILINE)
#: ComputerRL's own words, which its models know.
INVALID, RESULT, MOST_RESULT = "Invalid action", "* Previous Action Result", 2000
#: Of a reply with calls, what has to come back as it was.
KEPT = ("content", "reasoning_content", "reasoning")


class ChatDialogue(Dialogue):
    """One conversation by Chat Completions."""

    key_variables = ("OPENAI_API_KEY",)
    url_variables = ("OPENAI_BASE_URL",)
    needs_key = False
    converses = True

    def __init__(self, settings: HostedSettings, key: str) -> None:
        super().__init__(settings, key)
        chosen = settings.dialect or "json"
        known = (FUNCTIONS, *TEXT_DIALECTS)
        if chosen not in known:
            raise ConfigError(f"{chosen!r} is no dialect of chat", hint=f"dialects: {', '.join(known)}")
        self._dialect = DIALECTS[chosen]
        self._name = chosen
        self._as_computer_rl = chosen.startswith("computer_rl")
        self._units = None if settings.coordinates is None else Units(settings.coordinates)
        if self._units is not None and self._units not in self._dialect.units:
            named = ", ".join(one.value for one in self._dialect.units)
            raise ConfigError(
                f"{chosen} does not count in {settings.coordinates}", hint=f"coordinates: {named}"
            )
        self.limits = self._dialect.limits
        if self._dialect.way == "functions":
            self.calls_by = "tools"
        elif "kwargs" in self._dialect.carries.get(ActionKind.CALL, ""):
            self.calls_by = "words"
        if settings.observation is None and self._dialect.sees == "tree":
            self.observation = "a11y_tree"
        self._length = "max_tokens"
        self._client = openai_client(settings, key)
        self._messages: list[dict[str, Any]] = []

    def locate(self, point: Point, shown: Size) -> tuple[float, float]:
        return self._dialect.grid(shown, self._units).locate(point)

    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        self.shown = shown
        told = self._dialect.prompt(shown, self._units, sees="picture" if seen.picture else "tree")
        if ActionKind.ANSWER not in self._dialect.carries:
            told = f"{told} {ANSWERS}"
        self._messages = [{"role": "system", "content": told}, self._turn(f"Task: {instruction}", seen)]

    def answer(self, results: Sequence[CallResult], seen: Seen) -> None:
        errors = [one.error for one in results if one.error]
        if self._dialect.way == "functions":
            self._messages += [_answered(one) for one in results]
            told = NOW
        else:
            answers = [one.last.text for one in results if one.last is not None and one.last.text]
            refused = INVALID if self._as_computer_rl else "Your last action was refused"
            told = "\n".join([f"{refused}: {error}" for error in errors] + answers)
        zoomed = [one.last for one in results if one.last is not None and one.last.action.region is not None]
        closer = [within(one.screen, self.shown) for one in zoomed if one.screen is not None]
        self._messages.append(self._turn(told, seen, *closer))

    def remark(self, why: str, seen: Seen) -> None:
        self._messages.append(self._turn(f"{INVALID}: {why}" if self._as_computer_rl else why, seen))

    def _turn(self, told: str, seen: Seen, *closer: EncodedPicture) -> dict[str, Any]:
        """A user's turn: what became of the last action, and the screen now."""
        pictures = [picture for picture in (*closer, seen.picture) if picture is not None]
        images = [{"type": "image_url", "image_url": {"url": picture.url}} for picture in pictures]
        if self._as_computer_rl:
            # The models were trained with the picture first, and with the last result under its own heading.
            result = told if told.startswith("Task: ") else f"{RESULT}: {told[:MOST_RESULT] or None}"
            return {"role": "user", "content": [*images, _text(result), _text(_state(seen))]}
        text = [_text(seen.text)] if seen.text else []
        return {"role": "user", "content": [_text(told or NOW), *text, *images]}

    # Requests.

    def send(self, timeout_s: float) -> ModelReply:
        body: dict[str, Any] = {"messages": self._recent(), self._length: self.settings.max_tokens}
        own = self._dialect.tools(self.shown)
        if tools := [*(own if self.hands else without_hands(own)), *map(function_tool, self.functions)]:
            body["tools"] = tools
        if self._dialect.stop:
            body["stop"] = list(self._dialect.stop)
        return self._post(body, timeout_s, self._read)

    def converse(self, system: str, turns: Sequence[str], timeout_s: float) -> ModelReply:
        messages = [{"role": "system", "content": system}]
        messages += [
            {"role": "assistant" if number % 2 else "user", "content": text}
            for number, text in enumerate(turns)
        ]
        return self._post({"messages": messages, self._length: self.settings.max_tokens}, timeout_s, _plain)

    def _post(
        self, body: dict[str, Any], timeout_s: float, read: Callable[[dict[str, Any]], ModelReply]
    ) -> ModelReply:
        if self.settings.temperature is not None:
            body["temperature"] = self.settings.temperature
        if self.settings.effort is not None:
            body["reasoning_effort"] = self.settings.effort
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=self.settings.model, messages=[], extra_body=body, timeout=timeout_s
            ) as response:
                return read(read_reply(response.iter_bytes(), timeout_s))
        except openai.APIError as error:
            failure = sdk_failure(error)
            if failure.status in (400, 413) and TOO_LONG.search(failure.message):
                return ModelReply(text=failure.message, end="token_limit")
            raise failure from error
        except OSError as error:
            raise Failure(0, "the connection broke") from error

    def _recent(self) -> list[dict[str, Any]]:
        """The conversation with what was seen in the last turns only; the task stands in the first one."""
        users = [index for index, one in enumerate(self._messages) if one["role"] == "user"]
        old = set(users[: -self.settings.history])
        return [
            {"role": "user", "content": [_first_text(one["content"]), _text(NO_PICTURE)]}
            if index in old
            else one
            for index, one in enumerate(self._messages)
        ]

    def _read(self, reply: dict[str, Any]) -> ModelReply:
        choice = _choice(reply)
        message, usage = choice["message"], _usage(reply.get("usage"))
        said = message.get("content")
        text = said if isinstance(said, str) else ""
        given = message.get("tool_calls")
        calls = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
        end = ENDS.get(str(choice.get("finish_reason")), "")
        if message.get("refusal"):
            self._messages.append({"role": "assistant", "content": text or "(nothing)"})
            return ModelReply(text=str(message["refusal"]), end="refusal", usage=usage)
        if self._dialect.way == "functions":
            return self._called(message, calls, text, end, usage)
        return self._spoken(calls, text, end, usage)

    def _called(
        self, message: dict[str, Any], calls: list[dict[str, Any]], text: str, end: str, usage: Usage
    ) -> ModelReply:
        """A reply with calls of functions; without any, its text ends the task."""
        tidy = [_with_identity(call, number) for number, call in enumerate(calls)]
        kept = {name: message[name] for name in KEPT if isinstance(message.get(name), str)}
        back = {"role": "assistant", "content": None, **kept}
        self._messages.append(
            {**back, "tool_calls": tidy} if tidy else {**back, "content": text or "(nothing)"}
        )
        read = tuple(self._call(one["id"], call) for one, call in zip(tidy, calls, strict=True))
        return ModelReply(read, without_thinking(text).strip(), end, usage=usage)

    def _call(self, identity: str, call: dict[str, Any]) -> ModelCall:
        function = call.get("function")
        name = str(function.get("name")) if isinstance(function, dict) else ""
        try:
            if isinstance(function, dict) and function_of_tool(name) is not None:
                arguments = read_arguments(function.get("arguments") or {})
                return ModelCall(identity, name, (tool_call(name, arguments),))
            return ModelCall(identity, name, tuple(self._dialect.parse(call, self.shown, self._units)))
        except InvalidAction as error:
            return ModelCall(identity, name, error=error.message)

    def _spoken(self, calls: list[dict[str, Any]], text: str, end: str, usage: Usage) -> ModelReply:
        """A reply in plain text. Some servers take calls out of it on their own."""
        shown = text or (json.dumps(calls) if calls else "")
        # An empty answer would leave two user's turns in a row, which most chat templates refuse.
        self._messages.append({"role": "assistant", "content": shown or "(nothing)"})
        if not calls and not without_thinking(text).strip():
            return ModelReply(text=text if end else "", end=end, usage=usage)
        try:
            actions = tuple(self._dialect.parse(calls or text, self.shown, self._units))
        except InvalidAction as error:
            answer = _ANSWER.search(without_thinking(text))
            if end or (answer is not None and ActionKind.ANSWER not in self._dialect.carries):
                return ModelReply(text=text if end or answer is None else answer[0], end=end, usage=usage)
            return ModelReply((ModelCall("", self._name, error=error.message),), text, usage=usage)
        return ModelReply((ModelCall("", self._name, actions),), text, usage=usage)

    def mend(self, failure: Failure) -> bool:
        """OpenAI's newer models have another name for the length of a reply; older servers know only the first."""
        if (
            failure.status == 400
            and "max_completion_tokens" in failure.message
            and self._length == "max_tokens"
        ):
            self._length = "max_completion_tokens"
            return True
        return False

    def look_up(self, timeout_s: float) -> None:
        """The list of models; a server without one is asked when the first episode begins."""
        try:
            with self._client.models.with_streaming_response.list(timeout=timeout_s) as response:
                read_reply(response.iter_bytes(), timeout_s)
        except openai.APIError as error:
            failure = sdk_failure(error)
            if failure.status not in (404, 405, 501) or "web page" in failure.message:
                raise failure from error

    def close(self) -> None:
        self._client.close()


def _choice(reply: dict[str, Any]) -> dict[str, Any]:
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise Failure(UNREADABLE, "the reply holds no message")
    return choice


def _plain(reply: dict[str, Any]) -> ModelReply:
    """A reply of plain text, without thinking."""
    choice = _choice(reply)
    message, end = choice["message"], ENDS.get(str(choice.get("finish_reason")), "")
    said = message.get("content")
    text = without_thinking(said if isinstance(said, str) else "")
    return ModelReply(
        text=text, end="refusal" if message.get("refusal") else end, usage=_usage(reply.get("usage"))
    )


def _with_identity(call: dict[str, Any], number: int) -> dict[str, Any]:
    """The call as it goes back: with an identity, and with arguments that a server's template can read."""
    found = call.get("function")
    function = found if isinstance(found, dict) else {}
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments)
    try:
        readable = isinstance(json.loads(str(arguments)), dict)
    except (ValueError, RecursionError):
        readable = False
    return {
        "id": str(call.get("id") or f"call_{number}"),
        "type": "function",
        "function": {
            "name": str(function.get("name") or "unknown"),
            "arguments": arguments if readable else "{}",
        },
    }


def _answered(result: CallResult) -> dict[str, Any]:
    told = f"Error: {result.error}" if result.error else (result.last and result.last.text) or "OK"
    return {"role": "tool", "tool_call_id": result.call.id, "content": told}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _first_text(content: list[dict[str, Any]]) -> dict[str, Any]:
    """The task, or what became of an action."""
    return next(part for part in content if part["type"] == "text")


def _state(seen: Seen) -> str:
    """Windows and widgets under the headings of ComputerRL's own runner."""
    apps = [f"0x{one.id:08x} {one.wm_class} {one.title}" for one in seen.windows]
    current = next((one.wm_class for one in seen.windows if one.focused), None)
    told = ["\n".join(["* Apps:", *(apps or ["None"])]), f"* Current App: {current}"]
    if seen.text:
        told.append("\n".join(["* A11y Tree:", *seen.text.splitlines()[1:]]))
    return "\n\n".join(told)


def _usage(given: Any) -> Usage:
    if not isinstance(given, dict):
        return Usage()
    details = given.get("prompt_tokens_details") or {}
    return Usage(
        int(given.get("prompt_tokens") or 0),
        int(details.get("cached_tokens") or 0),
        int(given.get("completion_tokens") or 0),
        written_tokens=int(details.get("cache_write_tokens") or 0),
    )
