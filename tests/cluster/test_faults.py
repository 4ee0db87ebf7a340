"""Runs on Ray while parts of the cluster die: they go on, and no episode is lost or learned from twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train.vlm.training_run import VLMRun

from .conftest import Training, assert_nothing_lost_or_twice, settings


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_outlives_each_of_its_actors_and_goes_on_in_one_process(cluster: Any, tmp_path: Path) -> None:
    config = settings(training={"num_iterations": 12})
    training = Training(config, tmp_path)
    training.until(lambda: training.updates() >= 1)
    training.kill("environment-0")
    training.kill("inference-0")
    training.until(lambda: training.updates() >= 4)
    training.kill("learner")
    training.kill("versions")
    training.until(lambda: any("learner is gone" in line for line in training.lines))
    after = len(training.metrics())
    training.until(lambda: len(training.metrics()) >= after + 2)
    training.kill("experience")
    training.kill("environment-1")
    training.wait()
    assert_nothing_lost_or_twice(training)
    assert len(training.learned()) >= 12 * 4
    assert any("environment-0 is gone with" in line for line in training.lines)
    assert any("going on from update" in line for line in training.lines)
    iterations = [line["iteration"] for line in training.metrics()]
    assert iterations[-1] == 12
    assert sorted(set(iterations)) == list(range(1, 13))
    assert all(line["broadcast_bytes"] < 100_000 for line in training.metrics())  # the adapters only

    # The same directory, in one process: it is the same run.
    before = set(training.learned())
    alone = VLMRun(
        settings(training={"num_iterations": 13}),
        tmp_path,
        resume=True,
        desktops=FakeDesktop,  # type: ignore[arg-type]
        tasks=FAKE_TEMPLATES,
    )
    alone.train()
    alone.close()
    assert before < set(training.learned())
    assert_nothing_lost_or_twice(training)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_outlives_a_machine_and_two_learners_learn_one_policy(cluster: Any, tmp_path: Path) -> None:
    from operant.agents.vlm.loading import is_adapter

    # The head has room for the learners, an environment and an inference actor; the others are on the second machine.
    second = cluster.add_node(num_cpus=4, object_store_memory=80 << 20)
    config = settings(
        actor={"invalid_reward": -0.5},
        training={"num_iterations": 8, "algorithm": "ppo"},
        cluster={"inference_actors": 2, "learners": 2},
    )
    training = Training(config, tmp_path)
    try:
        training.until(lambda: training.updates() >= 2)
    finally:
        cluster.remove_node(second, allow_graceful=False)
    model = training.wait()
    assert is_adapter(model)
    assert_nothing_lost_or_twice(training)
    assert training.updates() == 8
    assert max(line["value_loss"] for line in training.metrics()) > 0


def test_a_second_run_in_the_same_directory_is_refused_at_once(cluster: Any, tmp_path: Path) -> None:
    from operant.cluster.launching import launch_actors
    from operant.cluster.run import ClusterRun
    from operant.errors import ConfigError
    from operant.train.vlm.run_directory import hold

    with hold(tmp_path), pytest.raises(ConfigError, match="another run is at work"):
        ClusterRun(settings(), tmp_path, tasks=FAKE_TEMPLATES)
    handles = launch_actors(settings(), tmp_path, FakeDesktop.factory, FAKE_TEMPLATES)
    try:  # on another machine the lock of the directory may not be seen, but the names are taken
        with pytest.raises(ConfigError, match="on this cluster"):
            launch_actors(settings(), tmp_path, FakeDesktop.factory, FAKE_TEMPLATES)
    finally:
        import ray

        for actor in handles.all():
            ray.kill(actor)


def test_those_who_keep_things_are_counted() -> None:
    """A cluster of three processors has no room for a learner beside them, and the run would wait for ever."""
    from operant.config.cluster import ClusterSettings

    asked = ClusterSettings()
    assert asked.cpus > asked.environment_cpus + asked.inference_cpus + asked.learner_cpus


def test_what_the_cluster_does_not_have_is_told_at_once(cluster: Any, tmp_path: Path) -> None:
    from operant.cluster.run import ClusterRun
    from operant.errors import CheckpointError, ConfigError, TaskError

    eight = settings(cluster={"learner_gpus": 8})
    with pytest.raises(ConfigError, match="asks for 8 GPUs and there are 0"):
        ClusterRun(eight, tmp_path / "gpus", address="auto", tasks=FAKE_TEMPLATES).train()
    many = settings(cluster={"environment_cpus": 49})
    with pytest.raises(ConfigError, match=r"asks for 100\.02 CPUs"):
        ClusterRun(many, tmp_path / "cpus", address="auto", tasks=FAKE_TEMPLATES).train()
    with pytest.raises(ConfigError, match="no cluster 'nowhere'"):
        ClusterRun(settings(), tmp_path / "x", address="nowhere", tasks=FAKE_TEMPLATES).train()
    with pytest.raises(CheckpointError, match="nothing to go on from"):
        ClusterRun(settings(), tmp_path / "y", resume=True, tasks=FAKE_TEMPLATES)
    with pytest.raises(TaskError, match="no task"):
        ClusterRun(settings(), tmp_path / "z")
    with pytest.raises(ConfigError, match="at least one episode"):
        settings(cluster={"environment_actors": 5})


@pytest.mark.timeout(300)
def test_a_model_that_is_not_there_is_told(cluster: Any, tmp_path: Path) -> None:
    from operant.errors import ModelError

    training = Training(settings(model={"name": str(tmp_path / "none")}), tmp_path / "run")
    with pytest.raises(ModelError, match="no model directory"):
        training.wait()
