"""The canonical action in the words of every system: parsers from and renderers to every action format.

Nothing here performs an action, and nothing that was sent is ever run. Malformed input raises
``ActionParseError``; an action that a format has no words for raises ``ActionNotExpressible``.
A new format is one module with ``parse`` and ``render`` (see ``base.Format``) and one line below; a model's
dialect (see ``dialect.Dialect``) is one line in ``registry``.

>>> from operant.types import Size
>>> click, = parse("pyautogui", "pyautogui.click(640, 400)", Size(1280, 800))
>>> render("anthropic", click, Size(1920, 1080))
{'action': 'left_click', 'coordinate': [960, 540]}
"""

from __future__ import annotations

from operant.actions import computer_13, json_actions, ui_rl
from operant.actions.base import Format, Payload
from operant.actions.dialect import Dialect
from operant.actions.payload import choose
from operant.actions.registry import DIALECTS, TEXT_DIALECTS, dialect
from operant.types import Action, Size

__all__ = [
    "DIALECTS",
    "FORMATS",
    "TEXT_DIALECTS",
    "Dialect",
    "Format",
    "Payload",
    "dialect",
    "parse",
    "render",
]

#: Every way of writing an action. ``json`` is the form on the wire here, and models' text in ``DIALECTS``.
FORMATS: dict[str, Format] = {
    "computer_13": computer_13,
    **DIALECTS,
    "json": json_actions,
    "ui_rl": ui_rl,
}


def parse(format: str, payload: object, screen: Size) -> list[Action]:
    """The actions that a payload of a format asks for, on a screen of that size."""
    return choose("format", format, FORMATS).parse(payload, screen)


def render(format: str, action: Action, screen: Size) -> Payload:
    """An action in the words of a format, for a screen of that size."""
    return choose("format", format, FORMATS).render(action, screen)
