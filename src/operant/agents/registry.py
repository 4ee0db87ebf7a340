"""Agents by name. To add one: write ``operant/agents/<name>.py`` and one line in ``AGENTS``, or, in a package of your own,
an entry point of the group ``operant.agents``: name -> ``package:factory``.

``name`` is one of these; ``name:argument`` hands the argument to its factory (a checkpoint, say); any other
``module:factory`` is imported. Names are looked up and imported, never evaluated.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection
from importlib.metadata import EntryPoint
from typing import Any

from operant.agents.base import Agent
from operant.config.entry_points import find, installed, load
from operant.config.imported import imported
from operant.config.prices import PriceTable
from operant.errors import AgentError, ConfigError, OperantError, UnknownAgent
from operant.extras import missing_package

__all__ = ["AGENTS", "GROUP", "agent_factory", "agent_names", "checked_device", "make_agent"]

#: The entry-point group of packages that bring agents.
GROUP = "operant.agents"
FORM = "module:factory"
#: What makes the agent of a YAML file.
FROM_FILE = "operant.agents.agent_files:load"

#: name -> "module:factory", imported when it is asked for
AGENTS: dict[str, str] = {
    "random": "operant.agents.random_agent:RandomAgent",
    "noop": "operant.agents.fixed:NoopAgent",
    "done": "operant.agents.fixed:DoneAgent",
    "fail": "operant.agents.fixed:FailAgent",
    "oracle": "operant.agents.oracle:OracleAgent",
    "hierarchical": "operant.agents.hierarchical.agent:HierarchicalAgent",
    "vlm": "operant.agents.vlm.agent:load",
    "team": "operant.agents.team:load",
    "anthropic": "operant.agents.hosted:anthropic_agent",
    "openai": "operant.agents.hosted:openai_agent",
    "gemini": "operant.agents.hosted:gemini_agent",
    "chat": "operant.agents.hosted:chat_agent",
}


def agent_factory(
    name: str, *, device: str | None = None, prices: PriceTable | None = None
) -> Callable[[], Agent]:
    """Makes agents of that name; a wrong name or device is an error now, before anything starts.

    The device and the prices go to factories with parameters of these names; the others have no network, or are free.
    """
    if name.endswith((".yaml", ".yml")) and ":" not in name:
        from_file = _import(name, EntryPoint(name, FROM_FILE, GROUP))
        given = {"prices": prices, "device": None if device is None else checked_device(device)}
        return lambda: _make(name, from_file, (name,), given)
    first, colon, argument = name.partition(":")
    entry = find(first, GROUP, AGENTS)
    if entry is None and not colon:
        names = agent_names()
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"agents: {', '.join(names)}, or {FORM}"
        raise UnknownAgent(f"there is no agent {name!r}", hint=hint)
    make = _import(name, entry)
    arguments = (argument,) if entry is not None and colon else ()
    taken = _parameters(make)
    options: dict[str, Any] = {}
    if device is not None and "device" in taken:
        options["device"] = checked_device(device)
    if prices is not None and "prices" in taken:
        options["prices"] = prices
    return lambda: _make(name, make, arguments, options)


def agent_names() -> list[str]:
    """Installed agents: the built-in ones, and those of packages."""
    return list(installed(GROUP, AGENTS))


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
        raise missing_package(f"the device {name!r}", error) or error from None
    return str(pick_device(name))


def _parameters(make: Callable[..., Any]) -> Collection[str]:
    try:
        return inspect.signature(make).parameters
    except (TypeError, ValueError):
        return ()


def _import(name: str, entry: EntryPoint | None) -> Callable[..., Any]:
    try:
        if entry is None:
            found = imported(name, form=FORM, example="my_package.my_agent:make_agent", here=True)
        else:
            found = load(entry, form=FORM)
    except ConfigError as error:
        # The service lets another agent stand in where a package is not installed.
        if missing := missing_package(f"the agent {name!r}", error.__cause__):
            raise missing from error
        near = difflib.get_close_matches(name.partition(":")[0], agent_names(), 1) if entry is None else []
        hint = f"did you mean {near[0] + ':' + name.partition(':')[2]!r}?" if near else error.hint
        raise UnknownAgent(f"agent {error.message}", hint=hint) from error.__cause__ or error
    if not callable(found):
        raise UnknownAgent(f"agent {name!r} is a {type(found).__name__}, not a factory")
    return found  # type: ignore[no-any-return]


def _make(name: str, make: Callable[..., Any], arguments: tuple[str, ...], options: dict[str, Any]) -> Agent:
    try:
        agent = make(*arguments, **options)
    except OperantError:
        raise
    except Exception as error:  # foreign code may raise anything
        if missing := missing_package(f"the agent {name!r}", error):
            raise missing from error
        raise AgentError(
            f"agent {name!r} could not be made: {type(error).__name__}: {error}",
            hint="module:factory is called without arguments and returns an agent",
        ) from error
    if not isinstance(agent, Agent):
        raise AgentError(
            f"agent {name!r}: the factory returned a {type(agent).__name__}, not an agent",
            hint="subclass operant.agents.base.Agent",
        )
    return agent
