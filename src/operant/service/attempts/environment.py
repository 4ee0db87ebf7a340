"""A task on a desktop that people may watch, share and take over."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from operant.envs.task_environment import TaskEnvironment
from operant.errors import NotApproved
from operant.rollout.loop import Stopped
from operant.service.attempts.free import is_free
from operant.service.masking import mask_action, mask_text
from operant.service.sessions.session import Session
from operant.tasks.task import Task
from operant.types import Action, Observation, Transition

__all__ = ["SharedEnvironment"]


class SharedEnvironment(TaskEnvironment):
    """Before each action it waits for its turn, asks for approval where that is needed, and tells those who watch."""

    def __init__(
        self,
        session: Session,
        cancelled: threading.Event,
        *,
        with_tree: bool = False,
        secrets: Sequence[str] = (),
        pace_s: float = 0.0,
        still_ms: int = 0,
        commands: bool = False,
    ) -> None:
        super().__init__(session.desktop, with_tree=with_tree, still_ms=still_ms, commands=commands)
        self._session = session
        self._cancelled = cancelled
        self._secrets = tuple(secrets)
        self._pace_s = pace_s

    def begin(self, task: Task, *, prepared: bool = False) -> Observation:
        with self._session.exclusive_access():
            if is_free(task):  # begins from whatever is there
                return super().begin(task, prepared=True)
            if not prepared:
                self.desktop.reset(task.profile)
            return super().begin(task, prepared=prepared)

    def step(self, action: Action, *, more: bool = False) -> Transition:
        session = self._session
        if self._pace_s:
            self._cancelled.wait(self._pace_s)
        self._wait_for_turn()
        told = mask_action(action, self._secrets)
        if not action.kind.terminal:
            try:
                session.approve(told)
            except NotApproved as error:
                return self.reject(error.message)
        session.announce(told, "agent")
        with session.exclusive_access():
            transition = super().step(action, more=more)
            session.keep(transition.observation.screen)
            return transition

    def look(self, *, more: bool = False) -> Observation:
        self._wait_for_turn()
        with self._session.exclusive_access():
            observation = super().look(more=more)
            self._session.keep(observation.screen)
            return observation

    def confirm(self, check: str) -> str:
        if not (self._session.live or super().confirm(check)):
            return ""
        self._wait_for_turn()
        try:
            self._session.confirm(mask_text(check, self._secrets))
        except NotApproved as error:
            return error.message
        return ""

    def _wait_for_turn(self) -> None:
        self._session.wait_for_turn(self._cancelled)
        if self._cancelled.is_set():
            raise Stopped
