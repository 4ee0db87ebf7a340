"""Which program a process really runs. Its name and its arguments are its own claims; its executable is not."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

from operant.types import Window

if TYPE_CHECKING:
    from operant.desktop.sandbox import SandboxDesktop

__all__ = ["INTERPRETERS", "TERMINALS", "executables", "installed", "program_of"]

LOOK_S = 10.0
#: Places that no agent can write to.
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/opt/", "/snap/")
TERMINALS = frozenset({"xterm", "uxterm", "lxterm", "koi8rxterm", "urxvt", "rxvt", "st", "lxterminal", "xfce4-terminal",
                       "gnome-terminal-server", "konsole", "alacritty", "kitty", "qterminal", "sakura"})  # fmt: skip
#: Programs that show whatever they are told to: a window of theirs says nothing about an application.
INTERPRETERS = ("python", "perl", "ruby", "tclsh", "wish", "lua", "node", "gjs", "bash", "dash", "sh", "java", "php",
                "zenity", "yad", "xmessage", "gxmessage", "xdialog", "ld-linux", "qemu")  # fmt: skip


def executables(desktop: SandboxDesktop, pids: Iterable[int] | None = None) -> dict[int, str]:
    """pid -> path of the executable, for all processes or for these; those that can't be asked are left out."""
    chosen = [process.pid for process in desktop.processes()] if pids is None else list(pids)
    if not chosen:
        return {}
    places = [f"/proc/{pid}/exe" for pid in chosen]
    found = desktop.run(
        ["/usr/bin/find", *places, "-maxdepth", "0", "-printf", r"%p\t%l\0"], timeout_s=LOOK_S, limit=4 << 20
    )
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


def program_of(desktop: SandboxDesktop, windows: Iterable[Window]) -> dict[int, str]:
    """window id -> name of the installed program that shows it; windows of unknown origin are left out."""
    shown = list(windows)
    running = executables(desktop)
    names = {installed(executable) for executable in running.values()}
    found = {}
    for window in shown:
        # A program that does not tell its pid is believed its class if a program of that name runs.
        name = installed(running.get(window.pid)) if window.pid is not None else window.wm_class.lower()
        if name is not None and name in names:
            found[window.id] = name
    return found
