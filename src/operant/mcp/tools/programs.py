"""Applications to open, and commands to run inside the sandbox."""

from __future__ import annotations

import secrets

from pydantic import Field

from operant.apps import app_names, load_app
from operant.desktop.protocol import Desktop
from operant.mcp.session import DesktopSession
from operant.mcp.tools.acting import reply_after
from operant.mcp.tools.base import Acting, Arguments, Tool, ToolReply
from operant.types import RunResult, Window

__all__ = ["TOOLS"]

LAUNCH_S = 30.0
LONGEST_RUN_S = 300.0
OUTPUT_BYTES = 30_000
#: Keeps its arguments, by which it is found, while the command runs; both are in one process group.
WRAPPER = 'sh -c "$1"; exit $?'
KEPT_COMMAND = 2_000  # characters of a command that the episode keeps


class _Launch(Acting):
    application: str = Field(
        min_length=1, max_length=200, description="Its name, such as mousepad; any installed program will do."
    )
    arguments: list[str] = Field(
        default_factory=list, max_length=50, description="Documents to open, and other arguments."
    )


class _Run(Arguments):
    command: str = Field(
        min_length=1, max_length=20_000, description="A command line for the shell of the desktop."
    )
    timeout_s: float = Field(30.0, gt=0, le=LONGEST_RUN_S, description="Seconds after which it is ended.")


def launch(session: DesktopSession, a: _Launch) -> ToolReply:
    argv, home = [a.application, *a.arguments], {}
    # Never ``module:APP``: that would import code of this machine.
    if a.application in app_names():
        known = load_app(a.application)
        argv, home = known.argv(*a.arguments), dict(known.home())

    def open_it(desktop: Desktop) -> Window:
        for path, content in home.items():
            if not desktop.files.exists(path):
                desktop.files.write(path, content)
        return desktop.launch(argv, timeout_s=LAUNCH_S)

    kept = [one[:200] for one in a.arguments]
    window = session.call("launch", {"application": a.application, "arguments": kept}, open_it)
    return reply_after(session, f"{session.progress()}: opened {window.title!r}.", a)


def run(session: DesktopSession, a: _Run) -> ToolReply:
    mark = f"run-{secrets.token_hex(8)}"
    argv = ["sh", "-c", WRAPPER, mark, a.command]

    def run_it(desktop: Desktop) -> RunResult:
        return desktop.run(argv, timeout_s=a.timeout_s, limit=OUTPUT_BYTES)

    def end_it(desktop: Desktop) -> None:
        for process in desktop.processes():
            if mark in process.command:
                desktop.run(["sh", "-c", 'kill -s KILL -- "-$1"', "sh", str(process.pid)])

    done = session.call("run", {"command": a.command[:KEPT_COMMAND]}, run_it, end_it)
    parts = [f"exit code {done.returncode}" + (" (output was cut)" if done.truncated else "")]
    for name, said in (("stdout", done.stdout), ("stderr", done.stderr)):
        if said:
            parts.append(f"{name}:\n{said.decode('utf-8', 'replace')}")
    return ToolReply("\n".join(parts))


def _names() -> str:
    return ", ".join(name for name in app_names() if not load_app(name).part_of_desktop)


TOOLS = (
    Tool("launch", f"Open an application and wait for its window. Known: {_names()}.", _Launch, launch),
    Tool(
        "run",
        "Run a command inside the desktop, in its home directory, and return what it prints. It sees the desktop's"
        " files, not those of your machine.",
        _Run,
        run,
    ),
)
