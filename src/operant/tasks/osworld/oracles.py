"""Oracles by hand for tasks of OSWorld, in words of our own, by the first digits of the task's id.

They open a terminal by the run dialog and type a command, as a user might; they show that a task can be done here and
that its metric sees it, not how its dialogs are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.desktop.osworld.machine_image import VIDEO_TYPES
from operant.tasks.oracle import Oracle
from operant.tasks.osworld.task_file import TaskFile
from operant.tasks.script import parse_script

__all__ = ["oracle_of"]

VLC = "~/.config/vlc/vlcrc"
GIMP = "~/.config/GIMP/2.10/gimprc"
BLACK = ";".join(["20"] * 12)

#: What is typed into a terminal.
COMMANDS: Mapping[str, str] = {
    "e0df059f": "mv ~/Desktop/todo_list_Jan_1 ~/Desktop/todo_list_Jan_2",
    "a4d98375": "gsettings set org.gnome.desktop.screensaver lock-enabled true",
    "f9be0997": "gsettings set org.gnome.desktop.notifications show-banners false",
    "3ce045a0": "gsettings set org.gnome.desktop.interface text-scaling-factor 1.5",
    "937087b6": f"for t in {' '.join(VIDEO_TYPES)}; do xdg-mime default vlc.desktop video/$t; done",
    "215dfd39": f"echo qt-bgcone=0 >> {VLC}",
    "5ac2891a": f"sed -i s/play-and-exit=1/play-and-exit=0/ {VLC}",
    "8ba5ae7a": f"echo input-record-path=/home/user/Desktop >> {VLC}",
    "9195653c": f"echo qt-max-volume=200 >> {VLC}",
    "a5bbbcd5": f"echo qt-minimal-view=1 >> {VLC}",
    "d06f0d4d": f"echo 'qt-slider-colours={BLACK}' >> {VLC}",
    "f3977615": f"echo one-instance-when-started-from-file=0 >> {VLC}",
    "7b7617bd": f"echo '(undo-levels 100)' >> {GIMP}",
    "7767eef2": f"echo '(theme \"Light\")' >> {GIMP}",
}


def oracle_of(task: TaskFile) -> Oracle | None:
    """Shows how a task is done; None where nothing does."""
    short = task.id[:8]
    return parse_script(_in_terminal(COMMANDS[short]), f"oracle of {short}") if short in COMMANDS else None


def _in_terminal(command: str) -> list[dict[str, Any]]:
    return [
        {"key": "alt+f2"},
        {"wait": 1},
        {"type": "xterm\n"},
        {"wait": 2},
        {"type": f"{command}\n"},
        {"wait": 1},
    ]
