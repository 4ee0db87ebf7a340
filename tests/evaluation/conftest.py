"""Evaluations on fake desktops, played in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from operant.agents.base import Agent
from operant.agents.registry import agent_factory
from operant.config.desktop import DesktopConfig
from operant.evaluation.evaluation_run import EvaluationRun
from operant.evaluation.plan import plan_episodes
from operant.evaluation.runner import evaluate, settings_of
from operant.rollout.episode import EpisodeResult
from operant.tasks.task import Task
from operant.testing import FAKE_TEMPLATES, FakeDesktop

SMALL = DesktopConfig(width=320, height=240)


class Played:
    """A run, and what was told while it was played."""

    def __init__(self, run: EvaluationRun) -> None:
        self.run = run
        self.told: list[tuple[str, EpisodeResult]] = []


@pytest.fixture
def tasks() -> list[Task]:
    return plan_episodes(FAKE_TEMPLATES, range(2))


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Played]:
    def play(
        agent: str | Callable[[], Agent],
        tasks: Sequence[Task],
        *,
        root: Path = tmp_path / "results",
        max_steps: int | None = None,
        act_s: float = 5.0,
        desktops: Any = FakeDesktop.factory,
        **more: Any,
    ) -> Played:
        make = agent_factory(agent) if isinstance(agent, str) else agent
        name = agent if isinstance(agent, str) else "own"
        first = make()
        settings = settings_of(name, first, max_steps=max_steps, act_s=act_s, config=more.get("config"))
        with EvaluationRun.open(root, settings, tasks) as run:
            played = Played(run)
            evaluate(
                run,
                tasks,
                make,
                on_progress=lambda asked, result: played.told.append((asked.directory, result)),
                desktops=desktops,
                **more,
            )
        return played

    return play
