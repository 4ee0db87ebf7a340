"""What the learner sees of the cluster: the same few calls as for actors in its own process.

Each call outlives the actor that it asks: Ray repeats it when the actor is back, and a store or a board of versions
that has forgotten everything is told again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util import ActorPool

from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import VLMWrapper
from operant.cluster.actor_handles import ActorHandles
from operant.cluster.experience_actor import ExperienceStatus, Ticket, UpdateBatch
from operant.cluster.versions import Packed, packed
from operant.config.vlm_training import VLMTrainingConfig
from operant.rollout.loop import Stopped
from operant.train.vlm.collection import CollectionStats
from operant.train.vlm.groups import Gathered, Kept
from operant.train.vlm.rollouts import RolloutJob
from operant.train.vlm.trajectory_store import decode

__all__ = ["RemoteCollection"]

GATHER_WAIT_S = 2.0  # between two looks at a stop while an update's experience is gathered


class RemoteCollection:
    """The experience store, the board of versions and the environments, from the learner's side."""

    def __init__(
        self, config: VLMTrainingConfig, handles: ActorHandles, vlm: VLMWrapper, stop: threading.Event
    ) -> None:
        self.config = config
        self.handles = handles
        self.wants_directory = config.inference is not None
        self._vlm = vlm
        self._stop = stop
        self._started = False
        self._iteration = 0
        self._used: Sequence[str] = ()
        self._state: Mapping[str, Any] | None = None
        self._published: tuple[int, Packed, Any] | None = None

    def __enter__(self) -> RemoteCollection:
        return self

    def __exit__(self, *_: object) -> None:
        """The driver ends all actors."""

    def open(self, iteration: int, used: Sequence[str], state: Mapping[str, Any] | None) -> Kept:
        self._iteration, self._used, self._state = iteration, used, state
        kept: Kept = ray.get(self.handles.experience.open.remote(iteration, list(used), state))
        if self._started:
            self.start()
        return kept

    def demonstrate(self, jobs: Iterable[RolloutJob], on_end: Callable[[Trajectory], None]) -> None:
        units = self._vlm.family.units
        shown = self._vlm.shown(self.config.desktop.size)
        pool = ActorPool(list(self.handles.desktops()))
        for job in jobs:
            pool.submit(lambda actor, ticket: actor.demonstrate.remote(ticket, units, shown), Ticket.of(job))
        while pool.has_next():
            if self._stop.is_set():
                raise Stopped
            try:
                encoded = pool.get_next_unordered()
            except RayTaskError as error:
                raise error.cause from error
            except RayError:
                continue  # gone with its actor; others were asked for as well
            on_end(self._in_tokens(decode(encoded)))

    def _in_tokens(self, shown: Trajectory) -> Trajectory:
        turns = [
            replace(turn, answer=replace(turn.answer, token_ids=tuple(self._vlm.tokens(turn.answer.text))))
            for turn in shown.turns
        ]
        return replace(shown, turns=tuple(turns))

    def start(self) -> None:
        self._started = True
        ray.get(self.handles.experience.start.remote())

    def gather(self, update: int) -> Gathered:
        while True:
            if self._stop.is_set():
                raise Stopped
            try:
                batch = ray.get(self.handles.experience.gather.remote(update, GATHER_WAIT_S))
            except RayTaskError as error:
                if not isinstance(error.cause, LookupError):
                    raise
                self.open(self._iteration, self._used, self._state)  # it was started again
                continue
            if batch is not None:
                gathered = _gathered(batch)
                self._used = [*self._used, *(one.id for one in gathered.trajectories)]
                return gathered
            self._remind()

    def _remind(self) -> None:
        """A board of versions that was started again knows none."""
        if self._published is not None and ray.get(self.handles.versions.newest.remote()) is None:
            ray.get(self.handles.versions.publish.remote(*self._published))

    def publish(self, weights: Weights) -> int:
        data = packed(weights)
        self._published = weights.version, data, weights.directory
        ray.get(self.handles.versions.publish.remote(*self._published))
        return data.nbytes

    def advance(self, iteration: int) -> None:
        self._iteration = iteration
        ray.get(self.handles.experience.advance.remote(iteration))

    def learned(self, used: Sequence[str]) -> None:
        self._used = list(used)
        ray.get(self.handles.experience.learned.remote(self._used))

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = ray.get(self.handles.experience.state.remote())
        if found:
            self._state = found
        return dict(self._state or {})

    @property
    def stats(self) -> CollectionStats:
        status: ExperienceStatus = ray.get(self.handles.experience.status.remote())
        return CollectionStats(status.utilisation, status.infra_errors)


def _gathered(batch: UpdateBatch) -> Gathered:
    trajectories = [decode(data) for data in batch.encoded]
    seen = [decode(data) for data in batch.seen_encoded] or batch.seen
    return Gathered(trajectories, seen, batch.filtered, [])
