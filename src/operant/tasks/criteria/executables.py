"""Which program a process really runs: its name and arguments are its own claims, its executable is not."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from operant.errors import UnknownApplication
from operant.types import Process, Window

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["TERMINALS", "akin", "executables", "installed", "programs_of", "shows_anything"]

COMMAND_TIMEOUT_S = 10.0
#: Places that no agent can write to.
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/opt/", "/snap/")
TERMINALS = frozenset(
    {"xterm", "uxterm", "lxterm", "urxvt", "rxvt", "st", "lxterminal", "xfce4-terminal", "qterminal",
     "mate-terminal", "konsole", "alacritty", "kitty", "sakura", "gnome-terminal-server"}
)  # fmt: skip
#: Programs that show whatever they are told to; versions may follow the name.
INTERPRETERS = (
    "python", "perl", "ruby", "tclsh", "wish", "lua", "node", "gjs", "bash", "dash", "java", "php", "guile",
    "zenity", "yad", "xmessage", "gxmessage", "Xdialog", "ld-linux", "ld.so", "qemu-",
)  # fmt: skip


def executables(desktop: Desktop, processes: Collection[Process]) -> dict[int, str]:
    """pid -> path of the executable; processes that can't be asked are left out."""
    if not processes:
        return {}
    places = [f"/proc/{process.pid}/exe" for process in processes]
    argv = ["/usr/bin/find", *places, "-maxdepth", "0", "-printf", r"%p\t%l\0"]
    try:
        found = desktop.run(argv, timeout_s=COMMAND_TIMEOUT_S, limit=8 << 20)
    except UnknownApplication:
        # A desktop without real processes; no agent can take this program away from a real one.
        return {process.pid: f"/usr/bin/{process.name}" for process in processes}
    known = {}
    for record in found.stdout.decode("utf-8", "surrogateescape").split("\0"):
        place, _, target = record.partition("\t")
        if target:
            known[int(place.split("/")[2])] = target
    return known


def installed(executable: str | None) -> str | None:
    """The name of a program of the system; None for anything that an agent could have put there."""
    if executable is None or not executable.startswith(SYSTEM) or executable.endswith(" (deleted)"):
        return None
    return posixpath.basename(executable)


def programs_of(desktop: Desktop, windows: Iterable[Window]) -> dict[int, str]:
    """window id -> name of the installed program that shows it; windows of unknown origin are left out."""
    shown = list(windows)
    if not shown:
        return {}
    running = executables(desktop, desktop.processes())
    names = {installed(executable) for executable in running.values()}
    found = {}
    for window in shown:
        # Programs of the old school do not tell their pid; their class is believed if such a program runs.
        name = window.wm_class.lower() if window.pid is None else installed(running.get(window.pid))
        if name is not None and name in names:
            found[window.id] = name
    return found


def akin(program: str, label: str) -> bool:
    """Whether a class of windows, or the name of an application, is one that this program goes by."""
    mine, other = _letters(program), _letters(label)
    return bool(mine and other) and (mine in other or other in mine)


def shows_anything(program: str) -> bool:
    """Whether what its windows say is decided by the command that started it."""
    return program in TERMINALS or program == "sh" or program.startswith(INTERPRETERS)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
