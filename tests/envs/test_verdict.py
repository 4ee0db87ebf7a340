"""When an episode is judged: after programs that are still at work have come to rest."""

from __future__ import annotations

import time

import pytest

from operant.envs.task_environment import TaskEnvironment
from operant.tasks.criteria import FileExists
from operant.tasks.task import Task
from operant.testing import FakeDesktop
from operant.types import Action, Difficulty, Outcome, StepResult

TASK = Task("tests/late-v1", "Make a file", Difficulty.EASY, success=FileExists(path="made.txt"), max_steps=3)


class Late(FakeDesktop):
    """Programs are at work for a while, and make the file at their end."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def settle(self, still_ms: float = 0.0) -> StepResult:
        if self.looks > 0:
            self.looks -= 1
            time.sleep(0.1)  # at work
            if self.looks == 0:
                self.files.write("made.txt", "")
        return super().settle(still_ms)


@pytest.mark.parametrize("looks", [1, 4])
@pytest.mark.parametrize("actions", [[Action.done()], [Action.wait()] * 3], ids=["done", "cut off"])
def test_programs_that_are_at_work_are_waited_for(looks, actions):
    desktop = Late(looks + 1)  # the set-up settles once
    environment = TaskEnvironment(desktop)
    environment.begin(TASK)
    for action in actions:
        outcome = environment.step(action).outcome
    assert outcome is Outcome.SUCCESS


def test_a_desktop_at_rest_is_judged_once():
    asked = []

    class Counted(FileExists):
        def check(self, world):
            asked.append(1)
            return super().check(world)

    environment = TaskEnvironment(FakeDesktop())
    environment.begin(Task("tests/x-v1", "x", Difficulty.EASY, success=Counted(path="made.txt")))
    assert environment.step(Action.done()).outcome is Outcome.FAILURE
    assert len(asked) == 1


def test_work_without_end_is_not_waited_for_without_end():
    environment = TaskEnvironment(Late(10_000))
    environment.begin(TASK)
    began = time.monotonic()
    assert environment.step(Action.done()).outcome is Outcome.FAILURE
    assert time.monotonic() - began < 10
