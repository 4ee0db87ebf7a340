"""Anthropic's Messages API with its computer tool: the version that the model takes, cached and pruned.

Functions of applications are tools beside it. Replies go back unchanged, thinking included. Pictures are removed in
batches, because each removal costs the cache; from Claude 5.1 on only where the request would grow too large, because
thinking is signed over what stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import anthropic

from operant.actions import anthropic as dialect
from operant.actions.frames import ANTHROPIC_MANY_PICTURES, ANTHROPIC_OLDER
from operant.actions.tool_calls import read_arguments
from operant.agents.base import Usage
from operant.agents.hosted.base import CallResult, Dialogue, ModelCall, ModelReply, Seen
from operant.agents.hosted.pictures import EncodedPicture, within
from operant.agents.hosted.requests import Failure, look_up_model, read_reply, sdk_failure
from operant.calls.declaration import Function
from operant.calls.tools import tool_call, tool_schema
from operant.config.hosted import HostedSettings
from operant.errors import ConfigError, InvalidAction
from operant.types import Action, ActionKind, Size

__all__ = ["AnthropicDialogue", "model_generation", "tool_versions"]

PRUNED = "[an earlier screenshot]"
PRUNE_EVERY = 25
MOST_PICTURES = 90
MOST_BYTES = 12 * 2**20
BREAKPOINTS = 3
BINDING = "thinking-binding-controls-2026-08-01"
#: The registry's names of the dialects.
NAMES = {
    "anthropic_toolset": dialect.TOOLSET,
    "anthropic": "computer_20251124",
    "anthropic_20250124": "computer_20250124",
    "anthropic_20241022": "computer_20241022",
}
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
_MODEL = re.compile(r"(opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d{1,2}))?(?!\d)")
_CURRENT = (5, 5)  # what an unknown model is taken for


def model_generation(model: str) -> tuple[str, tuple[int, int]]:
    """The family and the version in a model's name."""
    found = _MODEL.search(model)
    if found is None:
        return "", _CURRENT
    return found[1], (int(found[2]), int(found[3] or 0))


def tool_versions(model: str) -> list[str]:
    """The tool's versions to try, the best first."""
    family, version = model_generation(model)
    every = [name for name in dialect.VERSIONS if name != "computer_20241022"]
    if version >= (5, 0) or (family, version) == ("opus", (4, 8)):
        return every
    if version >= (4, 6) or (family, version) == ("opus", (4, 5)):
        return every[1:]
    return every[2:]


