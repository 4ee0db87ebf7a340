"""A turn on one of the agent's own desktops: done and seen there, paid for with steps of the episode.

Knows nothing of agents. The episode's own environment decides when the steps are spent, and what the episode then was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from operant.types import Action, Observation, Transition

__all__ = ["Elsewhere", "TurnEnvironment"]


class TurnEnvironment(Protocol):
    """What a turn needs of ``operant.envs.task_environment.TaskEnvironment``."""

    @property
    def steps_left(self) -> int: ...

    def step(self, action: Action, *, more: bool = False) -> Transition: ...

    def look(self, *, more: bool = False) -> Observation: ...

    def reject(self, why: str) -> Transition: ...

    def spend(self) -> Transition | None: ...


class Elsewhere:
    """``own`` is the environment of the agent's desktop, ``episode`` the one that counts."""

    def __init__(self, own: TurnEnvironment, episode: TurnEnvironment) -> None:
        self._own = own
        self._episode = episode

    @property
    def steps_left(self) -> int:
        return self._episode.steps_left

    def step(self, action: Action, *, more: bool = False) -> Transition:
        return self._spend(lambda: self._own.step(action, more=more))

    def look(self, *, more: bool = False) -> Observation:
        return self._bounded(self._own.look(more=more))

    def reject(self, why: str) -> Transition:
        return self._spend(lambda: self._own.reject(why))

    def spend(self) -> Transition | None:
        return self._episode.spend()

    def _spend(self, do: Callable[[], Transition]) -> Transition:
        done = do()
        ended = self._episode.spend()
        seen = self._bounded(done.observation)
        if ended is None:
            return replace(done, observation=seen)
        return replace(ended, observation=seen, info={**done.info, **ended.info})

    def _bounded(self, seen: Observation) -> Observation:
        """Its own count of steps, and what the episode has left."""
        return replace(seen, max_steps=seen.step + self._episode.steps_left)
