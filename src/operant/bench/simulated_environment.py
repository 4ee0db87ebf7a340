"""Environment actors without desktops: they wait as long as recorded desktops took, and ask the real inference actors.

Many simulated desktops share one process as coroutines; everything else (store, versions, inference, learner) is what
a real run has. Rewards are drawn, so that there is something to learn from.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from operant.agents.vlm.prompt import Picture, Prompt
from operant.agents.vlm.trajectory import Trajectory, Turn
from operant.bench.recorded_latencies import Latencies
from operant.cluster.actor_handles import ActorHandles
from operant.cluster.experience_actor import Ticket
from operant.config.vlm_training import VLMTrainingConfig
from operant.rollout.job_runner import PlayStats
from operant.train.vlm.trajectory_store import encode
from operant.types import Outcome

__all__ = ["SimulatedEnvironment"]

SUCCESS_RATE = 0.5


class SimulatedEnvironment:
    """Takes the place of ``operant.cluster.environment_actor.EnvironmentActor``; ``desktops`` are recorded latencies."""

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        name: str,
        episodes: int,
        desktops: Latencies,
        tasks: Sequence[Any] | None = None,
    ) -> None:
        self._config = config
        self._directory = directory
        self._name = name
        self._episodes = episodes
        self._latencies = desktops
        self._chance = random.Random(f"{config.training.seed}/{name}")
        self._stats = PlayStats()
        self._handles: ActorHandles

    async def play(self) -> PlayStats:
        """Play until no more work is handed out."""
        self._handles = await asyncio.to_thread(ActorHandles.find, self._config, self._directory)
        _, shown = await self._handles.inference[0].shown.remote(self._config.desktop.size)
        noise = np.random.default_rng(0).integers(0, 255, (shown.height, shown.width, 3), np.uint8)
        await asyncio.gather(*(self._desktop(noise) for _ in range(self._episodes)))
        return self._stats

    async def _desktop(self, picture: Picture) -> None:
        played = False
        while True:
            began = time.perf_counter()
            ticket = await self._handles.experience.take.remote(self._name)
            entered = time.perf_counter()
            if ticket is None:
                return
            # Before the first rollout it is the start that is waited for, not the bound.
            self._stats.waiting_s += entered - began if played else 0.0
            played = True
            trajectory = await self._play(ticket, picture)
            self._stats.playing_s += time.perf_counter() - entered
            self._stats.episodes += 1
            self._stats.successes += trajectory.success
            encoded = encode(trajectory)
            await self._handles.experience.add.remote(ticket, encoded, self._name, self._stats)

    async def _play(self, ticket: Ticket, picture: Picture) -> Trajectory:
        latency = self._latencies.draw(self._chance)
        prompt = Prompt.of(picture, f"Task: {ticket.task}")
        turns = []
        await asyncio.sleep(latency.begin)
        for number, seconds in enumerate(latency.steps[: self._config.actor.max_steps_per_episode]):
            actor = self._handles.inference[self._chance.randrange(len(self._handles.inference))]
            answer = await actor.answer.remote(prompt, ticket.seed + number, None)
            turns.append(Turn(prompt, answer))
            await asyncio.sleep(seconds)
        success = self._chance.random() < SUCCESS_RATE
        turns[-1] = replace(turns[-1], reward=float(success))
        outcome = Outcome.SUCCESS if success else Outcome.FAILURE
        id = f"{ticket.group}-{ticket.number}-{uuid.uuid4().hex[:8]}"
        return Trajectory(ticket.task, tuple(turns), outcome, ticket.group, ticket.task_seed or 0, id)

    async def close(self) -> None:
        """There is nothing to close."""
