"""Agents by name. To add one: write ``operant/agents/<name>.py`` and one line in ``AGENTS``.

``name`` is a key of ``AGENTS``; ``name:argument`` hands the argument to its factory (a checkpoint, say); any
other ``module:factory`` is imported. Names are looked up and imported, never evaluated.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from operant.agents.base import Agent
from operant.config.imported import imported
from operant.errors import AgentError, ConfigError, MissingDependency, OperantError, UnknownAgent

__all__ = ["AGENTS", "agent_factory", "checked_device", "make_agent"]

#: name -> "module:factory", imported when it is asked for
AGENTS: dict[str, str] = {
    "random": "operant.agents.random_agent:RandomAgent",
    "noop": "operant.agents.fixed:NoopAgent",
    "done": "operant.agents.fixed:DoneAgent",
    "fail": "operant.agents.fixed:FailAgent",
    "oracle": "operant.agents.oracle:OracleAgent",
    "hierarchical": "operant.agents.hierarchical.agent:HierarchicalAgent",
    "vlm": "operant.agents.vlm.agent:load",
}


def agent_factory(name: str, *, device: str | None = None) -> Callable[[], Agent]:
    """Makes agents of that name; a wrong name or device is an error now, before anything starts.

    The device goes to factories with a parameter of that name; the others have no network.
    """
    first, colon, argument = name.partition(":")
    if first in AGENTS:
        make = _import(name, AGENTS[first])
        arguments = (argument,) if colon else ()
    elif colon:
        make, arguments = _import(name, name), ()
    else:
        near = difflib.get_close_matches(name, AGENTS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"agents: {', '.join(AGENTS)}, or module:factory"
        raise UnknownAgent(f"there is no agent {name!r}", hint=hint)
    options = {"device": checked_device(device)} if device is not None and _takes_device(make) else {}
    return lambda: _make(name, make, arguments, options)


def make_agent(name: str, *, device: str | None = None) -> Agent:
    """One agent of that name."""
    return agent_factory(name, device=device)()


def checked_device(name: str) -> str:
    """A device that is there; ``auto`` becomes the one that it stands for."""
    if name == "cpu":
        return name
    try:
        from operant.agents.device import pick_device
    except ImportError as error:
        raise MissingDependency(
            f"device {name!r} needs PyTorch, which is not installed", hint="pip install 'operant[learn]'"
        ) from error
    return str(pick_device(name))


def _takes_device(make: Callable[..., Any]) -> bool:
    try:
        return "device" in inspect.signature(make).parameters
    except (TypeError, ValueError):
        return False


def _import(name: str, path: str) -> Callable[..., Any]:
    try:
        found = imported(path, form="module:factory", example="my_package.my_agent:make_agent")
    except ConfigError as error:
        # The service lets another agent stand in where the cause is a package that is not installed.
        raise UnknownAgent(f"agent {error.message}", hint=error.hint) from error.__cause__ or error
    if not callable(found):
        raise UnknownAgent(f"agent {name!r} is a {type(found).__name__}, not a factory")
    return found  # type: ignore[no-any-return]


def _make(name: str, make: Callable[..., Any], arguments: tuple[str, ...], options: dict[str, str]) -> Agent:
    try:
        agent = make(*arguments, **options)
    except OperantError:
        raise
    except Exception as error:  # foreign code may raise anything
        raise AgentError(f"agent {name!r} could not be made: {type(error).__name__}: {error}") from error
    if not isinstance(agent, Agent):
        raise AgentError(
            f"agent {name!r}: the factory returned a {type(agent).__name__}, not an agent",
            hint="subclass operant.agents.base.Agent",
        )
    return agent
