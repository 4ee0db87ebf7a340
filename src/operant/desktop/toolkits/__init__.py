"""Toolkits: one place that makes the programs of each accessible and still.

Desktops give every program all of these settings, whatever starts it. What belongs to a single application stands in
``operant.apps``. One file per toolkit; the table is in the order in which a program is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from operant.desktop.toolkits.base import Toolkit
from operant.desktop.toolkits.chromium import CHROMIUM
from operant.desktop.toolkits.gtk import GTK_2, GTK_3, GTK_4
from operant.desktop.toolkits.libreoffice import LIBREOFFICE
from operant.desktop.toolkits.mozilla import MOZILLA
from operant.desktop.toolkits.others import JAVA, MOTIF, PLAIN_X11, SDL, TK, WX, XT
from operant.desktop.toolkits.qt import QT_5, QT_6

__all__ = [
    "TOOLKITS",
    "Toolkit",
    "mapped_files",
    "recognise_toolkit",
    "toolkit_environment",
    "toolkit_home",
    "toolkit_system",
]

#: Those that draw through another one stand before it: LibreOffice, Mozilla and wxWidgets load GTK 3 as well.
TOOLKITS: tuple[Toolkit, ...] = (
    LIBREOFFICE,
    MOZILLA,
    JAVA,
    WX,
    QT_6,
    QT_5,
    CHROMIUM,
    GTK_4,
    GTK_3,
    GTK_2,
    TK,
    MOTIF,
    XT,
    SDL,
    PLAIN_X11,
)


def toolkit_environment() -> dict[str, str]:
    """The environment variables of all toolkits."""
    return {name: value for one in TOOLKITS for name, value in one.environment.items()}


def toolkit_home() -> dict[str, str]:
    """The files of HOME of all toolkits: path -> text."""
    return {path: text for one in TOOLKITS for path, text in one.home.items()}


def toolkit_system() -> dict[str, str]:
    """Configuration files of the machine -> what the desktop sees at their end."""
    return {path: text for one in TOOLKITS for path, text in one.system.items()}


def mapped_files(maps: str) -> set[str]:
    """The names of the files in a ``/proc/PID/maps``, without their directories."""
    return {PurePosixPath(line.split(None, 5)[5]).name for line in maps.splitlines() if "/" in line}


def recognise_toolkit(files: Iterable[str]) -> Toolkit | None:
    """The toolkit of a program by the names of the files that it has mapped; None if it has none that we know."""
    names = list(files)
    return next((one for one in TOOLKITS if any(name.startswith(one.libraries) for name in names)), None)
