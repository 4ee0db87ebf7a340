"""Accessibility trees over AT-SPI, read from outside the sandbox in a few pipelined round trips.

One call (``Cache.GetItems``) brings roles, names, states and parents of every widget of an application; only
those that are shown are then asked for their box, text and value, all at once and over a connection of
their own to the application, past the bus. Applications without that cache are walked level by level.
Whatever an application answers, the time and the number of nodes are bounded.
"""

from __future__ import annotations

import contextlib
import math
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.desktop.accessible_widget import (
    ACCESSIBLE,
    COMPONENT,
    MAX_NAME,
    OBJECTS,
    ROOT,
    SCREEN,
    AccessibleWidget,
    Application,
    assemble,
    get_property,
    is_menu,
    place_by_windows,
    prune,
    show_icons,
    show_submenus,
    text_of,
)
from operant.desktop.atspi import role_name, state_names
from operant.desktop.bus import ApplicationGone, Bus, BusCall, BusError
from operant.desktop.channel import Channel
from operant.desktop.display import Display
from operant.desktop.programs import Files
from operant.desktop.shell import name_widgets
from operant.desktop.terminal import read_terminals, with_terminals
from operant.desktop.text_focus import FocusedWidget, FocusFinder
from operant.desktop.toolkits import mapped_files, recognise_toolkit
from operant.desktop.widget_walk import MOST_CHILDREN, count_of, walk_widgets
from operant.desktop.windows import active_window, all_windows, window_pid
from operant.errors import AccessibilityError, InvalidAction
from operant.types import Caret, Node, Window

__all__ = ["Accessibility", "read_caret", "read_tree", "takes_text"]

APPLICATION = "org.a11y.atspi.Application"
TEXT = "org.a11y.atspi.Text"
VALUE = "org.a11y.atspi.Value"
DOCUMENT = "org.a11y.atspi.Document"
DAEMON = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
NOWHERE = -(2**31)
MAX_TEXT = 100_000  # characters of a text that are fetched
#: Widgets whose text is more than the name that they already have.
SPOKEN = frozenset({"text", "entry", "password text", "terminal", "document text", "document frame", "document web",
                    "paragraph", "spin button", "icon", "editbar", "autocomplete", "heading"})  # fmt: skip
#: Widgets that are used, and may say only by a tool tip what they are for.
DESCRIBED = frozenset({"push button", "toggle button", "push button menu", "check box", "radio button", "combo box", "text",
                       "entry", "slider", "spin button", "icon", "image", "page tab", "menu", "menu item"})  # fmt: skip
SCOPES = ("focused", "desktop")
#: What the windows of the shell are called in the tree.
SHELL_NAMES = {"dock": "panel", "desktop": "Desktop"}
MULTI_LINE = "multi line"
FOCUS_S = 1.0  # how long an application may take to tell which widget has the focus
MOST_LINES = 200  # of a text whose places are asked for
MOST_CACHED = 20_000  # widgets of a cache that are looked at
REGISTER_S = 1.5  # how long an application may take to be on the bus after its window is there
REGISTER_POLL_S = 0.02  # between two looks for it
CACHE_ITEMS = "a((so)(so)(so)iiassusau)"
NUMBERS = frozenset("ynqiuxtd")


