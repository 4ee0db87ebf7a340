"""From a YAML file to a team; a wrong key, member or agent is an error before any desktop starts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from operant.agents.base import Agent, PrivilegedAgent
from operant.agents.registry import agent_factory
from operant.agents.team.agent import PrivilegedTeam, TeamAgent
from operant.agents.team.desks import Desks
from operant.agents.team.member import Crew
from operant.config.desktop import DesktopConfig
from operant.config.prices import PriceTable
from operant.config.settings import read_yaml
from operant.config.team import TeamSettings
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import ConfigError, OperantError

__all__ = ["load", "make_team"]


def load(file: str = "", *, device: str | None = None, prices: PriceTable | None = None) -> TeamAgent:
    """The team that a file describes: ``--agent team:FILE.yaml``."""
    if not file:
        raise ConfigError("a team needs its file", hint="write team:FILE.yaml, such as team:config/team.yaml")
    path = Path(file).expanduser()
    try:
        settings: TeamSettings = TeamSettings.build(**read_yaml(path))
    except ConfigError as error:
        where = "" if str(path) in error.message else f"{path}: "
        raise ConfigError(where + error.message, hint=error.hint) from error
    makers = {}
    for name, member in settings.members.items():
        try:
            makers[name] = agent_factory(member.agent, device=device, prices=prices)
        except OperantError as error:
            error.message = f"{path}: members.{name}: {error.message}"
            raise
    return make_team(settings, makers)


def make_team(
    settings: TeamSettings,
    makers: Mapping[str, Callable[[], Agent]],
    desktop_factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
) -> TeamAgent:
    """A team whose members are made by these, one for each name; the factory makes desktops of its own."""
    crew = Crew(settings, makers)
    prints = [settings.model_dump_json(), *(one.agent.fingerprint for one in crew.values())]
    fingerprint = hashlib.sha256("\n".join(prints).encode()).hexdigest()[:16]
    privileged = any(isinstance(member.agent, PrivilegedAgent) for member in crew.values())
    kind = PrivilegedTeam if privileged else TeamAgent
    return kind(settings, crew, Desks(settings.desktops, desktop_factory), fingerprint)
