"""The strict Messages server, asked by Anthropic's own SDK."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import anthropic
import pytest
from PIL import Image

from operant.actions import anthropic as dialect
from operant.testing.vendors import AnthropicMessages, ScriptedMind, VendorConversation, VendorServer
from operant.types import Action, Point, Size

SCREEN = Size(1280, 800)
CLICK = Action.click(Point.from_pixel(640, 400, SCREEN))
KEY = "sk-test-key"


def picture(size: Size = SCREEN) -> dict[str, Any]:
    data = BytesIO()
    Image.new("RGB", tuple(size)).save(data, "PNG")
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data.getvalue()).decode()}
    return {"type": "image", "source": source}


class Talk:
    """A client and its conversation."""

    def __init__(
        self,
        server: VendorServer,
        *turns: Any,
        model: str = "claude-opus-5-5",
        version: str = dialect.TOOLSET,
    ):
        self.conversation: VendorConversation = server.open(AnthropicMessages(ScriptedMind(turns), key=KEY))
        self.client = anthropic.Anthropic(api_key=KEY, base_url=self.conversation.base_url, max_retries=0)
        self.tools = [dialect.declaration(version, SCREEN)]
        self.beta = dialect.VERSIONS[version].beta
        self.model = model
        self.messages: list[dict[str, Any]] = [
            {"role": "user", "content": [{"type": "text", "text": "Click."}, picture()]}
        ]

    def ask(self, **more: Any) -> Any:
        options: dict[str, Any] = {
            "model": self.model,
            "max_tokens": 1000,
            "tools": self.tools,
            "messages": self.messages,
        }
        if self.beta and "betas" not in more:
            more["betas"] = [self.beta]
        create = self.client.beta.messages.create if "betas" in more else self.client.messages.create
        reply = create(**{**options, **more})
        self.reply = reply.to_dict()
        return reply

    def hand_back(self, *results: dict[str, Any]) -> None:
        """The reply, and a result for each of its calls."""
        self.messages.append({"role": "assistant", "content": self.reply["content"]})
        calls = [block for block in self.reply["content"] if block["type"] == "tool_use"]
        content = list(results) or [self.result(call) for call in calls]
        self.messages.append({"role": "user", "content": content})

    @staticmethod
    def result(call: dict[str, Any], **more: Any) -> dict[str, Any]:
        named = {"toolset_name": call["toolset_name"]} if call.get("toolset_name") else {}
        return {"type": "tool_result", "tool_use_id": call["id"], "content": [picture()], **named, **more}

    def calls(self) -> list[dict[str, Any]]:
        return [block for block in self.reply["content"] if block["type"] == "tool_use"]


def refused(talk: Talk, *, status: int = 400, **more: Any) -> str:
    with pytest.raises(anthropic.APIStatusError) as caught:
        talk.ask(**more)
    assert caught.value.status_code == status
    return str(caught.value)


@pytest.mark.parametrize(
    ("version", "model"),
    [
        (dialect.TOOLSET, "claude-opus-5-5"),
        ("computer_20251124", "claude-sonnet-4-6"),
        ("computer_20250124", "claude-sonnet-4-5"),
    ],
)
def test_it_answers_in_each_generation_and_ends_with_text(
    server: VendorServer, version: str, model: str
) -> None:
    talk = Talk(server, CLICK, (Action.key("ctrl", "a"), Action.type("new")), model=model, version=version)
    for expected in ([CLICK], [Action.key("ctrl", "a"), Action.type("new")]):
        assert talk.ask().stop_reason == "tool_use"
        assert dialect.parse(talk.calls(), SCREEN) == expected
        talk.hand_back()
    assert talk.ask().stop_reason == "end_turn"
    assert talk.reply["content"][-1]["text"] == "The task is done."
    assert [exchange.status for exchange in talk.conversation.exchanges] == [200, 200, 200]


def test_without_a_picture_it_asks_for_one(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    talk.messages = [{"role": "user", "content": "Click."}]
    talk.ask()
    assert [call["name"] for call in talk.calls()] == ["screenshot"]


def test_coordinates_count_the_picture_that_was_sent(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    talk.messages[0]["content"][1] = picture(Size(640, 400))
    talk.ask()
    assert talk.calls()[0]["input"]["coordinate"] == [320, 200]


def test_keys_and_models(server: VendorServer) -> None:
    talk = Talk(server)
    talk.client = talk.client.with_options(api_key="sk-wrong")
    assert "invalid x-api-key" in refused(talk, status=401)
    talk = Talk(server)
    assert "claude-unknown" in refused(talk, status=404, model="claude-unknown")


def test_tools_by_model(server: VendorServer) -> None:
    assert "computer_20251124" in refused(Talk(server, version="computer_20251124"))
    talk = Talk(server, model="claude-sonnet-4-6", version="computer_20251124")
    assert "computer-use-2025-11-24" in refused(talk, betas=["prompt-caching-2024-07-31"])
    talk = Talk(server)
    assert "Extra inputs" in refused(talk, tools=[{**talk.tools[0], "name": "computer"}])
    assert "unique" in refused(
        talk, tools=[*talk.tools, {"name": "computer", "input_schema": {"type": "object"}}]
    )


def test_sampling_is_refused_by_new_models(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    for options in (
        {"extra_body": {"temperature": 0.2}},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4000},
        {"tool_choice": {"type": "any"}},
        {"tool_choice": {"type": "tool", "name": "left_click"}},
    ):
        refused(talk, **options)
    talk.ask(thinking={"type": "adaptive"}, extra_body={"temperature": 1})


def test_an_unknown_field_is_refused(server: VendorServer) -> None:
    assert "frobnicate: Extra inputs are not permitted" in refused(Talk(server), extra_body={"frobnicate": 1})


def test_results_must_be_whole(server: VendorServer) -> None:
    talk = Talk(server, (CLICK, Action.type("a")))
    talk.ask()
    first, second = talk.calls()
    talk.hand_back(talk.result(first))
    assert f"without `tool_result` blocks immediately after: {second['id']}" in refused(talk)
    talk.messages[-1]["content"] = [
        talk.result(first),
        talk.result(second),
        talk.result({**second, "id": "toolu_x"}),
    ]
    assert "unexpected `tool_use_id`" in refused(talk)
    talk.messages[-1]["content"] = [{"type": "text", "text": "x"}, talk.result(first), talk.result(second)]
    assert "come first" in refused(talk)
    talk.messages[-1]["content"] = [talk.result(first), talk.result(second, toolset_name=None)]
    assert "toolset_name" in refused(talk)
    talk.messages[-1]["content"] = [talk.result(first), talk.result(second)]
    talk.ask()


def test_thinking_blocks_come_back_unchanged(server: VendorServer) -> None:
    talk = Talk(server, CLICK, CLICK)
    talk.ask()
    talk.hand_back()
    thought, *rest = talk.messages[1]["content"]
    talk.messages[1]["content"] = rest
    assert "Expected `thinking`" in refused(talk)
    talk.messages[1]["content"] = [{**thought, "thinking": "Another."}, *rest]
    assert "cannot be modified" in refused(talk)
    talk.messages[1]["content"] = [thought, *rest]
    talk.ask()


@pytest.mark.parametrize(("model", "pruning_fails"), [("claude-opus-5-5", True), ("claude-sonnet-5", False)])
def test_a_pruned_screenshot_breaks_bound_thinking(
    server: VendorServer, model: str, pruning_fails: bool
) -> None:
    talk = Talk(server, CLICK, CLICK, CLICK, model=model)
    for _ in range(2):
        talk.ask()
        talk.hand_back()
    talk.messages[0]["content"].pop()
    if pruning_fails:
        assert "have changed" in refused(talk)
        binding = {"prefix_mismatch_behavior": "drop_block"}
        talk.ask(
            betas=["thinking-binding-controls-2026-08-01"],
            thinking={"type": "adaptive", "block_binding": binding},
        )
    else:
        talk.ask()


def test_moving_a_cache_breakpoint_is_no_change(server: VendorServer) -> None:
    talk = Talk(server, CLICK, CLICK)
    talk.messages[0]["content"][1]["cache_control"] = {"type": "ephemeral"}
    talk.ask()
    del talk.messages[0]["content"][1]["cache_control"]
    talk.hand_back()
    talk.ask()


def test_pictures_have_limits(server: VendorServer) -> None:
    talk = Talk(server)
    talk.messages[0]["content"][1] = picture(Size(3000, 1000))
    assert "exceeds the maximum size" in refused(talk)
    talk.messages[0]["content"][1:] = [picture(Size(2100, 900))] * 21
    assert "many-image" in refused(talk)
    wrong = picture()
    wrong["source"]["media_type"] = "image/jpeg"
    talk.messages[0]["content"][1:] = [wrong]
    assert "media type" in refused(talk)


def test_too_many_breakpoints(server: VendorServer) -> None:
    talk = Talk(server)
    block = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    talk.messages[0]["content"] += [block] * 5
    assert "Found 5" in refused(talk)
