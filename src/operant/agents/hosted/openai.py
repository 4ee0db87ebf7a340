"""OpenAI's Responses API with its computer tool. The server keeps the conversation; a request adds to it.

So a request holds one turn and one picture, however long the episode is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openai

from operant.actions import openai as dialect
from operant.actions.frames import OPENAI
from operant.agents.base import Usage
from operant.agents.hosted.base import TASK_WORDS, CallResult, Dialogue, ModelCall, ModelReply, Seen
from operant.agents.hosted.requests import Failure, read_reply, sdk_failure
from operant.config.hosted import HostedSettings
from operant.config.settings import read_environment
from operant.errors import ConfigError, InvalidAction
from operant.types import Size

__all__ = ["OpenAIDialogue", "openai_client"]

NO_TEMPERATURE = ("gpt-5", "gpt-6", "o1", "o3", "o4")
ENDS = {"max_output_tokens": "token_limit", "content_filter": "refusal"}


def openai_client(settings: HostedSettings, key: str) -> openai.OpenAI:
    """Their client, without retries of its own; a server without keys is sent a word in place of one."""
    url = settings.base_url or read_environment().get("OPENAI_BASE_URL")
    return openai.OpenAI(api_key=key or "none", base_url=url, max_retries=0)


class OpenAIDialogue(Dialogue):
    """One conversation by Responses."""

    limits = OPENAI
    key_variables = ("OPENAI_API_KEY",)

    def __init__(self, settings: HostedSettings, key: str) -> None:
        super().__init__(settings, key)
        if settings.temperature is not None and settings.model.startswith(NO_TEMPERATURE):
            raise ConfigError(f"{settings.model} takes no temperature", hint="set effort instead")
        if settings.dialect is not None:
            raise ConfigError("openai has one dialect", hint="leave dialect out")
        self._client = openai_client(settings, key)
        self._items: list[dict[str, Any]] = []
        self._previous: str | None = None
        self._checks: dict[str, list[dict[str, Any]]] = {}

    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        self.shown = shown
        self._previous, self._checks = None, {}
        self._items = [_user(instruction, seen)]

    def answer(self, results: Sequence[CallResult], seen: Seen) -> None:
        self._items = [self._output(one, seen) for one in results]
        errors = [one.error for one in results if one.error]
        if errors or seen.text:
            self._items.append(_user("\n".join([*errors, seen.text]).strip()))

    def _output(self, result: CallResult, seen: Seen) -> dict[str, Any]:
        picture = seen.picture
        if picture is None:
            raise ConfigError(
                "openai's computer tool answers with screenshots", hint="observation: screenshot"
            )
        shot = {"type": "computer_screenshot", "image_url": picture.url, "detail": "original"}
        checks = self._checks.get(result.call.id)
        acknowledged = {"acknowledged_safety_checks": checks} if checks else {}
        return {"type": "computer_call_output", "call_id": result.call.id, "output": shot, **acknowledged}

    def remark(self, why: str, seen: Seen) -> None:
        self._items = [_user(why, seen)]

    def send(self, timeout_s: float) -> ModelReply:
        body: dict[str, Any] = {
            "input": self._items,
            "instructions": TASK_WORDS,
            "tools": [dialect.declaration()],
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

    def _read(self, reply: dict[str, Any]) -> ModelReply:
        error = reply.get("error")
        if isinstance(error, dict):
            raise Failure(500, str(error.get("message") or error.get("code")))
        if isinstance(reply.get("id"), str):
            self._previous = reply["id"]
        items = [item for item in reply.get("output") or [] if isinstance(item, dict)]
        found = [item for item in items if item.get("type") == "computer_call"]
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
        try:
            return ModelCall(identity, "computer", tuple(dialect.parse(item, self.shown)))
        except InvalidAction as error:
            return ModelCall(identity, "computer", error=error.message)

    def look_up(self, timeout_s: float) -> None:
        try:
            with self._client.models.with_streaming_response.retrieve(
                self.settings.model, timeout=timeout_s
            ) as response:
                read_reply(response.iter_bytes(), timeout_s)
        except openai.APIError as error:
            raise sdk_failure(error) from error

    def close(self) -> None:
        self._client.close()


def _user(text: str, seen: Seen | None = None) -> dict[str, Any]:
    told = "\n".join(part for part in (text, seen.text if seen else "") if part)
    content: list[dict[str, Any]] = [{"type": "input_text", "text": told}]
    if seen is not None and seen.picture is not None:
        content.append({"type": "input_image", "image_url": seen.picture.url, "detail": "original"})
    return {"type": "message", "role": "user", "content": content}


def _usage(given: Any) -> Usage:
    if not isinstance(given, dict):
        return Usage()
    details = given.get("input_tokens_details") or {}
    return Usage(
        int(given.get("input_tokens") or 0),
        int(details.get("cached_tokens") or 0),
        int(given.get("output_tokens") or 0),
    )
