"""What agents may call: answers that they can read, and clear words for what can't be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from operant.envs.commands import COMMANDS, call, explanation
from operant.envs.task_environment import TaskEnvironment
from operant.errors import DesktopDied, InvalidAction
from operant.testing.fake_desktop import FakeDesktop
from operant.testing.fake_tasks import FillField
from operant.types import Action, ActionKind

TASK = FillField().instance(0, "train")


def said(function: str, *args: object, **kwargs: object) -> Action:
    return Action(ActionKind.CALL, function=function, args=args, kwargs=tuple(kwargs.items()))


def test_files_and_commands() -> None:
    desktop = FakeDesktop()
    assert call(desktop, said("write_file", "notes/a.txt", "hello")) == "wrote 5 characters"
    assert call(desktop, said("read_file", path="notes/a.txt")) == "hello"
    assert call(desktop, said("run", "cat notes/a.txt")) == "exit code 0\nhello"
    assert call(desktop, said("run", "false")).startswith("exit code 1")
    assert all(name in explanation() for name in COMMANDS)


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (said("rum", "ls"), "did you mean 'run'?"),
        (said("os.system", "ls"), "functions: run, read_file, write_file"),
        (said("run"), "command"),
        (said("run", "ls", comand="x"), "did you mean 'command'?"),
        (said("run", "ls", 1, 2), "at most 2 arguments"),
        (said("run", "ls", timeout_s=1e9), "timeout_s"),
        (said("run", 7), "command"),
        (said("run", "x" * 30_000), "command"),
        (said("read_file", "nowhere"), "no such file"),
        (said("read_file", "a\0b"), "is not a path"),
        (said("write_file", "a"), "text"),
    ],
)
def test_mistakes_are_told(action: Action, told: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        call(FakeDesktop(), action)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_desktop_that_is_gone_is_no_mistake_of_the_agent() -> None:
    desktop = FakeDesktop()
    desktop.break_with(DesktopDied("gone"))
    with pytest.raises(DesktopDied):
        call(desktop, said("run", "ls"))


def test_an_environment_performs_calls_only_if_told_so() -> None:
    plain = TaskEnvironment(FakeDesktop())
    plain.begin(TASK)
    assert "invalid" in plain.step(said("run", "ls")).info
    programs = TaskEnvironment(FakeDesktop(), commands=True)
    programs.begin(TASK)
    done = programs.step(said("run", "echo hi"))
    assert done.info == {"result": "exit code 0\nhi"}
    assert done.observation.step == 1
    assert "did you mean" in programs.step(said("rum", "ls")).info["invalid"]


def test_functions_of_applications_can_be_called_too_but_not_in_a_task_about_the_screen() -> None:
    desktop = FakeDesktop()
    desktop.answers["files.read"] = "hello"
    environment = TaskEnvironment(desktop, commands=True)
    environment.begin(TASK)
    assert environment.step(said("files.read", path="a.txt")).info == {"result": "hello"}
    assert "files.read" in explanation()
    environment.begin(replace(TASK, gui_only=True))
    for action in (said("files.read", path="a.txt"), said("run", "ls")):
        assert "pointer and keyboard" in environment.step(action).info["invalid"]


def test_nothing_is_called_on_the_users_own_machine() -> None:
    desktop = FakeDesktop()
    desktop.live = True  # type: ignore[attr-defined]
    assert not TaskEnvironment(desktop, commands=True).commands


def test_a_step_that_is_spent_elsewhere_counts() -> None:
    environment = TaskEnvironment(FakeDesktop())
    environment.begin(TASK)
    left = environment.steps_left
    for _ in range(left - 1):
        assert environment.spend() is None
    ended = environment.spend()
    assert ended is not None
    assert ended.truncated
