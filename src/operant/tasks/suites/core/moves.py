"""Moves that oracles share: milestones on the way through menus, dialogs, editors and file managers.

An oracle types only what stands in the instruction (an agent that copies spans of it can do the same); anything else
goes through the clipboard or single keys.
"""

from __future__ import annotations

from collections.abc import Callable

from operant.tasks.oracle import Milestone, View
from operant.types import Action, Node

SELECT_ALL = Action.key("ctrl", "a")

__all__ = ["SELECT_ALL", "key", "press", "says", "type_into", "window_gone", "window_there"]


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
        if "focused" not in field.states:
            return view.click(field)
        if field.text and view.last != SELECT_ALL:
            return SELECT_ALL
        return Action.type(text + ("\n" if enter else ""))

    return Milestone(name, reached or says(find, text), act)


def says(find: Callable[[View], Node | None], text: str) -> Callable[[View], bool]:
    """Whether a widget's text is this."""

    def holds(view: View) -> bool:
        widget = find(view)
        return widget is not None and widget.text == text

    return holds


def window_there(title: str) -> Callable[[View], bool]:
    return lambda view: view.window(title) is not None


def window_gone(title: str) -> Callable[[View], bool]:
    return lambda view: view.window(title) is None
