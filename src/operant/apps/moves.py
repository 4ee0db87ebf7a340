"""Moves: the next action on the way to something, decided by what is seen.

A *move* looks at a view and returns an action, or None when it has nothing to do. Moves that are tried in order
(``steps``) lead to a ``Goal``. ``Goals`` and ``Milestones`` are oracles made of them. The moves of one application
(rename a file, fill a dialog) stand in its module beside this one.

A move types only what stands in the instruction (an agent that copies spans of it can do the same); anything else
goes through the clipboard or single keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from operant.apps.view import View
from operant.types import Action, ActionKind, Node

__all__ = [
    "SELECT_ALL",
    "Goal",
    "Goals",
    "Milestone",
    "Milestones",
    "Move",
    "all_selected",
    "answer",
    "fill",
    "key",
    "once",
    "press",
    "says",
    "steps",
    "through",
    "through_menu",
    "type_into",
    "unread",
    "window_gone",
    "window_there",
]

Move = Callable[[View], Action | None]
SELECT_ALL = Action.key("ctrl", "a")
MENU_ENTRIES = ("menu", "menu item", "check menu item", "radio menu item")


# Goals: what is brought about and stays.


@dataclass(frozen=True)
class Goal:
    """Something to be brought about that stays, once it is."""

    done: Callable[[View], bool]
    act: Callable[[View], Action]
    called: Goal | None = None
    """The same by calls of functions of applications, where there are some for it."""

    def or_when(self, later: Callable[[View], bool]) -> Goal:
        """The same, but also reached when something holds that comes after it and may undo it."""
        called = self.called.or_when(later) if self.called is not None else None
        return Goal(lambda view: later(view) or self.done(view), self.act, called)


@dataclass(frozen=True)
class Goals:
    """An oracle that works on the first goal that is not reached, in whatever order the others came about."""

    goals: Sequence[Goal]
    finish: Action = field(default_factory=Action.done)
    tidy: Move | None = None
    """What is done before the end, such as closing a dialog."""

    def act(self, view: View) -> Action:
        for goal in self.goals:
            if not goal.done(view):
                return goal.act(view)
        tidying = self.tidy(view) if self.tidy is not None else None
        return self.finish if tidying is None else tidying


def steps(*tries: Move) -> Callable[[View], Action]:
    """The first action that one of these wants to take; wait if none does."""

    def act(view: View) -> Action:
        for attempt in tries:
            action = attempt(view)
            if action is not None:
                return action
        return Action.wait()

    return act


def once(view: View, action: Action) -> Action:
    """Not the same thing twice in a row: what was just done may need a moment to show."""
    return Action.wait() if view.last == action else action


def unread(view: View, app: str) -> bool:
    """Whether an application did not tell of its widgets in time; then nothing can be said to be missing."""
    return not view.tree(app).children


def answer(text: str) -> Action:
    return Action(ActionKind.ANSWER, text=text)


# Milestones: states on the way.


@dataclass(frozen=True)
class Milestone:
    """A state on the way, how to tell that it is reached, and the action that leads to it from the one before.

    ``act`` may be asked repeatedly until the milestone is reached, so it can take several actions to get there
    (type a text letter by letter, press one button after another).
    """

    name: str
    reached: Callable[[View], bool]
    act: Callable[[View], Action]


@dataclass(frozen=True)
class Milestones:
    """An oracle that looks which milestone was reached last and heads for the next one.

    Milestones are tried from the last to the first, so that an early one need not stay true: a menu that was
    opened may be closed again once the dialog behind it is there.
    """

    path: Sequence[Milestone]
    finish: Action = field(default_factory=Action.done)

    def act(self, view: View) -> Action:
        following = 0
        for index in range(len(self.path) - 1, -1, -1):
            if self.path[index].reached(view):
                following = index + 1
                break
        if following == len(self.path):
            return self.finish
        return self.path[following].act(view)


def through(*path: Milestone) -> Goal:
    """The goal that the last of these milestones is, reached through the others."""
    return Goal(path[-1].reached, Milestones(path).act)


def key(name: str, keys: tuple[str, ...], reached: Callable[[View], bool]) -> Milestone:
    """Press keys together until something holds."""
    return Milestone(name, reached, lambda view: Action.key(*keys))


def press(
    name: str, find: Callable[[View], Node | None], reached: Callable[[View], bool], **more: object
) -> Milestone:
    """Click a widget until something holds; wait while the widget is not there yet."""

    def act(view: View) -> Action:
        widget = find(view)
        return Action.wait() if widget is None else view.click(widget, **more)

    return Milestone(name, reached, act)


def type_into(
    name: str,
    text: str,
    find: Callable[[View], Node | None],
    *,
    enter: bool = False,
    reached: Callable[[View], bool] | None = None,
) -> Milestone:
    """Make a text field say exactly this: focus it, select what is wrong, type over it."""

    def act(view: View) -> Action:
        field = find(view)
        if field is None:
            return Action.wait()
        if field.text == text and enter:
            return Action.key("enter")
        return fill(view, field, text + ("\n" if enter else ""))

    return Milestone(name, reached or says(find, text), act)


def fill(view: View, field: Node, text: str) -> Action:
    """The next action on the way to a text field that says this: focus it, select what it says, type over it."""
    if "focused" not in field.states:
        return view.click(field)
    return SELECT_ALL if field.text and not all_selected(view, field) else Action.type(text)


def all_selected(view: View, field: Node) -> bool:
    """Whether all of a text field's text is selected. Where the application does not say, the last action tells."""
    caret = view.caret()
    return view.last == SELECT_ALL if caret is None else caret.selected == field.text


def says(find: Callable[[View], Node | None], text: str) -> Callable[[View], bool]:
    """Whether a widget's text is this."""

    def holds(view: View) -> bool:
        widget = find(view)
        return widget is not None and widget.text == text

    return holds


def through_menu(app: str, *names: str) -> Callable[[View], Action]:
    """Click the entry of an application's menus that leads on: the last of these that is shown."""

    def act(view: View) -> Action:
        entries = {entry.name: entry for entry in view.widgets(app=app) if entry.role in MENU_ENTRIES}
        return view.click(next((entries[name] for name in reversed(names) if name in entries), None))

    return act


def window_there(title: str) -> Callable[[View], bool]:
    return lambda view: view.window(title) is not None


def window_gone(title: str) -> Callable[[View], bool]:
    return lambda view: view.window(title) is None
