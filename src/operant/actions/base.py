"""What an action format is, and how one declines an action that it has no words for.

A format is a module with ``parse`` and ``render``; nothing here knows any particular one. Each format
lists what it can carry in a table of its own, ``CARRIES``, written as in ``operant.types``: the fields
that each kind may have, with "!" after those that the format insists on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NoReturn, Protocol, TypeAlias

from operant.actions.keys import canonical_key, pyautogui_name
from operant.actions.payload import MAX_CHARS, MAX_ITEMS, check_text, json_value
from operant.errors import ActionNotExpressible, ActionParseError
from operant.types import Action, ActionKind, Size

__all__ = ["Format", "Payload", "check_carried", "check_length", "pyautogui_keys", "refuse"]

#: What a format says an action in: text, or an object that JSON can hold.
Payload: TypeAlias = str | dict[str, Any]


class Format(Protocol):
    """One way of writing actions. ``screen`` is the screen that its coordinates refer to."""

    def parse(self, payload: object, screen: Size) -> list[Action]:
        """The actions that a payload asks for; ``ActionParseError`` for anything else."""

    def render(self, action: Action, screen: Size) -> Payload:
        """The action in this format; ``ActionNotExpressible`` where it has no words for it."""


def refuse(format_name: str, action: Action, why: str) -> NoReturn:
    raise ActionNotExpressible(f"{format_name} can't express this {action.kind.value} action: {why}")


def check_carried(format_name: str, action: Action, carries: Mapping[ActionKind, str]) -> None:
    """Refuse an action whose kind or fields the format's table does not list."""
    if action.kind not in carries:
        refuse(format_name, action, "it has no such action")
    allowed = carries[action.kind].split()
    names = {name.rstrip("!") for name in allowed}
    for field in fields(Action):
        if field.name in ("kind", "screen"):
            continue
        given = getattr(action, field.name) != field.default
        if given and field.name not in names:
            refuse(format_name, action, f"it has no place for {field.name}")
        if not given and f"{field.name}!" in allowed:
            refuse(format_name, action, f"it needs {field.name}")
    try:
        for key in (*action.keys, *action.modifiers):
            if canonical_key(key) != key:
                refuse(format_name, action, f"{key!r} is not the canonical name of a key")
        check_text(action.text)
        check_text(action.function)
        json_value(list(action.args))
        json_value(dict(action.kwargs))
    except ActionParseError as error:
        refuse(format_name, action, error.message)
    if len(dict(action.kwargs)) < len(action.kwargs):
        refuse(format_name, action, "an argument is given twice")
    if max(len(action.path), len(action.keys), len(action.modifiers)) > MAX_ITEMS:
        refuse(format_name, action, f"it has more than {MAX_ITEMS} points or keys")


def check_length(format_name: str, action: Action, source: str) -> str:
    """The rendered text, if it is short enough for a parser to take back."""
    if len(source) > MAX_CHARS:
        refuse(format_name, action, f"it would take more than {MAX_CHARS} characters")
    return source


def pyautogui_keys(format_name: str, action: Action) -> list[str]:
    """The action's keys, for a format that uses pyautogui's names."""
    names = []
    for key in action.keys:
        name = pyautogui_name(key)
        if name is None:
            refuse(format_name, action, f"it has no name for the key {key!r}")
        names.append(name)
    return names
