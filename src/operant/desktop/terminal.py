"""What a terminal shows, read off its pixels: terminals such as xterm offer no accessibility.

A terminal draws each character in a cell of its own, and tells the window manager how large its cells are. So nothing
has to be found, and a cell looks the same whenever it says the same: it is compared with the glyphs of the desktop's
font once, and known from then on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import xcffib.xproto as xproto
from PIL import Image, ImageDraw, ImageFont

from operant.desktop import decorations
from operant.desktop.display import Display
from operant.types import Node, Window

__all__ = ["Cells", "read_terminal", "read_terminals", "with_terminals"]

Pixels = npt.NDArray[np.uint8]

CLASSES = frozenset({"xterm", "uxterm"})
#: Where the size hints of a window say by how much it grows, and how large it is without a cell.
STEP, BASE = 9, 15
WIDTHS, HEIGHTS = range(4, 65), range(6, 129)
SHOWING = frozenset({"showing"})
FONT = "DejaVuSansMono.ttf"
CHARACTERS = "".join(map(chr, range(33, 127)))
ADVANCE = 0.602  # of the font's size: how far apart its letters stand
FINE = 4  # times finer than the screen glyphs are drawn
SIZES = 4  # of the font that may be behind a width of cells
CONTRAST = 48  # of 255, at which a cell has something in it
UNLIKE = 0.055  # mean square difference beyond which a cell says nothing that is known
MOST_KNOWN = 20_000  # cells whose character is remembered

_known: dict[tuple[int, int, bytes], str] = {}


@dataclass(frozen=True)
class Cells:
    """The size of a terminal's cells, and how wide the border around all of them is."""

    width: int
    height: int
    across: int
    down: int


def read_terminals(
    display: Display, look: Callable[[], Pixels], windows: Sequence[Window], *, lines: bool = False
) -> list[Node]:
    """The terminals that nothing lies over; with ``lines``, each with a child for every line that says something."""
    shown = [
        (window, cells)
        for place, window in enumerate(windows)
        if window.wm_class.lower() in CLASSES
        and not window.minimized
        and not any(_overlap(window, other) for other in windows[place + 1 :])
        and (cells := _ask_cells(display, window)) is not None
    ]
    if not shown or not _has_font(FONT):
        return []
    screen = look()
    return [read_terminal(screen, window, cells, lines=lines) for window, cells in shown]


def with_terminals(scope: str, terminals: Sequence[Node], read: Callable[[], Node]) -> Node:
    """A tree in which the terminals are, too; ``read`` gets that of all else."""
    if scope == "focused":
        return next((one for one in terminals if "focused" in one.states), None) or read()
    tree = read()
    return replace(tree, children=(*tree.children, *terminals)) if terminals else tree


