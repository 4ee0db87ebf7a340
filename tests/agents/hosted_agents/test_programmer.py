"""A chat model as the programmer of a team: it calls, reads the answer, and says done."""

from __future__ import annotations

import json
from pathlib import Path

from operant.agents.registry import make_agent
from operant.rollout.loop import run_episode
from operant.rollout.player import environment_for
from operant.rollout.recorders import StepRecorder
from operant.tasks.criteria import FileEquals
from operant.tasks.task import Task
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Difficulty

from .scripted_server import ScriptedServer


def said(action: dict[str, object]) -> dict[str, object]:
    message = {"role": "assistant", "content": json.dumps(action)}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7}}


def test_a_model_runs_a_command_and_reads_what_it_printed(server: ScriptedServer, tmp_path: Path) -> None:
    model = tmp_path / "model.yaml"
    model.write_text(f"vendor: chat\nmodel: some-model\nbase_url: {server.url}\n")
    team = tmp_path / "team.yaml"
    team.write_text(f"members: {{programmer: {{agent: {model}, commands: true}}}}\n")
    server.then(said({"kind": "call", "function": "run", "kwargs": {"command": "echo 4711"}}))
    server.then(said({"kind": "call", "function": "write_file", "kwargs": {"path": "a.txt", "text": "4711"}}))
    server.then(said({"kind": "done"}))
    task = Task(
        id="test/echo-v1",
        instruction="Write 4711 to a.txt",
        difficulty=Difficulty.EASY,
        success=FileEquals(path="a.txt", text="4711"),
    )
    agent = make_agent(str(team))
    recorder = StepRecorder()
    result = run_episode(agent, environment_for(FakeDesktop(), agent), task, recorder)
    agent.close()
    assert result.success, result.why
    first, second, _ = (request["body"]["messages"] for request in server.asked)
    assert "run(command)" in json.dumps(first)
    assert "4711" in json.dumps(second[-1])
    assert recorder.steps[0].info["result"] == "exit code 0\n4711"
    assert {step.actor for step in recorder.steps} == {"programmer", "coordinator"}
