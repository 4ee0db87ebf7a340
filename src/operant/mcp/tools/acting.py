"""Pointer and keyboard, in pixels of the screenshot."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from operant.actions.describe import describe
from operant.actions.keys import canonical_key, parse_chord
from operant.mcp.session import DesktopSession
from operant.mcp.tools.base import Acting, Tool, ToolReply
from operant.types import MAX_DURATION_S, Action, Button

__all__ = ["TOOLS", "reply_after"]

PIXELS = "x and y are pixels of the last full screenshot, from its top left corner."
LONGEST_TEXT = 20_000
MOST_NOTCHES = 100
MODIFIERS: Any = Field(default_factory=list, max_length=4, description="Keys held meanwhile, such as ctrl.")


class _At(Acting):
    x: float = Field(description="Pixels from the left edge of the screenshot.")
    y: float = Field(description="Pixels from the top edge of the screenshot.")


class _Click(_At):
    button: Literal["left", "middle", "right"] = Field("left", description="Which button.")
    clicks: int = Field(1, ge=1, le=3, description="How often, up to 3.")
    modifiers: list[str] = MODIFIERS


class _ModifiedClick(_At):
    modifiers: list[str] = MODIFIERS


class _Drag(Acting):
    from_x: float = Field(description="Where it begins, pixels from the left.")
    from_y: float = Field(description="Where it begins, pixels from the top.")
    to_x: float = Field(description="Where it ends, pixels from the left.")
    to_y: float = Field(description="Where it ends, pixels from the top.")
    button: Literal["left", "middle", "right"] = Field("left", description="Which button is held.")
    modifiers: list[str] = MODIFIERS


class _Scroll(_At):
    direction: Literal["up", "down", "left", "right"] = Field(description="Where the content moves to.")
    amount: int = Field(3, ge=1, le=MOST_NOTCHES, description="Notches of the wheel.")
    modifiers: list[str] = MODIFIERS


class _Typing(Acting):
    text: str = Field(min_length=1, max_length=LONGEST_TEXT, description="Any characters; \\n is Enter.")


class _Keys(Acting):
    keys: str = Field(
        min_length=1,
        max_length=200,
        description="Keys pressed together, joined by +, such as ctrl+s or enter.",
    )


class _Wait(Acting):
    seconds: float = Field(1.0, ge=0, le=MAX_DURATION_S, description="How long, at most 60.")


def reply_after(session: DesktopSession, text: str, arguments: Acting) -> ToolReply:
    """What a tool that changed the screen answers."""
    ended = session.result
    if ended is not None:
        text += f"\nThe episode is over: {ended.outcome.value} after {ended.steps} steps: {ended.why}"
    return ToolReply(text, session.glance() if arguments.screenshot else None)


def _act(session: DesktopSession, action: Action, arguments: Acting) -> ToolReply:
    session.act(action)
    text = f"{session.progress()}: {describe(action, session.frame.shown)}."
    return reply_after(session, text, arguments)


def _held(modifiers: list[str]) -> tuple[str, ...]:
    return tuple(canonical_key(key) for key in modifiers)


def click(session: DesktopSession, a: _Click) -> ToolReply:
    action = Action.click(
        session.point(a.x, a.y), button=Button(a.button), clicks=a.clicks, modifiers=_held(a.modifiers)
    )
    return _act(session, action, a)


def double_click(session: DesktopSession, a: _ModifiedClick) -> ToolReply:
    return _act(session, Action.click(session.point(a.x, a.y), clicks=2, modifiers=_held(a.modifiers)), a)


def right_click(session: DesktopSession, a: _ModifiedClick) -> ToolReply:
    action = Action.click(session.point(a.x, a.y), button=Button.RIGHT, modifiers=_held(a.modifiers))
    return _act(session, action, a)


def move(session: DesktopSession, a: _At) -> ToolReply:
    return _act(session, Action.move(session.point(a.x, a.y)), a)


def drag(session: DesktopSession, a: _Drag) -> ToolReply:
    path = session.point(a.from_x, a.from_y), session.point(a.to_x, a.to_y)
    return _act(session, Action.drag(*path, button=Button(a.button), modifiers=_held(a.modifiers)), a)


def scroll(session: DesktopSession, a: _Scroll) -> ToolReply:
    dx, dy = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[a.direction]
    amounts = {"dx": float(dx * a.amount), "dy": float(dy * a.amount)}
    return _act(session, Action.scroll(session.point(a.x, a.y), modifiers=_held(a.modifiers), **amounts), a)


def type_text(session: DesktopSession, a: _Typing) -> ToolReply:
    return _act(session, Action.type(a.text), a)


def key(session: DesktopSession, a: _Keys) -> ToolReply:
    return _act(session, Action.key(*parse_chord(a.keys)), a)


def wait(session: DesktopSession, a: _Wait) -> ToolReply:
    return _act(session, Action.wait(a.seconds), a)


TOOLS = (
    Tool("click", f"Click. {PIXELS}", _Click, click),
    Tool("double_click", f"Double-click with the left button. {PIXELS}", _ModifiedClick, double_click),
    Tool("right_click", f"Click with the right button. {PIXELS}", _ModifiedClick, right_click),
    Tool("move", f"Move the pointer. {PIXELS}", _At, move),
    Tool("drag", "Drag from one place to another, in pixels of the last full screenshot.", _Drag, drag),
    Tool("scroll", f"Turn the wheel over a place. {PIXELS}", _Scroll, scroll),
    Tool("type", "Type text where the keyboard focus is.", _Typing, type_text),
    Tool("key", "Press a key, or several together.", _Keys, key),
    Tool("wait", "Wait, for something that takes its time.", _Wait, wait),
)