def read_terminal(screen: Pixels, window: Window, cells: Cells, *, lines: bool = False) -> Node:
    """A terminal as a widget with its text. Of a window that reaches beyond the screen, the lines that fit are read."""
    left, top = window.x + cells.across, window.y + cells.down
    cut = -(min(0, left) // cells.width)  # columns that are beyond the left edge
    columns = (window.width - 2 * cells.across) // cells.width
    texts = []
    for line in range((window.height - 2 * cells.down) // cells.height):
        y = top + line * cells.height
        strip = screen[
            max(0, y) : max(0, y + cells.height), left + cut * cells.width : left + columns * cells.width
        ]
        said = _read_line(strip, cells.width, cells.height)
        texts.append(" " * cut + said if said else "")
    while texts and not texts[-1]:
        texts.pop()
    children = tuple(
        Node(
            "line",
            "",
            SHOWING,
            (left, top + place * cells.height, len(text) * cells.width, cells.height),
            text,
            place + 1.0,
        )
        for place, text in enumerate(texts)
        if lines and text
    )
    states = SHOWING | {"multi line"} | ({"focused"} if window.focused else frozenset())
    box = window.x, window.y, window.width, window.height
    return Node("terminal", window.title, states, box, "\n".join(texts), children=children)


def _ask_cells(display: Display, window: Window) -> Cells | None:
    """What the window told of its cells; None if it is gone or tells nothing that can be."""
    with display.limited(), contextlib.suppress(xproto.WindowError):
        hints = display.words(display.ask_property(window.id, "WM_NORMAL_HINTS").reply())
        if len(hints) >= BASE + 2:
            (width, height), (across, down) = hints[STEP : STEP + 2], hints[BASE : BASE + 2]
            if width in WIDTHS and height in HEIGHTS:
                return Cells(width, height, across // 2, down // 2)
    return None


def _overlap(one: Window, other: Window) -> bool:
    return (
        not other.minimized
        and other.x < one.x + one.width
        and one.x < other.x + other.width
        and other.y - decorations.ABOVE < one.y + one.height
        and one.y < other.y + other.height
    )


def _read_line(strip: Pixels, width: int, height: int) -> str:
    """What a line of cells says, without the blanks at its end."""
    count = strip.shape[1] // width
    if strip.shape[0] < height or not count:
        return ""  # it is beyond the edge of the screen
    grey = strip[:, : count * width].mean(2).astype(np.uint8)
    cells = grey.reshape(height, count, width).swapaxes(0, 1)
    said = [" "] * count
    for at in np.flatnonzero(np.ptp(cells, axis=(1, 2)) >= CONTRAST):
        key = width, height, cells[at].tobytes()
        character = _known.get(key)
        if character is None:
            character = _recognise(cells[at], width, height)
            if len(_known) >= MOST_KNOWN:
                _known.clear()
            _known[key] = character
        said[at] = character
    return "".join(said).rstrip()


def _recognise(cell: Pixels, width: int, height: int) -> str:
    """The character that looks most like it; a blank where nothing does."""
    low, high = int(cell.min()), int(cell.max())
    ink = (cell.astype(np.float32).ravel() - low) / (high - low)
    if (ink > 0.5).mean() > 0.5:
        ink = 1.0 - ink  # most of a cell is paper, whichever of the two is dark
    glyphs, squares = _glyphs(width, height)
    unlike = squares - 2.0 * (glyphs @ ink) + ink @ ink
    best = int(unlike.argmin())
    return CHARACTERS[best % len(CHARACTERS)] if unlike[best] < UNLIKE * ink.size else " "


@cache
def _has_font(name: str) -> bool:
    """Whether this machine has it; the live screen may lack it."""
    try:
        ImageFont.truetype(name, 12)
    except OSError:
        return False
    return True


@cache
def _glyphs(width: int, height: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Every character as it may look in such a cell, and the sums of squares: (n, pixels), (n,).

    Font renderers differ in how they fit a glyph into the pixels. So each is drawn large, at several sizes and
    heights, and made small.
    """
    pictures = []
    fine, room = FINE * width, FINE * height
    for size in np.linspace(width - 0.45, width + 0.45, SIZES) / ADVANCE:
        font = ImageFont.truetype(FONT, float(size) * FINE)
        ascent, descent = font.getmetrics()
        drawn = []
        for character in CHARACTERS:
            picture = Image.new("L", (fine, room + 2 * FINE), 0)
            place = (fine - font.getlength(character)) / 2, FINE + (room - ascent - descent) / 2
            ImageDraw.Draw(picture).text(place, character, font=font, fill=255)
            drawn.append(np.asarray(picture, np.float32) / 255.0)
        for shift in range(2 * FINE + 1):
            moved = np.stack(drawn)[:, shift : shift + room]
            small = moved.reshape(-1, height, FINE, width, FINE).mean((2, 4)).reshape(len(drawn), -1)
            pictures.append(small / np.maximum(small.max(1, keepdims=True), 0.3))
    glyphs = np.concatenate(pictures)
    return glyphs, (glyphs**2).sum(1)
