"""Curricula: when stages follow each other, and where the others look for something to learn."""

from __future__ import annotations

import numpy as np
import pytest

from operant.config.learning import STRATEGIES, CurriculumConfig
from operant.envs.weighted_source import WeightedSource
from operant.errors import CheckpointError, ConfigError, TaskError
from operant.learn.curriculum import Curriculum, Stages, make_curriculum
from operant.testing import FAKE_TEMPLATES

STAGES = {"EASY": ["e1", "e2"], "MEDIUM": ["m1"], "HARD": ["h1", "h2"]}


def make(strategy: str, **options: object) -> Curriculum:
    return make_curriculum(STAGES, CurriculumConfig.build(strategy=strategy, **options))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights_are_chances(strategy: str) -> None:
    curriculum = make(strategy, window=10)
    random = np.random.default_rng(0)
    for _ in range(200):
        weights = curriculum.weights()
        assert sum(weights.values()) == pytest.approx(1)
        assert min(weights.values()) >= 0
        assert set(weights) == {"e1", "e2", "m1", "h1", "h2"}
        task = str(random.choice(list(weights), p=list(weights.values())))
        curriculum.record(task, bool(random.random() < 0.7))
        curriculum.advance(100)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_state_comes_back(strategy: str) -> None:
    curriculum, other = make(strategy, window=5), make(strategy, window=5)
    for number in range(30):
        curriculum.record("e1", number % 3 > 0)
        curriculum.advance(10_000)
    other.load_state_dict(curriculum.state_dict())
    assert other.weights() == curriculum.weights()
    for one in (curriculum, other):
        one.record("m1", True)
    assert other.state_dict() == curriculum.state_dict()


def test_a_state_of_another_curriculum_is_refused() -> None:
    with pytest.raises(CheckpointError, match="another curriculum"):
        make("variance").load_state_dict(make("stages").state_dict())
    fewer = make_curriculum({"EASY": ["e1"]}, CurriculumConfig(strategy="stages"))
    with pytest.raises(CheckpointError, match="other tasks"):
        fewer.load_state_dict(make("stages").state_dict())


class TestStages:
    def stages(self, **options: object) -> Stages:
        made = make("stages", **{"window": 10, "min_steps_per_stage": 1000, "rehearsal": 0.2, **options})
        assert isinstance(made, Stages)
        return made

    def play(self, curriculum: Curriculum, task: str, successes: int, of: int = 10) -> None:
        for number in range(of):
            curriculum.record(task, number < successes)

    def test_it_goes_from_easy_to_hard_by_the_thresholds_of_the_seed(self) -> None:
        curriculum = self.stages()
        assert curriculum.stage == "EASY"
        assert curriculum.weights() == {"e1": 0.5, "e2": 0.5, "m1": 0, "h1": 0, "h2": 0}
        curriculum.advance(1000)
        self.play(curriculum, "e1", 5)
        assert curriculum.stage == "EASY"
        self.play(curriculum, "e2", 6)
        assert curriculum.stage == "MEDIUM"
        assert curriculum.weights() == pytest.approx({"e1": 0.1, "e2": 0.1, "m1": 0.8, "h1": 0, "h2": 0})
        curriculum.advance(1000)
        self.play(curriculum, "m1", 4)
        assert curriculum.stage == "MEDIUM"
        self.play(curriculum, "m1", 5)
        assert curriculum.stage == "HARD"
        self.play(curriculum, "h1", 10)
        curriculum.advance(10_000)
        assert curriculum.stage == "HARD"
        assert curriculum.weights()["h1"] == pytest.approx(0.4)

    def test_a_stage_lasts_its_least_number_of_steps(self) -> None:
        curriculum = self.stages()
        curriculum.advance(999)
        self.play(curriculum, "e1", 10)
        assert curriculum.stage == "EASY"
        curriculum.advance(1)
        assert curriculum.stage == "MEDIUM"

    def test_a_few_lucky_episodes_are_not_enough(self) -> None:
        curriculum = self.stages()
        curriculum.advance(5000)
        self.play(curriculum, "e1", 9, of=9)
        assert curriculum.stage == "EASY"

    def test_rehearsed_tasks_do_not_count(self) -> None:
        curriculum = self.stages()
        curriculum.advance(1000)
        self.play(curriculum, "e1", 10)
        curriculum.advance(1000)
        self.play(curriculum, "e1", 10)
        assert curriculum.stage == "MEDIUM"

    def test_it_may_begin_later_and_skips_what_has_no_tasks(self) -> None:
        config = CurriculumConfig(strategy="stages", window=2, min_steps_per_stage=0)
        curriculum = make_curriculum({"EASY": ["e1"], "MEDIUM": [], "HARD": ["h1"]}, config)
        for _ in range(2):
            curriculum.record("e1", True)
        assert curriculum.stage == "HARD"
        later = make_curriculum(STAGES, config, start="MEDIUM")
        assert later.stage == "MEDIUM"
        with pytest.raises(ConfigError, match="no MEDIUM tasks"):
            make_curriculum({"EASY": ["e1"]}, config, start="MEDIUM")


def test_variance_looks_where_success_is_least_certain() -> None:
    curriculum = make("variance", rehearsal=0.1)
    for number in range(50):
        curriculum.record("e1", True)
        curriculum.record("m1", number % 2 == 0)
        curriculum.record("h1", False)
    weights = curriculum.weights()
    assert weights["m1"] > 4 * weights["e1"]
    assert weights["m1"] > 4 * weights["h1"]
    assert weights["e1"] >= 0.02  # rehearsed all the same
    assert weights["h2"] == pytest.approx(weights["m1"], rel=0.05)  # nobody has tried it


def test_learning_progress_looks_where_success_changes_either_way() -> None:
    curriculum = make("learning_progress", window=20, rehearsal=0.1)
    for number in range(60):
        curriculum.record("e1", True)
        curriculum.record("e2", number < 50)  # being forgotten
        curriculum.record("m1", number >= 50)  # being learned
        curriculum.record("h1", False)
        curriculum.record("h2", number % 2 == 0)  # as good as ever
    weights = curriculum.weights()
    for changing in ("e2", "m1"):
        for still in ("e1", "h1", "h2"):
            assert weights[changing] > 2 * weights[still], (changing, still)


class TestSource:
    def test_tasks_are_drawn_by_their_weights(self) -> None:
        ids = [template.id for template in FAKE_TEMPLATES]
        stages = {"EASY": ids[:1], "MEDIUM": ids[1:2], "HARD": ids[2:]}
        curriculum = make_curriculum(
            stages,
            CurriculumConfig(strategy="stages", window=5, min_steps_per_stage=0, rehearsal=0.25),
        )
        source = WeightedSource(FAKE_TEMPLATES, curriculum)
        random = np.random.default_rng(0)
        assert {source.draw(random).id for _ in range(20)} == {ids[0]}
        for _ in range(5):
            curriculum.record(ids[0], True)
        drawn = [source.draw(random).id for _ in range(200)]
        assert set(drawn) == {ids[0], ids[1]}
        assert 25 < drawn.count(ids[0]) < 75

    def test_a_curriculum_over_other_tasks_is_an_error(self) -> None:
        source = WeightedSource(FAKE_TEMPLATES, make("none"))
        with pytest.raises(TaskError, match="no task has a weight"):
            source.draw(np.random.default_rng(0))