class Accessibility:
    """Trees of one episode. Keeps its connections; a desktop drops it when the episode ends."""

    def __init__(self, episode: Channel) -> None:
        self._episode = episode
        self._bus: Bus | None = None
        self._applications: dict[str, Application] = {}
        self._focus = FocusFinder()
        self._windows: Sequence[Window] = ()
        self._awaited: set[int] = set()  # processes that had their time to register

    def tree(
        self,
        scope: str,
        *,
        app: str | None,
        focused: Window | None,
        timeout_s: float,
        limit: int,
        lines: bool = False,
        shell: Mapping[str, Window] | None = None,
        windows: Sequence[Window] = (),
    ) -> Node:
        """The shown widgets of the focused window, of the application ``app``, or of the whole desktop.

        ``shell`` are the windows of the desktop itself. Their widgets stand beside those of the focused window.
        ``windows`` are all others: applications that do not know where they are on the screen are placed by them.
        """
        if scope not in SCOPES:
            raise InvalidAction(
                f"{scope!r} is not a scope", hint=f"scopes are {', '.join(SCOPES)}; or name an app"
            )
        deadline = time.monotonic() + timeout_s
        self._windows = windows or ((focused,) if focused else ())
        applications = self._find_applications(deadline)
        if scope == "focused" and app is None and focused is not None:
            applications = self._await_registration(applications, focused.pid, deadline)
        if app is not None:
            chosen = [one for one in applications if one.name.lower() == app.lower()]
            if not chosen:
                names = ", ".join(sorted(one.name for one in applications)) or "none"
                raise AccessibilityError(f"no application {app!r} is accessible", hint=f"accessible: {names}")
            return self._read(chosen[0], None, deadline, limit, lines)
        if scope == "focused" and shell:
            return self._with_shell(applications, focused, shell, deadline, limit, lines)
        if scope == "focused":
            owners = [one for one in applications if focused is not None and one.pid == focused.pid]
            if focused is None or not owners:
                return _desktop([])
            return self._read(owners[0], focused.title, deadline, limit, lines)
        trees = []
        for one in applications:
            try:
                trees.append(self._read(one, None, deadline, limit, lines))
            except ApplicationGone:
                self._forget(one.destination)  # it ended since it was listed
                continue
            limit -= sum(1 for _ in trees[-1].walk())
        return _desktop(trees)

    def _with_shell(
        self,
        applications: list[Application],
        focused: Window | None,
        shell: Mapping[str, Window],
        deadline: float,
        limit: int,
        lines: bool,
    ) -> Node:
        """The focused window, then panel and icons; a program that shows both is read once for each."""
        trees = []
        if focused is not None:
            trees += [
                self._read(one, focused.title, deadline, limit, lines)
                for one in applications
                if one.pid == focused.pid
            ][:1]
        for kind, window in sorted(
            shell.items(), reverse=True
        ):  # the panel, whose menus lie over all else, first
            menus = focused is None or window.pid != focused.pid
            for one in applications:
                if one.pid == window.pid:
                    with contextlib.suppress(ApplicationGone):  # it crashed, and is being started again
                        trees.append(name_widgets(self._read_shell(one, kind, menus, deadline, limit)))
        # An open menu of the shell takes the next click, wherever that goes: it comes first.
        trees.sort(key=lambda tree: not any(_holds_menu(child) for child in tree.children))
        return _desktop(trees)

    def _read_shell(
        self, application: Application, kind: str, menus: bool, deadline: float, limit: int
    ) -> Node:
        return self._read(application, SHELL_NAMES[kind], deadline, limit, False, shell=True, menus=menus)

    def focused_widget(self, pid: int, timeout_s: float) -> FocusedWidget | None:
        """The widget with the focus in the application that a process runs; None if it shows none."""
        deadline = time.monotonic() + timeout_s
        return self._focus.find(self._open_bus(deadline), pid, deadline)

    def caret(self, pid: int, timeout_s: float) -> Caret | None:
        """Caret and selection of the focused widget of a process's application; None if it has no text."""
        deadline = time.monotonic() + timeout_s
        bus = self._open_bus(deadline)
        widget = self._focus.find(bus, pid, deadline)
        if widget is None:
            return None
        text, offset, selection = bus.call_all(
            [
                BusCall(*widget.place, TEXT, "GetText", "ii", (0, MAX_TEXT), answer="s"),
                get_property(*widget.place, TEXT, "CaretOffset"),
                BusCall(*widget.place, TEXT, "GetSelection", "i", (0,), answer="ii"),
            ],
            deadline,
        )
        if isinstance(text, BusError) or isinstance(offset, BusError) or (at := _number(offset)) is None:
            return None
        begin, end = (0, 0) if isinstance(selection, BusError) else sorted(selection)
        return Caret(text[0][:MAX_TEXT], int(at), (begin, end) if 0 <= begin < end else None)

    def close(self) -> None:
        for name in list(self._applications):
            self._forget(name)
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    # Applications.

    def _find_applications(self, deadline: float) -> list[Application]:
        bus = self._open_bus(deadline)
        try:
            (children,) = bus.call(
                BusCall("org.a11y.atspi.Registry", ROOT, ACCESSIBLE, "GetChildren", answer=OBJECTS), deadline
            )
        except BusError as error:
            raise AccessibilityError(f"the accessibility registry failed: {error}") from error
        present = {destination for destination, _path in children}
        for gone in self._applications.keys() - present:
            self._forget(gone)
        new = [destination for destination in present if destination not in self._applications]
        calls = []
        for destination in new:
            calls += [
                BusCall(*DAEMON, "GetConnectionUnixProcessID", "s", (destination,), answer="u"),
                get_property(destination, ROOT, ACCESSIBLE, "Name"),
                BusCall(destination, ROOT, APPLICATION, "GetApplicationBusAddress", answer="s"),
                get_property(destination, ROOT, APPLICATION, "ToolkitName"),
                get_property(destination, ROOT, APPLICATION, "Version"),
            ]
        answers = self._call_in_passing(calls, deadline) if calls else []
        for index, destination in enumerate(new):
            pid, name, address, toolkit, version = answers[5 * index : 5 * index + 5]
            if isinstance(pid, BusError):
                continue  # gone since it was listed
            link = self._direct_link(address, deadline) or bus
            made_with = f"{text_of(toolkit)} {text_of(version)}"
            self._applications[destination] = Application(destination, text_of(name), pid[0], link, made_with)
        return list(self._applications.values())

    def _await_registration(
        self, applications: list[Application], pid: int | None, deadline: float
    ) -> list[Application]:
        """Give a process that is to be accessible the time to say so: Qt and GTK 4 do it after their window is there.

        Once for each process, and not for those whose toolkit has no accessibility.
        """
        if pid is None or pid in self._awaited:
            return applications
        self._awaited.add(pid)
        until = min(deadline, time.monotonic() + REGISTER_S)
        if any(one.pid == pid for one in applications) or not self._may_register(pid):
            return applications
        while time.monotonic() < until and not any(one.pid == pid for one in applications):
            time.sleep(REGISTER_POLL_S)
            applications = self._find_applications(deadline)
        return applications

    def _may_register(self, pid: int) -> bool:
        """Whether the toolkit of a process has accessibility."""
        try:
            toolkit = recognise_toolkit(mapped_files(self._memory_map(pid)))
        except OSError:  # it is gone, or not ours to look at
            return False
        return toolkit is not None and toolkit.accessible

    def _memory_map(self, pid: int) -> str:
        return Files(self._episode).read_text(f"/proc/{pid}/maps")

    def _call_in_passing(self, calls: list[BusCall], deadline: float) -> list[tuple[Any, ...] | BusError]:
        """Calls over a connection to the bus that then ends.

        GTK takes a client that asks for its address for a screen reader, as long as that connection lasts: it reports
        every key and waits for an answer, so that a hundred characters take four times as long.
        """
        passing = Bus(self._connect("bus"), deadline)
        try:
            return passing.call_all(calls, deadline)
        finally:
            passing.close()

    def _open_bus(self, deadline: float) -> Bus:
        if self._bus is None:
            self._bus = Bus(self._connect("bus"), deadline)
        return self._bus

    def _forget(self, destination: str) -> None:
        link = self._applications.pop(destination).link
        if link is not self._bus:  # which serves those that offer no connection of their own
            link.close()

    def _direct_link(self, address: tuple[Any, ...] | BusError, deadline: float) -> Bus | None:
        """A connection to the application itself, where it offers one: a hop less for every call."""
        if isinstance(address, BusError) or not address[0].startswith("unix:path=/"):
            return None
        path = address[0][len("unix:path=") :].partition(",")[0]
        with contextlib.suppress(OSError, AccessibilityError):
            return Bus(self._connect(path), deadline, direct=True)
        return None

    def _connect(self, path: str) -> socket.socket:
        try:
            return socket.socket(fileno=self._episode.call("connect", path=path).fd)
        except OSError as error:
            raise AccessibilityError(f"no connection to {path}: {error}") from error

    # Widgets.

    def _read(
        self,
        application: Application,
        title: str | None,
        deadline: float,
        limit: int,
        lines: bool,
        *,
        shell: bool = False,
        menus: bool = True,
    ) -> Node:
        # GTK 4 keeps only those widgets in its cache that were asked for before.
        widgets = [] if application.is_gtk4 else self._cached(application, deadline)
        # Rows and cells of long lists are not in the cache: the widget that manages them makes them when asked. Nor are
        # pages that a browser loaded since the cache was filled.
        children = Counter(one.parent for one in widgets)
        incomplete = [
            one.path
            for one in widgets
            if "showing" in one.states
            and ("manages descendants" in one.states or children[one.path] < one.count)
        ]
        known = {one.path: one for one in widgets}
        widgets += walk_widgets(application, incomplete if widgets else [ROOT], known, deadline, limit)
        root = assemble(widgets)
        if title is not None:
            windows = [one for one in root.children if one.name == title] or [
                one for one in root.children if "active" in one.states
            ]
            # A folder may be called like the window that holds the icons, which alone has this role.
            windows.sort(key=lambda one: (one.role == "window") is not shell)
            if windows:
                popups = [one for one in root.children if one is not windows[0] and is_menu(one)]
                root = windows[0]
                root.children += popups if menus else []
            if shell:
                show_icons(root.children)
                show_submenus(root)
        prune(root, limit)
        self._put_in_order(application, root, deadline)
        shown = list(root.walk())
        self._complete(application, shown, deadline)
        self._ask_again(application, shown, deadline)
        if application.is_gtk4:
            place_by_windows(root, [one for one in self._windows if one.pid == application.pid])
        if lines:
            self._add_lines(application, shown, deadline)
        return root.node()

    def _cached(self, application: Application, deadline: float) -> list[AccessibleWidget]:
        call = BusCall(
            application.destination,
            "/org/a11y/atspi/cache",
            "org.a11y.atspi.Cache",
            "GetItems",
            answer=CACHE_ITEMS,
        )
        try:
            (items,) = application.link.call(call, deadline)
            return [
                AccessibleWidget(
                    path,
                    parent,
                    index,
                    interfaces,
                    name[:MAX_NAME],
                    role_name(role),
                    description[:MAX_NAME],
                    state_names(states),
                    count=count,
                )
                for (_, path), _app, (
                    _,
                    parent,
                ), index, count, interfaces, name, role, description, states in items[:MOST_CACHED]
            ]
        except BusError:
            return []

    def _put_in_order(self, application: Application, root: AccessibleWidget, deadline: float) -> None:
        """Ask those parents for their children's order whose children did not know it themselves."""
        unsure = [
            one
            for one in root.walk()
            if len(one.children) > 1
            and one.count <= MOST_CHILDREN
            and "manages descendants" not in one.states
            and any(child.order < 0 for child in one.children)
        ]
        calls = [
            BusCall(application.destination, one.path, ACCESSIBLE, "GetChildren", answer=OBJECTS)
            for one in unsure
        ]
        for parent, answer in zip(unsure, application.link.call_all(calls, deadline), strict=True):
            if not isinstance(answer, BusError):
                order = {path: index for index, (_, path) in enumerate(answer[0])}
                parent.children.sort(key=lambda child: order.get(child.path, len(order)))

    def _complete(self, application: Application, widgets: list[AccessibleWidget], deadline: float) -> None:
        """Boxes, texts and values of what is shown, in one pipelined exchange."""
        asked: list[tuple[AccessibleWidget, str]] = []
        calls: list[BusCall] = []
        for widget in widgets:
            to = (application.destination, widget.path)
            if not widget.name and widget.description is None and widget.role in DESCRIBED:
                asked.append((widget, "description"))
                calls.append(get_property(*to, ACCESSIBLE, "Description"))
            if COMPONENT in widget.interfaces:
                asked.append((widget, "box"))
                calls.append(BusCall(*to, COMPONENT, "GetExtents", "u", (SCREEN,), answer="(iiii)"))
            is_cell = (
                widget.role == "table cell" and "editable" in widget.states
            )  # of a spreadsheet: named B3
            if TEXT in widget.interfaces and (widget.role in SPOKEN or is_cell):
                asked.append((widget, "text"))
                calls.append(BusCall(*to, TEXT, "GetText", "ii", (0, MAX_TEXT), answer="s"))
            if VALUE in widget.interfaces:
                asked.append((widget, "value"))
                calls.append(get_property(*to, VALUE, "CurrentValue"))
            if DOCUMENT in widget.interfaces:
                asked.append((widget, "url"))
                calls.append(BusCall(*to, DOCUMENT, "GetAttributes", answer="a{ss}"))
        for (widget, what), answer in zip(asked, application.link.call_all(calls, deadline), strict=True):
            if isinstance(answer, BusError):
                continue
            if what == "box":
                x, y, width, height = answer[0]
                placed = width > 0 and height > 0 and x > NOWHERE  # menus that were never open have no place
                widget.box = (x, y, width, height) if placed else None
            elif what == "description":
                widget.description = text_of(answer)
            elif what == "text":
                widget.text = answer[0][:MAX_TEXT]
            elif what == "url":
                widget.url = (answer[0].get("DocURL") or answer[0].get("URI") or "")[:MAX_NAME] or None
            else:
                widget.value = _number(answer)

    def _ask_again(self, application: Application, widgets: list[AccessibleWidget], deadline: float) -> None:
        """Texts of Qt and LibreOffice, which answer with nothing when they are asked for more than there is."""
        empty = [one for one in widgets if one.text == ""]
        counts = [get_property(application.destination, one.path, TEXT, "CharacterCount") for one in empty]
        lengths = [count_of(answer) or 0 for answer in application.link.call_all(counts, deadline)]
        longer = [(one, min(length, MAX_TEXT)) for one, length in zip(empty, lengths, strict=True) if length]
        calls = [
            BusCall(application.destination, one.path, TEXT, "GetText", "ii", (0, length), answer="s")
            for one, length in longer
        ]
        for (one, _), answer in zip(longer, application.link.call_all(calls, deadline), strict=True):
            if not isinstance(answer, BusError):
                one.text = answer[0][:MAX_TEXT]

    def _add_lines(self, application: Application, widgets: list[AccessibleWidget], deadline: float) -> None:
        """Give texts of several lines one child for each line that is in sight, with its place and, as value, its number."""
        asked: list[tuple[AccessibleWidget, int, str]] = []
        calls: list[BusCall] = []
        for widget in widgets:
            if TEXT not in widget.interfaces or MULTI_LINE not in widget.states or not widget.text:
                continue
            start = 0
            for number, line in enumerate(widget.text.split("\n")[:MOST_LINES], 1):
                if line.strip():
                    asked.append((widget, number, line))
                    bounds = (start, start + len(line), SCREEN)
                    calls.append(
                        BusCall(
                            application.destination,
                            widget.path,
                            TEXT,
                            "GetRangeExtents",
                            "iiu",
                            bounds,
                            answer="iiii",
                        )
                    )
                start += len(line) + 1
        for (widget, number, line), answer in zip(
            asked, application.link.call_all(calls, deadline), strict=True
        ):
            if isinstance(answer, BusError):
                continue
            box = _common(answer, widget.box)
            if box is not None:
                order = len(widget.children)
                states = frozenset({"showing"})
                child = AccessibleWidget(
                    widget.path, widget.path, order, [], "", "line", "", states, box=box, text=line
                )
                child.value = float(number)
                widget.children.append(child)


