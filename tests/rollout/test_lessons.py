"""Lessons are a view of episodes: the same as what was perceived, cached, and never stale."""

from __future__ import annotations

import ast
import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.rollout.demonstrating import demonstrate

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.labeler import SOURCES, HierarchicalLabeler
from operant.errors import ResultsError
from operant.rollout.demonstrations import Arrays, DaggerAgent
from operant.rollout.lessons import LessonView, cache_directory
from operant.types import Action, Observation


class Watching(HierarchicalLabeler):
    """Counts what it perceives."""

    def __init__(self, config: HierarchicalConfig | None = None) -> None:
        super().__init__(config)
        self.seen: list[Arrays] = []

    def perceive(self, observation: Observation) -> Arrays:
        self.seen.append(super().perceive(observation))
        return self.seen[-1]


class Shown(DaggerAgent):
    """Keeps what is perceived while it plays."""

    def __init__(self, labeler: HierarchicalLabeler) -> None:
        super().__init__(labeler)
        self.perceived: list[Arrays] = []

    def act(self, observation: Observation) -> object:  # type: ignore[override]
        self.perceived.append(self.labeler.perceive(observation))
        return super().act(observation)


def test_lessons_are_what_was_perceived_while_playing(tmp_path: Path) -> None:
    agent = Shown(HierarchicalLabeler())
    path = demonstrate(tmp_path, agent)
    lessons = LessonView(HierarchicalLabeler(), None).read(path)
    assert (lessons.task, lessons.seed, lessons.split, lessons.success) == (
        "fake/press-in-order-v1",
        1,
        "train",
        True,
    )
    assert len(lessons) == len(agent.perceived) == 3
    for row, seen in enumerate(agent.perceived):
        for name, part in seen.items():
            np.testing.assert_array_equal(lessons.arrays[f"seen.{name}"][row], part)
    kinds = HierarchicalLabeler().meta.kinds
    assert [kinds[int(kind)] for kind in lessons.arrays["label.kind"]] == ["click", "click", "done"]
    assert not lessons.arrays["by_learner"].any()
    assert lessons.inexpressible == ()


def test_a_second_look_reads_the_cache(tmp_path: Path) -> None:
    path = demonstrate(tmp_path / "demos", DaggerAgent(HierarchicalLabeler()))
    labeler = Watching()
    first = LessonView(labeler, tmp_path / "cache").read(path)
    assert len(labeler.seen) == 3
    second = LessonView(labeler, tmp_path / "cache").read(path)
    assert len(labeler.seen) == 3
    assert first.arrays.keys() == second.arrays.keys()
    for name, part in first.arrays.items():
        np.testing.assert_array_equal(part, second.arrays[name])
        assert part.dtype == second.arrays[name].dtype
    assert (first.task, first.seed, first.success) == (second.task, second.seed, second.success)


def test_another_perception_another_place_or_damage_make_it_anew(tmp_path: Path) -> None:
    path = demonstrate(tmp_path / "demos", DaggerAgent(HierarchicalLabeler()))
    cache = tmp_path / "cache"
    LessonView(HierarchicalLabeler(), cache).read(path)
    (kept,) = cache.rglob("*.safetensors.zst")
    other = Watching(HierarchicalConfig(encoder=EncoderConfig(widgets=12)))
    assert LessonView(other, cache).read(path).arrays["seen.row_role"].shape == (3, other.perception.rows)
    assert len(list(cache.rglob("*.safetensors.zst"))) == 2
    for damaged in (b"", b"noise", kept.read_bytes()[:-100]):
        kept.write_bytes(damaged)
        labeler = Watching()
        assert len(LessonView(labeler, cache).read(path)) == len(labeler.seen) == 3
    shutil.rmtree(cache)
    assert len(LessonView(HierarchicalLabeler(), cache).read(path)) == 3


def test_an_episode_that_was_played_again_is_perceived_again(tmp_path: Path) -> None:
    labeler = Watching()
    view = LessonView(labeler, tmp_path / "cache")
    for times in (1, 2):
        view.read(demonstrate(tmp_path / "demos", DaggerAgent(HierarchicalLabeler())))
        assert len(labeler.seen) == 3 * times


def test_failures_teach_only_where_the_learner_acted(tmp_path: Path) -> None:
    def wait(observation: Observation) -> Action:
        return Action.wait()

    view = LessonView(HierarchicalLabeler(), None)
    failed = demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler(), wait))
    lessons = view.read(failed)
    assert not lessons.success
    assert lessons.arrays["by_learner"].all()
    (failed / "episode.json").rename(failed / "episode.partial.json")
    text = (failed / "episode.partial.json").read_text().replace('"outcome": ', '"was": ')
    (failed / "episode.partial.json").write_text(text)
    assert len(view.read(failed)) == 0


def test_a_damaged_episode_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = demonstrate(tmp_path / "demos", DaggerAgent(HierarchicalLabeler()))
    view = LessonView(HierarchicalLabeler(), tmp_path / "cache")
    view.read(path)
    data = (path / "observations.bin").read_bytes()
    (path / "observations.bin").write_bytes(data[: len(data) // 2])
    with pytest.raises(ResultsError, match=r"observations\.bin"):
        view.read(path)


def test_a_cache_that_can_not_be_written_is_done_without(tmp_path: Path) -> None:
    path = demonstrate(tmp_path / "demos", DaggerAgent(HierarchicalLabeler()))
    (tmp_path / "file").write_text("")
    assert len(LessonView(HierarchicalLabeler(), tmp_path / "file" / "cache").read(path)) == 3


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERANT_CACHE", "/a")
    assert cache_directory() == Path("/a")
    monkeypatch.delenv("OPERANT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert cache_directory() == Path("/b/operant")


def test_the_fingerprint_covers_all_code_that_makes_lessons() -> None:
    """What the modules import of ours is among them, or decides nothing of a lesson."""
    without_part = {
        "operant.config.base",
        "operant.errors",
        "operant.actions.payload",
        "operant.envs.instruction",
    }
    for name in SOURCES:
        file = importlib.import_module(name).__file__
        assert file is not None
        for node in ast.walk(ast.parse(Path(file).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("operant"):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                known = {*SOURCES, *without_part}
                assert node.module in known or names <= known, f"{name} imports {node.module}"
