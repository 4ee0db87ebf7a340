"""An agent that does anything at random: the floor that every other one has to leave."""

from __future__ import annotations

import random
from collections.abc import Callable

from operant.agents.base import Agent, TaskView
from operant.types import Action, Button, Observation, Point

__all__ = ["RandomAgent"]

KEYS = (
    *(("enter",), ("tab",), ("esc",), ("backspace",), ("delete",), ("up",), ("down",), ("space",)),
    *(("ctrl", "s"), ("ctrl", "a"), ("ctrl", "c"), ("ctrl", "v"), ("ctrl", "z"), ("alt", "f4")),
)


class RandomAgent(Agent):
    """Clicks mostly, anywhere on the screen; types words of the instruction; seldom says that it is done."""

    def __init__(self) -> None:
        self._random = random.Random(0)
        self._words: list[str] = ["hello"]
        #: what it does -> how often, relative to the others
        self._choices: dict[Callable[[], Action], int] = {
            self._click: 50,
            self._press: 14,
            self._type: 14,
            self._scroll: 10,
            self._drag: 8,
            Action.wait: 2,
            Action.done: 2,
        }

    def begin(self, task: TaskView) -> None:
        self._random = random.Random(task.seed)
        self._words = task.instruction.split() or ["hello"]

    def act(self, observation: Observation) -> Action:
        (choice,) = self._random.choices(list(self._choices), list(self._choices.values()))
        return choice()

    def _point(self) -> Point:
        return Point(self._random.random(), self._random.random())

    def _click(self) -> Action:
        button = self._random.choices((Button.LEFT, Button.RIGHT), (9, 1))[0]
        return Action.click(self._point(), button=button, clicks=self._random.choices((1, 2), (8, 2))[0])

    def _press(self) -> Action:
        return Action.key(*self._random.choice(KEYS))

    def _type(self) -> Action:
        return Action.type(self._random.choice(self._words))

    def _scroll(self) -> Action:
        return Action.scroll(self._point(), dy=float(self._random.choice((-5, -2, 2, 5))))

    def _drag(self) -> Action:
        return Action.drag(self._point(), self._point())
