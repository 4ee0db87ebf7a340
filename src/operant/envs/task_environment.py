"""One task on one desktop, step by step: what every loop, environment and service stands on.

Takes canonical actions and gives typed outcomes. Knows the rules of an episode (who ends it, when it is cut
off, what counts as success) and nothing of rewards beyond 1 for success, of spaces, or of who the agent is.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from operant.calls.permission import check_allowed
from operant.desktop.frame_comparison import same_frame
from operant.envs.commands import call, is_command
from operant.errors import (
    ApplicationHung,
    DesktopError,
    DesktopTimeout,
    InvalidAction,
    OperantError,
    TaskError,
    VerifierError,
)
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.task import Task
from operant.types import (
    Action,
    ActionKind,
    ActionMode,
    ActionResult,
    Observation,
    Outcome,
    PastAction,
    Point,
    Transition,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from operant.desktop.protocol import Desktop

__all__ = ["TaskEnvironment", "typed_failures"]

LATE_S = 3.0  # how long programs that are at work at the end of an episode are waited for
AT_WORK_S = 0.05  # a desktop that settles sooner had nothing to do
TREE_S = 15.0  # a crowded machine may be slow


@contextlib.contextmanager
def typed_failures() -> Iterator[None]:
    """Unexpected errors while a desktop is used are the desktop's, and cost no more than an episode."""
    try:
        yield
    except (OperantError, OSError):
        raise
    except Exception as error:  # programs of the agent have a hand in everything that is read
        raise DesktopError(f"something unexpected: {type(error).__name__}: {error}") from error


