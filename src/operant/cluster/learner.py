"""The learner on a cluster: the same run as in one process, with the cluster as its collection.

Several learners are one that leads and others that follow it through every update, each with its share of every
batch (gradients are summed by gloo or NCCL). They live and die together: the checkpoint is where they go on.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ray
from loguru import logger
from ray.exceptions import RayActorError, RayError

from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import VLMWrapper
from operant.cluster.actor_handles import ActorHandles
from operant.cluster.remote_collection import RemoteCollection
from operant.config.vlm_training import VLMTrainingConfig
from operant.learn.ddp import Peers, leave_peers, meet_peers
from operant.learn.vlm.base import Algorithm, Metrics
from operant.learn.vlm.checkpoint import MODEL, arrays, load_state, newest
from operant.learn.vlm.trainer import Trainer
from operant.rollout.loop import Stopped
from operant.train.vlm.parts import Parts
from operant.train.vlm.run_directory import CHECKPOINTS
from operant.train.vlm.training_run import VLMRun

__all__ = ["Follower", "Learner"]

MEET_S = 1800.0  # also for one step of an update: the slowest has so long
GOODBYE_S = 10.0


class Learner:
    """Runs as an actor with several threads: one learns, others are for questions meanwhile."""

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        tasks: Sequence[Any] | None = None,
    ) -> None:
        self._config = config
        self._directory = directory
        self._tasks = tasks
        self._stop = threading.Event()
        self._lines: list[str] = []

    def train(self) -> str | None:
        """Train to the end, from the newest checkpoint if there is one; nothing if it was stopped."""
        config = self._config
        handles = ActorHandles.find(config, self._directory)
        followers: list[Any] = []
        make_trainer: Callable[..., Trainer] = Trainer
        if config.cluster.learners > 1:
            address = _meeting_point()
            followers = [self._follower(rank, address) for rank in range(1, config.cluster.learners)]
            make_trainer = partial(Leader, followers, address)
        run = VLMRun(
            config,
            self._directory,
            resume=True,
            tasks=self._tasks,
            on_progress=self._lines.append,
            collection=lambda parts: RemoteCollection(config, handles, parts.vlm, self._stop),
            make_trainer=make_trainer,
        )
        try:
            return str(run.train())
        except Stopped:
            return None
        finally:
            run.close()
            leave_peers(run.trainer.peers)
            for follower in followers:
                ray.kill(follower)

    def _follower(self, rank: int, address: str) -> Any:
        settings = self._config.cluster
        options = {"num_cpus": settings.learner_cpus, "num_gpus": settings.learner_gpus}
        return ray.remote(Follower).options(**options).remote(self._config, self._directory, rank, address)

    def news(self, after: int) -> list[str]:
        """The lines of progress from that one on."""
        return self._lines[after:]

    def stop(self) -> None:
        """Save and end, between two updates."""
        self._stop.set()


class Leader(Trainer):
    """A trainer that takes its followers along."""

    def __init__(self, followers: Sequence[Any], address: str, *args: Any, **options: Any) -> None:
        self._followers = list(followers)
        self._joining = [follower.join.remote() for follower in self._followers]
        peers = _meet(0, 1 + len(self._followers), address, args[0])
        super().__init__(*args, peers=peers, **options)
        ray.get(self._joining)

    def train_step(
        self,
        trajectories: Sequence[Trajectory],
        algorithm: Algorithm | None = None,
        *,
        reuse: bool = False,
    ) -> Metrics:
        batch = ray.put(list(trajectories))
        rate = self.optimiser.param_groups[0]["lr"]
        others = [one.train_step.remote(batch, algorithm, reuse, rate) for one in self._followers]
        try:
            metrics = super().train_step(trajectories, algorithm, reuse=reuse)
            ray.get(others)
        except (RuntimeError, RayError):
            self._die_with_a_follower(others)
            raise
        return metrics

    def _die_with_a_follower(self, calls: list[Any]) -> None:
        """Half an update must not be saved: the next learner goes on from the checkpoint."""
        for call in calls:
            try:
                ray.get(call, timeout=GOODBYE_S)
            except RayActorError:
                logger.error("a learner is gone, and the others with it")
                os._exit(1)
            except RayError:
                continue


class Follower:
    """Runs as an actor that belongs to the leader, and makes the same updates."""

    def __init__(self, config: VLMTrainingConfig, directory: Path, rank: int, address: str) -> None:
        self._config = config
        self._directory = directory
        self._rank = rank
        self._address = address
        self._trainer: Trainer

    def join(self) -> None:
        found = newest(self._directory / CHECKPOINTS)
        weights = found / MODEL if found else None
        parts = Parts(self._config, self._directory, weights, make_trainer=self._make_trainer)
        self._trainer = parts.trainer
        if found is not None:
            state = load_state(found)["trainer"]
            self._trainer.restore({**state, "algorithm": arrays(state["algorithm"])})

    def _make_trainer(self, *args: Any, **options: Any) -> Trainer:
        peers = _meet(self._rank, self._config.cluster.learners, self._address, args[0])
        return Trainer(*args, peers=peers, **options)

    def train_step(
        self, trajectories: Sequence[Trajectory], algorithm: Algorithm | None, reuse: bool, rate: float
    ) -> None:
        self._trainer.optimiser.param_groups[0]["lr"] = rate
        self._trainer.train_step(trajectories, algorithm, reuse=reuse)


def _meet(rank: int, size: int, address: str, vlm: VLMWrapper) -> Peers:
    if address.startswith("tcp://127."):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return meet_peers(rank, size, address, vlm.device, MEET_S)


def _meeting_point() -> str:
    """An address of this machine with a free port."""
    host = ray.util.get_node_ip_address()
    with socket.socket() as free:
        free.bind((host, 0))
        port = free.getsockname()[1]
    return f"tcp://{host}:{port}"
