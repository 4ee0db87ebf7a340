"""What every task should pass: its oracle solves it, doing nothing does not, and saying "done" does not.

Run it on your own tasks in a unit test (``assert check_task(task, desktop)``), on the fake desktop or on a
real one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from operant.apps.view import View
from operant.envs.task_environment import TaskEnvironment
from operant.errors import OperantError, TaskError
from operant.tasks.task import Task
from operant.types import Action, Difficulty, Outcome, Transition

if TYPE_CHECKING:
    from operant.desktop.sandbox import SandboxDesktop
    from operant.testing.fake_desktop import FakeDesktop

__all__ = ["TaskCheck", "check_task", "play"]


@dataclass(frozen=True)
class TaskCheck:
    """How a task took its check; true if there is nothing to complain about."""

    task: Task
    steps: int
    """Actions that the oracle took, the last one (done) included."""
    problems: tuple[str, ...] = field(default=())

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        return f"{self.task.id}: " + ("; ".join(self.problems) or f"solved in {self.steps} steps")


def play(
    task: Task, desktop: SandboxDesktop | FakeDesktop, choose: Callable[[View], Action]
) -> tuple[Transition, list[Action]]:
    """One episode on a fresh state of that desktop; returns how it ended and what was done."""
    desktop.reset()
    environment = TaskEnvironment(desktop)  # type: ignore[arg-type]
    environment.begin(task)
    actions: list[Action] = []
    while True:
        actions.append(choose(View(desktop, actions[-1] if actions else None)))  # type: ignore[arg-type]
        transition = environment.step(actions[-1])
        if transition.over:
            return transition, actions


def check_task(task: Task, desktop: SandboxDesktop | FakeDesktop) -> TaskCheck:
    """Play the oracle, the agent that only waits and the one that says "done" at once."""
    if task.oracle is None:
        raise TaskError(f"{task.id} has no oracle to check it with")
    problems: list[str] = []
    steps = 0
    try:
        ended, actions = play(task, desktop, task.oracle.act)
        steps = len(actions)
        if ended.outcome is not Outcome.SUCCESS:
            done = ", ".join(action.kind.value for action in actions[-5:])
            problems.append(
                f"the oracle ended in {_name(ended)} after {steps} steps ({done}): {ended.info.get('why')}"
            )
        elif (found := Difficulty.of_steps(steps)) is not task.difficulty:
            problems.append(
                f"it says {task.difficulty.value}, but the oracle's {steps} steps are {found.value}"
            )
        for name, action in (("doing nothing", Action.wait()), ('saying "done" at once', Action.done())):
            ended, _ = play(task, desktop, lambda _view, action=action: action)  # type: ignore[misc]
            if ended.outcome not in (Outcome.FAILURE, Outcome.TRUNCATED):
                problems.append(f"{name} ended in {_name(ended)}: {ended.info.get('why')}")
    except OperantError as error:
        problems.append(f"{type(error).__name__}: {error.message}")
    return TaskCheck(task, steps, tuple(problems))


def _name(transition: Transition) -> str:
    return transition.outcome.value if transition.outcome else "nothing"
