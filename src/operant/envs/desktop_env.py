"""``operant/Desktop-v0``: tasks on a real desktop as a Gymnasium environment.

>>> import gymnasium, operant.envs                                                  # doctest: +SKIP
>>> env = gymnasium.make("operant/Desktop-v0", suite="core", difficulty="EASY")     # doctest: +SKIP
>>> observation, info = env.reset(seed=1)                                           # doctest: +SKIP

The same seed gives the same task instance and the same first frame. ``info`` holds the task, the instruction,
the terms of the reward and, at the end, the typed outcome; where ``info["discard"]`` is true the desktop or
the verifier failed, and the episode is no experience. The full-size view is in ``env.unwrapped.observation``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt

from operant.config.desktop import DesktopConfig
from operant.envs.retry import RetryPolicy
from operant.envs.rewards import Reward
from operant.envs.stage import ActionCoder, Coder, Coding, Stage, desktop_of
from operant.envs.task_source import TaskSource
from operant.errors import OperantError, TaskError, is_fatal
from operant.tasks.task import Task
from operant.tasks.template import Template
from operant.types import ActionMode, Difficulty, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["DesktopEnv", "start_desktop"]

RETRY = RetryPolicy()
DesktopFactory = Callable[[DesktopConfig], "Desktop"]


def start_desktop(config: DesktopConfig) -> Desktop:
    """The usual factory of desktops; X11 is imported only here."""
    from operant.desktop.sandbox import SandboxDesktop

    return SandboxDesktop(config)


class DesktopEnv(gymnasium.Env[Any, Any]):
    """One desktop. It is started at the first reset, and replaced when it fails.

    ``tasks`` (tasks, templates, or the path of a file of tasks) stands in for suite and difficulty. ``size`` is
    the size of the observed screen, that of the desktop itself is in ``desktop``. ``actions`` is what agents may do:
    ``"gui"``, ``"api"`` (calls of functions) or ``"both"``; with calls, actions are canonical. It can be a coder too.
    ``reset(options={"task": ..., "task_seed": ...})`` asks for one task, by id or as it is.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012 - as Gymnasium wants it

    def __init__(
        self,
        suite: str = "core",
        split: str = "train",
        difficulty: str | Difficulty | Sequence[str | Difficulty] | None = None,
        *,
        tasks: Sequence[Task | Template] | str | os.PathLike[str] | None = None,
        unseen: bool = False,
        size: tuple[int, int] = (160, 100),
        action_mode: str | None = None,
        actions: ActionCoder | ActionMode | None = None,
        observations: Coder | None = None,
        tree_bytes: int = 0,
        instruction_bytes: int = 256,
        reward: Reward | None = None,
        end_on_success: bool = False,
        desktop: DesktopConfig | None = None,
        factory: DesktopFactory = start_desktop,
        render_mode: str | None = None,
    ) -> None:
        self.source = TaskSource.of(suite, split, difficulty, tasks=tasks, unseen=unseen)
        self.config = desktop_of(desktop, actions)
        self.coding = Coding.of(
            size=size,
            action_mode=action_mode,
            actions=actions,
            observations=observations,
            tree_bytes=tree_bytes,
            instruction_bytes=instruction_bytes,
            reward=reward,
            end_on_success=end_on_success,
            desktop=self.config,
        )
        self.observation_space = self.coding.observations.space
        self.action_space = self.coding.actions.space
        self.render_mode = render_mode
        self.infra_errors = 0
        self._factory = factory
        self._stage: Stage | None = None

    def recode(self, *, observations: Coder, actions: ActionCoder) -> None:
        """Speak in a policy's own terms from the next reset on; an episode that runs is dropped."""
        self.coding = replace(self.coding, observations=observations, actions=actions)
        self.observation_space, self.action_space = observations.space, actions.space
        if self._stage is not None:
            self._stage = Stage(self._stage.desktop, self.coding)

    @property
    def observation(self) -> Observation:
        """What was seen last, at full size."""
        if self._stage is None or self._stage.observation is None:
            raise TaskError("no episode has begun", hint="call reset() first")
        return self._stage.observation

    @property
    def task(self) -> Task:
        if self._stage is None:
            raise TaskError("no episode has begun", hint="call reset() first")
        return self._stage.task

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        task = self._choose(options or {})
        failures = 0
        while True:
            try:
                if self._stage is None:
                    self._stage = Stage(self._factory(self.config), self.coding)
                else:
                    self._stage.desktop.reset()
                info = self._stage.begin(task)
                return self._stage.look(), info
            except (OperantError, OSError) as error:
                if is_fatal(error):
                    raise
                failures += 1
                self.infra_errors += 1
                self._drop_desktop()
                if not RETRY.again(failures):
                    raise

    def _choose(self, options: dict[str, Any]) -> Task:
        wanted = options.get("task")
        if wanted is None:
            return self.source.draw(self.np_random)
        if isinstance(wanted, Task):
            return wanted
        return self.source.find(str(wanted), options.get("task_seed"), self.np_random)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._stage is None:
            raise TaskError("no episode has begun", hint="call reset() first")
        stage = self._stage
        reward, terminated, truncated, info = stage.step(action)
        observation = stage.look()
        if info.get("outcome") == "infra_error":
            self.infra_errors += 1
            self._drop_desktop()
        return observation, reward, terminated, truncated, info

    def render(self) -> Any:
        """The screen at full size."""
        if self.render_mode != "rgb_array":
            return None
        frame: npt.NDArray[np.uint8] = np.ascontiguousarray(self.observation.screen)
        return frame

    def _drop_desktop(self) -> None:
        if self._stage is not None:
            stage, self._stage = self._stage, None
            stage.desktop.close()

    def close(self) -> None:
        self._drop_desktop()
