"""The core suite: what it must contain, that its splits share nothing, and that every oracle solves its task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from operant.rollout.episode import EpisodeResult
from operant.tasks.draw import is_heldout_number
from operant.tasks.suites import load_suite
from operant.tasks.task import Task
from operant.tasks.template import Template
from operant.tasks.words import HELDOUT, POOLS
from operant.types import Difficulty

Solved = Callable[[Task], EpisodeResult]
CORE = load_suite("core")
WORD = re.compile(r"[A-Za-z]+|\d+")


def tokens(text: str) -> set[str]:
    return set(WORD.findall(text))


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
def test_the_oracle_solves_it_and_it_is_not_solved_before(template: Template, solved: Solved) -> None:
    """One instance of each; `operant tasks check` plays more."""
    solved(template.instance(11, "train"))


@pytest.mark.x11
@pytest.mark.parametrize(
    ("name", "seed"), [("core/windows-side-by-side-v1", 777), ("core/archives-delete-two-v1", 1005)]
)
def test_the_oracle_solves_instances_on_which_it_failed(name: str, seed: int, solved: Solved) -> None:
    """Two windows that covered each other's title bars; two clicks that Xarchiver took for a double click."""
    task = next(template for template in CORE if template.id == name).instance(seed, "heldout")
    assert solved(task).steps <= 10
