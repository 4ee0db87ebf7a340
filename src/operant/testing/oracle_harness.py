"""What every task should pass: its oracle solves it, doing nothing does not, and saying "done" does not.

Run it on your own tasks in a unit test (``assert check_task(task, desktop)``), on the fake desktop or on a
real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from operant.agents.base import Agent, PrivilegedAgent
from operant.apps.view import View
from operant.envs.task_environment import TaskEnvironment
from operant.errors import OperantError, TaskError
from operant.rollout.episode import EpisodeResult
from operant.rollout.player import Desktops, EpisodePlayer, Job, Lent
from operant.tasks.task import Task
from operant.types import Action, Difficulty, Observation, Outcome

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

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


class _Choosing(PrivilegedAgent):
    """Plays what a function chooses, and notes it."""

    def __init__(self, choose: Callable[[View], Action]) -> None:
        self.actions: list[Action] = []
        self._choose = choose
        self._desktop: Desktop

    def attach(self, desktop: Desktop, task: Task) -> None:
        self._desktop = desktop

    def act(self, observation: Observation) -> Action:
        self.actions.append(self._choose(View(self._desktop, self.actions[-1] if self.actions else None)))
        return self.actions[-1]


class _OneDesktop(Desktops[Job]):
    """Lends the same desktop for every episode, reset before each."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop

    @contextmanager
    def lend(self, job: Job, agent: Agent) -> Iterator[Lent]:
        self._desktop.reset()
        yield Lent(TaskEnvironment(self._desktop))


def play(
    task: Task, desktop: Desktop, choose: Callable[[View], Action]
) -> tuple[EpisodeResult, list[Action]]:
    """One episode on a fresh state of that desktop; returns how it ended and what was done."""
    agent = _Choosing(choose)
    player = EpisodePlayer(_OneDesktop(desktop), lambda job: agent)
    played = player.play(Job(task, task.seed or 0))
    if played.error is not None:
        raise played.error
    return played.result, agent.actions


def check_task(task: Task, desktop: Desktop) -> TaskCheck:
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
                f"the oracle ended in {ended.outcome.value} after {steps} steps ({done}): {ended.why}"
            )
        elif (found := Difficulty.of_steps(steps)) is not task.difficulty:
            problems.append(
                f"it says {task.difficulty.value}, but the oracle's {steps} steps are {found.value}"
            )
        for name, action in (("doing nothing", Action.wait()), ('saying "done" at once', Action.done())):
            ended, _ = play(task, desktop, lambda _view, action=action: action)  # type: ignore[misc]
            if ended.outcome not in (Outcome.FAILURE, Outcome.TRUNCATED):
                problems.append(f"{name} ended in {ended.outcome.value}: {ended.why}")
    except OperantError as error:
        problems.append(f"{type(error).__name__}: {error.message}")
    return TaskCheck(task, steps, tuple(problems))
