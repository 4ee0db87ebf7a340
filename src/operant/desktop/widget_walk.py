"""Widgets found by walking: level by level, into what is shown, and never into more children than a window can show.

A sheet of a spreadsheet has a billion cells, and a program that is asked for all of them never answers again. So the
number of children is asked for first. Of a container with too many, the children in sight are found by their places.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from operant.desktop.accessible_widget import (
    ACCESSIBLE,
    COMPONENT,
    OBJECTS,
    ROOT,
    SCREEN,
    AccessibleWidget,
    Application,
    get_property,
    text_of,
)
from operant.desktop.atspi import role_name, state_names
from operant.desktop.bus import ApplicationGone, BusCall, BusError
from operant.errors import AccessibilityError

__all__ = ["MOST_CHILDREN", "count_of", "walk_widgets"]

MOST_CHILDREN = 2000  # of one container that are asked for at once
MOST_ROWS = 100  # of a container with more, in each direction
FIRST_CHILDREN = 200  # that are asked for where places are not told
BLANK = 12  # pixels to the next look where nothing lies
LARGEST_SCREEN = 8192  # pixels each way
SIGHT_SHARE = 0.5  # of the time that is left, for the children in sight of one container

Box = tuple[int, int, int, int]
Found = tuple[str, str]  # a widget's path and its parent's


@dataclass(frozen=True, slots=True)
class Outline:
    """What the first round asks of a widget: enough to know whether to ask more."""

    path: str
    parent: str
    order: int
    role: str
    states: frozenset[str]
    children: int | None
    """None if it does not say."""


def walk_widgets(
    application: Application,
    start: list[str],
    known: Mapping[str, AccessibleWidget],
    deadline: float,
    limit: int,
) -> list[AccessibleWidget]:
    """What is shown at and below those paths and is not known yet.

    Known widgets that a container lists among its children become its children: LibreOffice names another parent.
    """
    found: list[AccessibleWidget] = []
    seen = {*start, ROOT}
    level: list[Found] = [(path, "") for path in start]
    while level and len(found) < limit:
        outlines = [one for one in _outlines(application, level, deadline) if _is_shown(application, one)]
        calls: list[BusCall] = []
        for one in outlines:
            calls += [
                get_property(application.destination, one.path, ACCESSIBLE, "Name"),
                BusCall(application.destination, one.path, ACCESSIBLE, "GetInterfaces", answer="as"),
            ]
            if one.children is None or 0 < one.children <= MOST_CHILDREN:
                calls.append(
                    BusCall(application.destination, one.path, ACCESSIBLE, "GetChildren", answer=OBJECTS)
                )
        answers = iter(application.link.call_all(calls, deadline))
        below: list[Found] = []
        crowded: list[AccessibleWidget] = []
        for one in outlines:
            name, interfaces = next(answers), next(answers)
            kinds = [] if isinstance(interfaces, BusError) else interfaces[0]
            states = one.states | {"showing"} if application.is_gtk4 and one.path != ROOT else one.states
            widget = AccessibleWidget(
                one.path, one.parent, one.order, kinds, text_of(name), one.role, None, states
            )
            if one.path not in known:
                found.append(widget)
            if one.children is None or 0 < one.children <= MOST_CHILDREN:
                children = next(answers)
                listed = [] if isinstance(children, BusError) else children[0]
                for order, (owner, child) in enumerate(listed):
                    if owner != application.destination or child in seen:
                        continue
                    seen.add(child)
                    if child in known:
                        known[child].parent, known[child].order = one.path, order
                    else:
                        below.append((child, one.path))
            elif one.children > MOST_CHILDREN:
                crowded.append(widget)
        for widget in crowded:
            for path in _children_in_sight(application, widget, deadline):
                if path not in seen and path not in known:
                    seen.add(path)
                    below.append((path, widget.path))
        level = below[: max(0, limit - len(found))]
    return found


def count_of(answer: tuple[Any, ...] | BusError) -> int | None:
    """A property that counts something; None if it was not answered with a number."""
    if isinstance(answer, BusError) or answer[0][0] not in "iu":
        return None
    return max(0, int(answer[0][1]))


def _outlines(application: Application, level: list[Found], deadline: float) -> Iterator[Outline]:
    calls = []
    for path, _parent in level:
        calls += [
            BusCall(application.destination, path, ACCESSIBLE, "GetRole", answer="u"),
            BusCall(application.destination, path, ACCESSIBLE, "GetState", answer="au"),
            get_property(application.destination, path, ACCESSIBLE, "ChildCount"),
        ]
    answers = application.link.call_all(calls, deadline)
    for order, (path, parent) in enumerate(level):
        role, states, count = answers[3 * order : 3 * order + 3]
        if not isinstance(role, BusError) and not isinstance(states, BusError):
            yield Outline(path, parent, order, role_name(role[0]), state_names(states[0]), count_of(count))


def _is_shown(application: Application, one: Outline) -> bool:
    # GTK 4 says only of windows that they are showing, and of what is on screen inside that it is visible. So does the
    # desktop of its icons, which have no role (see ``show_icons``).
    visible_is_enough = application.is_gtk4 or one.role == "unknown"
    return one.path == ROOT or "showing" in one.states or (visible_is_enough and "visible" in one.states)


def _children_in_sight(application: Application, container: AccessibleWidget, deadline: float) -> list[str]:
    """Paths of children that are in sight, by where they lie; of a container that tells no places, the first ones.

    Takes at most a share of the time that is left. What is found by then is the answer.
    """
    to, path = application.destination, container.path
    until = time.monotonic() + SIGHT_SHARE * max(0.0, deadline - time.monotonic())
    try:
        if COMPONENT in container.interfaces:
            found = _children_by_place(application, path, until)
            if found:
                return found
        calls = [
            BusCall(to, path, ACCESSIBLE, "GetChildAtIndex", "i", (index,), answer="(so)")
            for index in range(FIRST_CHILDREN)
        ]
        return _own_paths(application, path, application.link.call_all(calls, until))
    except ApplicationGone:
        raise
    except AccessibilityError:
        return []


def _children_by_place(application: Application, path: str, until: float) -> list[str]:
    link, to = application.link, application.destination

    def extents(of: str) -> Box | None:
        (answer,) = link.call_all(
            [BusCall(to, of, COMPONENT, "GetExtents", "u", (SCREEN,), answer="(iiii)")], until
        )
        return None if isinstance(answer, BusError) else answer[0]

    def at(places: list[tuple[int, int]]) -> list[str]:
        calls = [
            BusCall(to, path, COMPONENT, "GetAccessibleAtPoint", "iiu", (x, y, SCREEN), answer="(so)")
            for x, y in places
        ]
        return _own_paths(application, path, link.call_all(calls, until))

    whole = extents(path)
    if whole is None:
        return []
    left, top = max(0, whole[0]), max(0, whole[1])
    right, bottom = min(LARGEST_SCREEN, whole[0] + whole[2]), min(LARGEST_SCREEN, whole[1] + whole[3])
    first = next((one for one in at([(left + 2, top + 2), (left + 60, top + 30)])), None)
    if first is None:
        return []
    box = extents(first)
    if box is None or box[2] <= 0 or box[3] <= 0:
        return []
    x, y = max(left, box[0]) + 2, max(top, box[1]) + 2

    def middles(begin: int, end: int, place: Callable[[int], tuple[int, int]], side: int) -> list[int]:
        """Where the children lie along one direction: a look beyond each child that is found."""
        found: list[int] = []
        position = begin
        while position < end and len(found) < MOST_ROWS:
            here = at([place(position)])
            one = extents(here[0]) if here else None
            if one is None or one[side] + one[side + 2] <= position:
                position += BLANK
                continue
            found.append((max(begin, one[side]) + min(end, one[side] + one[side + 2])) // 2)
            position = one[side] + one[side + 2] + 1
        return found

    columns = middles(left + 1, right, lambda place: (place, y), 0)
    rows = middles(top + 1, bottom, lambda place: (x, place), 1)
    return at([(column, row) for row in rows for column in columns])


def _own_paths(
    application: Application, container: str, answers: list[tuple[Any, ...] | BusError]
) -> list[str]:
    """The widgets of this application among answers, each once; a place may belong to the container itself."""
    found: dict[str, None] = {}
    for answer in answers:
        if not isinstance(answer, BusError):
            owner, path = answer[0]
            if owner == application.destination and path != container and not path.endswith("/null"):
                found[path] = None
    return list(found)
