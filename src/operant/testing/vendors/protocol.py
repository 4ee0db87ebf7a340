"""What a vendor's protocol is to the server: a request in, a reply or an ``ApiProblem`` out.

One object serves one conversation, because servers remember: replies, call ids, signatures. Knows no HTTP.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from operant.errors import ActionNotExpressible
from operant.testing.vendors.minds import Mind
from operant.testing.vendors.problem import ApiProblem
from operant.testing.vendors.substitutes import UNSURE, spoken
from operant.types import Action, ActionKind

__all__ = ["INFEASIBLE", "ApiRequest", "VendorProtocol"]

#: What models are asked to write in a reply when a task cannot be done.
INFEASIBLE = "[INFEASIBLE]"


@dataclass(frozen=True)
class ApiRequest:
    """A request as it arrived, with header names in lower case."""

    path: str
    query: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    size: int
    """Bytes of the body."""


class VendorProtocol(ABC):
    """One conversation in one vendor's protocol, answered by a mind. Subclass it and write the hooks."""

    vendor: ClassVar[str]
    most_bytes: ClassVar[int]
    """Requests above this are refused with status 413."""
    base: ClassVar[str] = ""
    """What the vendor's SDK expects at the end of a base URL."""

    def __init__(self, mind: Mind, *, key: str, batches: bool = True) -> None:
        self.mind = mind
        self.key = key
        self.batches = batches
        self.differences: set[str] = set()
        """Where the dialect lacked an action, what was said instead."""
        self._count = 0
        # Of an action that takes several calls, in a dialect with one call a turn.
        self._unsaid: list[Any] = []

    @abstractmethod
    def check_key(self, headers: Mapping[str, str]) -> None:
        """Raise ``ApiProblem`` unless the request carries the right key."""

    @abstractmethod
    def answer(self, request: ApiRequest) -> dict[str, Any]:
        """The reply to a request; ``ApiProblem`` for one that breaks a rule."""

    @abstractmethod
    def problem(self, problem: ApiProblem) -> dict[str, Any]:
        """The body of an error."""

    @abstractmethod
    def look_up(self, path: str) -> dict[str, Any]:
        """What a GET request shows: models. ``ApiProblem`` for one that is not there."""

    def too_large(self) -> ApiProblem:
        """For a request of more than ``most_bytes``."""
        return ApiProblem(413, "request_too_large", "Request exceeds the maximum size")

    def begin(self, mind: Mind) -> None:
        """A new episode behind the same address."""
        self.mind = mind
        self.differences = set()
        self._unsaid = []

    # For subclasses.

    def number(self) -> int:
        """A number that was not given before, for ids."""
        self._count += 1
        return self._count

    def decide(self, render: Any, *, batches: bool = True) -> tuple[list[Any], Action | None]:
        """The calls of the next turn as payloads, or the action that ends the episode."""
        if self._unsaid:
            return [self._unsaid.pop(0)], None
        batches = batches and self.batches
        actions = self.mind.next(batches=batches)
        if actions[0].kind.terminal:
            return [], actions[0]
        payloads = [payload for one in actions for payload in self._spoken(one, render)]
        if not batches:
            payloads, self._unsaid = payloads[:1], payloads[1:]
        return payloads, None

    def _spoken(self, action: Action, render: Any) -> list[Any]:
        said: set[str] = set()
        try:
            payloads = spoken(action, render, said)
            other = self.mind.by_keys(action) if said & UNSURE else None
        except ActionNotExpressible:
            other = self.mind.by_keys(action)
            if other is None:
                raise
        if other is not None:
            said = {other.name}
            payloads = [payload for one in other.actions for payload in spoken(one, render, said)]
        self.differences |= said
        return payloads

    @staticmethod
    def last_words(action: Action) -> str:
        """How a model ends a task in plain text."""
        if action.kind is ActionKind.FAIL:
            return f"{INFEASIBLE} {action.text}".strip()
        return "The task is done." if action.kind is ActionKind.DONE else action.text
