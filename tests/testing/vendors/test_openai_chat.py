"""The strict Chat Completions server, asked by OpenAI's own SDK."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import openai
import pytest
from PIL import Image

from operant.actions.coordinates import Units
from operant.actions.registry import TEXT_DIALECTS, dialect
from operant.testing.vendors import OpenAIChat, ScriptedMind, VendorServer
from operant.types import Action, Point, Size

SCREEN = Size(1280, 800)
CLICK = Action.click(Point.from_pixel(640, 400, SCREEN))
KEY = "sk-test-key"


def picture() -> dict[str, Any]:
    data = BytesIO()
    Image.new("RGB", tuple(SCREEN)).save(data, "PNG")
    url = "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
    return {"type": "image_url", "image_url": {"url": url}}


class Talk:
    """A client and its conversation."""

    def __init__(self, server: VendorServer, *turns: Any, model: str = "local-vlm", **more: Any) -> None:
        self.conversation = server.open(OpenAIChat(ScriptedMind(turns), key=KEY, **more))
        self.client = openai.OpenAI(api_key=KEY, base_url=self.conversation.base_url, max_retries=0)
        self.model = model
        self.messages: list[Any] = [self.shown("Click.")]

    @staticmethod
    def shown(text: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "text", "text": text}, picture()]}

    def ask(self, **more: Any) -> Any:
        options = {"model": self.model, "messages": self.messages}
        reply = self.client.chat.completions.create(**{**options, **more})
        return reply.choices[0].message

    def refused(self, status: int = 400, **more: Any) -> str:
        with pytest.raises(openai.APIStatusError) as caught:
            self.ask(**more)
        assert caught.value.status_code == status
        return str(caught.value)


@pytest.mark.parametrize("name", TEXT_DIALECTS)
def test_it_answers_in_every_dialect_of_text(server: VendorServer, name: str) -> None:
    talk = Talk(server, CLICK, dialect=name, batches=False)
    said = talk.ask().content
    assert dialect(name).parse(said, SCREEN)[0].kind is CLICK.kind
    talk.messages += [{"role": "assistant", "content": said}, talk.shown("Now.")]
    assert dialect(name).parse(talk.ask().content, SCREEN) == [Action.done()]


@pytest.mark.parametrize("units", [Units.PIXELS, Units.THOUSANDTHS])
def test_it_counts_as_the_prompt_says(server: VendorServer, units: Units) -> None:
    talk = Talk(server, CLICK, dialect="json")
    talk.messages.insert(0, {"role": "system", "content": dialect("json").prompt(SCREEN, units)})
    (read,) = dialect("json").parse(talk.ask().content, SCREEN, units)
    assert read.point is not None
    assert abs(read.point.x - 0.5) < 0.001


def test_an_action_of_several_calls_takes_several_turns(server: VendorServer) -> None:
    talk = Talk(server, Action.click(CLICK.point, clicks=3), dialect="ui_tars", batches=False)
    kinds = []
    for _ in range(3):
        said = talk.ask().content
        kinds += [one.clicks for one in dialect("ui_tars").parse(said, SCREEN)]
        talk.messages += [{"role": "assistant", "content": said}, talk.shown("Now.")]
        if talk.conversation.protocol.differences and sum(kinds) == 3:
            break
    assert sum(kinds) == 3
    assert len(talk.conversation.protocol.differences) == 1


def test_keys_models_and_options(server: VendorServer) -> None:
    talk = Talk(server)
    assert "does not exist" in talk.refused(404, model="gpt-unknown")
    assert "max_completion_tokens" in talk.refused(model="gpt-5.6-terra", max_tokens=10)
    assert "temperature" in talk.refused(model="gpt-6-astra", temperature=0.2)
    tool = {"type": "function", "function": {"name": "click", "parameters": {"type": "object"}}}
    assert "/v1/responses" in talk.refused(model="gpt-6-astra", tools=[tool])
    assert "frobnicate: Extra inputs" in talk.refused(extra_body={"frobnicate": 1})
    assert {one.id for one in talk.client.models.list()} >= {"local-vlm", "gpt-6-astra"}
    talk.client = talk.client.with_options(api_key="sk-wrong")
    assert "sk-wrong" not in talk.refused(401)


def test_turns_and_pictures_of_local_models(server: VendorServer) -> None:
    talk = Talk(server)
    talk.messages.append(talk.shown("again"))
    assert "roles must alternate" in talk.refused()
    talk.messages = [{"role": "user", "content": [picture()] * 6}]
    assert "At most 5 image(s)" in talk.refused()
    assert "image inputs" in talk.refused(model="local-llm")
    talk.messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    assert "last message" in talk.refused()
    broken = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    talk.messages = [{"role": "user", "content": [broken]}]
    assert "Could not process image" in talk.refused()
    original = picture()
    original["image_url"]["detail"] = "finest"
    talk.messages = [{"role": "user", "content": [original]}]
    assert "detail" in talk.refused()


def test_every_call_needs_its_answer_in_text(server: VendorServer) -> None:
    talk = Talk(server, model="gpt-5.6-terra")
    called = {"id": "c1", "type": "function", "function": {"name": "click", "arguments": "{}"}}
    talk.messages.append({"role": "assistant", "content": None, "tool_calls": [called]})
    assert "c1" in talk.refused()
    talk.messages.append(talk.shown("Now."))
    assert "must be followed by tool messages" in talk.refused()
    answer = {"role": "tool", "tool_call_id": "c1", "content": [picture()]}
    talk.messages.insert(2, answer)
    assert "messages.2.content" in talk.refused()
    answer["content"] = "OK"
    assert talk.ask().content
    answer["tool_call_id"] = "c2"
    assert "must be a response to a preceding message" in talk.refused()
