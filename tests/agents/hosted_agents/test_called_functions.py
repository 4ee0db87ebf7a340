"""Functions of applications as tools beside the vendor's own: declared, called, answered, through strict servers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from operant.agents.base import TaskView
from operant.agents.hosted import HostedAgent, make
from operant.calls import built_in_apis
from operant.calls.tools import function_of_tool
from operant.config.desktop import DesktopConfig
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.loop import run_episode
from operant.rollout.recorders import StepRecorder
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.vendors import ScriptedMind, VendorConversation, VendorServer
from operant.testing.vendors.lineup import KEY, LINEUP
from operant.testing.vendors.protocol import ApiRequest
from operant.types import Action, ActionMode, ActionResult, Observation, Point, Size, Window

from .scripted_server import SCREEN, ScriptedServer, agent_of, seen

NAMES = (
    "anthropic_toolset",
    "anthropic_20251124",
    "openai",
    "openai_function_tools",
    "gemini",
    "gemini_browser",
    "chat_function_tools",
)
READ = Action.call("files.read", {"path": "a.txt"})
TRASH = Action.call("files.trash", {"path": "a.txt"})
CLICK = Action.click(Point.from_pixel(640, 400, SCREEN))


@pytest.fixture(scope="module")
def vendors() -> Iterator[VendorServer]:
    with VendorServer() as running:
        yield running


class Played:
    """A hosted agent whose model says the given turns, and the requests that it sent."""

    def __init__(self, vendors: VendorServer, name: str, *turns: Any) -> None:
        dialect = LINEUP[name]
        protocol = dialect.serve(ScriptedMind(turns))
        self.asked: list[dict[str, Any]] = []
        answer = protocol.answer

        def noted(request: ApiRequest) -> dict[str, Any]:
            self.asked.append(dict(request.body))
            return answer(request)

        protocol.answer = noted  # type: ignore[method-assign]
        self.conversation: VendorConversation = vendors.open(protocol)
        self.agent: HostedAgent = make(dialect.hosted_settings(self.conversation.base_url), key=KEY)

    def tools(self, request: int = 0) -> list[str]:
        """The names of the functions that a request declares, and the kinds of the vendor's own tools."""
        found = []
        for tool in self.asked[request]["tools"]:
            declared = tool.get("functionDeclarations") or [tool.get("function", tool)]
            found += [one.get("name") or one.get("type") or next(iter(one)) for one in declared]
        return found


@pytest.mark.parametrize("name", NAMES)
def test_functions_and_pointer_mix_in_one_turn_and_every_call_gets_its_answer(
    vendors: VendorServer, name: str
) -> None:
    played = Played(vendors, name, (CLICK, READ, CLICK), (READ, TRASH, CLICK), READ)
    desktop = FakeDesktop(DesktopConfig(actions="both"))
    desktop.answers["files.read"] = "the text of a.txt"
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=20)
    recorder = StepRecorder()
    result = run_episode(played.agent, TaskEnvironment(desktop), task, recorder)
    played.agent.close()
    assert [problem.message for problem in played.conversation.problems if problem.code is None] == []
    assert (result.calls, result.gui_actions, result.turns, result.invalid_steps) == (4, 2, 4, 1)
    said = [step.action for step in recorder.steps if step.action is not None]
    assert said[1] == READ
    refused = next(step for step in recorder.steps if step.invalid)
    assert refused.action == TRASH
    told = str(played.asked)
    assert "files.trash can't be called on a fake desktop" in told
    assert told.count("the text of a.txt") >= 3
    assert "Not executed: an earlier computer action in this turn failed." in told
    assert "files_read" in played.tools()


