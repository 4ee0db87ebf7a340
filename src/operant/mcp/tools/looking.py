"""The screen, the windows and the widgets on it."""

from __future__ import annotations

from pydantic import Field

from operant.actions.frames import Frame
from operant.desktop.protocol import Desktop
from operant.errors import InvalidAction
from operant.mcp.session import DesktopSession
from operant.mcp.tools.acting import reply_after
from operant.mcp.tools.base import Acting, Arguments, Tool, ToolReply
from operant.types import Node, Window

__all__ = ["TOOLS"]

MOST_WIDGETS = 300
LONGEST_NAME = 80
TREE_S = 15.0  # a crowded machine may be slow


class _Region(Arguments):
    region: list[float] | None = Field(
        None,
        min_length=4,
        max_length=4,
        description="Only this part, at full resolution: left, top, right, bottom in pixels of the full screenshot."
        " Other tools go on counting in pixels of the full screenshot.",
    )


class _Nothing(Arguments):
    pass


class _WhichWindow(Acting):
    window: str = Field(
        min_length=1, max_length=200, description="Its number as `windows` lists it, or part of its title."
    )


class _Widgets(Arguments):
    name: str = Field("", max_length=200, description="Only widgets whose name or text contains this.")
    role: str = Field("", max_length=60, description="Only widgets of this role, such as push button.")
    everywhere: bool = Field(False, description="All windows and the panel, not just the focused window.")


def screenshot(session: DesktopSession, a: _Region) -> ToolReply:
    screen = session.look()
    shown = session.frame.shown
    if a.region is None:
        return ToolReply(f"The screen, {shown} pixels.", screen)
    left, top, right, bottom = a.region
    if not (0 <= left < right <= shown.width and 0 <= top < bottom <= shown.height):
        raise InvalidAction(
            f"the region {a.region} is not on the screenshot of {shown}", hint="left, top, right, bottom"
        )
    x1, y1 = session.frame.to_screen(left, top)
    x2, y2 = session.frame.to_screen(max(left, right - 1), max(top, bottom - 1))
    return ToolReply(
        f"Pixels {left:g}, {top:g} to {right:g}, {bottom:g} of the screen.", screen[y1 : y2 + 1, x1 : x2 + 1]
    )


def windows(session: DesktopSession, a: _Nothing) -> ToolReply:
    with session.using() as desktop:
        shown = desktop.windows()
    lines = [_window(number, window, session.frame) for number, window in enumerate(shown, 1)]
    return ToolReply("\n".join(lines) or "No window is open.")


def _window(number: int, window: Window, frame: Frame) -> str:
    scale = frame.shown.width / frame.screen.width
    box = " ".join(f"{round(side * scale)}" for side in (window.x, window.y, window.width, window.height))
    marks = [name for name in ("focused", "minimized", "maximized") if getattr(window, name)]
    return f"{number}. {window.title[:LONGEST_NAME]!r} ({window.wm_class}) x y width height: {box}" + (
        f" [{', '.join(marks)}]" if marks else ""
    )


def _found(desktop: Desktop, wanted: str) -> Window:
    shown = desktop.windows()
    if wanted.isdecimal() and 1 <= int(wanted) <= len(shown):
        return shown[int(wanted) - 1]
    matching = [window for window in shown if wanted.lower() in window.title.lower()]
    if len(matching) != 1:
        titles = ", ".join(repr(window.title[:LONGEST_NAME]) for window in shown[:20]) or "none"
        what = "no window" if not matching else f"{len(matching)} windows"
        raise InvalidAction(f"{what} of that title: {wanted!r}", hint=f"open windows: {titles}")
    return matching[0]


def focus_window(session: DesktopSession, a: _WhichWindow) -> ToolReply:
    session.call("focus_window", {"window": a.window}, lambda d: d.activate_window(_found(d, a.window)))
    return reply_after(session, f"{session.progress()}: focused {a.window!r}.", a)


def close_window(session: DesktopSession, a: _WhichWindow) -> ToolReply:
    session.call("close_window", {"window": a.window}, lambda d: d.close_window(_found(d, a.window)))
    return reply_after(session, f"{session.progress()}: asked {a.window!r} to close.", a)


def widgets(session: DesktopSession, a: _Widgets) -> ToolReply:
    with session.using() as desktop:
        desktop.settle()
        tree = desktop.accessibility("desktop" if a.everywhere else "focused", timeout_s=TREE_S)
    chosen = [(depth, node) for depth, node in _walk(tree) if _is_wanted(node, a)]
    lines = [_widget(depth, node, session.frame) for depth, node in chosen[:MOST_WIDGETS]]
    if len(chosen) > MOST_WIDGETS:
        lines.append(f"... and {len(chosen) - MOST_WIDGETS} more; ask by name or role")
    return ToolReply("\n".join(lines) or "No such widget is shown.")


def _walk(node: Node, depth: int = 0) -> list[tuple[int, Node]]:
    found, waiting = [], [(depth, node)]
    while waiting:
        level, one = waiting.pop()
        found.append((level, one))
        waiting.extend((level + 1, child) for child in reversed(one.children))
    return found


def _is_wanted(node: Node, a: _Widgets) -> bool:
    said = f"{node.name}\n{node.text or ''}\n{node.description}".lower()
    return a.name.lower() in said and a.role.lower() in ("", node.role.lower())


def _widget(depth: int, node: Node, frame: Frame) -> str:
    """Role, name, text, the pixel to click at, and the states that matter for use."""
    parts = [node.role]
    parts += [repr(node.name[:LONGEST_NAME])] if node.name else []
    if node.text and node.text != node.name:
        parts.append(f"text={node.text[:LONGEST_NAME]!r}")
    if node.value is not None:
        parts.append(f"value={node.value:g}")
    if node.box is not None:
        x, y, width, height = node.box
        middle = x + width // 2, y + height // 2
        if 0 <= middle[0] < frame.screen.width and 0 <= middle[1] < frame.screen.height:
            parts.append("at {}, {}".format(*frame.to_shown(*middle)))
    parts += [
        state for state in ("focused", "checked", "selected", "expanded", "pressed") if state in node.states
    ]
    parts += [] if {"sensitive", "enabled"} & node.states or not node.states else ["disabled"]
    return "  " * min(depth, 20) + " ".join(parts)


TOOLS = (
    Tool("screenshot", "Look at the screen, or closer at a part of it.", _Region, screenshot, read_only=True),
    Tool("windows", "List the windows, the topmost last.", _Nothing, windows, read_only=True),
    Tool("focus_window", "Raise a window and give it the keyboard.", _WhichWindow, focus_window),
    Tool("close_window", "Close a window as its close button would.", _WhichWindow, close_window),
    Tool(
        "widgets",
        "List buttons, fields and other widgets with the pixel to click at, in pixels of the full screenshot; or find"
        " some by name.",
        _Widgets,
        widgets,
        read_only=True,
    ),
)
