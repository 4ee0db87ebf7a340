"""Behaviour cloning: it learns what it is shown, and what it learned carries over to names never seen."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.rollout.demonstrating import demonstrate

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.agents.hierarchical.name_augmentation import NameAugmentation
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ConfigError
from operant.learn.imitation import Cloning, Lessons
from operant.rollout.demonstrations import DaggerAgent
from operant.rollout.lessons import LessonView
from operant.testing import FakeDesktop
from operant.testing.fake_tasks import PressInOrder
from operant.types import Outcome

CONFIG = HierarchicalConfig(
    encoder=EncoderConfig(
        width=32, heads=2, widgets=16, history=4, vocabulary=512, text_layers=1, joint_layers=1,
        instruction_tokens=16, reading_tokens=4, screen=(80, 50),
    )
)  # fmt: skip


def lessons_of(seeds: range) -> Lessons:
    lessons, labeler = Lessons(HierarchicalPolicy(CONFIG)), HierarchicalLabeler(CONFIG)
    with tempfile.TemporaryDirectory() as root:
        for seed in seeds:
            episode = demonstrate(Path(root), DaggerAgent(labeler), seed)
            found = LessonView(labeler, None).read(episode)
            lessons.add(found.task, found.arrays)
    return lessons


def solved(policy: HierarchicalPolicy, seed: int) -> bool:
    with FakeDesktop() as desktop:
        environment = TaskEnvironment(desktop, with_tree=True)
        observation = environment.begin(PressInOrder().instance(seed, "heldout"))
        while True:
            transition = environment.step(policy.act(observation))
            observation = transition.observation
            if transition.over:
                return transition.outcome is Outcome.SUCCESS


def test_cloning_carries_over_to_names_never_seen() -> None:
    torch.manual_seed(0)
    lessons = lessons_of(range(60))
    lessons.augment(NameAugmentation(CONFIG.encoder.vocabulary))
    policy = HierarchicalPolicy(CONFIG)
    before = sum(solved(policy.eval(), seed) for seed in range(12))
    cloning = Cloning(policy, learning_rate=3e-3)
    report = cloning.learn(lessons, epochs=30)
    assert np.mean(report.losses[-5:]) < np.mean(report.losses[:5]) - 3
    accuracy = cloning.accuracy(lessons, np.arange(len(lessons)))
    assert accuracy["kind"] > 0.95
    assert accuracy["target"] > 0.9
    after = sum(solved(policy, seed) for seed in range(12))
    assert before == 0
    assert after >= 10


def test_every_row_comes_once_an_epoch() -> None:
    lessons = lessons_of(range(4))
    rows = np.concatenate(list(lessons.batches(5, np.random.default_rng(0))))
    assert sorted(rows) == list(range(len(lessons)))
    assert set(lessons.tasks(rows)) == {"fake/press-in-order-v1"}


def test_short_tasks_are_drawn_more_often() -> None:
    long, rows = lessons_of(range(8)), len(lessons_of(range(8)))
    for task, arrays in zip(long._tasks[:1], long._episodes[:1], strict=True):
        long.add(f"{task}, short", arrays)
    drawn = np.concatenate(list(long.batches(5, np.random.default_rng(0))))
    few = len(long) - rows
    share = sum(task.endswith("short") for task in long.tasks(drawn)) / len(drawn)
    assert share == pytest.approx(few**0.5 / (few**0.5 + rows**0.5), abs=0.1)
    assert len(drawn) == pytest.approx(len(long), abs=1)


def test_the_worker_is_shown_what_is_off_centre() -> None:
    lessons = lessons_of(range(2))
    batch = lessons.take(np.arange(len(lessons)))
    _, actions = HierarchicalPolicy(CONFIG).lesson_batch(batch, np.random.default_rng(0))
    reach, size = CONFIG.worker.reach, CONFIG.worker.crop
    moved = (-actions["refine"].numpy() * reach).round().astype(int)
    for row, (dx, dy) in enumerate(moved):
        patch = lessons.take(np.array([row]))["patch"][0]
        np.testing.assert_array_equal(
            actions["crop"][row].numpy(),
            patch[reach + dy : reach + dy + size, reach + dx : reach + dx + size],
        )


def test_nothing_to_learn_from_is_an_error() -> None:
    policy = HierarchicalPolicy(CONFIG)
    with pytest.raises(ConfigError, match="nothing to learn"):
        Cloning(policy).learn(Lessons(policy), epochs=1)


def test_names_are_swapped_on_the_screen_and_in_the_instruction_alike_and_nothing_else_is() -> None:
    lessons = lessons_of(range(20))
    renaming = NameAugmentation(CONFIG.encoder.vocabulary, share=1.0)
    lessons.augment(renaming)
    rows = np.arange(len(lessons))
    plain, swapped = lessons.take(rows), lessons.take(rows, np.random.default_rng(0))
    (task,) = set(lessons.tasks(rows))
    names = renaming.names(task)
    assert 0 < len(names) < CONFIG.encoder.vocabulary
    for name, before in plain.items():
        changed = before != swapped[name]
        if name in ("seen.token_words", "seen.token_near", "seen.row_words"):
            assert changed.any()
            assert np.isin(before[changed], names).all()
        else:
            assert not changed.any()
    for row in rows:  # one word, one new word
        pairs = {
            (old, new)
            for part in ("seen.token_words", "seen.row_words")
            for old, new in zip(plain[part][row].ravel(), swapped[part][row].ravel(), strict=True)
        }
        assert len({old for old, _ in pairs}) == len(pairs)


def test_the_averaged_weights_are_kept() -> None:
    lessons, policy = lessons_of(range(2)), HierarchicalPolicy(CONFIG)
    cloning = Cloning(policy, average=0.9)
    first = {name: part.clone() for name, part in policy.state_dict().items()}
    cloning.learn(lessons, epochs=3)
    kept = policy.state_dict()
    assert any(not torch.equal(part, first[name]) for name, part in kept.items())
    assert cloning.averaged is not policy
    for name, part in cloning.averaged.state_dict().items():
        assert torch.equal(part, kept[name]), name


def test_so_many_updates_are_learned_however_slow_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    lessons = lessons_of(range(3))
    weights, rates = [], []
    for slowness in (0.0, 100.0):  # seconds for each look at the clock
        clock = iter(range(10_000))
        monkeypatch.setattr("time.monotonic", lambda pace=slowness, ticks=clock: pace * next(ticks))
        torch.manual_seed(0)
        policy = HierarchicalPolicy(CONFIG)
        cloning = Cloning(policy, batch_size=4)
        seen: list[float] = []
        report = cloning.learn(
            lessons,
            epochs=1000,
            updates=5,
            on_progress=lambda epoch, loss, progress, to=seen, by=cloning: to.append(
                by.optimiser.param_groups[0]["lr"]
            ),
        )
        assert len(report.losses) == 5
        weights.append(policy.state_dict())
        rates.append(seen)
    assert rates[0] == rates[1]
    assert rates[0][-1] < max(rates[0]), "it has fallen at the end"
    assert all(torch.equal(part, weights[1][name]) for name, part in weights[0].items())


def test_the_learning_rate_rises_stays_and_falls() -> None:
    lessons, policy = lessons_of(range(10)), HierarchicalPolicy(CONFIG)
    cloning, rates = Cloning(policy, learning_rate=0.5, batch_size=1), []

    def note(epoch: int, loss: float, progress: float) -> None:
        rates.append((progress, cloning.optimiser.param_groups[0]["lr"]))

    cloning.optimiser.step = lambda *_: None  # type: ignore[method-assign,assignment]
    cloning.learn(lessons, epochs=4, on_progress=note)
    assert rates[0][1] == pytest.approx(0.5 * 0.05, rel=0.5)
    assert all(rate == 0.5 for progress, rate in rates if 0.04 < progress < 0.59)
    assert rates[-1][1] < 0.02
