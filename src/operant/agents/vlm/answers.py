"""What a model says, as actions, and actions in the words that it should use.

A dialect (``operant.actions.registry``) says how an action is written; the model's family says in what its
coordinates are counted, unless the dialect does. Malformed answers raise ``ActionParseError``; what becomes of
them is the agent's business.
"""

from __future__ import annotations

from dataclasses import dataclass

from operant.actions.coordinates import Units
from operant.actions.registry import dialect
from operant.config.vlm import AnswerFormat
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, ActionMode, Size

__all__ = ["Answers", "can_call", "explanation"]

_EXAMPLE = Action.call("files.rename", {"path": "a.txt", "name": "b.txt"})
_CALLS = {
    "both": "Another way to act is to call a function of those that are listed, such as: {}",
    "api": "Call functions of those that are listed and nothing else, such as: {}",
}


@dataclass(frozen=True)
class Answers:
    """One dialect in one family's units, for pictures of one size."""

    format: AnswerFormat
    units: Units
    shown: Size
    """The size of the picture that the model sees: its pixels are the ones that it counts."""

    def parse(self, text: str) -> list[Action]:
        """The actions of an answer; at least one."""
        found = dialect(self.format).parse(text, self.shown, self.units)
        if not found:
            raise ActionParseError("the answer holds no action", offending=text[:80])
        return found

    def render(self, action: Action) -> str:
        """The action as the model should say it: for demonstrations and for the history."""
        return str(dialect(self.format).render(action, self.shown, self.units))


def can_call(format: AnswerFormat) -> bool:
    """Whether the format has words for a call of a function with its arguments."""
    return "kwargs" in dialect(format).carries.get(ActionKind.CALL, "")


def explanation(format: AnswerFormat, units: Units, actions: ActionMode = "gui") -> str:
    """How to answer, for the model."""
    told = dialect(format).prompt(family=units, sees="picture")
    if actions == "gui" or not can_call(format):
        return told
    return f"{told} {_CALLS[actions].format(Answers(format, units, Size(1, 1)).render(_EXAMPLE))}"
