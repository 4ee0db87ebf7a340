"""Many desktops as one Gymnasium vector environment, in which no episode waits for another's reset.

While episodes run, the next ones are set up on spare desktops of the same pool; an environment whose episode
is over moves to one of those within the same step (Gymnasium's ``SAME_STEP`` autoreset: the last observation
is in ``infos["final_obs"]``, its info in ``infos["final_info"]``), and its old desktop is reset in the
background.

An episode that is lost to the machine ends as truncated with reward 0, ``final_info["discard"]`` says to
throw its steps away, and its task is played again. Nothing that fails before an episode begins is ever seen.

``step`` waits for all; ``send`` and ``recv`` give those environments that are ready, for learners that can use it.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, iterate

from operant.config.desktop import DesktopConfig
from operant.envs.desktop_env import DesktopFactory, start_desktop
from operant.envs.prefetch import EpisodePrefetcher, Ready, Source
from operant.envs.rewards import Reward
from operant.envs.stage import ActionCoder, Coder, Coding, Ended, desktop_of
from operant.envs.task_source import TaskSource
from operant.errors import ConfigError, InvalidAction, TaskError
from operant.tasks.task import Task
from operant.tasks.template import Template
from operant.types import ActionMode, Difficulty, Observation, Outcome

if TYPE_CHECKING:
    from operant.desktop.pool import DesktopPool

__all__ = ["DesktopVectorEnv", "VectorStats"]

LEASE_S = 3600.0


@dataclass
class VectorStats:
    """What happened so far."""

    steps: int = 0
    episodes: int = 0
    successes: int = 0
    discarded: int = 0
    """Episodes that were lost to the machine while they ran."""
    infra_errors: int = 0
    """Failures of desktops and set-ups, those before an episode began included."""
    step_s: float = 0.0
    """Time inside ``step`` and ``recv``."""
    reset_wait_s: float = 0.0
    """Time without anything to step because no episode was ready, summed over environments. ``step`` keeps
    all of them waiting for one, ``send`` and ``recv`` only that one."""


@dataclass
class _Slot:
    """One of the environments: the episode that it plays."""

    ready: Ready


class DesktopVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """``num_envs`` desktops and ``spares`` more (as many, by default) on which episodes are prepared.

    The options are those of ``DesktopEnv``. ``source`` may be replaced at any time (a curriculum), and holds
    for the episodes that are prepared from then on. With ``in_order``, episodes are handed out in the order
    in which they were drawn, so that a seed decides which task an environment gets; otherwise whichever is
    ready first. With ``copy=False``, observations are views that the next step overwrites.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium wants it

    def __init__(
        self,
        num_envs: int = 8,
        suite: str = "core",
        split: str = "train",
        difficulty: str | Difficulty | Sequence[str | Difficulty] | None = None,
        *,
        tasks: Sequence[Task | Template] | str | os.PathLike[str] | None = None,
        source: Source | None = None,
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
        pool: DesktopPool | None = None,
        spares: int | None = None,
        in_order: bool = False,
        copy: bool = True,
    ) -> None:
        if num_envs < 1:
            raise ConfigError(f"a vector environment of {num_envs} has nothing to step")
        self.num_envs = num_envs
        if source is None:
            source = TaskSource.of(suite, split, difficulty, tasks=tasks, unseen=unseen)
        config = desktop_of(pool.config if pool is not None else desktop, actions, given=pool is not None)
        self.coding = Coding.of(
            size=size,
            action_mode=action_mode,
            actions=actions,
            observations=observations,
            tree_bytes=tree_bytes,
            instruction_bytes=instruction_bytes,
            reward=reward,
            end_on_success=end_on_success,
            desktop=config,
        )
        self._set_spaces()
        self.spares = max(2, num_envs) if spares is None else spares
        if self.spares < 1:
            raise ConfigError("episodes are prepared on spare desktops, so there must be at least one")
        self.in_order = in_order
        self.copy = copy
        self.stats = VectorStats()
        self._lock = threading.Lock()
        self._owns_pool = pool is None
        self._pool = pool if pool is not None else _new_pool(num_envs + self.spares, config, factory)
        self._prefetcher = EpisodePrefetcher(
            self._pool, self.coding, source, np.random.default_rng(), LEASE_S
        )
        self._slots: list[_Slot] = []
        self._threads = ThreadPoolExecutor(num_envs, thread_name_prefix="operant-env")
        self._arrived: queue.SimpleQueue[tuple[int, Ended | BaseException]] = queue.SimpleQueue()
        self._sent: set[int] = set()

    def _set_spaces(self) -> None:
        self.single_observation_space = self.coding.observations.space
        self.single_action_space = self.coding.actions.space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._batch = {
            name: np.zeros((self.num_envs, *(space.shape or ())), space.dtype)
            for name, space in self.coding.observations.space.spaces.items()
        }

    def recode(self, *, observations: Coder, actions: ActionCoder) -> None:
        """Speak in a policy's own terms from the next reset on; episodes that run are dropped."""
        self._drop_episodes()
        self.coding = replace(self.coding, observations=observations, actions=actions)
        self._prefetcher.coding = self.coding
        self._set_spaces()

    @property
    def source(self) -> Source:
        return self._prefetcher.source

    @source.setter
    def source(self, source: Source) -> None:
        self._prefetcher.source = source

    @property
    def observations(self) -> list[Observation]:
        """What each environment shows now, at full size."""
        return [
            slot.ready.stage.observation for slot in self._slots if slot.ready.stage.observation is not None
        ]

    @property
    def current_tasks(self) -> list[Task]:
        return [slot.ready.stage.task for slot in self._slots]

    # Beginning.

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin anew everywhere. The same seed gives the same tasks in the same environments."""
        self._drop_episodes()
        if seed is not None:
            first = seed[0] if isinstance(seed, (list, tuple)) else seed
            self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(first)
            self._prefetcher.random = self._np_random
        self._prefetcher.add(self.num_envs + self.spares)
        infos: dict[str, Any] = {}
        for index in range(self.num_envs):
            ready, _ = self._prefetcher.take(in_order=True)
            self._slots.append(_Slot(ready))
            self._show(index, ready.first)
            infos = self._add_info(infos, ready.info, index)
        return self._seen(), infos

    def _drop_episodes(self) -> None:
        if self._sent:
            raise TaskError("actions are still on their way", hint="recv() them before reset()")
        self._prefetcher.clear()
        for slot in self._slots:
            slot.ready.lease.release()
        self._slots = []

    def _show(self, index: int, observation: dict[str, npt.NDArray[Any]]) -> None:
        for name, part in observation.items():
            self._batch[name][index] = part

    def _row(self, index: int) -> dict[str, npt.NDArray[Any]]:
        return {name: part[index] for name, part in self._batch.items()}

    def _seen(self, indices: Sequence[int] | None = None) -> dict[str, npt.NDArray[Any]]:
        if indices is not None:
            return {name: part[list(indices)] for name, part in self._batch.items()}
        return {name: part.copy() for name, part in self._batch.items()} if self.copy else dict(self._batch)

    # All at once.

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Every environment does its action, all at the same time."""
        self._check_begun()
        listed = self._listed(actions)
        began = time.perf_counter()
        running = [self._threads.submit(self._act, index, action) for index, action in enumerate(listed)]
        rewards = np.zeros(self.num_envs, np.float64)
        terminated = np.zeros(self.num_envs, np.bool_)
        truncated = np.zeros(self.num_envs, np.bool_)
        infos: dict[str, Any] = {}
        ended: list[tuple[int, dict[str, Any]]] = []
        for index, future in enumerate(running):
            rewards[index], terminated[index], truncated[index], info = future.result()
            if terminated[index] or truncated[index]:
                ended.append((index, info))
            else:
                infos = self._add_info(infos, info, index)
        lasts = [self._leave(index, info) for index, info in ended]
        for (index, info), last in zip(ended, lasts, strict=True):
            first, waited = self._enter(index)
            self.stats.reset_wait_s += waited * self.num_envs
            infos = self._add_info(infos, {"final_obs": last, "final_info": info, **first}, index)
        self.stats.steps += self.num_envs
        self.stats.step_s += time.perf_counter() - began
        return self._seen(), rewards, terminated, truncated, infos

    def _act(self, index: int, action: Any) -> Ended:
        stage = self._slots[index].ready.stage
        result = stage.step(action)
        stage.look(self._row(index))
        return result

    def _leave(self, index: int, info: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
        """Give back the desktop of an episode that is over; returns what was seen last."""
        old = self._slots[index].ready
        last = {name: part.copy() for name, part in self._row(index).items()}
        if info["outcome"] == Outcome.INFRA_ERROR.value:
            self._prefetcher.retry(old.stage.task)
        old.lease.release()
        self._prefetcher.add(1)
        with self._lock:
            self.stats.episodes += 1
            self.stats.successes += bool(info["is_success"])
            self.stats.discarded += bool(info["discard"])
            self.stats.infra_errors = self._prefetcher.infra_errors
        return last

    def _enter(self, index: int) -> tuple[dict[str, Any], float]:
        """Move an environment to an episode that is ready; returns its info, and how long that took."""
        ready, waited = self._prefetcher.take(in_order=self.in_order)
        ready.lease.renew(LEASE_S)
        self._slots[index] = _Slot(ready)
        self._show(index, ready.first)
        return ready.info, waited

    # One by one.

    def send(self, actions: Any, indices: Sequence[int] | None = None) -> None:
        """Start these environments on their actions and return at once."""
        self._check_begun()
        wanted = list(range(self.num_envs)) if indices is None else [int(index) for index in indices]
        busy = self._sent.intersection(wanted)
        if busy or len(set(wanted)) != len(wanted):
            raise TaskError(f"environments {sorted(busy)} have not come back yet", hint="recv() them first")
        for index, action in zip(wanted, self._listed(actions, len(wanted)), strict=True):
            self._sent.add(index)
            self._threads.submit(self._travel, index, action)

    def _travel(self, index: int, action: Any) -> None:
        """An action, and the way to the next episode if it was the last: only this environment waits."""
        try:
            reward, terminated, truncated, info = self._act(index, action)
            if terminated or truncated:
                last = self._leave(index, info)
                first, waited = self._enter(index)
                with self._lock:
                    self.stats.reset_wait_s += waited
                info = {"final_obs": last, "final_info": info, **first}
            self._arrived.put((index, (reward, terminated, truncated, info)))
        except BaseException as error:  # noqa: BLE001 - it is raised where the results are received
            self._arrived.put((index, error))

    def recv(self, count: int | None = None) -> tuple[Any, Any, Any, Any, dict[str, Any], list[int]]:
        """Wait for ``count`` of those that were sent (all, by default); also says which they are."""
        wanted = len(self._sent) if count is None else min(count, len(self._sent))
        began = time.perf_counter()
        indices: list[int] = []
        results: list[Ended] = []
        while len(indices) < wanted:
            index, result = self._arrived.get()
            self._sent.discard(index)
            if isinstance(result, BaseException):
                raise result
            indices.append(index)
            results.append(result)
        infos: dict[str, Any] = {}
        for index, result in zip(indices, results, strict=True):
            infos = self._add_info(infos, result[3], index)
        self.stats.steps += len(indices)
        self.stats.step_s += time.perf_counter() - began
        rewards = np.array([result[0] for result in results], np.float64)
        terminated = np.array([result[1] for result in results], np.bool_)
        truncated = np.array([result[2] for result in results], np.bool_)
        return self._seen(indices), rewards, terminated, truncated, infos, indices

    # Inside.

    def _check_begun(self) -> None:
        if not self._slots:
            raise TaskError("no episode has begun", hint="call reset() first")

    def _listed(self, actions: Any, count: int | None = None) -> list[Any]:
        """One action for each environment."""
        count = self.num_envs if count is None else count
        if isinstance(actions, (list, tuple)) and len(actions) == count:
            return list(actions)
        try:
            listed = list(iterate(batch_space(self.single_action_space, count), actions))
        except (TypeError, KeyError, ValueError, AttributeError, gymnasium.error.CustomSpaceError) as error:
            raise InvalidAction(f"these are no actions for {count} environments: {error}") from error
        if len(listed) != count:
            raise InvalidAction(f"{len(listed)} actions for {count} environments")
        return listed

    def render(self) -> Any:
        return tuple(np.ascontiguousarray(observation.screen) for observation in self.observations)

    def close_extras(self, **kwargs: Any) -> None:
        self._prefetcher.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._owns_pool:
            self._pool.close()
        else:
            for slot in self._slots:
                slot.ready.lease.release()
        self._threads.shutdown(wait=True)


def _new_pool(size: int, config: DesktopConfig, factory: Callable[[DesktopConfig], Any]) -> DesktopPool:
    from operant.desktop.pool import DesktopPool

    return DesktopPool(size, config, factory=factory)
