"""Files and folders: list, read, write, copy, move, rename, trash and open them.

Paths are relative to the home folder unless they begin with a slash; ~ is the home folder.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
import urllib.parse
from typing import Any

import programs
from programs import path_of, shown
from refusal import Refused

TIME_LIMITS = {"copy": 30, "move": 30, "open_path": 30}
MOST_ENTRIES = 500
MOST_FOUND = 100
MOST_LOOKED_AT = 50_000
LONGEST_READ = 8 << 20  # bytes of a file that are read
#: What opens a file, by the end of its name.
OPENERS = {
    "mousepad": "txt md csv log ini conf py sh json xml yaml yml toml",
    "atril": "pdf ps djvu",
    "viewnior": "png jpg jpeg gif bmp svg webp",
    "xarchiver": "zip tar gz tgz bz2 xz 7z",
    "chromium": "html htm",
}


def list_folder(folder: str = "~", hidden: bool = False) -> list[dict[str, object]]:
    """List the files and folders in a folder, with size in bytes and time of the last change."""
    path = _existing(folder)
    if not os.path.isdir(path):
        raise Refused("%s is not a folder" % shown(path))
    with os.scandir(path) as entries:
        names = sorted(entry.name for entry in entries if hidden or not entry.name.startswith("."))
    if len(names) > MOST_ENTRIES:
        raise Refused("%s has %d entries; find looks for a name" % (shown(path), len(names)))
    return [_described(os.path.join(path, name)) for name in names]


def info(path: str) -> dict[str, object]:
    """Tell whether a path is a file or a folder, its size in bytes and when it was last changed."""
    return _described(_existing(path))


def find(name: str, folder: str = "~") -> list[str]:
    """Find files and folders whose name contains that text, in a folder and all folders below it."""
    top, wanted, looked_at = _existing(folder), name.lower(), 0
    if not wanted:
        raise Refused("an empty name")
    found: list[str] = []
    for place, folders, names in os.walk(top):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        looked_at += len(folders) + len(names)
        found += [shown(os.path.join(place, one)) for one in sorted(folders + names) if wanted in one.lower()]
        if looked_at > MOST_LOOKED_AT or len(found) > MOST_FOUND:
            raise Refused("too many files: name a folder, or more of the name")
    return found


def read(path: str, first_line: int = 1, lines: int = 500) -> str:
    """Read lines of a text file, counted from 1."""
    place = _file(path)
    if first_line < 1 or not 1 <= lines <= 100_000:
        raise Refused("lines are counted from 1")
    with _open_file(place) as file:
        text = file.read(LONGEST_READ)
    if b"\0" in text:
        raise Refused("%s is not a text" % shown(place))
    rows = text.decode("utf-8", "replace").splitlines(keepends=True)
    return "".join(rows[first_line - 1 : first_line - 1 + lines])


def write(path: str, text: str, append: bool = False) -> str:
    """Write a text file, replacing what it held; append=True adds to its end. An open editor does not notice."""
    place = path_of(path)
    if os.path.isdir(place):
        raise Refused("%s is a folder" % shown(place))
    _parent(place)
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | (os.O_APPEND if append else os.O_TRUNC)
    fd = os.open(place, flags, 0o644)
    with os.fdopen(fd, "wb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Refused("%s is not a file" % shown(place))
        file.write(text.encode())
    return "wrote %d characters to %s" % (len(text), shown(place))


def make_folder(path: str) -> str:
    """Make a folder, and the folders that lead to it."""
    place = path_of(path)
    if os.path.lexists(place):
        raise Refused("%s is there already" % shown(place))
    os.makedirs(place)
    return "made the folder %s" % shown(place)


def move(source: str, target: str, overwrite: bool = False) -> str:
    """Move a file or folder: into target if that is a folder, otherwise to the path that target names."""
    place, goal = _ends(source, target, overwrite)
    shutil.move(place, goal)
    return "moved %s to %s" % (shown(place), shown(goal))


def copy(source: str, target: str, overwrite: bool = False) -> str:
    """Copy a file or folder: into target if that is a folder, otherwise to the path that target names."""
    place, goal = _ends(source, target, overwrite)
    if os.path.isdir(place):
        shutil.copytree(place, goal, symlinks=True)
    else:
        _regular(place)
        shutil.copy2(place, goal)
    return "copied %s to %s" % (shown(place), shown(goal))


def rename(path: str, name: str) -> str:
    """Give a file or folder another name in the folder where it is."""
    if not name or "/" in name or name in (".", ".."):
        raise Refused("%r is not a name" % name)
    place = _existing(path)
    goal = os.path.join(os.path.dirname(place), name)
    if os.path.lexists(goal):
        raise Refused("%s is there already" % shown(goal))
    os.rename(place, goal)
    return "renamed %s to %s" % (shown(place), name)


def trash(path: str) -> str:
    """Move a file or folder to the trash, from where it can be restored."""
    place = _existing(path)
    base = os.path.join(os.environ.get("XDG_DATA_HOME") or programs.home() + "/.local/share", "Trash")
    if place == programs.home() or (base + "/").startswith(place + "/") or place.startswith(base + "/"):
        raise Refused("%s can't be moved to the trash" % shown(place))
    for name in ("files", "info"):
        os.makedirs(os.path.join(base, name), 0o700, exist_ok=True)
    name = os.path.basename(place)
    stem, end = os.path.splitext(name)
    number = 1
    while True:
        try:
            note = os.path.join(base, "info", name + ".trashinfo")
            fd = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            break
        except FileExistsError:
            number += 1
            name = "%s.%d%s" % (stem, number, end)
    with os.fdopen(fd, "w") as file:
        deleted = time.strftime("%Y-%m-%dT%H:%M:%S")
        file.write("[Trash Info]\nPath=%s\nDeletionDate=%s\n" % (urllib.parse.quote(place), deleted))
    try:
        os.rename(place, os.path.join(base, "files", name))
    except OSError:
        os.unlink(note)
        raise
    return "moved %s to the trash" % shown(place)


def open_path(path: str) -> str:
    """Open a file in the application that belongs to it, or a folder in the file manager."""
    from api import windows

    place = _existing(path)
    if os.path.isdir(place):
        return windows.open_application("pcmanfm", place)
    end = place.rpartition(".")[2].lower()
    program = next((one for one, ends in OPENERS.items() if end in ends.split()), "mousepad")
    return windows.open_application(program, place)


def _existing(path: str) -> str:
    place = path_of(path)
    if not os.path.lexists(place):
        folder = os.path.dirname(place)
        where = "" if os.path.isdir(folder) else ", nor a folder %s" % shown(folder)
        raise Refused("there is no %s%s" % (shown(place), where))
    return place


def _file(path: str) -> str:
    place = _existing(path)
    if os.path.isdir(place):
        raise Refused("%s is a folder" % shown(place))
    return place


def _open_file(place: str) -> Any:
    """A regular file; a FIFO or a device would never end."""
    fd = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Refused("%s is not a file" % shown(place))
    return os.fdopen(fd, "rb")


def _regular(place: str) -> None:
    if not stat.S_ISREG(os.stat(place).st_mode):
        raise Refused("%s is not a file" % shown(place))


def _parent(place: str) -> None:
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):
        raise Refused("there is no folder %s" % shown(folder))


def _ends(source: str, target: str, overwrite: bool) -> tuple[str, str]:
    place, goal = _existing(source), path_of(target)
    if os.path.isdir(goal):
        goal = os.path.join(goal, os.path.basename(place))
    _parent(goal)
    if goal == place or goal.startswith(place + "/"):
        raise Refused("%s can't be put into itself" % shown(place))
    if os.path.lexists(goal):
        if os.path.isdir(goal) or not overwrite:
            hint = "" if os.path.isdir(goal) else "; overwrite=True replaces it"
            raise Refused("%s is there already%s" % (shown(goal), hint))
        os.unlink(goal)
    return place, goal


def _described(path: str) -> dict[str, object]:
    facts = os.lstat(path)
    kind = "folder" if stat.S_ISDIR(facts.st_mode) else "link" if stat.S_ISLNK(facts.st_mode) else "file"
    changed = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(facts.st_mtime))
    return {"name": os.path.basename(path), "kind": kind, "size": facts.st_size, "changed": changed}
