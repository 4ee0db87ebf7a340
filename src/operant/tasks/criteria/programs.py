"""Criteria on programs: which run, what is copied, what a command says."""

from __future__ import annotations

import posixpath

from pydantic import Field, field_validator, model_validator

from operant.errors import TaskError, UnknownApplication
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.executables import executables, installed
from operant.tasks.criteria.question import Question

__all__ = ["ClipboardEquals", "CommandOutput", "ProcessRunning"]

COMMAND_TIMEOUT_S = 10.0
MAX_OUTPUT = 1 << 20
PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/games", "/usr/games")


class ProcessRunning(Question):
    """An installed program runs, whatever it calls itself; a script or a copy of that name is not it."""

    name: str = Field(min_length=1)
    """Name of its executable, such as galculator."""
    running: bool = True
    """False: it must not run."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if "/" in name or "\0" in name:
            raise TaskError(
                f"{name!r} is not the name of a program", hint="give the name only, without directories"
            )
        return name

    def judge(self, world: World) -> Verdict:
        processes = world.desktop.processes()
        known = executables(world.desktop, processes)
        targets = self._targets(world)
        for process in processes:
            executable = known.get(process.pid)
            if executable is None:
                # It does not let itself be looked at: its word counts only against it.
                claimed = {process.name, posixpath.basename(process.command[0]) if process.command else ""}
                is_it = not self.running and (self.name in claimed or self.name[:15] == process.name)
            else:
                is_it = executable in targets or installed(executable) == self.name
            if is_it:
                return Verdict(self.running, f"{self.name} runs (process {process.pid})")
        return Verdict(not self.running, f"{self.name} does not run")

    def _targets(self, world: World) -> frozenset[str]:
        """What the name leads to: python3 is a link to the interpreter of one version."""
        places = [f"{directory}/{self.name}" for directory in PATH]
        try:
            found = world.desktop.run(
                ["/usr/bin/realpath", "-qez", "--", *places], timeout_s=COMMAND_TIMEOUT_S
            )
        except UnknownApplication:  # a desktop without real processes
            return frozenset()
        return frozenset(place for place in found.output.split("\0") if installed(place))


class ClipboardEquals(Question):
    """That text would be pasted."""

    text: str
    """The whole text."""
    strip: bool = True
    """Whether blanks and line ends around it do not matter."""

    def judge(self, world: World) -> Verdict:
        found = world.desktop.clipboard.get()
        if found is None:
            return Verdict.compared(False, "no text is on the clipboard", repr(self.text[:60]))
        wanted = self.text
        if self.strip:
            found, wanted = found.strip(), wanted.strip()
        shown = found if len(found) <= 60 else found[:57] + "..."
        return Verdict.compared(found == wanted, f"the clipboard says {shown!r}", repr(wanted[:60]))


class CommandOutput(Question):
    """A command inside the desktop succeeds and prints that.

    Let it be the last of several criteria if it runs something that the agent wrote.
    """

    command: list[str] = Field(min_length=1)
    """The command and its arguments; no shell is involved."""
    equals: str | None = None
    """All that it prints, apart from blanks and line ends at the end."""
    contains: str | None = None
    """Text that occurs in what it prints."""
    timeout_s: float = Field(COMMAND_TIMEOUT_S, gt=0, le=120)
    """How long it may take."""

    @model_validator(mode="after")
    def _asks_something(self) -> CommandOutput:
        if self.equals is None and not self.contains:
            raise TaskError("a command_output needs equals or contains")
        if not self.command[0] or any("\0" in word for word in self.command):
            raise TaskError(f"{self.command!r} is not a command")
        return self

    def judge(self, world: World) -> Verdict:
        result = world.desktop.run(self.command, timeout_s=self.timeout_s, limit=MAX_OUTPUT)
        said = result.output
        shown = said.strip() if len(said.strip()) <= 60 else said.strip()[:57] + "..."
        why = f"{' '.join(self.command)[:80]} said {shown!r} and ended with code {result.returncode}"
        holds = result.returncode == 0 and not result.truncated
        if self.equals is not None:
            holds = holds and said.rstrip() == self.equals.rstrip()
        if self.contains is not None:
            holds = holds and self.contains in said
        wanted = self.contains if self.equals is None else self.equals
        return Verdict.compared(holds, why, f"{str(wanted)[:60]!r} and code 0")
