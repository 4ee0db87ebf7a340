"""What a programmer may call besides functions of applications (``operant.calls``): a command line and text files.

Everything runs inside the desktop, with the rights of its programs, under a time limit. Arguments are checked; nothing
of them is evaluated. What goes wrong is an ``InvalidAction`` that the agent can read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pydantic import Field

from operant.actions.payload import nearest
from operant.calls import offered_functions
from operant.config.base import Config
from operant.errors import ConfigError, DesktopError, InvalidAction, OperantError
from operant.types import Action

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["COMMANDS", "call", "explanation", "is_command"]

LONGEST_RUN_S = 50.0  # less than the time that an agent has for a turn
MOST_OUTPUT = 10_000  # bytes that are answered
MOST_WRITTEN = 1_000_000
HOW = (
    "You may also call functions. run(command) runs a command line in the shell of the desktop and answers what it"
    " prints, read_file(path) answers a text file, write_file(path, text) writes one. Paths begin at the home directory."
    ' As JSON: {"kind": "call", "function": "run", "kwargs": {"command": "ls"}}. Functions of applications:'
)


def explanation() -> str:
    """What an agent that may call is told."""
    return "\n".join([HOW, *(f"- {one.signature}" for one in offered_functions("both"))])


class _Command(Config, ABC):
    """The arguments of one function."""

    @abstractmethod
    def do(self, desktop: Desktop) -> str: ...


class _Run(_Command):
    """Run a command line in the desktop's shell."""

    command: str = Field(min_length=1, max_length=20_000)
    timeout_s: float = Field(default=30.0, gt=0, le=LONGEST_RUN_S)

    def do(self, desktop: Desktop) -> str:
        done = desktop.run(["sh", "-c", self.command], timeout_s=self.timeout_s, limit=MOST_OUTPUT)
        said = [f"exit code {done.returncode}" + (" (output was cut)" if done.truncated else "")]
        said += [part.decode("utf-8", "replace").rstrip() for part in (done.stdout, done.stderr) if part]
        return "\n".join(said)


class _ReadFile(_Command):
    """A text file of the desktop."""

    path: str = Field(min_length=1, max_length=1000)

    def do(self, desktop: Desktop) -> str:
        data = desktop.files.read(self.path, MOST_OUTPUT + 1)
        cut = "\n(cut)" if len(data) > MOST_OUTPUT else ""
        return data[:MOST_OUTPUT].decode("utf-8", "replace") + cut


class _WriteFile(_Command):
    """Make or replace a text file of the desktop."""

    path: str = Field(min_length=1, max_length=1000)
    text: str = Field(max_length=MOST_WRITTEN)

    def do(self, desktop: Desktop) -> str:
        desktop.files.write(self.path, self.text)
        return f"wrote {len(self.text)} characters"


#: The name of a function -> its arguments.
COMMANDS: dict[str, type[_Command]] = {"run": _Run, "read_file": _ReadFile, "write_file": _WriteFile}


def is_command(action: Action) -> bool:
    """Whether a call is one of these; functions of applications have a dot in their names (``operant.calls``)."""
    return "." not in action.function


def call(desktop: Desktop, action: Action) -> str:
    """Do what a call asks for, and return its answer."""
    name, command = action.function, COMMANDS.get(action.function)
    if command is None:
        hint = nearest(name, COMMANDS) or f"functions: {', '.join(COMMANDS)}"
        raise InvalidAction(f"there is no function {name[:60]!r}; {hint}")
    arguments = list(command.model_fields)
    if len(action.args) > len(arguments):
        raise InvalidAction(f"{name} takes at most {len(arguments)} arguments: {', '.join(arguments)}")
    given = dict(zip(arguments, action.args, strict=False)) | dict(action.kwargs)
    try:
        checked: _Command = command.build(**given)
    except ConfigError as error:
        hint = error.hint or f"its arguments: {', '.join(arguments)}"
        raise InvalidAction(f"{name}: {error.message[:200]}; {hint}") from error
    try:
        return checked.do(desktop)
    except DesktopError:
        raise
    except (OperantError, OSError) as error:
        why = error.message if isinstance(error, OperantError) else error.strerror or str(error)
        raise InvalidAction(f"{name}: {why}") from error
