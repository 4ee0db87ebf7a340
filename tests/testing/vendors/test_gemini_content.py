"""The strict generateContent server, asked by Google's own SDK."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from google import genai
from google.genai import errors, types
from PIL import Image

from operant.actions.registry import dialect
from operant.testing.vendors import GeminiContent, ScriptedMind, VendorServer
from operant.types import Action, Point, Size

SCREEN = Size(1280, 800)
CLICK = Action.click(Point(0.5, 0.25))
KEY = "test-key"
MODEL = "gemini-3.5-flash"


def png(size: Size = SCREEN) -> bytes:
    data = BytesIO()
    Image.new("RGB", tuple(size)).save(data, "PNG")
    return data.getvalue()


def tool(environment: str = "ENVIRONMENT_DESKTOP") -> types.Tool:
    return types.Tool(computer_use=types.ComputerUse(environment=types.Environment(environment)))


class Talk:
    """A client and its conversation."""

    def __init__(self, server: VendorServer, *turns: Any, key: str = KEY, **more: Any) -> None:
        self.conversation = server.open(GeminiContent(ScriptedMind(turns), key=KEY, **more))
        options = types.HttpOptions(base_url=self.conversation.base_url)
        self.client = genai.Client(api_key=key, http_options=options)
        first = [types.Part(text="Click."), types.Part.from_bytes(data=png(), mime_type="image/png")]
        self.contents = [types.Content(role="user", parts=first)]

    def ask(self, model: str = MODEL, tools: Any = None, **more: Any) -> Any:
        config = types.GenerateContentConfig(tools=tools or [tool()], **more)
        reply = self.client.models.generate_content(model=model, contents=self.contents, config=config)
        self.content = reply.candidates[0].content
        return reply

    def calls(self) -> list[Any]:
        return [part.function_call for part in self.content.parts if part.function_call]

    def answers(self, **response: Any) -> types.Content:
        picture = types.FunctionResponsePart(
            inline_data=types.FunctionResponseBlob(mime_type="image/png", data=png())
        )
        parts = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"url": "", **response}, parts=[picture]
                )
            )
            for call in self.calls()
        ]
        return types.Content(role="user", parts=parts)

    def hand_back(self, **response: Any) -> None:
        self.contents += [self.content, self.answers(**response)]

    def refused(self, status: int = 400, **more: Any) -> str:
        with pytest.raises(errors.APIError) as caught:
            self.ask(**more)
        assert caught.value.code == status
        return str(caught.value)


def said(talk: Talk, name: str = "gemini") -> list[Action]:
    return dialect(name).parse([{"name": one.name, "args": one.args} for one in talk.calls()], SCREEN)


def test_it_acts_in_batches_and_ends_with_text(server: VendorServer) -> None:
    talk = Talk(server, (CLICK, Action.key("ctrl", "a"), Action.type("new")))
    talk.ask()
    assert said(talk) == [CLICK, Action.key("ctrl", "a"), Action.type("new")]
    talk.hand_back()
    assert talk.ask().text == "The task is done."
    assert talk.client.models.get(model=MODEL).name == f"models/{MODEL}"


def test_it_asks_for_a_picture_first(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    talk.contents[0].parts.pop()
    talk.ask()
    assert [call.name for call in talk.calls()] == ["take_screenshot"]


def test_a_browser_model_has_its_own_set(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    browser = {"model": "gemini-2.5-computer-use-preview-10-2025", "tools": [tool("ENVIRONMENT_BROWSER")]}
    talk.ask(**browser)
    assert [call.name for call in talk.calls()] == ["click_at"]
    assert "ENVIRONMENT_DESKTOP is not supported" in talk.refused(model=browser["model"])


def test_keys_models_and_fields(server: VendorServer) -> None:
    talk = Talk(server)
    assert "is not found for API version" in talk.refused(404, model="gemini-unknown")
    nothing = types.Tool(google_search=types.GoogleSearch())
    assert "Computer Use tool" in talk.refused(tools=[nothing])
    extra = types.HttpOptions(base_url=talk.conversation.base_url, extra_body={"frobnicate": 1})
    assert 'Unknown name "frobnicate"' in talk.refused(http_options=extra)
    assert "API key not valid" in Talk(server, key="wrong").refused()
    talk.contents[0].role = "system"
    assert "valid role" in talk.refused()


def test_calls_need_answers_and_signatures(server: VendorServer) -> None:
    talk = Talk(server, (CLICK, Action.type("x")), CLICK)
    talk.ask()
    talk.contents += [talk.content, types.Content(role="user", parts=talk.answers().parts[:1])]
    assert "number of function response parts" in talk.refused()
    talk.contents[-1] = talk.answers()
    talk.contents[-1].parts.reverse()
    assert "answers no call" in talk.refused()
    talk.contents[-1] = talk.answers()
    signature = talk.contents[1].parts[0].thought_signature
    talk.contents[1].parts[0].thought_signature = None
    assert "missing a thought_signature" in talk.refused()
    talk.contents[1].parts[0].thought_signature = b"another"
    assert "not valid" in talk.refused()
    talk.contents[1].parts[0].thought_signature = signature
    talk.ask()


def test_a_safety_decision_must_be_acknowledged(server: VendorServer) -> None:
    talk = Talk(server, CLICK, confirmations=1)
    talk.ask()
    assert talk.calls()[0].args["safety_decision"]["decision"] == "require_confirmation"
    talk.hand_back()
    assert "not acknowledged" in talk.refused()
    talk.contents[-1] = talk.answers(safety_acknowledgement="true")
    talk.ask()


def test_a_picture_must_be_one(server: VendorServer) -> None:
    talk = Talk(server, CLICK)
    talk.contents[0].parts[1] = types.Part.from_bytes(data=b"no picture", mime_type="image/png")
    assert "Unable to process input image" in talk.refused()