class AnthropicDialogue(Dialogue):
    """One conversation by Messages."""

    key_variables = ("ANTHROPIC_API_KEY",)
    url_variables = ("ANTHROPIC_BASE_URL",)
    calls_by = "tools"

    def __init__(self, settings: HostedSettings, key: str) -> None:
        super().__init__(settings, key)
        family, version = model_generation(settings.model)
        new_pictures = version >= (5, 0) or (family == "opus" and version >= (4, 7))
        self.limits = ANTHROPIC_MANY_PICTURES if new_pictures else ANTHROPIC_OLDER
        if settings.temperature is not None and new_pictures:
            raise ConfigError(f"{settings.model} takes no temperature", hint="set effort instead")
        chosen = NAMES.get(settings.dialect or "", settings.dialect)
        if chosen is not None and chosen not in dialect.VERSIONS:
            raise ConfigError(
                f"{chosen!r} is no version of Anthropic's tool", hint=", ".join(dialect.VERSIONS)
            )
        self._signed = version >= (5, 1)
        self._versions = [chosen] if chosen else tool_versions(settings.model)
        self._messages: list[dict[str, Any]] = []
        self._loosened = False
        self._toolsets: dict[str, dict[str, Any]] = {}  # id of a call -> what its result has to name
        self._client = anthropic.Anthropic(api_key=key, base_url=settings.base_url, max_retries=0)

    def offer(self, functions: tuple[Function, ...], *, hands: bool) -> None:
        # Tools stand before the messages, so thinking may be signed over them too.
        self._loosened = self._loosened or (self._signed and functions != self.functions)
        super().offer(functions, hands=hands)

    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        self.shown = shown
        self._loosened = False
        self._messages = [{"role": "user", "content": [_text(instruction), *_seen(seen)]}]

    def answer(self, results: Sequence[CallResult], seen: Seen) -> None:
        content = [self._result(one, seen, last=one is results[-1]) for one in results]
        self._messages.append({"role": "user", "content": content})
        self._prune()

    def remark(self, why: str, seen: Seen) -> None:
        content = [_text(why), *_seen(seen)]
        if self._messages[-1]["role"] == "user":
            self._messages[-1]["content"] += content
        else:
            self._messages.append({"role": "user", "content": content})
        self._prune()

    def _result(self, result: CallResult, seen: Seen, *, last: bool) -> dict[str, Any]:
        call = result.call
        content: list[dict[str, Any]] = (
            [_text(result.error)] if result.error else self._done(result, seen, last)
        )
        if last and not any(part["type"] == "image" for part in content):
            content += _seen(seen)
        elif last and seen.text:
            content.append(_text(seen.text))
        toolset = self._toolsets.get(call.id, {})
        failed = {"is_error": True} if result.error else {}
        return {"type": "tool_result", "tool_use_id": call.id, **toolset, "content": content, **failed}

    def _done(self, result: CallResult, seen: Seen, last: bool) -> list[dict[str, Any]]:
        done, name = result.last, result.call.name
        if done is not None and name == dialect.CURSOR_POSITION and done.pointer is not None:
            x, y = done.pointer.to_pixel(self.shown)
            return [_text(f"X={x}, Y={y}")]
        if done is not None and done.screen is not None:
            whole = done.action.region is None
            if whole and last and seen.picture is not None:
                return [_image(seen.picture)]
            return [_image(within(done.screen, self.shown))]
        return [_text((done.text if done is not None else "") or "OK")]

    # Sizes.

    def _prune(self) -> None:
        pictures = self._pictures()
        keep = self.settings.history
        size = sum(len(one["source"]["data"]) for parts, index in pictures if (one := parts[index]))
        too_large = len(pictures) > MOST_PICTURES or size > MOST_BYTES
        if too_large or (not self._signed and len(pictures) >= keep + PRUNE_EVERY):
            self._remove(pictures, keep)

    def _remove(self, pictures: list[tuple[list[dict[str, Any]], int]], keep: int) -> None:
        for parts, index in pictures[: len(pictures) - keep]:
            parts[index] = _text(PRUNED)
        self._loosened = self._loosened or self._signed

    def _pictures(self) -> list[tuple[list[dict[str, Any]], int]]:
        """Where the pictures stand, the oldest first."""
        found = []
        for message in self._messages:
            if message["role"] != "user":
                continue
            places = [message["content"]]
            places += [part["content"] for part in message["content"] if part["type"] == "tool_result"]
            found += [
                (parts, index)
                for parts in places
                for index, part in enumerate(parts)
                if part["type"] == "image"
            ]
        return found

    def mend(self, failure: Failure) -> bool:
        if failure.status == 413 and len(pictures := self._pictures()) > 1:
            self._remove(pictures, len(pictures) // 2)
            return True
        names_tool = any(word in failure.message for word in ("computer_", "toolset", "tools.0", "tool type"))
        first = self.hands and len(self._messages) == 1
        if failure.status == 400 and names_tool and len(self._versions) > 1 and first:
            self._versions.pop(0)
            return True
        return False

    # Requests.

    def send(self, timeout_s: float) -> ModelReply:
        body, betas = self._body()
        try:
            with (
                self._client.beta.messages.with_streaming_response.create(
                    model=self.settings.model,
                    max_tokens=self.settings.max_tokens,
                    messages=[],
                    betas=betas or anthropic.omit,
                    extra_body=body,  # as it is: the SDK's walk through every message takes longer than the request
                    timeout=timeout_s,
                ) as response
            ):
                reply = read_reply(response.iter_bytes(), timeout_s)
        except anthropic.APIError as error:
            raise sdk_failure(error) from error
        except OSError as error:
            raise Failure(0, "the connection broke") from error
        return self._read(reply)

    def _body(self) -> tuple[dict[str, Any], list[str]]:
        version = self._versions[0]
        beta = dialect.VERSIONS[version].beta
        betas = [beta] if beta and self.hands else []
        computer = [dialect.declaration(version, self.shown)] if self.hands else []
        body: dict[str, Any] = {
            "system": [{"type": "text", "text": self.task_words, **EPHEMERAL}],
            "tools": [*computer, *map(_tool, self.functions)],
            "messages": self._with_breakpoints(),
        }
        if self.settings.effort is not None:
            body["output_config"] = {"effort": self.settings.effort}
        if self.settings.temperature is not None:
            body["temperature"] = self.settings.temperature
        if self._loosened:
            body["thinking"] = {
                "type": "adaptive",
                "block_binding": {"prefix_mismatch_behavior": "drop_block"},
            }
            betas.append(BINDING)
        return body, betas

    def _with_breakpoints(self) -> list[dict[str, Any]]:
        """The conversation with a cache breakpoint at the end of each of the last user's turns."""
        users = [index for index, one in enumerate(self._messages) if one["role"] == "user"][-BREAKPOINTS:]
        messages = list(self._messages)
        for index in users:
            *before, end = messages[index]["content"]
            messages[index] = {**messages[index], "content": [*before, {**end, **EPHEMERAL}]}
        return messages

    def _read(self, reply: dict[str, Any]) -> ModelReply:
        blocks = [block for block in reply.get("content") or [] if isinstance(block, dict)]
        stop = reply.get("stop_reason")
        if blocks:
            self._messages.append({"role": "assistant", "content": blocks})
        text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        used = [block for block in blocks if block.get("type") == "tool_use"]
        self._toolsets = {
            str(block.get("id")): {"toolset_name": block["toolset_name"]}
            for block in used
            if block.get("toolset_name")
        }
        calls = tuple(map(self._call, used))
        ends = {
            "refusal": "refusal",
            "max_tokens": "token_limit",
            "model_context_window_exceeded": "token_limit",
        }
        return ModelReply(calls, text, ends.get(str(stop), ""), usage=_usage(reply.get("usage")))

    def _call(self, block: dict[str, Any]) -> ModelCall:
        given = block.get("input")
        name = str(block.get("name"))
        by_computer = name == "computer" or bool(block.get("toolset_name"))
        if name == "computer" and isinstance(given, dict):
            name = str(given.get("action"))
        try:
            if self.functions and not by_computer:
                return ModelCall(str(block.get("id")), name, (tool_call(name, read_arguments(given)),))
            actions = dialect.parse(block, self.shown)
        except InvalidAction as error:
            return ModelCall(str(block.get("id")), name, error=error.message)
        return ModelCall(str(block.get("id")), name, tuple(_look_for_pointer(action) for action in actions))

    def look_up(self, timeout_s: float) -> None:
        look_up_model(self._client.models, self.settings.model, timeout_s, anthropic.APIError)

    def close(self) -> None:
        self._client.close()


def _tool(function: Function) -> dict[str, Any]:
    schema = tool_schema(function)
    return {"name": function.tool_name, "description": function.doc, "input_schema": schema}


def _look_for_pointer(action: Action) -> Action:
    """Where the pointer is stands in the result of any screenshot."""
    return Action(ActionKind.SCREENSHOT) if action.function == dialect.CURSOR_POSITION else action


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(picture: EncodedPicture) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture.data}}


def _seen(seen: Seen) -> list[dict[str, Any]]:
    text = [_text(seen.text)] if seen.text else []
    return [*text, _image(seen.picture)] if seen.picture is not None else text


def _usage(given: Any) -> Usage:
    """Anthropic counts input that was read from or written to the cache apart."""
    if not isinstance(given, dict):
        return Usage()
    fresh, read, written = (
        int(given.get(name) or 0)
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    output = int(given.get("output_tokens") or 0)
    return Usage(fresh + read + written, read, output, written_tokens=written)
