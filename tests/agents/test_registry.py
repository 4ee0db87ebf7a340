"""Agents by name: those of the dict, arguments, import strings, and every way to get a name wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from operant.agents import registry
from operant.agents.base import Agent
from operant.agents.registry import AGENTS, agent_factory, make_agent
from operant.errors import AgentError, UnknownAgent

SOURCE = """
from operant.agents.base import Agent
from operant.types import Action

class Mine(Agent):
    def __init__(self, path="nothing"):
        self.path = path
    def act(self, observation):
        return Action.done()

def broken():
    raise RuntimeError("no weights")

def not_an_agent():
    return 42

number = 42
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "invented_agents.py").write_text(SOURCE)
    (tmp_path / "invented_wreck.py").write_text("raise ValueError('at import')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "invented_agents", raising=False)


NEED_AN_ARGUMENT = {
    "vlm",
    "team",
    "anthropic",
    "openai",
    "gemini",
    "chat",
}  # a model or a file; tested where they live


@pytest.mark.parametrize("name", sorted(set(AGENTS) - NEED_AN_ARGUMENT))
def test_every_registered_agent_can_be_made(name: str) -> None:
    agent = make_agent(name)
    assert isinstance(agent, Agent)
    agent.close()


def test_an_import_string_makes_agents() -> None:
    make = agent_factory("invented_agents:Mine")
    assert isinstance(make(), Agent)
    assert make() is not make()


def test_a_registered_name_takes_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.AGENTS, "mine", "invented_agents:Mine")
    assert make_agent("mine:/a/checkpoint:1").path == "/a/checkpoint:1"  # type: ignore[attr-defined]
    assert make_agent("mine").path == "nothing"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("randm", "there is no agent 'randm'", "did you mean 'random'?"),
        ("", "there is no agent ''", "agents: random"),
        ("invented_agents:Mien", "has no Mien", "did you mean 'Mine'?"),
        ("invented_agents:", "is not module:factory", None),
        ("invented_agents:number", "is a int, not a factory", None),
        ("no_such_module_here:make", "can't be imported", "current directory"),
        ("invented_wreck:make", "can't be imported: ValueError: at import", None),
        ("__import__('os').system('true'):x", "is not module:factory", None),
        ("os:system('true')", "is not module:factory", None),
        ("../evil:make", "is not module:factory", None),
    ],
)
def test_a_wrong_name_is_told_at_once(name: str, message: str, hint: str | None) -> None:
    with pytest.raises(UnknownAgent) as caught:
        agent_factory(name)
    assert message in caught.value.message
    if hint:
        assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("invented_agents:broken", "could not be made: RuntimeError: no weights"),
        ("invented_agents:not_an_agent", "returned a int, not an agent"),
        ("noop:argument", "could not be made: TypeError"),
    ],
)
def test_a_factory_that_fails_is_a_typed_error(name: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        make_agent(name)
