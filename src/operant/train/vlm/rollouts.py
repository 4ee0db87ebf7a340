"""Rollouts: episodes of a vision-language model, and the trajectories that learning needs of them.

Inference is the backend's business, which batches over all rollouts that run. Imports no model library.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from loguru import logger

from operant.agents.base import Agent
from operant.agents.vlm.agent import VLMAgent
from operant.agents.vlm.backends.base import Backend
from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.trajectory import Trajectory, Turn
from operant.config.vlm import PromptSettings
from operant.envs.retry import RetryPolicy
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import Limits, StopSignal
from operant.rollout.player import Desktops, EpisodePlayer, Job, PlayedEpisode
from operant.rollout.recorders import Recorders, StepRecorder
from operant.rollout.store import EpisodeWriter
from operant.types import Outcome

__all__ = ["Rewards", "RolloutJob", "RolloutPlayer"]

RETRY = RetryPolicy()


@dataclass(frozen=True)
class Rewards:
    """What an episode's turns are worth."""

    success: float = 1.0
    """For the last turn of a success."""
    invalid: float = 0.0
    """For each turn whose answer could not be performed; a penalty is negative."""


@dataclass(eq=False)
class RolloutJob(Job):
    """Rollout ``number`` of a group, which is several on one instance of a task. Each has a seed of its own."""

    group: str = ""
    number: int = 0


class RolloutRecorder(Recorders):
    """Keeps the steps, and hands everything on to others."""

    def __init__(self, id: str, *others: EpisodeWriter) -> None:
        self.id = id
        self._steps = StepRecorder()
        super().__init__(self._steps, *others)

    @property
    def steps(self) -> list[Step]:
        return self._steps.steps


class RolloutPlayer(EpisodePlayer[RolloutJob]):
    """Plays rollouts with the model behind a backend, or with other agents that have ``turns``.

    ``episodes`` is where whole episodes are kept with their screenshots; None keeps what learning needs only.
    """

    def __init__(
        self,
        desktops: Desktops[RolloutJob],
        model: Backend,
        *,
        prompt: PromptSettings | None = None,
        rewards: Rewards | None = None,
        limits: Limits | None = None,
        episodes: Path | None = None,
        temperature: float | None = None,
        make_agent: Callable[[RolloutJob], Agent] | None = None,
    ) -> None:
        super().__init__(
            desktops,
            make_agent or self._vlm_agent,
            make_recorder=self._recorder,
            limits=limits,
            retry=RETRY,
            is_lost=_is_lost,
        )
        self.model = model
        self.prompt = prompt or PromptSettings()
        self.rewards = rewards or Rewards()
        self.temperature = temperature
        self._episodes = episodes

    def run_episode(
        self, job: RolloutJob, *, stop: StopSignal | None = None, agent: Agent | None = None
    ) -> Trajectory:
        """Play one until it counts. ``agent`` may be another with ``turns``, such as a demonstrator."""
        return self.trajectory(self.play_through(job, stop, agent=agent))

    def trajectory(self, played: PlayedEpisode[RolloutJob]) -> Trajectory:
        """What learning needs of an episode."""
        job, result, recorder = played.job, played.result, played.recorder
        assert isinstance(recorder, RolloutRecorder)
        turns = _turns(played) if played.error is None else []
        return Trajectory(
            task=job.task.id,
            turns=_rewarded(turns, recorder.steps, result, self.rewards),
            outcome=result.outcome,
            group=job.group,
            seed=job.task.seed or 0,
            id=recorder.id,
            info={"agent_s": result.agent_s, "desktop_s": result.desktop_s, "total_s": result.total_s},
        )

    def _vlm_agent(self, job: RolloutJob) -> Agent:
        return VLMAgent(self.model, self.prompt, temperature=self.temperature)

    def _recorder(self, job: RolloutJob, agent: Agent) -> RolloutRecorder:
        id = f"{job.group}-{job.number}-{uuid.uuid4().hex[:8]}"
        if self._episodes is None:
            return RolloutRecorder(id)
        return RolloutRecorder(id, EpisodeWriter(self._episodes / id.replace("/", "_"), {"agent": "vlm"}))


def _turns(played: PlayedEpisode[RolloutJob]) -> list[Turn]:
    assert isinstance(played.agent, (VLMAgent, Demonstrator))
    return played.agent.turns


def _is_lost(played: PlayedEpisode[RolloutJob]) -> bool:
    """An episode that could not be judged, or in which the model never answered, teaches nothing."""
    lost = not played.result.outcome.is_experience or not _turns(played)
    if lost:
        level = "WARNING" if played.error is not None else "DEBUG"
        logger.log(level, "{}: {}", played.job.task.id, played.result.why)
    return lost


def _rewarded(
    turns: list[Turn], steps: list[Step], result: EpisodeResult, rewards: Rewards
) -> tuple[Turn, ...]:
    """The turns with their rewards; one whose action the desktop refused is invalid too."""
    refused: set[int] = set()
    number = -1
    for step in steps:
        number += not step.record.get("continued")
        if step.invalid:
            refused.add(number)
    made = []
    for number, turn in enumerate(turns):
        valid = turn.valid and number not in refused
        reward = (0.0 if valid else rewards.invalid) + (
            rewards.success if result.outcome is Outcome.SUCCESS and number == len(turns) - 1 else 0.0
        )
        made.append(replace(turn, valid=valid, reward=reward))
    return tuple(made)
