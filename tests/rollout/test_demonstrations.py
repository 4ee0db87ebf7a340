"""Recording what oracles do, and what they would have done where a learner went."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.rollout.demonstrating import demonstrate

from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.apps.view import View
from operant.errors import ResultsError
from operant.rollout.demonstrations import (
    ASIDE,
    DaggerAgent,
    DemonstrationWriter,
    find_demonstrations,
    is_demonstration,
    label_of,
    next_seed,
)
from operant.rollout.episode import EpisodeResult
from operant.rollout.store import read_episode
from operant.tasks.oracle import Oracle
from operant.testing.fake_tasks import PressButton, PressInOrder
from operant.types import Action, Observation, Outcome, Point


def wait(observation: Observation) -> Action:
    return Action.wait()


def labels(directory: Path) -> list[tuple[str, bool]]:
    found = [label_of(step) for step in read_episode(directory).steps]
    return [(one[0].kind.value, one[1]) for one in found if one is not None]


def test_the_oracle_is_recorded_step_by_step(tmp_path: Path) -> None:
    path = demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler()))
    assert labels(path) == [("click", False), ("click", False), ("done", False)]
    episode = read_episode(path)
    assert [label_of(step) for step in episode.steps] == [(step.action, False) for step in episode.steps]
    assert is_demonstration(episode)
    assert path == tmp_path / "fake.press-in-order-v1.train.1"
    assert [child.name for child in tmp_path.iterdir()] == [path.name]


def test_a_learner_acts_and_the_oracle_labels(tmp_path: Path) -> None:
    path = demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler(), wait))
    episode = read_episode(path)
    assert episode.outcome is not Outcome.SUCCESS
    assert set(labels(path)) == {("click", True)}
    assert {step.action.kind.value for step in episode.steps[:3] if step.action} == {"wait"}
    assert is_demonstration(episode)


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
def test_an_oracle_takes_what_comes_to_the_same_for_its_own(tmp_path: Path, pixels: int, same: bool) -> None:
    """Oracles tell by their last action how far they are, and compare it to the pixel."""
    task = PressInOrder().instance(1)
    assert task.oracle is not None
    listening = Listening(task.oracle)

    def nearly(observation: Observation) -> Action:
        wanted = listening.said[-1]
        if wanted.point is None:
            return wanted
        height = observation.screen.shape[0]
        return replace(wanted, point=Point(wanted.point.x, wanted.point.y + pixels / height))

    demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler(), nearly), replace(task, oracle=listening))
    assert listening.heard[0] is None
    assert (listening.heard[1] == listening.said[0]) is same


def test_an_oracle_that_keeps_saying_the_same_ends_the_episode(tmp_path: Path) -> None:
    task = replace(PressButton().instance(1), max_steps=20)
    path = demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler(), wait), task)
    assert len(labels(path)) == 7
    assert "keeps saying the same" in str(read_episode(path).steps[-1].action)


def test_beta_says_how_often_the_oracle_acts(tmp_path: Path) -> None:
    path = demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler(), wait, beta=1.0))
    assert read_episode(path).outcome is Outcome.SUCCESS
    assert not any(by_learner for _, by_learner in labels(path))


# Collections.


def test_an_oracles_episode_replaces_that_of_its_instance_and_a_learners_replaces_none(
    tmp_path: Path,
) -> None:
    oracle, learner = DaggerAgent(HierarchicalLabeler()), DaggerAgent(HierarchicalLabeler(), wait, beta=1.0)
    first = read_episode(demonstrate(tmp_path, oracle)).header["id"]
    second = read_episode(demonstrate(tmp_path, oracle)).header["id"]
    assert first != second
    played = [demonstrate(tmp_path, learner) for _ in range(3)]
    assert [path.name.rpartition(".")[2] for path in played] == ["learner-1", "learner-2", "learner-3"]
    assert len(find_demonstrations([tmp_path])) == 4


def test_each_episode_is_found_once_however_often_its_directory_is_named(tmp_path: Path) -> None:
    agent = DaggerAgent(HierarchicalLabeler())
    paths = [demonstrate(tmp_path / "all" / name, agent, seed) for seed, name in enumerate(("one", "two"))]
    roots = [tmp_path / "all", tmp_path / "all" / "one", tmp_path / "all" / "two" / ".." / "one"]
    assert find_demonstrations(roots) == [path.resolve() for path in paths]
    assert find_demonstrations(roots, {paths[0].resolve()}) == [paths[1].resolve()]


def test_later_runs_begin_after_the_seeds_that_are_there(tmp_path: Path) -> None:
    assert next_seed(tmp_path / "absent", 10_000) == 10_000
    demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler(), wait, beta=1.0), 10_041)
    demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler(), wait, beta=1.0), 7)
    assert next_seed(tmp_path, 10_000) == 10_042
    assert next_seed(tmp_path, 20_000) == 20_000


def test_what_is_being_played_is_not_found(tmp_path: Path) -> None:
    path = demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler()))
    (tmp_path / ASIDE).mkdir()
    path.rename(tmp_path / ASIDE / "half")
    assert find_demonstrations([tmp_path]) == []


@pytest.mark.parametrize("by_learner", [False, True])
@pytest.mark.parametrize("outcome", list(Outcome))
def test_what_teaches_nothing_leaves_nothing(tmp_path: Path, by_learner: bool, outcome: Outcome) -> None:
    task = PressInOrder().instance(1)
    writer = DemonstrationWriter(tmp_path, by_learner=by_learner)
    writer.begin(task)
    writer.end(EpisodeResult(task.id, outcome, "why"))
    kept = outcome is Outcome.SUCCESS or (by_learner and outcome.is_experience)
    assert (writer.kept is not None) is kept
    assert list(tmp_path.iterdir()) == ([writer.kept] if kept else [])


def test_an_episode_that_was_stopped_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        writer = DemonstrationWriter(tmp_path, by_learner=True)
        writer.begin(PressInOrder().instance(1))
        writer.abandon()
    assert not list(tmp_path.iterdir())


def test_what_holds_no_demonstrations_says_so(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no demonstrations"):
        find_demonstrations([tmp_path / "absent"])
    np.savez(tmp_path / "core--note-v1--train-0.npz", about=np.zeros(3))
    with pytest.raises(ResultsError, match="older version") as caught:
        find_demonstrations([tmp_path])
    assert "demos collect" in str(caught.value.hint)
