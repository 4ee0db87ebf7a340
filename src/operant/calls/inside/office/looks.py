"""Colours, alignments and lengths, from the words that agents use to what LibreOffice stores."""

from __future__ import annotations

import re
from typing import Any, Dict

from office.connection import enum
from office.documents import no_such
from refusal import Refused

COLORS = {
    "black": 0x000000,
    "white": 0xFFFFFF,
    "red": 0xFF0000,
    "green": 0x008000,
    "lime": 0x00FF00,
    "blue": 0x0000FF,
    "yellow": 0xFFFF00,
    "orange": 0xFFA500,
    "purple": 0x800080,
    "violet": 0xEE82EE,
    "magenta": 0xFF00FF,
    "cyan": 0x00FFFF,
    "pink": 0xFFC0CB,
    "brown": 0xA52A2A,
    "gray": 0x808080,
    "grey": 0x808080,
    "silver": 0xC0C0C0,
    "navy": 0x000080,
    "teal": 0x008080,
    "maroon": 0x800000,
    "olive": 0x808000,
    "gold": 0xFFD700,
    "lightgray": 0xD3D3D3,
    "lightblue": 0xADD8E6,
    "lightgreen": 0x90EE90,
    "darkblue": 0x00008B,
    "darkgreen": 0x006400,
    "darkred": 0x8B0000,
}
NO_COLOR = -1
BOLD, NORMAL = 150.0, 100.0
MOST_POINTS = 999.0
HORIZONTAL = {
    "left": "LEFT",
    "center": "CENTER",
    "right": "RIGHT",
    "justify": "BLOCK",
    "standard": "STANDARD",
}
PARAGRAPH = {"left": "LEFT", "center": "CENTER", "right": "RIGHT", "justify": "BLOCK"}


def color_of(text: str) -> int:
    """A name, ``#rrggbb`` or ``none``."""
    word = text.strip().lower().replace(" ", "").replace("_", "")
    if word in ("none", "automatic", "transparent"):
        return NO_COLOR
    if re.fullmatch(r"#?[0-9a-f]{6}", word):
        return int(word.lstrip("#"), 16)
    if re.fullmatch(r"#[0-9a-f]{3}", word):
        return int("".join(2 * digit for digit in word[1:]), 16)
    if word not in COLORS:
        raise Refused(no_such("color", text, list(COLORS)) + "; '#rrggbb' is a color, too")
    return COLORS[word]


def color_name(value: int) -> str:
    return "none" if value in (NO_COLOR, 0xFFFFFFFF) else "#%06x" % (value & 0xFFFFFF)


def size_of(points: float) -> float:
    if not 1 <= points <= MOST_POINTS:
        raise Refused("a font size is from 1 to %g points, not %g" % (MOST_POINTS, points))
    return float(points)


def hundredths(millimetres: float, what: str, least: float = 0.0, most: float = 5000.0) -> int:
    """A length as LibreOffice counts it."""
    if not least <= millimetres <= most:
        raise Refused("%s is from %g to %g mm, not %g" % (what, least, most, millimetres))
    return round(millimetres * 100)


def characters(
    bold: Any = None,
    italic: Any = None,
    underline: Any = None,
    strikethrough: Any = None,
    font: Any = None,
    size: Any = None,
    color: Any = None,
) -> Dict[str, Any]:
    """The properties of text that these words stand for; None leaves one as it is."""
    found: Dict[str, Any] = {}
    if bold is not None:
        found["CharWeight"] = BOLD if bold else NORMAL
    if italic is not None:
        found["CharPosture"] = enum("awt.FontSlant", "ITALIC" if italic else "NONE")
    if underline is not None:
        found["CharUnderline"] = 1 if underline else 0
    if strikethrough is not None:
        found["CharStrikeout"] = 1 if strikethrough else 0
    if font is not None:
        if not font.strip():
            raise Refused("an empty name of a font")
        found["CharFontName"] = font
    if size is not None:
        found["CharHeight"] = size_of(size)
    if color is not None:
        found["CharColor"] = color_of(color)
    return found


def put(target: Any, values: Dict[str, Any]) -> None:
    for name, value in values.items():
        target.setPropertyValue(name, value)
