"""Programs of a desktop as its owner sees them: run a command, list processes, read and write files.

Everything happens inside the desktop's own namespaces; what comes out are bytes and descriptors.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import signal
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any

from operant.desktop.channel import Channel
from operant.desktop.readiness import readable
from operant.errors import CommandTimeout, DiskFull, InvalidPath, ProcessLimit, UnknownApplication
from operant.types import Process, RunResult

__all__ = ["FileInfo", "Files", "list_processes", "run_command", "spawn", "split_command"]

CHUNK = 1 << 16


def split_command(command: str | Sequence[str]) -> list[str]:
    """A command as a list of words. A string is split as a shell would, but no shell ever sees it."""
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except ValueError as error:
        raise UnknownApplication(f"{command!r} is not a command: {error}") from error
    if not words or not words[0]:
        raise UnknownApplication("an empty command")
    if any("\0" in word for word in words):
        raise UnknownApplication("a command with a NUL byte in it")
    return words


def spawn(channel: Channel, argv: Sequence[str], fds: tuple[int, ...], **more: Any) -> int:
    """Start a program; returns its pid inside the desktop."""
    try:
        return int(channel.call("spawn", argv=list(argv), fds=fds, **more)["pid"])
    except FileNotFoundError as error:
        raise UnknownApplication(f"no program {argv[0]!r} in the desktop") from error
    except PermissionError as error:
        raise UnknownApplication(f"{argv[0]!r} can't be executed") from error
    except BlockingIOError as error:
        raise ProcessLimit(
            "the desktop is at its limit of processes", hint="raise limits.processes, or reset the desktop"
        ) from error


def run_command(
    channel: Channel,
    argv: Sequence[str],
    *,
    stdin: bytes | None = None,
    timeout_s: float,
    limit: int,
    background: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> RunResult:
    """Run a program to its end. With ``background``, it may leave children that keep its output open."""
    with contextlib.ExitStack() as stack:
        given = stack.enter_context(os.fdopen(os.memfd_create("stdin"), "wb", 0))
        given.write(stdin or b"")
        given.seek(0)
        (out, out_writer), (err, err_writer) = _pipe(stack), _pipe(stack)
        handed = (given.fileno(), out_writer.fileno(), err_writer.fileno())
        pid = spawn(channel, argv, handed, env=dict(env or {}), cwd=cwd)
        out_writer.close()
        err_writer.close()
        kept = {out: bytearray(), err: bytearray()}
        truncated = False
        deadline = time.monotonic() + timeout_s
        reading = {out, err}
        ended = None
        while ended is None or (reading and not background):
            wait = max(0.0, deadline - time.monotonic()) if ended is None else 0.0
            watched: list[Any] = [*reading, *([channel] if ended is None else [])]
            ready = readable(watched, min(wait, 1.0))
            for pipe in reading & set(ready):
                data = os.read(pipe.fileno(), CHUNK)
                if not data:
                    reading.discard(pipe)
                room = max(0, limit - len(kept[pipe]))
                truncated |= len(data) > room
                kept[pipe] += data[:room]
            if ended is None:
                # Another thread may have taken the message off the wire for us, so look every time.
                ended = channel.wait_event("exit", 0.0, pid=pid)
            elif not ready:
                break  # children of it still hold the pipe; what they say later is not its output
            if ended is None and time.monotonic() >= deadline:
                channel.call("signal", pid=pid, signal=int(signal.SIGKILL), group=True)
                tail = bytes(kept[err] or kept[out])[-200:].decode("utf-8", "replace")
                said = f"; it said {tail!r}" if tail else ""
                raise CommandTimeout(f"{shlex.join(argv)[:120]} did not end within {timeout_s:g} s{said}")
        return RunResult(ended["code"], bytes(kept[out]), bytes(kept[err]), truncated)


def _pipe(stack: contextlib.ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    reader, writer = os.pipe()
    return stack.enter_context(os.fdopen(reader, "rb", 0)), stack.enter_context(os.fdopen(writer, "wb", 0))


def list_processes(channel: Channel) -> list[Process]:
    """What the agent's programs are, without the desktop's own machinery."""
    found = channel.call("processes")["processes"]
    return [Process(pid, parent, name, tuple(command)) for pid, parent, name, command in found]


@dataclass(frozen=True, slots=True)
class FileInfo:
    """One entry of a directory inside a desktop."""

    name: str
    size: int
    modified: float
    is_dir: bool
    is_link: bool

    @classmethod
    def of(cls, name: str, mode: int, size: int, modified: float) -> FileInfo:
        return cls(name, size, modified, stat.S_ISDIR(mode), stat.S_ISLNK(mode))


class Files:
    """Files of a desktop. Paths are the ones that programs inside see; relative ones start at HOME.

    Links are followed inside the sandbox, so no path leads out of it. What is missing or forbidden raises
    the usual FileNotFoundError, PermissionError and so on.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def read(self, path: str | PurePosixPath, limit: int = 64 << 20) -> bytes:
        """The bytes of a regular file, at most ``limit`` of them."""
        fd = self._channel.call("open", path=_checked(path), write=False).fd
        with os.fdopen(fd, "rb") as file:
            return file.read(limit)

    def read_text(self, path: str | PurePosixPath, limit: int = 64 << 20) -> str:
        return self.read(path, limit).decode("utf-8", "replace")

    def write(self, path: str | PurePosixPath, data: bytes | str, mode: int = 0o644) -> None:
        """Make or replace a file, and the directories that lead to it."""
        with _disk_errors():
            fd = self._channel.call("open", path=_checked(path), write=True, mode=mode).fd
            with os.fdopen(fd, "wb", 0) as file:
                left = memoryview(data.encode() if isinstance(data, str) else data)
                while left:
                    left = left[file.write(left) :]

    def list(self, path: str | PurePosixPath = ".", limit: int = 10_000) -> list[FileInfo]:
        """The entries of a directory by name, at most ``limit`` of them."""
        entries = self._channel.call("list_directory", path=_checked(path), limit=limit)["entries"]
        return [FileInfo.of(*entry) for entry in entries]

    def exists(self, path: str | PurePosixPath) -> bool:
        return self.info(path) is not None

    def info(self, path: str | PurePosixPath) -> FileInfo | None:
        """What lies at that path, following links; None if nothing does."""
        try:
            found = self._channel.call("stat", path=_checked(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return FileInfo.of(PurePosixPath(path).name, found["mode"], found["size"], found["mtime"])


def _checked(path: str | PurePosixPath) -> str:
    text = str(path)
    if not text or "\0" in text:
        raise InvalidPath(f"{text!r} is not a path")
    return text


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskFull(
                "the desktop's private disk is full",
                hint="raise limits.disk_mb, or delete files in the desktop",
            ) from error
        raise
