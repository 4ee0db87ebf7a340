"""The strict Responses server, asked by OpenAI's own SDK."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import openai
import pytest
from PIL import Image

from operant.actions import openai as dialect
from operant.testing.vendors import FaultPlan, OpenAIResponses, ScriptedMind, VendorServer
from operant.types import Action, Point, Size

SCREEN = Size(1280, 800)
CLICK = Action.click(Point.from_pixel(640, 400, SCREEN))
KEY = "sk-test-key"


def data_url() -> str:
    data = BytesIO()
    Image.new("RGB", tuple(SCREEN)).save(data, "PNG")
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()


class Talk:
    """A client and its conversation."""

    def __init__(
        self, server: VendorServer, *turns: Any, faults: FaultPlan | None = None, **more: Any
    ) -> None:
        self.conversation = server.open(OpenAIResponses(ScriptedMind(turns), key=KEY, **more), faults)
        self.client = openai.OpenAI(api_key=KEY, base_url=self.conversation.base_url, max_retries=0)
        self.items: list[Any] = [{"role": "user", "content": "Click."}]

    def ask(self, **more: Any) -> Any:
        options = {"model": "gpt-5.6-terra", "tools": [{"type": "computer"}], "input": self.items}
        self.reply = self.client.responses.create(**{**options, **more})
        return self.reply

    def call(self) -> dict[str, Any]:
        return next(item.to_dict() for item in self.reply.output if item.type == "computer_call")

    def output(self, **more: Any) -> dict[str, Any]:
        shown = {"type": "computer_screenshot", "image_url": data_url(), "detail": "original"}
        return {"type": "computer_call_output", "call_id": self.call()["call_id"], "output": shown, **more}

    def hand_back(self, **more: Any) -> None:
        self.items += [item.to_dict() for item in self.reply.output] + [self.output(**more)]


def refused(talk: Talk, *, status: int = 400, **more: Any) -> str:
    with pytest.raises(openai.APIStatusError) as caught:
        talk.ask(**more)
    assert caught.value.status_code == status
    return str(caught.value)


@pytest.mark.parametrize("stored", [True, False])
def test_it_looks_acts_in_batches_and_ends_with_text(server: VendorServer, stored: bool) -> None:
    batch = (CLICK, Action.key("ctrl", "a"), Action.type("new"))
    talk = Talk(server, batch, Action.click(CLICK.point, clicks=2))
    talk.ask()
    assert talk.call()["actions"] == [{"type": "screenshot"}]
    for expected in (list(batch), [Action.click(CLICK.point, clicks=2)]):
        if stored:
            talk.ask(input=[talk.output()], previous_response_id=talk.reply.id)
        else:
            talk.hand_back()
            talk.ask(store=False)
        assert dialect.parse(talk.call(), SCREEN) == expected
    talk.hand_back()
    options = {"input": [talk.output()], "previous_response_id": talk.reply.id} if stored else {}
    assert talk.ask(**options).output_text == "The task is done."


def test_an_action_that_the_dialect_lacks_is_said_in_others(server: VendorServer) -> None:
    talk = Talk(server, Action.click(CLICK.point, clicks=3))
    talk.ask()
    talk.hand_back()
    talk.ask()
    assert [action["type"] for action in talk.call()["actions"]] == ["click", "keypress", "keypress"]
    assert talk.conversation.protocol.differences == {"triple click as click, Home, Shift+End"}


def test_keys_models_and_options(server: VendorServer) -> None:
    talk = Talk(server)
    assert "does not exist" in refused(talk, model="gpt-unknown")
    assert "temperature" in refused(talk, model="gpt-6-astra", temperature=0.2)
    assert "reasoning.effort" in refused(talk, model="gpt-6-astra", reasoning={"effort": "none"})
    preview = {
        "type": "computer_use_preview",
        "display_width": 9,
        "display_height": 9,
        "environment": "linux",
    }
    assert "computer_use_preview" in refused(talk, tools=[preview])
    assert "frobnicate: Extra inputs" in refused(talk, extra_body={"frobnicate": 1})
    assert "not found" in refused(talk, previous_response_id="resp_x")
    talk.client = talk.client.with_options(api_key="sk-wrong")
    message = refused(talk, status=401)
    assert "Incorrect API key" in message
    assert "sk-wrong" not in message


def test_calls_need_outputs_and_reasoning(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    talk.ask()
    items = [item.to_dict() for item in talk.reply.output]
    talk.items += items
    assert "No tool output found" in refused(talk)
    talk.items[1:] = [items[1], talk.output()]
    assert "without its required 'reasoning' item" in refused(talk)
    talk.items[1:] = [talk.output()]
    assert "No tool call found" in refused(talk)
    talk.items[1:] = [*items, talk.output()]
    talk.ask()


def test_safety_checks_must_be_acknowledged(server: VendorServer) -> None:
    talk = Talk(server, CLICK, checks=1)
    talk.ask()
    checks = talk.call()["pending_safety_checks"]
    talk.hand_back()
    assert "unacknowledged safety check" in refused(talk)
    talk.items.pop()
    talk.items.append(talk.output(acknowledged_safety_checks=checks))
    talk.ask()


def test_a_picture_must_be_one(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    talk.ask()
    talk.hand_back()
    talk.items[-1]["output"]["image_url"] = "data:image/png;base64,AAAA"
    assert "Could not process image" in refused(talk)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("rate_limit", "RateLimitError"),
        ("overloaded", "InternalServerError"),
        ("server_error", "InternalServerError"),
        ("cut", "APIConnectionError"),
    ],
)
def test_faults_on_purpose(server: VendorServer, fault: Any, error: str) -> None:
    talk = Talk(server, CLICK, faults=FaultPlan.always(fault))
    with pytest.raises(getattr(openai, error)):
        talk.ask()
    assert talk.conversation.problems == []


def test_a_fault_does_not_change_what_is_answered_to_the_next_try(server: VendorServer) -> None:
    talk = Talk(server, CLICK, faults=FaultPlan(seed=1, share=1.0, kinds=("rate_limit", "overloaded")))
    talk.client = talk.client.with_options(max_retries=2)
    talk.ask()
    talk.hand_back()
    talk.ask()
    assert dialect.parse(talk.call(), SCREEN) == [CLICK]
    assert len(talk.conversation.faults.given) == 2
