"""The commands that get what is missing, and how they are run: without a shell, one after the other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence

from operant.doctor.check import Check, CheckStatus, Command
from operant.doctor.machine import Machine

__all__ = ["as_root", "commands_of", "install_package", "install_python", "run_fixes"]

THEN = " && "
APT = re.compile(r"(sudo )?apt-get install -y (.+)")


def install_package(machine: Machine, package: str) -> str:
    """Install what Debian calls by that name."""
    if machine.which("apt-get"):
        return as_root(machine, f"apt-get install -y {package}")
    return f"install what Debian calls {package} with this system's package manager"


def install_python(machine: Machine, extra: str = "") -> Command:
    """Install the packages of Operant or of an extra into the Python that it runs on."""
    suffix = f"[{extra}]" if extra else ""
    target: tuple[str, ...] = (f"operant{suffix}",)
    if machine.checkout:
        constraints = f"{machine.checkout}/requirements/constraints.txt"
        target = ("-e", f"{machine.checkout}{suffix}", "-c", constraints)
    python = machine.executable
    if machine.package("pip") is not None:
        return Command(shlex.join([python, "-m", "pip", "install", *target]))
    if machine.which("uv"):
        return Command(shlex.join(["uv", "pip", "install", "--python", python, *target]))
    steps = ([python, "-m", "ensurepip"], [python, "-m", "pip", "install", *target])
    return Command(THEN.join(map(shlex.join, steps)))


def as_root(machine: Machine, *commands: str) -> Command:
    """The commands, one after the other, with the rights of root."""
    return Command(THEN.join(one if machine.is_root else f"sudo {one}" for one in commands))


def commands_of(checks: Iterable[Check]) -> list[str]:
    """What to run for those that are not well: each once, and all Debian packages in one go."""
    fixes = dict.fromkeys(
        check.fix for check in checks if isinstance(check.fix, Command) and check.status is not CheckStatus.OK
    )
    packages: dict[str, None] = {}
    root, others = "", []
    for fix in fixes:
        if apt := APT.fullmatch(str(fix)):
            root = apt[1] or ""
            packages |= dict.fromkeys(apt[2].split())
        else:
            others += str(fix).split(THEN)
    if not packages:
        return others
    # Lists of a bare machine are empty or old.
    return [f"{root}apt-get update", f"{root}apt-get install -y {' '.join(packages)}", *others]


def run_fixes(
    commands: Iterable[str], say: Callable[[str], None], run: Callable[[Sequence[str]], int] | None = None
) -> int:
    """Run them, and go on after one that fails; returns how many failed."""
    failed = 0
    for command in commands:
        say(f"$ {command}")
        code = (run or _run)(shlex.split(command))
        if code:
            failed += 1
            say(f"it ended with code {code}")
    return failed


def _run(command: Sequence[str]) -> int:
    """Its output goes to stderr: the table that follows is what was asked for."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            check=False,
        ).returncode
    except OSError as error:
        print(error, file=sys.stderr)
        return 127