class TaskEnvironment:
    """Begin a task on a desktop that is in its initial state, then step until the episode is over.

    An episode ends when the agent says so (done, fail, ask, answer) or at the task's step cap. Either way the
    criteria decide: a state that satisfies them at the end is a success, unless the agent declared failure, which
    is the one success where the task can't be done. A share that criteria give is the reward of what is no success. With
    ``still_ms``, what is shown has been still for so long. ``actions`` says what an agent may do; without it, task and
    desktop do. ``commands`` allows calls where the task does, and also those of ``operant.envs.commands``.
    """

    def __init__(
        self,
        desktop: Desktop,
        *,
        with_tree: bool = False,
        with_windows: bool = True,
        end_on_success: bool = False,
        still_ms: int = 0,
        actions: ActionMode | None = None,
        commands: bool = False,
    ) -> None:
        self.desktop = desktop
        self._actions = actions
        self.with_tree = with_tree
        self.with_windows = with_windows
        self.end_on_success = end_on_success
        self.still_ms = still_ms
        self.commands = commands and not getattr(desktop, "live", False)  # never on the user's own machine
        self.changed = False
        """Whether the frame after the last action differs from the one that was seen before it."""
        self._task: Task | None = None
        self._over = True
        self._step = 0
        self._last: Action | None = None
        self._history: tuple[PastAction, ...] = ()
        self._seen: Observation | None = None
        self._frame: npt.NDArray[np.uint8] | None = None
        self._keys: dict[str, None] = {}
        self._buttons: dict[str, None] = {}

    @property
    def task(self) -> Task:
        if self._task is None:
            raise TaskError("no task has begun", hint="call begin(task) first")
        return self._task

    @property
    def steps_left(self) -> int:
        return self.task.max_steps - self._step

    @typed_failures()
    def begin(self, task: Task, *, prepared: bool = False) -> Observation:
        """Set the task up (unless that was done already) and look."""
        if not prepared:
            task.begin(self.desktop)
        self._task, self._over, self._step, self._last = task, False, 0, None
        self._history, self._seen, self._frame, self.changed = (), None, None, False
        self._keys.clear()
        self._buttons.clear()
        return self._observe(self._still_frame())

    @typed_failures()
    def step(self, action: Action, *, more: bool = False) -> Transition:
        """Do it. What no desktop could perform is a recorded invalid action, not an error.

        ``more`` says that the agent's turn goes on if this succeeds: then only the screen is looked at.
        """
        if self._over:
            raise TaskError("the episode is over", hint="call begin(task) to start another")
        self._step += 1
        if action.kind.terminal:
            self._note(action, None)
            return self._end(action, terminated=True)
        said = ""
        try:
            calls = action.kind is ActionKind.CALL and self.commands
            if not calls or self.task.gui_only:
                check_allowed(action, self.actions, "this task" if self.task.gui_only else "this episode")
            if calls and is_command(action):
                said = call(self.desktop, action)
                self.desktop.settle()
                frame, error = self.desktop.frame(), None
            else:
                frame, error = self.desktop.perform(action), None
                said = self.desktop.last_step.text if action.kind is ActionKind.CALL else ""
            self._note_held(action)
        except (InvalidAction, ApplicationHung) as problem:
            frame, error = self.desktop.frame(), problem.message
        goes_on = more and error is None
        if self.still_ms and not goes_on and self._step < self.task.max_steps:
            frame = self._still_frame()
        self._note(action, frame)
        if self._step >= self.task.max_steps:
            return self._end(action, terminated=False, invalid=error)
        if self.end_on_success and (verdict := self.verify()):
            return self._finish(frame, Outcome.SUCCESS, verdict, terminated=True)
        seen = self._glance(frame) if goes_on else self._observe(frame, error)
        info = {"invalid": error} if error else {}
        if action.kind is ActionKind.CALL:
            seen = replace(
                seen, results=(ActionResult(action, error or "", text=said, pointer=seen.pointer),)
            )
            info |= {"result": said} if said else {}
        return Transition(seen, 0.0, False, False, info=info)

    @property
    def actions(self) -> ActionMode:
        """What an agent may do in this episode."""
        return self._actions or self.task.actions_on(self.desktop)

    @typed_failures()
    def look(self, *, more: bool = False) -> Observation:
        """The screen as it is when it has settled. No step is spent; ``more`` is as in ``step``."""
        if self._over:
            raise TaskError("the episode is over", hint="call begin(task) to start another")
        self.desktop.settle(self.still_ms)
        frame = self.desktop.frame()
        return self._glance(frame) if more else self._observe(frame)

    @typed_failures()
    def reject(self, why: str) -> Transition:
        """The agent gave something that is no action: a step is spent, nothing is done."""
        if self._over:
            raise TaskError("the episode is over", hint="call begin(task) to start another")
        self._step += 1
        self.changed = False
        frame = self._still_frame()
        if self._step >= self.task.max_steps:
            return self._end(None, terminated=False, invalid=why)
        return Transition(self._observe(frame, why), 0.0, False, False, info={"invalid": why})

    @typed_failures()
    def spend(self) -> Transition | None:
        """The agent took a step on a desktop of its own; how the episode ended if that was the last one."""
        if self._over:
            raise TaskError("the episode is over", hint="call begin(task) to start another")
        self._step += 1
        return None if self._step < self.task.max_steps else self._end(None, terminated=False)

    def confirm(self, check: str) -> str:
        """Why a safety check of a model must not be passed over here; empty in a sandbox, where nothing is at stake."""
        config = getattr(self.desktop, "config", None)
        outside = getattr(self.desktop, "live", False) or not getattr(config, "isolated", True)
        return "the desktop is no sandbox, and there is no one to ask" if outside else ""

    def verify(self, answer: str | None = None) -> Verdict:
        """Ask the criteria about the desktop as it is now."""
        try:
            return self.task.success.check(World(self.desktop, answer))
        except (VerifierError, DesktopError):
            raise  # a desktop that is gone says nothing about the task
        except Exception as error:  # what a criterion reads was made by programs of the agent
            why = error if isinstance(error, OperantError) else f"{type(error).__name__}: {error}"
            raise VerifierError(f"{self.task.id}: the criteria could not be evaluated: {why}") from error

    def _end(self, action: Action | None, *, terminated: bool, invalid: str | None = None) -> Transition:
        outcome, verdict = self._judge(action, terminated)
        return self._finish(self.desktop.frame(), outcome, verdict, terminated=terminated, invalid=invalid)

    def _judge(self, action: Action | None, terminated: bool) -> tuple[Outcome, Verdict]:
        outcome, verdict = self._verdict(action, terminated)
        if outcome is not Outcome.SUCCESS:
            self._blame_the_desktop()
        return outcome, verdict

    def _blame_the_desktop(self) -> None:
        """Raise if a part of it died meanwhile: without its window manager, say, no agent could have succeeded."""
        with contextlib.suppress(DesktopTimeout):  # a slow machine excuses no failure
            self.desktop.check()

    def _verdict(self, action: Action | None, terminated: bool) -> tuple[Outcome, Verdict]:
        if not self.task.checked:
            return Outcome.UNVERIFIED, Verdict(False, f"{_claim(action)}; there are no criteria to verify it")
        said_fail = action is not None and action.kind is ActionKind.FAIL
        if said_fail and not self.task.feasible:
            return Outcome.SUCCESS, Verdict(True, "the agent said that it can't be done, and it can't")
        if said_fail:
            return Outcome.FAILURE, Verdict(False, "the agent declared failure")
        if not self.task.feasible:
            ended = Outcome.FAILURE if terminated else Outcome.TRUNCATED
            return ended, Verdict(False, "it can't be done, and the agent did not say so")
        answer = action.text if action is not None and action.kind is ActionKind.ANSWER else None
        try:
            self.task.close(self.desktop)
            verdict = self._settled_verdict(answer)
        except VerifierError as error:
            return Outcome.VERIFIER_ERROR, Verdict(False, str(error))
        if verdict:
            return Outcome.SUCCESS, verdict
        return Outcome.FAILURE if terminated else Outcome.TRUNCATED, verdict

    def _settled_verdict(self, answer: str | None) -> Verdict:
        """A program that is still at work (one that has been opened and has no window yet) is waited for, briefly."""
        verdict = self.verify(answer)
        deadline = time.monotonic() + LATE_S
        while not verdict and (began := time.monotonic()) < deadline:
            self.desktop.settle()
            if time.monotonic() - began < AT_WORK_S:
                break
            verdict = self.verify(answer)
        return verdict

    def _finish(
        self,
        frame: npt.NDArray[np.uint8],
        outcome: Outcome,
        verdict: Verdict,
        *,
        terminated: bool,
        invalid: str | None = None,
    ) -> Transition:
        self._over = True
        reward = 1.0 if outcome is Outcome.SUCCESS else verdict.score or 0.0
        info = {"why": verdict.why, **({"invalid": invalid} if invalid else {})}
        return Transition(self._observe(frame, invalid), reward, terminated, not terminated, outcome, info)

    def _still_frame(self) -> npt.NDArray[np.uint8]:
        if self.still_ms:
            self.desktop.settle(self.still_ms)
        return self.desktop.frame()

    def _observe(self, frame: npt.NDArray[np.uint8], error: str | None = None) -> Observation:
        desktop, task = self.desktop, self.task
        x, y = desktop.pointer()
        self._seen = Observation(
            screen=frame,
            instruction=task.instruction,
            step=self._step,
            max_steps=task.max_steps,
            pointer=Point.from_pixel(x, y, desktop.size),
            last_action=self._last,
            history=self._history,
            held_keys=tuple(self._keys),
            held_buttons=tuple(self._buttons),
            windows=tuple(desktop.windows()) if self.with_windows else (),
            tree=desktop.accessibility(lines=True, timeout_s=TREE_S) if self.with_tree else None,
            error=error,
        )
        self._frame = frame
        return self._seen

    def _glance(self, frame: npt.NDArray[np.uint8]) -> Observation:
        """The screen without windows and widgets, which take time to fetch: between two actions of a turn."""
        self._frame = frame
        return Observation(
            screen=frame,
            instruction=self.task.instruction,
            step=self._step,
            max_steps=self.task.max_steps,
            pointer=Point.from_pixel(*self.desktop.pointer(), self.desktop.size),
            last_action=self._last,
            history=self._history,
            held_keys=tuple(self._keys),
            held_buttons=tuple(self._buttons),
        )

    def _note(self, action: Action, after: npt.NDArray[np.uint8] | None) -> None:
        """Remember what was done, to what, and whether anything came of it."""
        self._last = action
        seen, before = self._seen, self._frame
        self.changed = before is not None and after is not None and not same_frame(after, before)
        self._history += (
            PastAction(action, seen.aimed_at(action) if seen is not None else "", self.changed),
        )

    def _note_held(self, action: Action) -> None:
        """Keep track of what stays pressed between actions."""
        if action.kind is ActionKind.KEY_DOWN:
            self._keys.update(dict.fromkeys(action.keys))
        elif action.kind is ActionKind.KEY_UP:
            for key in action.keys:
                self._keys.pop(key, None)
        elif action.kind is ActionKind.MOUSE_DOWN:
            self._buttons[action.button.value] = None
        elif action.kind is ActionKind.MOUSE_UP:
            self._buttons.pop(action.button.value, None)


def _claim(action: Action | None) -> str:
    """What the agent's last action says about the task."""
    kind = None if action is None else action.kind
    if kind in (ActionKind.DONE, ActionKind.ANSWER):
        return "the agent says that it is done"
    if kind is ActionKind.FAIL:
        return "the agent says that it can't be done"
    return "the agent asks a question" if kind is ActionKind.ASK else "the agent ran out of steps"
