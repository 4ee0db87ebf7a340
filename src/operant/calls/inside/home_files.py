"""Files of HOME for functions that a model wrote: nothing outside of it is read or written."""

from __future__ import annotations

import os
from typing import List

import programs
from refusal import Refused

LARGEST = 4 << 20  # bytes
MOST_ENTRIES = 10_000


def exists(path: str) -> bool:
    return os.path.lexists(_place(path))


def list_files(folder: str = "~") -> List[str]:
    """The names in a folder, in order."""
    place = _place(folder)
    if not os.path.isdir(place):
        raise Refused("there is no folder %s" % programs.shown(place))
    return sorted(os.listdir(place))[:MOST_ENTRIES]


def read_text(path: str) -> str:
    place = _place(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % programs.shown(place))
    with open(place, encoding="utf-8", errors="replace") as file:
        return file.read(LARGEST)


def write_text(path: str, text: str) -> None:
    """Make or replace a file; its folder must be there."""
    place = _place(path)
    if os.path.isdir(place) or not os.path.isdir(os.path.dirname(place)):
        raise Refused("%s is not a place for a file" % programs.shown(place))
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)


def remove(path: str) -> None:
    place = _place(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % programs.shown(place))
    os.remove(place)


def _place(path: str) -> str:
    """Where a path leads, links followed; one that leads out of HOME is refused."""
    place = os.path.realpath(programs.path_of(path))
    home = os.path.realpath(programs.home())
    if place != home and not place.startswith(home + "/"):
        raise Refused("%s is outside of HOME" % path[:200])
    return place
