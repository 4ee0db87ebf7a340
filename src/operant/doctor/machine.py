"""The questions that the doctor asks a machine, and the answers of the one that it runs on.

Tests answer the same questions with an invented machine. Knows nothing of what the answers are for.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

__all__ = ["NOBODY", "CommandResult", "Machine", "ThisMachine"]

#: Desktops of a root user run as this user, so root's probes do too.
NOBODY = 65534

PROBE_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a probe command ended, and what it said."""

    code: int
    output: str

    @property
    def ok(self) -> bool:
        return self.code == 0


class Machine(Protocol):
    """Everything that a check may ask."""

    @property
    def system(self) -> str:
        """The operating system, as ``sys.platform`` names it."""

    @property
    def python(self) -> tuple[int, int, int]:
        """The version of the Python that Operant runs on."""

    @property
    def executable(self) -> str:
        """The Python that Operant runs on."""

    @property
    def checkout(self) -> str | None:
        """The repository that Operant runs from; None if it is an installed package."""

    @property
    def is_root(self) -> bool: ...

    @property
    def temporary(self) -> str:
        """The directory for temporary files."""

    @property
    def open_files(self) -> int:
        """How many files one process may have open."""

    def which(self, program: str) -> str | None: ...

    def exists(self, path: str) -> bool: ...

    def writable(self, path: str) -> bool: ...

    def free(self, path: str) -> int:
        """Free bytes on the file system that holds the path."""

    def read(self, path: str) -> str | None:
        """A small file's stripped text, or nothing where there is no such file."""

    def environ(self, name: str) -> str | None: ...

    def run(self, command: Sequence[str], *, as_desktop: bool = False) -> CommandResult:
        """Run a short command, on request as the user that desktops run as."""

    def package(self, name: str) -> str | None:
        """The installed version of a Python package."""

    def requirements(self) -> Sequence[str]:
        """What the installed Operant says that it requires, in the words of its metadata."""


class ThisMachine:
    """The machine that we run on."""

    @property
    def system(self) -> str:
        return sys.platform

    @property
    def python(self) -> tuple[int, int, int]:
        return sys.version_info[:3]

    @property
    def executable(self) -> str:
        return sys.executable

    @property
    def checkout(self) -> str | None:
        root = Path(__file__).resolve().parents[3]
        ours = (root / "pyproject.toml").is_file() and (root / "src" / "operant").is_dir()
        return str(root) if ours else None

    @property
    def is_root(self) -> bool:
        return hasattr(os, "geteuid") and os.geteuid() == 0

    @property
    def temporary(self) -> str:
        return tempfile.gettempdir()

    @property
    def open_files(self) -> int:
        import resource  # only where there is such a limit

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return sys.maxsize if soft == resource.RLIM_INFINITY else soft

    def which(self, program: str) -> str | None:
        return shutil.which(program)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def writable(self, path: str) -> bool:
        return os.access(path, os.W_OK | os.X_OK)

    def free(self, path: str) -> int:
        return shutil.disk_usage(path).free

    def read(self, path: str) -> str | None:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read(4096).strip()
        except OSError:
            return None

    def environ(self, name: str) -> str | None:
        return os.environ.get(name)

    def run(self, command: Sequence[str], *, as_desktop: bool = False) -> CommandResult:
        nobody = NOBODY if as_desktop and self.is_root else None
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=PROBE_TIMEOUT_S,
                check=False,
                cwd="/",
                user=nobody,
                group=nobody,
                extra_groups=None if nobody is None else [],
            )
        except subprocess.TimeoutExpired:
            return CommandResult(124, f"no answer within {PROBE_TIMEOUT_S:g} s")
        except OSError as error:
            return CommandResult(127, str(error))
        return CommandResult(ended.returncode, ended.stdout.decode("utf-8", "replace").strip())

    def package(self, name: str) -> str | None:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None

    def requirements(self) -> Sequence[str]:
        try:
            return importlib.metadata.requires("operant") or []
        except importlib.metadata.PackageNotFoundError:
            return []
