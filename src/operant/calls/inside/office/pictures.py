"""Pictures in documents."""

from __future__ import annotations

import os
from typing import Any, Optional, Tuple

import programs
from office import connection, looks
from office.connection import properties, struct, url_of
from refusal import Refused

PIXEL = 2540 / 96  # 1/100 mm


def graphic(path: str) -> Any:
    """The picture in a file."""
    place = programs.path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % programs.shown(place))
    provider = connection.service("graphic.GraphicProvider")
    found = provider.queryGraphic(properties(URL=url_of(place)))
    if found is None:
        raise Refused("%s is no picture" % programs.shown(place))
    return found


def size_of(picture: Any, width_mm: Optional[float], height_mm: Optional[float]) -> Any:
    """Its size in 1/100 mm; a side that is not given follows from the other."""
    width, height = _own_size(picture)
    if width_mm is not None and height_mm is not None:
        made = (looks.hundredths(width_mm, "a width", 1), looks.hundredths(height_mm, "a height", 1))
    elif width_mm is not None:
        wanted = looks.hundredths(width_mm, "a width", 1)
        made = (wanted, max(1, round(wanted * height / width)))
    elif height_mm is not None:
        wanted = looks.hundredths(height_mm, "a height", 1)
        made = (max(1, round(wanted * width / height)), wanted)
    else:
        made = (round(width), round(height))
    return struct("awt.Size", Width=made[0], Height=made[1])


def _own_size(picture: Any) -> Tuple[float, float]:
    known = picture.Size100thMM
    if known.Width and known.Height:
        return known.Width, known.Height
    pixels = picture.SizePixel
    return max(1, pixels.Width) * PIXEL, max(1, pixels.Height) * PIXEL
