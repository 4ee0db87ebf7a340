"""The launch suite: what it must contain, that its splits share no instruction, and that every oracle solves its task."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from operant.apps import chromium
from operant.apps.lxpanel import CALCULATOR, EDITOR, TERMINAL
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.episode import EpisodeResult
from operant.tasks.suites import load_suite
from operant.tasks.task import Task
from operant.tasks.template import Template
from operant.tasks.words import HELDOUT
from operant.types import Action, Outcome

Solved = Callable[[Task], EpisodeResult]
LAUNCH = load_suite("launch")


def template(name: str) -> Template:
    return next(one for one in LAUNCH if one.id == f"launch/{name}-v1")


def test_it_is_as_large_and_as_mixed_as_it_claims() -> None:
    assert len(LAUNCH) >= 20
    assert sum(template.unseen for template in LAUNCH) >= 5
    assert len({template.id for template in LAUNCH}) == len(LAUNCH)
    assert {template.profile for template in LAUNCH} == {"full"}
    ways = {"menu", "icon", "run dialog", "terminal", "context menu", "task bar", "close", "compute", "type"}
    assert ways <= {template.skill for template in LAUNCH}


@pytest.mark.parametrize("template", LAUNCH, ids=lambda template: template.id)
def test_the_splits_share_no_instruction(template: Template) -> None:
    shown = {
        split: {template.instance(seed, split).instruction for seed in range(60)}
        for split in ("train", "heldout")
    }
    assert not shown["train"] & shown["heldout"]
    assert len(shown["train"]) > 3 or template.unseen
    for phrasing in (*template.instructions, *template.heldout_instructions):
        words = set(re.findall(r"[A-Za-z]+", re.sub(r"\{[^}]*\}", " ", phrasing)))
        assert not words & HELDOUT


@pytest.mark.parametrize("template", LAUNCH, ids=lambda template: template.id)
def test_a_seed_always_makes_the_same_instance(template: Template) -> None:
    one, two = template.instance(7, "train"), template.instance(7, "train")
    assert (one.instruction, one.setup, one.success) == (two.instruction, two.setup, two.success)


@pytest.mark.x11
@pytest.mark.parametrize("template", LAUNCH, ids=lambda template: template.id)
def test_the_oracle_solves_it_and_it_is_not_solved_before(template: Template, solved: Solved) -> None:
    solved(template.instance(11, "heldout"))


def test_the_documents_first_requests_are_among_the_instructions() -> None:
    opening = template("open-calculator").instructions
    assert "Open the {program} application" in opening
    assert "Open calculator and compute {sum}" in template("compute-sum").instructions


# Cheats.


def played(desktop: SandboxDesktop, name: str, *commands: list[str], seed: int = 1) -> Outcome | None:
    """The outcome of running commands behind the agent's back and saying that it is done."""
    desktop.reset()
    environment = TaskEnvironment(desktop)
    environment.begin(template(name).instance(seed))
    for command in commands:
        desktop.launch(command)
    return environment.step(Action.done()).outcome


@pytest.mark.x11
def test_a_window_that_only_has_the_right_title_is_not_the_program(desktop: SandboxDesktop) -> None:
    fake = ["xterm", "-T", "Calculator", "-class", CALCULATOR.wm_class]
    assert played(desktop, "open-calculator", fake) is Outcome.FAILURE


@pytest.mark.x11
def test_opening_everything_is_not_opening_what_was_asked_for(desktop: SandboxDesktop) -> None:
    everything = [[one.command] for one in (CALCULATOR, EDITOR, TERMINAL)]
    assert played(desktop, "open-calculator", *everything) is Outcome.FAILURE
    assert played(desktop, "open-calculator", [CALCULATOR.command]) is Outcome.SUCCESS


@pytest.mark.x11
def test_a_result_that_stands_elsewhere_is_not_computed(desktop: SandboxDesktop) -> None:
    task = template("compute-sum").instance(1)
    result = str(task.parameters["a"] + task.parameters["b"])
    assert played(desktop, "compute-sum", [CALCULATOR.command], ["xterm", "-T", result]) is Outcome.FAILURE


@pytest.mark.x11
def test_a_minimised_program_is_not_open(desktop: SandboxDesktop) -> None:
    assert played(desktop, "restore-window") is Outcome.FAILURE


def test_the_browser_of_the_menu_starts_as_that_of_the_tasks_does() -> None:
    from importlib import resources

    entry = resources.files("operant.desktop.files") / "shell/.local/share/applications/chromium.desktop"
    (line,) = [line for line in entry.read_text().splitlines() if line.startswith("Exec=")]
    assert line.removeprefix("Exec=").split() == chromium.APP.argv("%U")
