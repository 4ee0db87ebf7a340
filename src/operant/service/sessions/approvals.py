"""Actions on the user's own screen, each held until a person has said yes or no."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass, field

from operant.errors import NotApproved, UnknownAttempt

__all__ = ["Approvals", "Pending"]


@dataclass
class Pending:
    """An action that waits."""

    id: str
    description: str
    asked_at: float = field(default_factory=time.time)
    approved: bool | None = None
    answered: threading.Event = field(default_factory=threading.Event)


class Approvals:
    """``require`` blocks the thread that wants to act; ``answer`` is called with the decision."""

    def __init__(self, timeout_s: float, *, automatic: bool = False) -> None:
        self.timeout_s = timeout_s
        self.automatic = automatic
        self._lock = threading.Lock()
        self._pending: dict[str, Pending] = {}

    def confirm(self, check: str) -> None:
        """As ``require`` for a model's safety check: a person is asked even where actions are approved automatically."""
        self._ask(check, "answer in the dashboard")

    def require(self, description: str) -> None:
        """Return when the action may be done; ``NotApproved`` if it may not."""
        if not self.automatic:
            self._ask(description, "approve in the dashboard, or start with --auto-approve")

    def _ask(self, description: str, hint: str) -> None:
        pending = Pending(uuid.uuid4().hex[:12], description)
        with self._lock:
            self._pending[pending.id] = pending
        try:
            if not pending.answered.wait(self.timeout_s):
                raise NotApproved(
                    f"not approved within {self.timeout_s:g} s: {description}",
                    hint=hint,
                )
        finally:
            with self._lock:
                self._pending.pop(pending.id, None)
        if not pending.approved:
            raise NotApproved(f"declined: {description}")

    def answer(self, identity: str, approve: bool) -> Pending:
        with self._lock:
            pending = self._pending.get(identity)
        if pending is None:
            raise UnknownAttempt(f"no action {identity[:40]!r} waits for approval")
        pending.approved = approve
        pending.answered.set()
        return pending

    def pending(self) -> list[Pending]:
        with self._lock:
            return sorted(self._pending.values(), key=lambda one: one.asked_at)
