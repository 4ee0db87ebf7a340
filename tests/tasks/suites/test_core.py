"""The core suite: what it must contain, that its splits share nothing, and that every oracle solves its task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from operant.agents.registry import make_agent
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.loop import run_episode
from operant.tasks.draw import is_heldout_number
from operant.tasks.suites import load_suite
from operant.tasks.template import Template
from operant.tasks.words import HELDOUT, POOLS
from operant.types import Difficulty

CORE = load_suite("core")
WORD = re.compile(r"[A-Za-z]+|\d+")


def tokens(text: str) -> set[str]:
    return set(WORD.findall(text))


@pytest.fixture(scope="module")
def desktop() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as desktop:
        yield desktop


def test_it_is_as_large_and_as_mixed_as_it_claims() -> None:
    by_difficulty = Counter(template.difficulty for template in CORE)
    assert by_difficulty[Difficulty.EASY] >= 60
    assert by_difficulty[Difficulty.MEDIUM] >= 50
    assert by_difficulty[Difficulty.HARD] >= 30
    assert sum(template.unseen for template in CORE) >= 20
    assert len({app for template in CORE for app in template.apps}) >= 8
    assert len({template.family for template in CORE}) >= 20


def test_ids_are_unique() -> None:
    assert max(Counter(template.id for template in CORE).values()) == 1


def test_the_word_lists_of_the_splits_share_nothing() -> None:
    training = {word.lower() for train, _ in POOLS.values() for word in train}
    assert not training & {word.lower() for word in HELDOUT}


@pytest.mark.parametrize("template", CORE, ids=lambda template: template.id)
def test_fixed_text_uses_no_word_that_tells_the_splits_apart(template: Template) -> None:
    for phrasing in template.instructions:
        fixed = tokens(re.sub(r"\{[^}]*\}", " ", phrasing))
        assert not {word for word in fixed if word in HELDOUT}


@pytest.mark.parametrize("template", CORE, ids=lambda template: template.id)
def test_no_heldout_instruction_can_come_from_a_training_seed(template: Template) -> None:
    """A held-out instruction shows something drawn from the held-out pools, which no training seed can draw."""
    fixed = {
        word for phrasing in template.instructions for word in tokens(re.sub(r"\{[^}]*\}", " ", phrasing))
    }
    training = {template.instance(seed, "train").instruction for seed in range(25)}
    for seed in range(25):
        heldout = template.instance(seed, "heldout").instruction
        assert heldout not in training
        shown = tokens(heldout) - fixed
        marks = {
            t for t in shown if t in HELDOUT or (t.isdigit() and int(t) >= 10 and is_heldout_number(int(t)))
        }
        assert marks, heldout
    for instruction in training:
        assert not tokens(instruction) & HELDOUT, instruction


@pytest.mark.parametrize("template", CORE, ids=lambda template: template.id)
def test_a_seed_always_makes_the_same_instance(template: Template) -> None:
    one, two = template.instance(7, "train"), template.instance(7, "train")
    assert one.instruction == two.instruction
    assert one.setup == two.setup
    assert one.success == two.success
    assert one.parameters == two.parameters
    assert len({template.instance(seed, "train").instruction for seed in range(10)}) > 1


@pytest.mark.x11
@pytest.mark.parametrize("template", CORE, ids=lambda template: template.id)
def test_the_oracle_solves_it_and_it_is_not_solved_before(
    template: Template, desktop: SandboxDesktop
) -> None:
    """One instance of each. Whether an oracle ever fails is for `operant tasks check`; a second try is allowed here."""
    task = template.instance(11, "train")
    for last_try in (False, True):
        desktop.reset()
        environment = TaskEnvironment(desktop, with_windows=False)
        environment.begin(task)
        assert not environment.verify(), "the criteria hold before anything was done"
        result = run_episode(make_agent("oracle"), environment, task, prepared=True)
        if result.success and Difficulty.of_steps(result.active_steps) is task.difficulty:
            return
        assert not last_try, (
            f"{task.instruction}: {result.outcome.value}, {result.active_steps} active steps: {result.why}"
        )


@pytest.mark.x11
@pytest.mark.parametrize(
    ("name", "seed"), [("core/windows-side-by-side-v1", 777), ("core/archives-delete-two-v1", 1005)]
)
def test_the_oracle_solves_instances_on_which_it_failed(
    name: str, seed: int, desktop: SandboxDesktop
) -> None:
    """Two windows that covered each other's title bars; two clicks that Xarchiver took for a double click."""
    task = next(template for template in CORE if template.id == name).instance(seed, "heldout")
    desktop.reset()
    environment = TaskEnvironment(desktop, with_windows=False)
    environment.begin(task)
    result = run_episode(make_agent("oracle"), environment, task, prepared=True)
    assert result.success, result.why
    assert result.steps <= 10
