"""What command lines do to the files of a task: a simulated shell that knows the commands of the terminal tasks.

The state that a task must end in and how far an oracle got both follow from it.
"""

from __future__ import annotations

import copy
import fnmatch
import posixpath
import shlex
from collections.abc import Iterable, Mapping, Sequence

from operant.apps import xterm
from operant.apps.view import View
from operant.errors import TaskError
from operant.tasks.changes import Change, Disk

__all__ = ["WORK", "Shell", "commands", "text_of"]

WORK = "work"  # the directory below HOME in which terminals begin


def text_of(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


class Shell:
    """Runs command lines on a disk, beginning in a directory below HOME."""

    def __init__(self, disk: Disk, directory: str = WORK) -> None:
        self.disk = disk
        self.directory = directory
        self.packed: dict[str, dict[str, str | bytes]] = {}
        """What is in each archive."""

    def run(self, line: str) -> None:
        words = shlex.split(line)
        redirected = {sign: words[words.index(sign) + 1] for sign in "<>" if sign in words}
        plain = words[: min((words.index(sign) for sign in redirected), default=len(words))]
        given = self._read(redirected["<"]) if "<" in redirected else ""
        if ">" in redirected:
            self.disk.write(self._path(redirected[">"]), "")
        printed = self._command(plain[0], [one for word in plain[1:] for one in self._expand(word)], given)
        if ">" in redirected:
            self.disk.write(self._path(redirected[">"]), printed)

    def _command(self, name: str, arguments: list[str], given: str) -> str:
        """What it prints."""
        disk, path = self.disk, self._path
        match name, arguments:
            case "mkdir", [folder]:
                disk.make_folder(path(folder))
            case "cd", [folder]:
                self.directory = path(folder)
            case "touch", [file]:
                disk.write(path(file), "")
            case "cp" | "mv", [*files, target]:
                for file in files:
                    inside = posixpath.join(target, posixpath.basename(file))
                    new = path(inside if path(target) in disk.folders else target)
                    (disk.copy if name == "cp" else disk.move)(path(file), new)
            case "rm", names:
                for one in names:
                    disk.remove(path(one))
            case "ls", folders:
                names = disk.names(path(folders[0] if folders else "."))
                return text_of(sorted(one.rstrip("/") for one in names))
            case "echo", words:
                return f"{' '.join(words)}\n"
            case "cat", files:
                return "".join(map(self._read, files))
            case "grep", [word, file]:
                return text_of(line for line in self._read(file).splitlines() if word in line)
            case "wc", ["-l"]:
                return f"{len(given.splitlines())}\n"
            case "sort", ["-o", target, file]:
                disk.write(path(target), text_of(sorted(self._read(file).splitlines())))
            case "sed", ["-i", expression, file]:
                _, old, new, _ = expression.split("/")
                lines = self._read(file).splitlines()
                disk.write(path(file), text_of(line.replace(old, new, 1) for line in lines))
            case "tar", ["cf", archive, source]:
                below, whole = len(self.directory) + 1, path(source)
                packed = [one for one in disk.files if one == whole or one.startswith(f"{whole}/")]
                self.packed[path(archive)] = {one[below:]: disk.files[one] for one in packed}
                disk.write(path(archive), b"")
            case "tar", ["xf", archive]:
                for one, content in self.packed[path(archive)].items():
                    disk.write(path(one), content)
            case _:
                raise TaskError(f"the simulated shell does not know {name} with {arguments}")
        return ""

    def _path(self, word: str) -> str:
        return posixpath.normpath(posixpath.join(self.directory, word))

    def _read(self, file: str) -> str:
        content = self.disk.files[self._path(file)]
        if isinstance(content, bytes):
            raise TaskError(f"{file} is no text")
        return content

    def _expand(self, word: str) -> list[str]:
        """The files that a pattern such as ``*.txt`` stands for, in the order of their names."""
        if "*" not in word:
            return [] if word == "-r" else [word]
        folder, pattern = posixpath.split(word)
        names = sorted(fnmatch.filter(self.disk.names(self._path(folder)), pattern))
        return [posixpath.join(folder, name) for name in names]


def commands(
    before: Disk, lines: Sequence[str], *, directory: str = WORK, title: str = xterm.TITLE
) -> Change:
    """Command lines that are entered in order in a terminal. What each of them leaves is found by simulating them."""
    shell = Shell(copy.deepcopy(before), directory)
    state, touched, moved = _state(before), set[str](), False
    done: list[tuple[str, xterm.Holds]] = []
    for line in lines:
        shell.run(line)
        new = _state(shell.disk)
        touched |= {path for path in {*state, *new} if state.get(path, ...) != new.get(path, ...)}
        moved, state = moved or line.startswith("cd "), new
        left = {path: new.get(path) for path in touched}
        done.append((line, _holds(left, xterm.at(shell.directory, title) if moved else None)))

    def effect(disk: Disk) -> None:
        again = Shell(disk, directory)
        for line in lines:
            again.run(line)

    return Change(xterm.entered(done, title), effect)


FOLDER = "/"  # in place of the content, for a folder; None for nothing


def _state(disk: Disk) -> dict[str, str | bytes | None]:
    return {**disk.files, **dict.fromkeys(disk.folders, FOLDER)}


def _holds(left: Mapping[str, str | bytes | None], in_place: xterm.Holds | None) -> xterm.Holds:
    """Whether these files and folders are as they should be, and the shell is in its directory."""

    def as_wanted(view: View, path: str, wanted: str | bytes | None) -> bool:
        if isinstance(wanted, str) and wanted != FOLDER:
            return view.read(path) == wanted
        info = view.desktop.files.info(path)
        if wanted is None or info is None:
            return wanted is None and info is None
        return info.is_dir == (wanted == FOLDER)

    def holds(view: View) -> bool:
        files = all(as_wanted(view, path, wanted) for path, wanted in left.items())
        return files and (in_place is None or in_place(view))

    return holds
