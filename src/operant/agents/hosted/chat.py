"""Chat Completions of any OpenAI-compatible server, with actions as plain text.

Works with models and servers that know no tools. Coordinates are thousandths of the screen. Pictures and widgets
are sent for the last turns only; the replies stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import openai

from operant.agents.base import Usage
from operant.agents.hosted.base import CallResult, Dialogue, ModelCall, ModelReply, Seen
from operant.agents.hosted.openai import openai_client
from operant.agents.hosted.requests import UNREADABLE, Failure, read_reply, sdk_failure
from operant.agents.vlm.answers import Answers, explanation
from operant.agents.vlm.families import Units
from operant.config.hosted import HostedSettings
from operant.config.vlm import AnswerFormat
from operant.errors import ConfigError, InvalidAction
from operant.types import Point, Size

__all__ = ["ChatDialogue"]

DIALECTS = ("json", "ui_tars", "computer_rl", "pyautogui")
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
ENDS = {"length": "token_limit", "content_filter": "refusal"}
NO_PICTURE = "(an earlier screen)"


class ChatDialogue(Dialogue):
    """One conversation by Chat Completions."""

    key_variables = ("OPENAI_API_KEY",)
    needs_key = False

    def __init__(self, settings: HostedSettings, key: str) -> None:
        super().__init__(settings, key)
        chosen = settings.dialect or "json"
        if chosen not in DIALECTS:
            raise ConfigError(f"{chosen!r} is no dialect of chat", hint=f"dialects: {', '.join(DIALECTS)}")
        self._format = cast("AnswerFormat", chosen)
        self._client = openai_client(settings, key)
        self._answers = Answers(self._format, Units.THOUSANDTHS, self.shown)
        self._messages: list[dict[str, Any]] = []

    def locate(self, point: Point, shown: Size) -> tuple[int, int]:
        return round(point.x * 1000), round(point.y * 1000)

    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        self.shown = shown
        self._answers = Answers(self._format, Units.THOUSANDTHS, shown)
        system = {"role": "system", "content": explanation(self._format, Units.THOUSANDTHS)}
        self._messages = [system, _user(f"Task: {instruction}", seen)]

    def answer(self, results: Sequence[CallResult], seen: Seen) -> None:
        errors = [f"Your last action was refused: {one.error}" for one in results if one.error]
        self._messages.append(_user("\n".join(errors) or "The screen now.", seen))

    def remark(self, why: str, seen: Seen) -> None:
        self._messages.append(_user(why, seen))

    def send(self, timeout_s: float) -> ModelReply:
        body: dict[str, Any] = {"messages": self._recent(), "max_tokens": self.settings.max_tokens}
        if self.settings.temperature is not None:
            body["temperature"] = self.settings.temperature
        if self.settings.effort is not None:
            body["reasoning_effort"] = self.settings.effort
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=self.settings.model, messages=[], extra_body=body, timeout=timeout_s
            ) as response:
                return self._read(read_reply(response.iter_bytes(), timeout_s))
        except openai.APIError as error:
            raise sdk_failure(error) from error
        except OSError as error:
            raise Failure(0, "the connection broke") from error

    def _recent(self) -> list[dict[str, Any]]:
        """The conversation with what was seen in the last turns only; the task stands in the first one."""
        users = [index for index, one in enumerate(self._messages) if one["role"] == "user"]
        old = set(users[: -self.settings.history])
        return [
            {"role": "user", "content": [one["content"][0], {"type": "text", "text": NO_PICTURE}]}
            if index in old
            else one
            for index, one in enumerate(self._messages)
        ]

    def _read(self, reply: dict[str, Any]) -> ModelReply:
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            raise Failure(UNREADABLE, "the reply holds no message")
        message, usage = choice["message"], _usage(reply.get("usage"))
        said = message.get("content")
        text = said if isinstance(said, str) else ""
        # An empty answer would leave two user's turns in a row, which most chat templates refuse.
        self._messages.append({"role": "assistant", "content": text or "(nothing)"})
        end = ENDS.get(str(choice.get("finish_reason")), "")
        if message.get("refusal"):
            return ModelReply(text=str(message["refusal"]), end="refusal", usage=usage)
        answer = _THOUGHT.sub("", text).strip()
        if not answer:
            return ModelReply(text=text if end else "", end=end, usage=usage)
        try:
            call = ModelCall("", self._format, tuple(self._answers.parse(answer)))
        except InvalidAction as error:
            if end:
                return ModelReply(text=text, end=end, usage=usage)
            call = ModelCall("", self._format, error=error.message)
        return ModelReply((call,), text, usage=usage)

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


def _user(text: str, seen: Seen) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if seen.text:
        parts.append({"type": "text", "text": seen.text})
    if seen.picture is not None:
        parts.append({"type": "image_url", "image_url": {"url": seen.picture.url}})
    return {"role": "user", "content": parts}


def _usage(given: Any) -> Usage:
    if not isinstance(given, dict):
        return Usage()
    details = given.get("prompt_tokens_details") or {}
    return Usage(
        int(given.get("prompt_tokens") or 0),
        int(details.get("cached_tokens") or 0),
        int(given.get("completion_tokens") or 0),
    )
