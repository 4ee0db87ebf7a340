"""The check that every task should pass, and that it notices what is wrong with a task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from operant.apps.moves import Milestones
from operant.apps.view import View
from operant.errors import TaskError
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.template import Template
from operant.testing import FAKE_TEMPLATES, FakeDesktop, check_task
from operant.testing.fake_tasks import PressButton
from operant.types import Action, Difficulty


class Always(Criterion):
    def check(self, world: World) -> Verdict:
        return Verdict(True, "as you like")


class Hasty:
    def act(self, view: View) -> Action:
        return Action.done()


@pytest.mark.parametrize("template", FAKE_TEMPLATES, ids=lambda template: template.id)
@pytest.mark.parametrize("split", ["train", "heldout"])
def test_the_fake_tasks_pass(template: Template, split: str) -> None:
    desktop = FakeDesktop()
    for seed in range(5):
        found = check_task(template.instance(seed, split), desktop)
        assert found, str(found)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"success": Always()}, 'saying "done" at once ended in success'),
        ({"oracle": Hasty()}, "the oracle ended in failure after 1 steps"),
        ({"oracle": Milestones([])}, "the oracle ended in failure"),
        ({"difficulty": Difficulty.HARD}, "it says HARD, but the oracle's 2 steps are EASY"),
        ({"setup": ()}, "did not find the widget"),
    ],
    ids=["free", "no oracle at all", "lost oracle", "difficulty", "no set-up"],
)
def test_it_says_what_is_wrong(change: dict[str, object], complaint: str) -> None:
    found = check_task(replace(PressButton().instance(1), **change), FakeDesktop())  # type: ignore[arg-type]
    assert not found
    assert complaint in str(found)


def test_a_task_without_an_oracle_can_not_be_checked() -> None:
    with pytest.raises(TaskError, match="no oracle"):
        check_task(replace(PressButton().instance(1), oracle=None), FakeDesktop())
