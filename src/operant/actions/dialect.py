"""What a dialect is: how one family of models writes actions, sees the screen and is told about both.

A dialect is a format (``base.Format``) that also knows the picture that its models are shown, what their
coordinates count, what to tell them, and how they say that a task is over. Each is declared in its own module
and listed in ``operant.actions.registry``. Not known: requests, replies and conversations around an action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from operant.actions.base import Payload
from operant.actions.coordinates import Grid, Units
from operant.actions.frames import UNLIMITED, Frame, Limits
from operant.actions.thinking import INFEASIBLE
from operant.types import Action, ActionKind, Size

__all__ = ["Dialect", "Way"]

#: How calls travel: the vendor's own computer tool, function tools that a request declares, or plain text.
Way = Literal["tool", "functions", "text"]

_COUNTED: Mapping[Units, str] = {
    Units.PIXELS: "Coordinates are pixels of the last picture, from the top left.",
    Units.THOUSANDTHS: "Coordinates go from 0 to 1000 across the width and down the height of the screen.",
    Units.UP_TO_999: "Coordinates go from 0 to 999 across the width and down the height of the screen.",
    Units.FRACTIONS: "Coordinates go from 0 to 1 across the width and down the height of the screen.",
}
_SIZED = "Coordinates are pixels of the last picture, from the top left; it is {} wide and {} high."
_SEES = {
    "picture": "You operate a computer. You are shown its screen and do the next step of the task.",
    "tree": "You operate a computer. You are given the widgets on its screen and do the next step of the task.",
}
_OVER = f"When the task is done, answer in plain text without a call. If it can't be done, say why and write {INFEASIBLE}."


def _no_tools(shown: Size) -> list[dict[str, Any]]:
    return []


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One dialect. Its pixels are those of ``shown``, the picture that the model saw (``frame(screen).shown``)."""

    title: str
    """The models that speak it, for tables."""
    way: Way
    carries: Mapping[ActionKind, str]
    """The kinds of action that it has and their fields, as in ``base.check_carried``."""
    reader: Callable[[object, Any], list[Action]]
    """(payload, grid) -> actions."""
    writer: Callable[[Action, Any], Payload]
    """(action, grid) -> payload."""
    units: tuple[Units, ...] = (Units.PIXELS,)
    """What it may count in. The first one, unless a model's family counts in another one of them."""
    limits: Limits = UNLIMITED
    sees: Literal["picture", "tree"] = "picture"
    wording: str = ""
    """How to answer, for dialects whose models are told so in the prompt."""
    declares: Callable[[Size], list[dict[str, Any]]] = _no_tools
    """The entries of a request's ``tools`` for a model that is shown pictures of this size."""
    ends: Mapping[ActionKind, str] = field(default_factory=dict)
    """How it says that the task is over. Without any: by a reply that holds no call."""
    lacks: tuple[str, ...] = ()
    """What people would expect and it can't say, for tables."""
    stop: tuple[str, ...] = ()
    """Strings at which generation should end."""

    def frame(self, screen: Size) -> Frame:
        """The screen and the picture of it that the model is shown."""
        return Frame(screen, self.limits.fit(screen))

    def counts(self, family: Units | None = None) -> Units:
        """What the coordinates count, for a model whose family counts in these units."""
        if family is None or family in self.units:
            return family or self.units[0]
        relative = Units.THOUSANDTHS in self.units and family is not Units.PIXELS
        return Units.THOUSANDTHS if relative else self.units[0]

    def grid(self, shown: Size, family: Units | None = None) -> Grid:
        return self.counts(family).grid(shown)

    def parse(self, payload: object, screen: Size, family: Units | None = None) -> list[Action]:
        """The actions that a reply asks for; ``ActionParseError`` for anything else."""
        return self.reader(payload, self.grid(screen, family))

    def render(self, action: Action, screen: Size, family: Units | None = None) -> Payload:
        """The action as the model would say it; ``ActionNotExpressible`` where it has no words for it."""
        return self.writer(action, self.grid(screen, family))

    def tools(self, shown: Size) -> list[dict[str, Any]]:
        """What a request declares; empty for dialects in plain text."""
        return self.declares(shown)

    def prompt(
        self,
        shown: Size | None = None,
        family: Units | None = None,
        *,
        sees: Literal["picture", "tree"] | None = None,
    ) -> str:
        """What the model is told before the task: the actions, what coordinates count, and how to end."""
        units = self.counts(family)
        sized = units is Units.PIXELS and shown is not None
        counted = _SIZED.format(*shown) if sized and shown else _COUNTED[units]
        return " ".join(
            part for part in (_SEES[sees or self.sees], self.wording, counted, self._over()) if part
        )

    def _over(self) -> str:
        return "" if self.ends else _OVER
