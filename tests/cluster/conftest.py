"""One Ray cluster for all tests of this folder, and runs of a tiny model on fake desktops on it."""

from __future__ import annotations

import functools
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from operant.config.vlm_training import VLMTrainingConfig
from operant.learn.vlm.checkpoint import newest
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.fake_desktop import Delays

SLOW_DESKTOP = functools.partial(FakeDesktop, delays=Delays(reset_s=0.1, step_s=0.1))
PATIENCE_S = 240.0  # an idle machine takes a tenth of it
HEAD_CPUS = 8
START_TRIES = 3

SETTINGS: dict[str, Any] = {
    "model": {"name": "tiny:qwen2_vl", "use_lora": True, "lora": {"r": 2}, "max_pixels": 6000},
    "prompt": {"action_format": "ui_tars", "history": 0, "system": "", "show_progress": False},
    "sampling": {"max_new_tokens": 4},
    "environment": {"tasks": ["fake/press-button-v1"]},
    "actor": {"num_actors": 4, "max_steps_per_episode": 2},
    "training": {
        "algorithm": "reinforce",
        "num_iterations": 3,
        "group_size": 2,
        "groups_per_update": 2,
        "learning_rate": 0.001,
        "checkpoint_every": 2,
        "threads": 1,
    },
    "cluster": {"environment_actors": 2, "environment_cpus": 1, "inference_actors": 1},
}


def settings(**changes: dict[str, Any]) -> VLMTrainingConfig:
    merged = {name: {**section, **changes.get(name, {})} for name, section in SETTINGS.items()}
    return VLMTrainingConfig.build(**merged)  # type: ignore[no-any-return]


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    """A head node; tests may add others. Gone afterwards, with its files."""
    import ray
    from ray.cluster_utils import Cluster

    with (
        tempfile.TemporaryDirectory(prefix="operant-ray-", dir="/tmp", ignore_cleanup_errors=True) as place,
        pytest.MonkeyPatch.context() as patch,
    ):
        (Path(place) / "ray").mkdir()
        patch.setenv("RAY_TMPDIR", place)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_TOKEN", "5" * 64)
        started = _patiently(
            lambda: Cluster(
                initialize_head=True,
                head_node_args={
                    "num_cpus": HEAD_CPUS,
                    "object_store_memory": 100 << 20,
                    "include_dashboard": False,
                    "include_log_monitor": False,
                    "no_monitor": True,
                },
            )
        )
        ray.init(started.address, log_to_driver=False, logging_level="error")
        try:
            yield started
        finally:
            ray.shutdown()
            started.shutdown()


def _patiently(start: Callable[[], Any]) -> Any:
    """Ray gives its processes fifteen seconds to start, which a busy machine may not have: try again."""
    for _ in range(START_TRIES - 1):
        try:
            return start()
        except Exception:  # noqa: BLE001 - that is what Ray raises
            continue
    return start()


class Training:
    """A run on the cluster in a thread, so that the test can do harm meanwhile."""

    def __init__(self, config: VLMTrainingConfig, directory: Path, **options: Any) -> None:
        from operant.cluster.run import ClusterRun

        self.config = config
        self.directory = directory
        self.lines: list[str] = []
        self.model: Path | None = None
        self.failure: BaseException | None = None
        defaults = {"desktops": SLOW_DESKTOP, "tasks": FAKE_TEMPLATES, "on_progress": self.lines.append}
        self._run = ClusterRun(config, directory, address="auto", **{**defaults, **options})
        self._thread = threading.Thread(target=self._train, daemon=True)
        self._thread.start()

    def _train(self) -> None:
        try:
            self.model = self._run.train()
        except BaseException as failure:  # noqa: BLE001 - the test raises it
            self.failure = failure

    def wait(self) -> Path:
        self._thread.join(PATIENCE_S)
        if self.failure is not None:
            raise self.failure
        assert self.model is not None, self.lines
        return self.model

    def actor(self, name: str) -> Any:
        import ray

        from operant.cluster.actor_handles import namespace_of

        return ray.get_actor(name, namespace_of(self.directory))

    def kill(self, name: str) -> None:
        import ray

        ray.kill(self.actor(name), no_restart=False)

    def until(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not what():
            assert self.failure is None, self.failure
            assert time.monotonic() < end, self.lines
            time.sleep(0.1)

    def updates(self) -> int:
        return max((line["iteration"] for line in self.metrics()), default=0)

    def metrics(self) -> list[dict[str, Any]]:
        path = self.directory / "metrics.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def ended(self) -> list[str]:
        """Ids of all episodes that ever ended."""
        path = self.directory / "experience" / "ledger.jsonl"
        return [json.loads(line)["id"] for line in path.read_text().splitlines()]

    def learned(self) -> list[str]:
        """Ids of episodes that the last checkpoint was trained on."""
        found = newest(self.directory / "checkpoints")
        assert found is not None
        used: list[str] = torch.load(found / "state.pt", weights_only=True)["trainer"]["used"]
        return used

    def kept(self) -> set[str]:
        from operant.train.vlm.trajectory_store import TrajectoryStore

        return {one.id for one in TrajectoryStore(self.directory / "experience").load(pictures=False)}


def assert_nothing_lost_or_twice(training: Training) -> None:
    """Every episode that ended was learned from or still waits; none is both, and none was learned from twice."""
    ended, learned, kept = training.ended(), training.learned(), training.kept()
    assert len(set(ended)) == len(ended)
    assert len(set(learned)) == len(learned)
    assert set(learned) | kept == set(ended)
    assert not set(learned) & kept
