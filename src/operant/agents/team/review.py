"""What a reviewer's turn means: accepted, sent back with a reason, or no verdict yet.

A reviewer is any agent. ``done`` accepts, ``fail`` sends back, an answer begins with accept or reject. Looking and
waiting give no verdict. Any other action means that something is left to do: so a task's oracle, or an agent that
knows only tasks, can review too. A reviewer never touches the desktop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from operant.agents.base import Decision
from operant.types import Action, ActionKind

__all__ = ["Review", "read_review", "review_question"]

WORD = re.compile(r"\W*(accept|reject)\w*\W*", re.IGNORECASE)
LOOKS = (ActionKind.SCREENSHOT, ActionKind.WAIT)


@dataclass(frozen=True, slots=True)
class Review:
    """A verdict and its reason."""

    accepted: bool
    reason: str = ""


def review_question(instruction: str, claim: str) -> str:
    said = f" and said: {claim}" if claim else ""
    return (
        "Look at the screen and decide whether this was done. Do not do anything yourself. A member of the team says "
        f"that it is done{said}. Answer `accept`, or `reject: ` and what is wrong or missing.\nWhat had to be done: "
        f"{instruction}"
    )


def read_review(decision: Decision) -> Review | None:
    """The verdict; None if there is none yet."""
    action = decision.actions[0] if decision.actions else None
    if decision.end or not isinstance(action, Action) or action.kind in LOOKS:
        return None
    if action.kind is ActionKind.DONE:
        return Review(True, decision.response)
    if action.kind in (ActionKind.ANSWER, ActionKind.FAIL, ActionKind.ASK):
        found = WORD.match(action.text)
        if found is None:
            return None if action.kind is ActionKind.ANSWER else Review(False, action.text)
        return Review(
            action.kind is ActionKind.ANSWER and found.group(1).lower() == "accept",
            action.text[found.end() :],
        )
    return Review(False, f"something is left to do: {_words(action)}")


def _words(action: Action) -> str:
    what = "+".join(action.keys) or action.text[:40] or action.function
    return f"{action.kind.value} {what}".strip()
