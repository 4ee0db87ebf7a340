"""Recording what oracles do, and what they would have done where a learner went."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from operant.agents.hierarchical.viewpoint import HierarchicalViewpoint
from operant.apps.view import View
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ResultsError
from operant.rollout.demonstrations import Apprentice, Recording, list_demonstrations, read_demonstration
from operant.rollout.loop import run_episode
from operant.tasks.oracle import Oracle
from operant.testing import FakeDesktop
from operant.testing.fake_tasks import PressButton, PressInOrder
from operant.types import Action, Observation, Point


def play(apprentice: Apprentice, seed: int = 1, template: type = PressInOrder) -> Recording:
    with FakeDesktop() as desktop:
        task = template().instance(seed)
        result = run_episode(apprentice, TaskEnvironment(desktop, with_tree=True), task, seed=seed)
        apprentice.recording.success = result.success
    return apprentice.recording


def test_the_oracle_is_recorded_step_by_step() -> None:
    recording = play(Apprentice(HierarchicalViewpoint()))
    assert recording.success
    assert [one.by_learner for one in recording.lessons] == [False] * 3
    meta = HierarchicalViewpoint().meta
    kinds = [meta.kinds[int(one.label["kind"])] for one in recording.lessons]
    assert kinds == ["click", "click", "done"]
    assert recording.inexpressible == []


def test_a_learner_acts_and_the_oracle_labels() -> None:
    def useless(observation: Observation) -> Action:
        return Action.wait()

    recording = play(Apprentice(HierarchicalViewpoint(), useless))
    assert not recording.success
    assert all(one.by_learner for one in recording.lessons)
    meta = HierarchicalViewpoint().meta
    assert {meta.kinds[int(one.label["kind"])] for one in recording.lessons} == {"click"}


class Listening:
    """An oracle, and what it was told was done before."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.heard: list[Action | None] = []
        self.said: list[Action] = []

    def act(self, view: View) -> Action:
        self.heard.append(view.last)
        self.said.append(self.oracle.act(view))
        return self.said[-1]


@pytest.mark.parametrize(("pixels", "same"), [(2, True), (200, False)])
def test_an_oracle_takes_what_comes_to_the_same_for_its_own(pixels: int, same: bool) -> None:
    """Oracles tell by their last action how far they are, and compare it to the pixel."""
    with FakeDesktop() as desktop:
        task = PressInOrder().instance(1)
        assert task.oracle is not None
        listening = Listening(task.oracle)

        def nearly(observation: Observation) -> Action:
            wanted = listening.said[-1]
            if wanted.point is None:
                return wanted
            return replace(wanted, point=Point(wanted.point.x, wanted.point.y + pixels / desktop.size.height))

        run_episode(
            Apprentice(HierarchicalViewpoint(), nearly),
            TaskEnvironment(desktop, with_tree=True),
            replace(task, oracle=listening),
            seed=1,
        )
    assert listening.heard[0] is None
    assert (listening.heard[1] == listening.said[0]) is same


def test_an_oracle_that_keeps_saying_the_same_ends_the_episode() -> None:
    recording = play(
        Apprentice(HierarchicalViewpoint(), lambda observation: Action.wait()), template=PressButton
    )
    assert 0 < len(recording.lessons) <= 7


def test_beta_says_how_often_the_oracle_acts() -> None:
    recording = play(Apprentice(HierarchicalViewpoint(), lambda observation: Action.wait(), beta=1.0))
    assert recording.success
    assert not any(one.by_learner for one in recording.lessons)


def test_a_recording_survives_its_file(tmp_path: Path) -> None:
    recording = play(Apprentice(HierarchicalViewpoint()))
    path = recording.write(tmp_path)
    assert list_demonstrations(tmp_path) == [path]
    about, arrays = read_demonstration(path)
    assert about["task"] == "fake/press-in-order-v1"
    assert about["success"]
    np.testing.assert_array_equal(arrays["seen.screen"][0], recording.lessons[0].seen["screen"])
    np.testing.assert_array_equal(arrays["label.kind"], [int(one.label["kind"]) for one in recording.lessons])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_files_that_could_run_code_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", about=np.array([object()], dtype=object))
    with pytest.raises(ResultsError, match=r"bad\.npz"):
        read_demonstration(tmp_path / "bad.npz")
    (tmp_path / "noise.npz").write_bytes(b"nothing")
    with pytest.raises(ResultsError):
        read_demonstration(tmp_path / "noise.npz")
    with pytest.raises(ResultsError, match="no demonstrations"):
        list_demonstrations(tmp_path / "absent")
