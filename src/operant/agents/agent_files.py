"""Agents that a YAML file describes: ``--agent FILE.yaml`` is a team if the file has members, else a hosted model."""

from __future__ import annotations

import difflib
from pathlib import Path

from operant.agents.base import Agent
from operant.config.prices import PriceTable
from operant.config.settings import read_yaml

__all__ = ["load"]


def load(file: str, *, device: str | None = None, prices: PriceTable | None = None) -> Agent:
    """The agent of a file; a mistake in it is an error now, before any desktop starts."""
    names = [str(name) for name in read_yaml(Path(file).expanduser())]
    if difflib.get_close_matches(
        "members", names, 1
    ):  # also where it is mistyped: then the team's error helps
        from operant.agents.team import load as load_team

        return load_team(file, device=device, prices=prices)
    from operant.agents.hosted import from_file

    return from_file(file, prices=prices)
