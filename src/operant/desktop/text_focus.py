"""Finds the widget with the focus by AT-SPI, to tell text fields from buttons.

A walk from the application down, level by level, over what is shown; menus and other widgets that hold no
focusable child are not entered. It takes a few milliseconds. The widget found is remembered, so asking again is
one call as long as the focus stays where it is.

Only calls that GTK answers without taking the caller for a screen reader: to those it reports every key and waits
for an answer, which doubles what typing costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from operant.desktop.accessible_widget import ACCESSIBLE, ROOT, get_property
from operant.desktop.atspi import role_name, state_names
from operant.desktop.bus import Bus, BusCall, BusError
from operant.desktop.widget_walk import MOST_CHILDREN, count_of

__all__ = ["FocusFinder", "FocusedWidget"]

Place = tuple[str, str]  # whose widget, and its path there

REGISTRY = "org.a11y.atspi.Registry"
DAEMON = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
MOST_WIDGETS = 2000  # looked at in one walk
MOST_LEVELS = 64
#: Widgets that are no place for a text cursor and hold none.
LEAVES = frozenset({"menu bar", "menu", "menu item", "push button", "toggle button", "check box", "radio button", "label",
                    "icon", "image", "separator", "scroll bar", "slider", "progress bar", "table cell"})  # fmt: skip
#: Widgets that take every key as it comes, though their text can't be edited by others. What has the focus inside a
#: web page is the page's own business.
TAKE_KEYS = frozenset({"terminal", "document web", "document frame"})


@dataclass(frozen=True, slots=True)
class FocusedWidget:
    place: Place
    role: str
    states: frozenset[str]

    @property
    def takes_text(self) -> bool:
        return "editable" in self.states or self.role in TAKE_KEYS


class FocusFinder:
    """Remembers who is who on the bus, and which widget had the focus."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}
        self._last: FocusedWidget | None = None

    def find(self, bus: Bus, pid: int, deadline: float) -> FocusedWidget | None:
        """The focused widget of the application that a process runs; None if it tells of none."""
        last, self._last = self._last, None
        if last is not None and self._pids.get(last.place[0]) == pid:
            (states,) = _states(bus, [last.place], deadline)
            if "focused" in states:
                self._last = replace(last, states=states)
                return self._last
        for destination in self._applications(bus, pid, deadline):
            self._last = find_focused(bus, destination, deadline)
            if self._last is not None:
                break
        return self._last

    def _applications(self, bus: Bus, pid: int, deadline: float) -> list[str]:
        """The names on the bus under which a process shows its widgets."""
        try:
            # Calling the registry would start it where no program has needed it so far.
            if not bus.call(BusCall(*DAEMON, "NameHasOwner", "s", (REGISTRY,), answer="b"), deadline)[0]:
                return []
            (children,) = bus.call(
                BusCall(REGISTRY, ROOT, ACCESSIBLE, "GetChildren", answer="a(so)"), deadline
            )
        except BusError:
            return []
        present = {str(owner) for owner, _path in children}
        new = sorted(present - self._pids.keys())
        calls = [BusCall(*DAEMON, "GetConnectionUnixProcessID", "s", (owner,), answer="u") for owner in new]
        self._pids = {owner: known for owner, known in self._pids.items() if owner in present}
        for owner, answer in zip(new, bus.call_all(calls, deadline), strict=True):
            if not isinstance(answer, BusError):  # else it is gone since it was listed
                self._pids[owner] = int(answer[0])
        return [owner for owner, known in self._pids.items() if known == pid]


def find_focused(bus: Bus, application: str, deadline: float) -> FocusedWidget | None:
    """The focused widget of an application: one that takes text if any does, else the innermost."""
    level, found, left = [(application, ROOT)], None, MOST_WIDGETS
    for _ in range(MOST_LEVELS):
        children = _children(bus, level, deadline)[:left]
        left -= len(children)
        shown = [
            (child, states)
            for child, states in zip(children, _states(bus, children, deadline), strict=True)
            if "showing" in states or "focused" in states
        ]
        answers = bus.call_all(
            [
                call
                for child, _ in shown
                for call in (
                    BusCall(*child, ACCESSIBLE, "GetRole", answer="u"),
                    get_property(*child, ACCESSIBLE, "ChildCount"),
                )
            ],
            deadline,
        )
        level = []
        for (child, states), answer, count in zip(shown, answers[::2], answers[1::2], strict=True):
            role = "unknown" if isinstance(answer, BusError) else role_name(answer[0])
            if "focused" in states:
                found = FocusedWidget(child, role, states)
                if found.takes_text:
                    return found
            crowded = "manages descendants" in states or (count_of(count) or 0) > MOST_CHILDREN
            if role not in LEAVES and role not in TAKE_KEYS and not crowded:
                level.append(child)
        if not level:
            break
    return found


def _children(bus: Bus, widgets: Sequence[Place], deadline: float) -> list[Place]:
    answers = bus.call_all(
        [BusCall(*one, ACCESSIBLE, "GetChildren", answer="a(so)") for one in widgets], deadline
    )
    return [
        (str(owner), str(path))
        for answer in answers
        if not isinstance(answer, BusError)
        for owner, path in answer[0]
    ]


def _states(bus: Bus, widgets: Sequence[Place], deadline: float) -> list[frozenset[str]]:
    answers = bus.call_all([BusCall(*one, ACCESSIBLE, "GetState", answer="au") for one in widgets], deadline)
    return [
        frozenset() if isinstance(answer, BusError) or not answer else state_names(answer[0])
        for answer in answers
    ]
