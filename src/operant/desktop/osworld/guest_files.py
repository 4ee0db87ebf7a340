"""Files and the clipboard of one of OSWorld's machines."""

from __future__ import annotations

import errno
import posixpath
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from operant.desktop.osworld.connection import GuestConnection
from operant.desktop.programs import FileInfo
from operant.errors import InvalidPath
from operant.types import RunResult

if TYPE_CHECKING:
    from operant.desktop.osworld.client import OsworldDesktop

__all__ = ["GuestClipboard", "GuestFiles"]

SELECTIONS = ("clipboard", "primary")


class GuestFiles:
    """Relative paths start at HOME; what is missing raises the usual FileNotFoundError."""

    def __init__(
        self, line: GuestConnection, home: str, timeout_s: float, shell: Callable[..., RunResult]
    ) -> None:
        self._line = line
        self._home = home
        self._timeout_s = timeout_s
        self._shell = shell

    def _full(self, path: str | PurePosixPath) -> str:
        text = str(path)
        if not text or "\0" in text:
            raise InvalidPath(f"{text!r} is not a path")
        return posixpath.normpath(posixpath.join(self._home, text))

    def read(self, path: str | PurePosixPath, limit: int = 64 << 20) -> bytes:
        """The bytes of a regular file, at most ``limit`` of them."""
        full = self._full(path)
        answer = self._line.post("/file", self._timeout_s, data={"file_path": full})
        if answer.status == 404:
            raise FileNotFoundError(errno.ENOENT, "no such file", full)
        if answer.status != 200:
            raise OSError(errno.EIO, answer.message(), full)
        return answer.content[:limit]

    def read_text(self, path: str | PurePosixPath, limit: int = 64 << 20) -> str:
        return self.read(path, limit).decode("utf-8", "replace")

    def write(self, path: str | PurePosixPath, data: bytes | str, mode: int = 0o644) -> None:
        """Make or replace a file, and the directories that lead to it."""
        full, content = self._full(path), data.encode() if isinstance(data, str) else bytes(data)
        files: dict[str, Any] = {"file_data": (posixpath.basename(full), content)}
        answer = self._line.post("/setup/upload", self._timeout_s, data={"file_path": full}, files=files)
        if answer.status != 200:
            raise OSError(errno.EIO, answer.message(), full)
        if mode != 0o644:
            self._shell('chmod "$1" -- "$2"', "sh", f"{mode:o}", full)

    def list(self, path: str | PurePosixPath = ".", limit: int = 10_000) -> list[FileInfo]:
        """The entries of a directory by name, at most ``limit`` of them."""
        full = self._full(path)
        form = r"%f\0%s\0%T@\0%y\0"
        done = self._shell(
            'find "$1" -mindepth 1 -maxdepth 1 -printf "$2"', "sh", posixpath.join(full, ""), form
        )
        if done.returncode:
            missing = b"No such file" in done.stderr
            raise (FileNotFoundError if missing else NotADirectoryError)(
                errno.ENOENT if missing else errno.ENOTDIR, "can't be listed", full
            )
        parts = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
        entries = zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=True)
        found = [FileInfo(a, int(b), float(c), d == "d", d == "l") for a, b, c, d in entries]
        return sorted(found, key=lambda one: one.name)[:limit]

    def exists(self, path: str | PurePosixPath) -> bool:
        return self.info(path) is not None

    def info(self, path: str | PurePosixPath) -> FileInfo | None:
        """What lies at that path, following links; None if nothing does."""
        full = self._full(path)
        done = self._shell('stat -L -c "%s %Y %F" -- "$1"', "sh", full)
        if done.returncode:
            return None
        size, modified, kind = done.stdout.decode().strip().split(" ", 2)
        return FileInfo(posixpath.basename(full), int(size), float(modified), kind == "directory", False)


class GuestClipboard:
    """Text on the clipboard, or in the primary selection, by xclip."""

    def __init__(self, desktop: OsworldDesktop) -> None:
        self._desktop = desktop

    def get(self, selection: str = "clipboard") -> str | None:
        done = self._desktop.run(["xclip", "-o", "-selection", _checked(selection)])
        return None if done.returncode else done.stdout.decode("utf-8", "replace")

    def set(self, text: str, selection: str = "clipboard") -> None:
        line = f"xclip -i -selection {_checked(selection)} >/dev/null 2>&1"
        self._desktop.run(["/bin/sh", "-c", line], stdin=text.encode())


def _checked(selection: str) -> str:
    if selection not in SELECTIONS:
        raise InvalidPath(f"{selection!r} is no selection", hint=f"selections: {', '.join(SELECTIONS)}")
    return selection
