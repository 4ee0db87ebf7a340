"""One client's desktop and the episode on it. Knows tasks, steps and recordings, and nothing of the protocol.

The desktop starts with the first call that needs it. Everything that changes it is a step of the episode: actions as
they are, and what other tools do (start a program, write a file) as a ``call``. Calls may come from any thread; they
are done one after another.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from operant.actions.describe import describe
from operant.actions.frames import ANTHROPIC_OLDER, Frame
from operant.actions.json_actions import to_json
from operant.desktop.protocol import Desktop
from operant.envs.task_environment import TaskEnvironment
from operant.errors import (
    ApplicationHung,
    DesktopClosed,
    DesktopError,
    DesktopTimeout,
    InvalidAction,
    OperantError,
    TaskError,
)
from operant.mcp.offer import Offer
from operant.mcp.requests import current_request
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import state_of
from operant.rollout.store import EpisodeWriter
from operant.service.attempts.free import is_free
from operant.tasks.task import Task
from operant.types import Action, ActionKind, Outcome, Point, Transition

__all__ = ["DesktopSession"]

T = TypeVar("T")
STILL_MS = 300  # what a model is shown has been still for so long
JOURNAL_LINES = 10_000  # of the episode so far; older ones are dropped


class DesktopSession:
    """``name`` tells sessions apart in recordings; ``client`` says whose it is."""

    def __init__(self, offer: Offer, name: str = "session") -> None:
        self.offer = offer
        self.name = name
        self.client = "unknown"
        self.task = offer.first_task()
        self.closed = False
        self._lock = threading.RLock()
        self._desktop: Desktop | None = None
        self._doer: _Doer | None = None
        self._environment: TaskEnvironment | None = None
        self._writer: EpisodeWriter | None = None
        self._journal: list[dict[str, Any]] = []
        self._episodes = 0
        self._result: EpisodeResult | None = None
        self._begun = self._last = time.perf_counter()
        self._steps = self._invalid = self._waits = 0
        self._thinking_s = self._desktop_s = 0.0

    # Looking.

    @contextlib.contextmanager
    def using(self) -> Iterator[Desktop]:
        """The desktop, for one call at a time; it is started where that has not been done."""
        with self._lock:
            current_request().check()  # it may have waited for its turn
            if self.closed:
                raise DesktopClosed("this session has ended", hint="connect again")
            if self._desktop is None or self._desktop.closed:
                self._start()
            assert self._desktop is not None
            try:
                yield self._desktop
            except (DesktopTimeout, ApplicationHung):
                raise
            except DesktopError as error:
                self._discard()
                hint = "the desktop is gone; the next call starts a new one, and the task anew"
                raise DesktopError(error.message, hint=hint) from error

    @property
    def frame(self) -> Frame:
        """The screen, and the picture of it in whose pixels clients count."""
        size = self.offer.desktop.size
        return Frame(size, ANTHROPIC_OLDER.fit(size))

    def point(self, x: float, y: float) -> Point:
        """A pixel of the picture as a place on the screen."""
        return Point.from_pixel(x, y, self.frame.shown)

    def look(self) -> npt.NDArray[np.uint8]:
        """The settled screen. No step is spent."""
        with self.using() as desktop:
            desktop.settle(STILL_MS)
            return desktop.frame()

    def glance(self) -> npt.NDArray[np.uint8]:
        with self.using() as desktop:
            return desktop.frame()

    def journal(self) -> str:
        """The episode so far as JSON lines."""
        with self._lock:
            return "".join(json.dumps(line) + "\n" for line in self._journal)

    @property
    def result(self) -> EpisodeResult | None:
        """How the task ended; None while it goes on."""
        return self._result

    def progress(self) -> str:
        cap = "" if is_free(self.task) else f" of at most {self.task.max_steps}"
        return f"Step {self._steps}{cap}"

    # Doing.

    def act(self, action: Action) -> Transition:
        """Perform an action; one that can't be performed is a recorded step and an ``InvalidAction``."""
        with self.using():
            transition = self._step(action)
            if "invalid" in transition.info and not transition.over:
                raise InvalidAction(str(transition.info["invalid"]))
            return transition

    def call(
        self,
        function: str,
        arguments: dict[str, Any],
        do: Callable[[Desktop], T],
        end: Callable[[Desktop], None] | None = None,
    ) -> T:
        """Do something else to the desktop, as a step that is called ``function``. If it is cancelled, ``end`` ends it."""
        with self.using() as desktop, contextlib.ExitStack() as stack:
            assert self._doer is not None
            if end is not None:
                stack.enter_context(current_request().ended_by(partial(end, desktop)))
            self._doer.prepare(do)
            self._step(Action(ActionKind.CALL, function=function, kwargs=tuple(arguments.items())))
            return cast(T, self._doer.result())

    def submit(self, answer: str | None) -> EpisodeResult:
        """End the episode and ask the criteria."""
        if is_free(self.task):
            raise TaskError("no task has begun", hint="begin_task begins one")
        with self.using():
            said = Action(ActionKind.ANSWER, text=answer) if answer else Action.done()
            self._step(said)
            assert self._result is not None
            return self._result

    def restart(self, task: Task | None = None) -> None:
        """Begin this task, or the present one again, on a desktop that is as new."""
        with self._lock:
            self._leave()
            self.task = task or self.task
            running = self._desktop is not None and not self._desktop.closed
            with self.using() as desktop:
                if running:
                    desktop.reset(self.task.profile)
                    self._begin(desktop)

    def close(self) -> None:
        """Let go of the desktop. Closing twice does no harm."""
        self.closed = True
        # A call that is under way holds the lock: a closed desktop ends it.
        desktop = self._desktop
        if desktop is not None:
            desktop.close()
        with self._lock:
            self._leave()
            self._discard()  # one that was starting meanwhile

    # Inside.

    def _start(self) -> None:
        self._desktop = self.offer.factory(self.offer.desktop)
        self._begin(self._desktop)

    def _begin(self, desktop: Desktop) -> None:
        self._doer = _Doer(desktop)
        # Which tools a client has is the offer's business; what they do goes through the doer as calls.
        self._environment = TaskEnvironment(cast(Desktop, self._doer), still_ms=STILL_MS, actions="both")
        self._result, self._journal = None, []
        self._steps = self._invalid = self._waits = 0
        self._thinking_s = self._desktop_s = 0.0
        self._begun = time.perf_counter()
        try:
            observation = self._environment.begin(self.task, prepared=is_free(self.task))
        except BaseException:
            self._discard()
            raise
        if self.offer.record is not None:
            self._episodes += 1
            stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
            directory = self.offer.record / f"{stamp}-{self.name}-{self._episodes}"
            writer = EpisodeWriter(directory, {"agent": f"mcp:{self.client}"})
            writer.begin(self.task)
            writer.look(observation)
            self._writer = writer
        self._last = time.perf_counter()

    def _step(self, action: Action) -> Transition:
        environment = self._environment
        assert environment is not None
        if self._result is not None:
            raise TaskError(
                f"the episode is over: {self._result.outcome.value}", hint="reset begins the task again"
            )
        began = time.perf_counter()
        transition = environment.step(action)
        done = time.perf_counter()
        invalid = transition.info.get("invalid")
        self._steps += 1
        self._invalid += invalid is not None
        self._waits += action.kind is ActionKind.WAIT
        step = Step(
            self._steps,
            action,
            reward=float(transition.reward),
            done=transition.over,
            invalid=invalid,
            info=transition.info,
            agent_ms=(began - self._last) * 1000,
            desktop_ms=(done - began) * 1000,
            state=state_of(transition.observation),
            turn=self._steps,
        )
        self._thinking_s += began - self._last
        self._desktop_s += done - began
        self._note(step)
        if self._writer is not None:
            self._writer.step(step, transition.observation)
        if transition.over:
            outcome = transition.outcome or Outcome.FAILURE
            self._end(outcome, str(transition.info.get("why", "")), transition.reward)
        self._last = time.perf_counter()
        return transition

    def _note(self, step: Step) -> None:
        line = {
            "step": step.number,
            "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "did": describe(step.action, self.offer.desktop.size),
            "action": None if step.action is None else to_json(step.action),
            "error": step.invalid,
            "desktop_ms": round(step.desktop_ms, 1),
        }
        self._journal = [*self._journal[1 - JOURNAL_LINES :], line]

    def _end(self, outcome: Outcome, why: str, reward: float) -> None:
        self._result = EpisodeResult(
            self.task.id,
            outcome,
            why,
            float(reward),
            self._steps,
            self._invalid,
            self._waits,
            self._thinking_s,
            self._desktop_s,
            time.perf_counter() - self._begun,
        )
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.end(self._result)

    def _leave(self) -> None:
        """End the recording: a task that was not submitted is cut short, a session without a task just ends."""
        if self._writer is None:
            return
        if is_free(self.task) and self._steps:
            self._end(Outcome.UNVERIFIED, "a session without a task has no criteria", 0.0)
        else:
            self._writer.abandon()
            self._writer = None

    def _discard(self) -> None:
        desktop, self._desktop = self._desktop, None
        if self._writer is not None:
            self._writer.abandon()
            self._writer = None
        if desktop is not None:
            with contextlib.suppress(OperantError, OSError):
                desktop.close()


class _Doer:
    """A desktop on which a ``call`` does what a tool prepared, so that the environment takes it as a step."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._do: Callable[[Desktop], Any] | None = None
        self._result: Any = None
        self._error: OperantError | OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._desktop, name)

    def prepare(self, do: Callable[[Desktop], Any]) -> None:
        self._do, self._result, self._error = do, None, None

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._result

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        if action.kind is not ActionKind.CALL or self._do is None:
            return self._desktop.perform(action)
        do, self._do = self._do, None
        try:
            self._result = do(self._desktop)
        except DesktopError:
            raise
        except (OperantError, OSError) as error:
            self._error = error
            raise InvalidAction(str(getattr(error, "message", error))) from error
        self._desktop.settle()
        return self._desktop.frame()
