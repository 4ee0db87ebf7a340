"""One episode after another on one desktop, in the terms of a space: what the Gymnasium environments share.

Puts the task environment, the coding of actions and observations and the reward together. A desktop that
fails under an episode ends it as ``infra_error``: truncated, worth nothing, and marked to be discarded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt
from gymnasium import spaces

from operant.config.desktop import DesktopConfig
from operant.envs.canonical_actions import CanonicalActions
from operant.envs.hybrid_actions import HybridActions
from operant.envs.observations import ObservationCoder
from operant.envs.rewards import Moment, Reward
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ConfigError, InvalidAction, OperantError, VerifierError, is_fatal
from operant.tasks.task import Task
from operant.types import ACTION_MODES, Action, ActionMode, Observation, Outcome, Transition

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["ActionCoder", "Coder", "Coding", "Ended", "Stage", "desktop_of"]

Arrays = dict[str, npt.NDArray[Any]]
Ended = tuple[float, bool, bool, dict[str, Any]]
"""Reward, terminated, truncated, info."""


class ActionCoder(Protocol):
    """A space of actions, and what they mean."""

    space: spaces.Space[Any]

    def decode(self, action: Any, instruction: str) -> Action: ...


class Coder(Protocol):
    """A space of observations, and how one is written into it."""

    space: spaces.Dict
    with_tree: bool
    """Whether it reads the widgets, which take time to fetch."""

    def empty(self) -> Arrays: ...

    def encode(self, observation: Observation, out: Arrays | None = None) -> Arrays: ...


@dataclass(frozen=True)
class Coding:
    """How an environment speaks: its actions, observations and rewards."""

    actions: ActionCoder
    observations: Coder
    reward: Reward = field(default_factory=Reward)
    end_on_success: bool = False

    @classmethod
    def of(
        cls,
        *,
        size: tuple[int, int] = (160, 100),
        action_mode: str | None = None,
        actions: ActionCoder | ActionMode | None = None,
        observations: Coder | None = None,
        tree_bytes: int = 0,
        instruction_bytes: int = 256,
        reward: Reward | None = None,
        end_on_success: bool = False,
        desktop: DesktopConfig | None = None,
    ) -> Coding:
        return cls(
            _action_coder(action_mode, actions, desktop.actions if desktop is not None else "gui"),
            observations
            if observations is not None
            else ObservationCoder(size, instruction_bytes, tree_bytes),
            reward if reward is not None else Reward(),
            end_on_success,
        )


def _action_coder(
    mode: str | None, actions: ActionCoder | ActionMode | None, allowed: ActionMode
) -> ActionCoder:
    """A coder that is handed in, or one for what the desktop allows. Only canonical actions have calls."""
    if mode not in (None, "hybrid", "canonical"):
        raise ConfigError(f"{mode!r} is not an action mode", hint="modes: hybrid, canonical")
    if actions is not None and not isinstance(actions, str):
        return actions
    if mode == "hybrid" and actions in ("api", "both"):
        raise ConfigError(
            f'actions="{actions}" allows calls, and hybrid actions have no words for them',
            hint='action_mode="canonical", or leave it out',
        )
    if mode == "hybrid" or (mode is None and allowed == "gui"):
        return HybridActions()
    return CanonicalActions(allowed)


def desktop_of(
    desktop: DesktopConfig | None, actions: ActionCoder | ActionMode | None, *, given: bool = False
) -> DesktopConfig:
    """The settings of desktops that allow these actions. Desktops that are ``given`` stay as they are."""
    config = desktop or DesktopConfig()
    if not isinstance(actions, str) or actions == config.actions:
        return config
    if actions not in ACTION_MODES:
        raise ConfigError(f"actions: {actions!r} is none of {', '.join(ACTION_MODES)}")
    if given:
        raise ConfigError(
            f'actions="{actions}", and the desktops of the pool are for {config.actions}',
            hint=f'DesktopPool(..., DesktopConfig(actions="{actions}"))',
        )
    return config.model_copy(update={"actions": actions})


class Stage:
    """A desktop on which episodes are played; ``observation`` is always the last thing seen, at full size."""

    def __init__(self, desktop: Desktop, coding: Coding) -> None:
        self.desktop = desktop
        self.coding = coding
        self.environment = TaskEnvironment(
            desktop, with_tree=coding.observations.with_tree, end_on_success=coding.end_on_success
        )
        self.reward = coding.reward.fresh()
        self.observation: Observation | None = None
        self.totals: dict[str, float] = {}
        self.steps = 0

    @property
    def task(self) -> Task:
        return self.environment.task

    def begin(self, task: Task) -> dict[str, Any]:
        """Set a task up on the desktop, which is in its initial state. Returns what is to be known of it."""
        self.observation = self.environment.begin(task)
        self.totals, self.steps = {}, 0
        self.reward.begin(Moment(self.environment, self.observation, changed=False))
        return {
            "task": task.id,
            "task_seed": -1 if task.seed is None else task.seed,
            "difficulty": task.difficulty.value,
            "instruction": task.instruction,
        }

    def look(self, out: Arrays | None = None) -> Arrays:
        """The last observation, coded."""
        if self.observation is None:
            return self.coding.observations.empty() if out is None else out
        return self.coding.observations.encode(self.observation, out)

    def step(self, action: Any) -> Ended:
        """Decode and do it. What can't be decoded spends a step and is recorded."""
        try:
            try:
                decoded = self.coding.actions.decode(action, self.task.instruction)
            except InvalidAction as error:
                transition = self.environment.reject(error.message)
            else:
                transition = self.environment.step(decoded)
            return self._judge(transition)
        except VerifierError as error:
            return self._give_up(Outcome.VERIFIER_ERROR, error.message)
        except (OperantError, OSError) as error:
            if is_fatal(error):
                raise
            return self._give_up(Outcome.INFRA_ERROR, str(error))

    def _judge(self, transition: Transition) -> Ended:
        self.observation = transition.observation
        self.steps += 1
        moment = Moment(
            self.environment, transition.observation, self.environment.changed, transition.outcome
        )
        reward, parts = self.reward.score(moment)
        for name, value in parts.items():
            self.totals[name] = self.totals.get(name, 0.0) + value
        outcome = transition.outcome
        info: dict[str, Any] = {"reward_terms": parts}
        info |= {
            name: str(transition.info[name]) for name in ("invalid", "result") if name in transition.info
        }
        if outcome is None:
            return reward, False, False, info
        if not outcome.is_experience:
            return self._give_up(outcome, str(transition.info.get("why", "")))
        info |= self._ending(outcome, str(transition.info.get("why", "")))
        return reward, transition.terminated, transition.truncated, info

    def _give_up(self, outcome: Outcome, why: str) -> Ended:
        return 0.0, False, True, {"reward_terms": {}, **self._ending(outcome, why)}

    def _ending(self, outcome: Outcome, why: str) -> dict[str, Any]:
        return {
            "outcome": outcome.value,
            "is_success": outcome is Outcome.SUCCESS,
            "discard": not outcome.is_experience,
            "why": why,
            "episode_task": self.task.id,
            "episode_steps": self.steps,
            "episode_terms": dict(self.totals),
        }
