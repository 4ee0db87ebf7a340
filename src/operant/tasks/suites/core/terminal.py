"""Xterm: one command at a time. Longer chores are in ``terminal_chains`` and ``terminal_sessions``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import xterm
from operant.apps.moves import Goal
from operant.apps.view import HOME, View
from operant.tasks.changes import Change, Disk, answered
from operant.tasks.criteria import CommandOutput, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, MakeDirectory, Run, SetupStep, WriteFile
from operant.tasks.suites.core.shell import WORK, commands
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES", "TerminalTask", "clutter", "names", "spoken", "terminal"]

MODES = ("600", "640", "700", "750", "755", "444")


def terminal(
    place: tuple[int, int, int, int],
    *,
    title: str = xterm.TITLE,
    directory: str = WORK,
    run: str | None = None,
) -> Launch:
    """A terminal with a readable font, in a directory below HOME; with ``run``, it shows that program."""
    command = ["env", "-C", f"{HOME}/{directory}", "SHELL=/bin/bash"]
    command += xterm.APP.argv("-fa", "Monospace", "-fs", "11", "-T", title)
    return Launch(command=[*command, *(["-e", run] if run else [])], place=place)


def names(draw: Draw, count: int) -> list[str]:
    """Different plain names such as ``quiet-harbor``."""
    pairs = zip(draw.words(count, "adjectives"), draw.words(count), strict=True)
    return ["-".join(pair) for pair in pairs]


def clutter(draw: Draw, names: Sequence[str]) -> dict[str, str]:
    """Text files that lie around."""
    return {f"{name}.txt": f"{draw.phrase(3)}\n{draw.phrase(2)}\n" for name in names}


def spoken(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


class TerminalTask(Template):
    """A terminal is open in the directory ``work``, where ``p.files`` lie; a command line, ``p.command``, does it."""

    apps = ("xterm",)
    family = "command"
    difficulty = Difficulty.EASY
    size: ClassVar[tuple[int, int]] = (700, 420)

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        """What differs between instances, beside the place of the terminal."""
        raise NotImplementedError

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.drawn(draw), "place": draw.place(*self.size)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*self.prepare(p), terminal(p.place)]

    def prepare(self, p: Params) -> list[SetupStep]:
        """Everything but the terminal."""
        return [
            WriteFile(path=".bashrc", text="PS1='\\w $ '\n"),
            MakeDirectory(path=WORK),
            *(WriteFile(path=f"{WORK}/{name}", text=text) for name, text in p.files.items()),
        ]

    def changes(self, p: Params) -> Sequence[Change]:
        return [commands(Disk.of(self.setup(p)), [p.command])]


class CreateDirectory(TerminalTask):
    id = "core/terminal-make-directory-v1"
    skill = "type"
    instructions = (
        "Run `{command}` in the terminal.",
        "Create the directory {name} in the terminal: `{command}`",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 4)
        return {"name": name, "command": f"mkdir {name}", "files": clutter(draw, others)}


class Rename(TerminalTask):
    id = "core/terminal-rename-v1"
    skill = "rename"
    instructions = (
        "Give {old} the name {new} by the command `{command}`.",
        "In the terminal, rename {old}: `{command}`",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 5)
        files = clutter(draw, others)
        old, new = draw.choice(list(files)), f"{name}.txt"
        return {"old": old, "new": new, "command": f"mv {old} {new}", "files": files}


class Delete(TerminalTask):
    id = "core/terminal-delete-v1"
    skill = "delete"
    instructions = (
        "Delete only the file {victim}: `{command}`",
        "{victim} is no longer needed. Run `{command}`.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        files = clutter(draw, names(draw, 5))
        victim = draw.choice(list(files))
        return {"victim": victim, "command": f"rm {victim}", "files": files}


class SaveLine(TerminalTask):
    id = "core/terminal-save-line-v1"
    skill = "type"
    instructions = (
        "Write a line into {file} with `{command}`.",
        "In the terminal, run `{command}` so that {file} holds that text.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 4)
        text, file = draw.phrase(3), f"{name}.txt"
        return {
            "text": text,
            "file": file,
            "command": f"echo {text} > {file}",
            "files": clutter(draw, others),
        }


class Filter(TerminalTask):
    id = "core/terminal-filter-lines-v1"
    skill = "search"
    instructions = (
        "Save the lines of {file} that mention {word} to {result}: `{command}`",
        "Run `{command}`.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        name, out, *others = names(draw, 5)
        word, *rest = draw.words(5, "products")
        kinds = [word] * 3 + rest * 2
        draw.random.shuffle(kinds)
        lines = [f"{draw.number(10, 99)} {kind} for {draw.word('names')}" for kind in kinds]
        file, result = f"{name}.txt", f"{out}.txt"
        return {
            "file": file,
            "word": word,
            "result": result,
            "command": f"grep {word} {file} > {result}",
            "files": {**clutter(draw, others), file: "".join(f"{line}\n" for line in lines)},
        }


class Permissions(TerminalTask):
    id = "core/terminal-permissions-v1"
    skill = "settings"
    unseen = True
    instructions = (
        "Set the permissions of {file} to {mode} with `{command}`.",
        "Run `{command}` in the terminal.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        files = clutter(draw, names(draw, 4))
        before, mode = draw.sample(MODES, 2)
        file = draw.choice(list(files))
        return {
            "file": file,
            "mode": mode,
            "before": before,
            "command": f"chmod {mode} {file}",
            "files": files,
        }

    def prepare(self, p: Params) -> list[SetupStep]:
        paths = [f"{HOME}/{WORK}/{name}" for name in p.files]
        return [*super().prepare(p), Run(command=["chmod", p.before, *paths])]

    def changes(self, p: Params) -> Sequence[Change]:
        look = ["stat", "-c", "%a", *(f"{HOME}/{WORK}/{name}" for name in p.files)]
        modes = "\n".join(p.mode if name == p.file else p.before for name in p.files)

        def is_set(view: View) -> bool:
            return view.desktop.run(look).output.strip() == modes

        return [
            Change(
                xterm.entered([(p.command, is_set)]),
                effect=lambda disk: disk.kept.add(WORK),
                holds=[CommandOutput(command=look, equals=modes)],
            )
        ]


class CountLines(TerminalTask):
    id = "core/terminal-count-lines-v1"
    skill = "read"
    instructions = (
        "How many lines has {file}? Run `{command}` and report the number.",
        "Run `{command}` and report the count that it prints.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        files = {
            f"{name}.txt": "".join(f"{draw.word('products')}\n" for _ in range(draw.random.randint(12, 60)))
            for name in names(draw, 4)
        }
        file = draw.choice(list(files))
        return {"file": file, "command": f"wc -l {file}", "files": files}

    def changes(self, p: Params) -> Sequence[Change]:
        count = str(p.files[p.file].count("\n"))
        printed = xterm.entered([(p.command, lambda view: f"{count} {p.file}" in xterm.rows(view))])
        return [Change(printed, lambda disk: disk.kept.add(WORK)), answered(count, numeric=True)]


class StopProgram(TerminalTask):
    id = "core/terminal-stop-program-v1"
    skill = "keys"
    gui_only = True
    family = "process"
    instructions = (
        "Stop the program in the window {job} with Ctrl+C. Leave the others running.",
        "Interrupt {job}, and only that, by pressing Ctrl+C in its terminal.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        jobs = draw.words(3)
        columns = draw.sample((20, 440, 860), 3)
        places = [(x + draw.random.randint(0, 20), draw.random.randint(40, 520), 380, 200) for x in columns]
        return {"jobs": jobs, "job": draw.choice(jobs), "places": places, "files": {}}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        steps = self.prepare(p)
        for job, place in zip(p.jobs, p.places, strict=True):
            steps.append(WriteFile(path=f"jobs/{job}", text=waiting_program(job)))
            steps.append(Run(command=["chmod", "+x", f"{HOME}/jobs/{job}"]))
            steps.append(terminal(place, title=job, run=f"{HOME}/jobs/{job}"))
        return steps

    def changes(self, p: Params) -> Sequence[Change]:
        others = sorted(f"{HOME}/jobs/{job}" for job in p.jobs if job != p.job)
        look = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep '^/home/user/jobs/' | sort -u"
        stopped = Goal(
            lambda view: view.read("jobs/stopped") == f"{p.job}\n",
            lambda view: xterm.focus(view, p.job) or xterm.INTERRUPT,
        )
        left = CommandOutput(command=["sh", "-c", look], equals="\n".join(others))
        return [Change(stopped, holds=[FileEquals(path="jobs/stopped", text=p.job), left])]


def waiting_program(name: str) -> str:
    """A program that runs until it is interrupted, and says so then."""
    return (
        "#!/bin/sh\n"
        f"trap 'echo {name} >> {HOME}/jobs/stopped; exit' INT\n"
        f"echo '{name} is running.'\necho 'Press Ctrl+C to stop it.'\n"
        "while :; do sleep 60; done\n"
    )


TEMPLATES: tuple[type[Template], ...] = (
    CreateDirectory,
    Rename,
    Delete,
    SaveLine,
    Filter,
    Permissions,
    CountLines,
    StopProgram,
)