@pytest.mark.parametrize("name", NAMES)
def test_without_pointer_and_keyboard_no_computer_tool_is_declared(vendors: VendorServer, name: str) -> None:
    played = Played(vendors, name, (READ, READ))
    desktop = FakeDesktop(DesktopConfig(actions="api"))
    desktop.answers["files.read"] = "the text"
    result = run_episode(
        played.agent, TaskEnvironment(desktop), replace(FAKE_TEMPLATES[0].instance(0), max_steps=5)
    )
    played.agent.close()
    assert [one.message for one in played.conversation.problems if one.code is None] == []
    assert (result.calls, result.gui_actions, result.invalid_steps) == (2, 0, 0)
    others = [one for one in played.tools() if function_of_tool(one) is None]
    if name == "gemini_browser":  # this model refuses requests without the tool
        assert others == ["computerUse"]
        assert "click_at" in played.asked[0]["tools"][0]["computerUse"]["excludedPredefinedFunctions"]
    elif name.endswith("function_tools"):
        assert set(others) == {"wait", "screenshot", "call", "done", "answer", "infeasible", "ask"}
    else:
        assert others == []


@pytest.mark.parametrize("name", NAMES)
def test_where_calls_are_not_allowed_no_function_is_declared(vendors: VendorServer, name: str) -> None:
    played = Played(vendors, name, CLICK)
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=3)
    run_episode(played.agent, TaskEnvironment(FakeDesktop()), task)
    played.agent.close()
    assert not [one for one in played.tools() if one.startswith("files_")]


def looked(application: str, *results: ActionResult) -> Observation:
    windows = (Window(1, "a", application, None, 0, 0, 10, 10, focused=True),)
    return replace(seen(*results), windows=windows)


@pytest.mark.parametrize("name", ["anthropic_toolset", "openai", "gemini"])
def test_the_list_of_tools_grows_with_the_focus_and_never_shrinks(vendors: VendorServer, name: str) -> None:
    played = Played(vendors, name, CLICK, CLICK, Action.call("mousepad.save"))
    played.agent.begin(TaskView("Do it.", 9, SCREEN, actions="both"))
    results: list[ActionResult] = []
    for application in ("XTerm", "Mousepad", "Pcmanfm"):
        turn = played.agent.act(looked(application, *results))
        results = [ActionResult(action) for action in turn.actions]
    played.agent.close()
    assert turn.actions == (Action.call("mousepad.save"),)
    first, second, third = (played.tools(number) for number in range(3))
    assert "terminal_run" in first
    assert "mousepad_save" not in first
    assert second[: len(first)] == first
    assert "mousepad_save" in second
    assert third == second
    assert played.conversation.problems == []


def test_names_and_number_of_functions_keep_to_the_rules_of_every_vendor() -> None:
    names = [one.tool_name for api in built_in_apis().values() for one in api.functions]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and len(name) <= 64 for name in names)


def use(name: str, given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"id_{name}", "name": name, "input": given}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"content": [block], "stop_reason": "tool_use", "usage": usage}


def test_a_function_that_is_not_there_and_wrong_arguments_come_back_as_errors(server: ScriptedServer) -> None:
    for name, given in (("files_reed", {}), ("files_read", [1]), ("files_read", {"path": 3})):
        server.then(use(name, given))
    server.then({"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"})
    agent = agent_of(server, "anthropic")
    desktop = FakeDesktop(DesktopConfig(actions="both"))
    result = run_episode(agent, TaskEnvironment(desktop), replace(FAKE_TEMPLATES[0].instance(0), max_steps=9))
    assert result.invalid_steps == 3
    told = [one["body"]["messages"][-1]["content"][0] for one in server.asked[1:]]
    assert all(one["is_error"] and "toolset_name" not in one for one in told)
    said = [one["content"][0]["text"] for one in told]
    assert "did you mean files_read?" in said[0]
    assert "not an object" in said[1]
    assert "path must be a text" in said[2]


@pytest.mark.parametrize(
    ("mode", "words"),
    [("gui", "with the computer tool and"), ("both", "faster where one fits"), ("api", "with the functions")],
)
def test_the_model_is_told_what_it_works_with(server: ScriptedServer, mode: ActionMode, words: str) -> None:
    server.then({"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"})
    agent = agent_of(server, "anthropic")
    agent.begin(TaskView("Do it.", 3, Size(1280, 800), actions=mode))
    agent.act(replace(seen(), screen=np.zeros((800, 1280, 3), np.uint8)))
    assert words in server.asked[0]["body"]["system"][0]["text"]
