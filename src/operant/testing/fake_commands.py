"""The few commands that the fake desktop can run: enough for set-up steps and criteria."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable

from operant.errors import UnknownApplication
from operant.testing.fake_files import HOME, FakeFiles
from operant.types import RunResult

__all__ = ["COMMANDS", "run_fake"]

Command = Callable[[list[str], FakeFiles, bytes], bytes]


class _Failed(Exception):
    """A command ends with this message and code 1."""


def _paths(args: list[str]) -> list[str]:
    return [arg for arg in args if not arg.startswith("-")]


def _cat(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    return b"".join(files.read(path) for path in _paths(args)) if _paths(args) else stdin


def _ls(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    lines = []
    for path in _paths(args) or [HOME]:
        entries = files.list(path) if files.is_dir(path) else [files.info(path)]
        if entries == [None]:
            raise _Failed(f"ls: cannot access '{path}': No such file or directory")
        lines += [entry.name for entry in entries if entry is not None and not entry.name.startswith(".")]
    return "".join(line + "\n" for line in lines).encode()


def _mkdir(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    for path in _paths(args):
        if "-p" not in args and files.exists(path):
            raise _Failed(f"mkdir: cannot create directory '{path}': File exists")
        files.make_directory(path)
    return b""


def _rm(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    for path in _paths(args):
        if files.is_dir(path) and not any("r" in arg for arg in args if arg.startswith("-")):
            raise _Failed(f"rm: cannot remove '{path}': Is a directory")
        files.remove(path)
    return b""


def _mv(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    *sources, target = _paths(args)
    for source in sources:
        files.move(source, target)
    return b""


def _cp(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    *sources, target = _paths(args)
    for source in sources:
        place = posixpath.join(target, posixpath.basename(source)) if files.is_dir(target) else target
        files.write(place, files.read(source))
    return b""


def _touch(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    for path in _paths(args):
        files.write(path, files.read(path) if files.exists(path) else b"")
    return b""


def _test(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    flag, path = [*args, "", ""][:2]
    there, is_dir = files.exists(path), files.is_dir(path)
    if not {"-e": there, "-d": is_dir, "-f": there and not is_dir}.get(flag, False):
        raise _Failed("")
    return b""


def _false(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    raise _Failed("")


def _sh(args: list[str], files: FakeFiles, stdin: bytes) -> bytes:
    """``sh -c`` with one plain command."""
    done = run_fake(shlex.split(args[1]), files, stdin)
    if done.returncode:
        raise _Failed(done.stderr.decode().strip())
    return done.stdout


COMMANDS: dict[str, Command] = {
    "cat": _cat,
    "cp": _cp,
    "echo": lambda args, files, stdin: (" ".join(args) + "\n").encode(),
    "false": _false,
    "ls": _ls,
    "mkdir": _mkdir,
    "mv": _mv,
    "pwd": lambda args, files, stdin: (HOME + "\n").encode(),
    "rm": _rm,
    "sh": _sh,
    "test": _test,
    "touch": _touch,
    "true": lambda args, files, stdin: b"",
}


def run_fake(argv: list[str], files: FakeFiles, stdin: bytes = b"", limit: int = 1 << 20) -> RunResult:
    """Run one of ``COMMANDS`` to its end."""
    command = COMMANDS.get(posixpath.basename(argv[0]))
    if command is None:
        raise UnknownApplication(
            f"no program {argv[0]!r} in the fake desktop", hint=f"it knows {', '.join(COMMANDS)}"
        )
    try:
        output = command(argv[1:], files, stdin)
    except (_Failed, OSError, ValueError) as error:
        return RunResult(1, b"", f"{error}\n".encode())
    return RunResult(0, output[:limit], b"", len(output) > limit)
