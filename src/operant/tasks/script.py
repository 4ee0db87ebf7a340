"""Oracles that a task file writes down step by step: click this, type that, press those keys."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from operant.actions.keys import parse_chord
from operant.config.base import Config
from operant.errors import InvalidAction, TaskError
from operant.tasks.criteria.base import Criterion, World
from operant.tasks.criteria.parse import build, nearest, parse_criterion
from operant.types import Action, ActionKind, Button, Node

if TYPE_CHECKING:
    from operant.apps.view import View
    from operant.desktop.protocol import Desktop

__all__ = ["Script", "ScriptStep", "WidgetSelector", "parse_script"]

MAX_STEPS = 500


class WidgetSelector(Config):
    """A widget to click, found anew each time."""

    role: str | None = None
    """What it is, such as push button."""
    name: str | None = None
    """Its name."""
    text: str | None = None
    """Its text."""
    app: str | None = None
    """The application that it belongs to; the focused window if not said."""
    button: Button = Button.LEFT
    """Which button of the pointer."""
    clicks: int = Field(1, ge=1, le=3)
    """How often."""

    @model_validator(mode="after")
    def _names_something(self) -> WidgetSelector:
        if self.role is None and self.name is None and self.text is None:
            raise TaskError("a widget is needed: its role, its name or its text")
        return self

    def find(self, view: View) -> Node | None:
        for node in view.widgets(self.role, text=self.text, app=self.app):
            if self.name is None or node.name.strip() == self.name:
                return node
        return None


@dataclass(frozen=True)
class ScriptStep:
    """One action, a widget to click, or what to do by what is seen, and when it is no longer needed."""

    does: Action | WidgetSelector | Callable[[View], Action | None]
    """A function answers None as long as what it needs is not there yet."""
    until: Criterion | None = None


@dataclass(frozen=True)
class Script:
    """An oracle that does its steps in order; one with ``until`` is repeated until that holds, or left out.

    It waits for what is not there yet. Where it is in the script is remembered for each desktop, and
    forgotten when an episode begins.
    """

    steps: Sequence[ScriptStep]
    _places: weakref.WeakKeyDictionary[Desktop, int] = field(
        default_factory=weakref.WeakKeyDictionary, compare=False, repr=False
    )

    def act(self, view: View) -> Action:
        place = 0 if view.last is None else self._places.get(view.desktop, 0)
        while place < len(self.steps) and self._is_done(self.steps[place], view):
            place += 1
        self._places[view.desktop] = place
        if place == len(self.steps):
            return Action.done()
        step = self.steps[place]
        action = self._action(step, view)
        if action is None:
            return Action.wait()
        if step.until is None:
            self._places[view.desktop] = place + 1
        return action

    def _is_done(self, step: ScriptStep, view: View) -> bool:
        return step.until is not None and step.until.check(World(view.desktop)).holds

    def _action(self, step: ScriptStep, view: View) -> Action | None:
        if isinstance(step.does, Action):
            return step.does
        if not isinstance(step.does, WidgetSelector):
            return step.does(view)
        node = step.does.find(view)
        return None if node is None else view.click(node, button=step.does.button, clicks=step.does.clicks)


def parse_script(data: object, where: str) -> Script:
    """The oracle that a list of steps describes."""
    if not isinstance(data, list) or not 0 < len(data) <= MAX_STEPS:
        raise TaskError(f"{where}: a list of steps is needed, at most {MAX_STEPS}")
    return Script([_step(item, f"{where}[{index}]") for index, item in enumerate(data)])


def _step(data: object, where: str) -> ScriptStep:
    if not isinstance(data, Mapping):
        raise TaskError(f"{where}: {data!r} is not a step", hint="write it like {click: {name: OK}}")
    ways: dict[str, Callable[[Any, str], Action | WidgetSelector]] = {
        "click": _click,
        "type": _type,
        "key": _key,
        "wait": _wait,
        "answer": _answer,
    }
    unknown = next((key for key in data if key not in ways and key != "until"), None)
    if unknown is not None:
        raise TaskError(
            f"{where}.{unknown}: {unknown!r} is not a step", hint=nearest(unknown, [*ways, "until"])
        )
    chosen = [key for key in data if key != "until"]
    if len(chosen) != 1:
        raise TaskError(f"{where}: a step does one thing", hint=nearest("", ways))
    key = chosen[0]
    try:
        does = ways[key](data[key], f"{where}.{key}")
    except InvalidAction as error:
        raise TaskError(f"{where}.{key}: {error.message}", hint=error.hint) from error
    until = parse_criterion(data["until"], f"{where}.until") if "until" in data else None
    return ScriptStep(does, until)


def _click(data: Any, where: str) -> WidgetSelector:
    return build(WidgetSelector, data, where, "a click")


def _type(data: Any, where: str) -> Action:
    return Action.type(_text(data, where))


def _key(data: Any, where: str) -> Action:
    return Action.key(*parse_chord(_text(data, where)))


def _wait(data: Any, where: str) -> Action:
    if not isinstance(data, (int, float)) or isinstance(data, bool):
        raise TaskError(f"{where}: {data!r} is not a number of seconds")
    return Action.wait(float(data))


def _answer(data: Any, where: str) -> Action:
    return Action(ActionKind.ANSWER, text=_text(data, where))


def _text(data: Any, where: str) -> str:
    if not isinstance(data, str) or not data:
        raise TaskError(f"{where}: {data!r} is not a text", hint="put it in quotes")
    return data
