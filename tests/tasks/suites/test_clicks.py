"""The suite of single clicks: two windows that never overlap, splits that share no instruction, oracles that solve it."""

from __future__ import annotations

import pytest

from operant.agents.registry import make_agent
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.loop import run_episode
from operant.tasks.draw import Draw
from operant.tasks.suites import load_suite
from operant.tasks.template import Template
from operant.types import Outcome

CLICKS = load_suite("clicks")


@pytest.mark.parametrize("template", CLICKS, ids=lambda template: template.id)
def test_the_splits_share_no_instruction(template: Template) -> None:
    shown = {
        split: {template.instance(seed, split).instruction for seed in range(200)}
        for split in ("train", "heldout")
    }
    assert not shown["train"] & shown["heldout"]
    assert len(shown["train"]) < 60  # few enough that a number tells nothing about where a window stands


@pytest.mark.parametrize("template", CLICKS, ids=lambda template: template.id)
def test_windows_are_on_the_screen_and_apart(template: Template) -> None:
    lefts = set()
    for seed in range(200):
        places = template.parameters(Draw(template.id, "train", seed))["places"]
        (left, one), (_, other) = sorted(places.items(), key=lambda item: item[1][0])
        lefts.add(left)
        assert one[0] >= 0 and one[0] + one[2] <= other[0] and other[0] + other[2] <= 1280  # noqa: PT018
        assert all(y >= 20 and y + height <= 800 for _, y, _, height in places.values())
    assert lefts == {"Galculator", "XTerm"}


@pytest.mark.x11
def test_oracles_solve_it_in_one_click_and_doing_nothing_does_not() -> None:
    with SandboxDesktop() as desktop:
        for template in CLICKS:
            for agent, outcome in (("oracle", Outcome.SUCCESS), ("done", Outcome.FAILURE)):
                desktop.reset()
                result = run_episode(
                    make_agent(agent), TaskEnvironment(desktop), template.instance(3, "heldout")
                )
                assert result.outcome is outcome, result.why
                assert result.steps == (2 if agent == "oracle" else 1)