def read_tree(
    accessibility: Accessibility,
    display: Display,
    look: Callable[[], npt.NDArray[np.uint8]],
    scope: str,
    *,
    app: str | None,
    timeout_s: float,
    limit: int,
    lines: bool = False,
) -> Node:
    """What is accessible on a display, and the terminals, which are read off the screen that ``look`` gives."""
    windows, shell = all_windows(display)
    focused = next((window for window in reversed(windows) if window.focused), None)
    read = partial(
        accessibility.tree, scope, app=app, timeout_s=timeout_s, limit=limit, lines=lines, windows=windows
    )
    if app is not None:
        return read(focused=focused)
    terminals = read_terminals(display, look, windows, lines=lines)
    if scope == "focused" and shell:
        front = tuple(one for one in terminals if "focused" in one.states)
        tree = read(focused=None if front else focused, shell=shell)
        return replace(tree, children=front + tree.children)
    return with_terminals(scope, terminals, lambda: read(focused=focused))


def read_caret(accessibility: Accessibility, display: Display) -> Caret | None:
    """Caret and selection of the text that has the focus; None if its application does not say."""
    window = active_window(display)
    pid = window_pid(display, window) if window else None
    try:
        return None if pid is None else accessibility.caret(pid, FOCUS_S)
    except AccessibilityError:
        return None


