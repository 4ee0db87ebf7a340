"""DAgger on real desktops: the learner plays in a process of its own, and what it gets into is learned from."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path

import pytest

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.errors import OperantError
from operant.rollout.demonstration_collector import collect_demonstrations
from operant.rollout.demonstrations import find_demonstrations
from operant.rollout.lessons import LessonView
from operant.train.imitation import dagger
from operant.train.playing import MOST_DEATHS, PlayingProcess, PlayingSettings
from operant.train.tasks import training_templates
from operant.types import Action, Observation

SMALL = HierarchicalConfig(
    encoder=EncoderConfig(
        width=32, heads=2, widgets=48, history=4, vocabulary=512, text_layers=1, joint_layers=1
    )
)


@pytest.mark.x11
def test_lessons_of_the_learners_own_play_join_the_collection(tmp_path: Path) -> None:
    templates = training_templates("core", only="terminal-make-directory")
    demos = tmp_path / "demos"
    tasks = [template.instance(seed, "train") for template in templates for seed in range(2)]
    view = LessonView(HierarchicalLabeler(SMALL), tmp_path / "cache")
    assert collect_demonstrations(tasks, demos, view, workers=1).successes == 2
    told: list[str] = []
    place = dagger(
        HierarchicalPolicy(SMALL), "core", templates, [demos], tmp_path / "out.pt",
        minutes=0.4, workers=1, beta=0.0, on_progress=told.append,
    )  # fmt: skip
    played = [view.read(path) for path in find_demonstrations([place])]
    assert played
    assert all(one.split == "train" for one in played)
    assert all(one.seed is not None and one.seed >= 10_000 for one in played)
    assert any(one.arrays["by_learner"].any() for one in played)
    assert HierarchicalPolicy.from_checkpoint(tmp_path / "out.pt").config == SMALL


@pytest.mark.x11
def test_stopping_in_the_middle_of_an_episode_is_no_failure(tmp_path: Path) -> None:
    stop = threading.Event()

    def learner(observation: Observation) -> Action:
        stop.set()
        return Action.wait()

    tasks = [one.instance(0) for one in training_templates("core", None, "calculator-type-sum")]
    view = LessonView(HierarchicalLabeler(SMALL), None)
    collected = collect_demonstrations(tasks, tmp_path, view, workers=1, learner=learner, stop=stop)
    assert stop.is_set()
    assert collected.episodes == 0
    assert not list(tmp_path.iterdir())


def test_a_player_that_dies_is_replaced_but_not_for_ever(tmp_path: Path) -> None:
    """Its weights do not exist, so it dies at once, every time."""
    player = PlayingProcess(
        PlayingSettings(
            "core", frozenset(["core/none-v1"]), tmp_path / "place", tmp_path / "nothing.pt", 0.0, 0, 1
        )
    )
    with player.playing() as look_after:
        for _ in range(MOST_DEATHS):
            _wait_for_death()
            look_after()
        _wait_for_death()
        with pytest.raises(OperantError, match="died"):
            look_after()


def _wait_for_death() -> None:
    deadline = time.monotonic() + 60
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.05)