def takes_text(accessibility: Accessibility, display: Display) -> bool:
    """Whether the widget with the focus is made for text, as far as its application tells.

    False only for one that says it is not: a button, a canvas, a display of digits.
    """
    window = active_window(display)
    pid = window_pid(display, window) if window else None
    if pid is None:
        return True
    try:
        widget = accessibility.focused_widget(pid, FOCUS_S)
    except AccessibilityError:
        return True
    return widget is None or widget.takes_text


def _common(
    box: tuple[int, ...], frame: tuple[int, int, int, int] | None
) -> tuple[int, int, int, int] | None:
    """A box, if most of its height is in sight; its width is left as it is."""
    x, y, width, height = box
    if frame is None or width <= 0 or height <= 0:
        return None
    middle = y + height // 2
    return (x, y, width, height) if frame[1] <= middle < frame[1] + frame[3] else None


def _number(answer: tuple[Any, ...]) -> float | None:
    """A property that is a number; None if it was not answered with one."""
    kind, value = answer[0]
    return float(value) if kind in NUMBERS and math.isfinite(value) else None


def _holds_menu(node: Node) -> bool:
    return node.role == "window" and any(child.role == "menu" for child in node.children)


def _desktop(trees: list[Node]) -> Node:
    return Node("desktop frame", "main", frozenset(), None, children=tuple(trees))
