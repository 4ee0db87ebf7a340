"""Xterm: one command at a time. Longer chores are in ``terminal_chains`` and ``terminal_sessions``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.moves import Milestone, Milestones
from operant.apps.view import View
from operant.tasks.criteria import Answer, CommandOutput, Criterion, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Run, SetupStep, WriteFile
from operant.tasks.suites.core.terminal_chains import CHAINS
from operant.tasks.suites.core.terminal_moves import (
    HOME,
    SIZE,
    WORK,
    Commands,
    Step,
    TerminalTask,
    all_of,
    clutter,
    directory,
    enter,
    gone,
    in_terminal,
    names,
    says,
    terminal,
    untouched,
)
from operant.tasks.suites.core.terminal_sessions import SESSIONS
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Difficulty

__all__ = ["TEMPLATES"]

MODES = ("600", "640", "700", "750", "755", "444")


class OneCommand(TerminalTask):
    """A single command line, ``p.command``, does it."""

    family = "command"
    difficulty = Difficulty.EASY

    def left(self, p: Params) -> Any:
        """How the oracle sees that it was done."""
        raise NotImplementedError

    def oracle(self, p: Params) -> Oracle:
        return Commands([Step(p.command, self.left(p))])


class CreateDirectory(OneCommand):
    id = "core/terminal-make-directory-v1"
    skill = "type"
    instructions = (
        "Run `{command}` in the terminal.",
        "Create the directory {name} in the terminal: `{command}`",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 4)
        return {
            "name": name,
            "command": f"mkdir {name}",
            "files": clutter(draw, others),
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        return all_of(*untouched(p.files, beside=[f"{p.name}/"]))

    def left(self, p: Params) -> Any:
        return directory(p.name)


class Rename(OneCommand):
    id = "core/terminal-rename-v1"
    skill = "rename"
    instructions = (
        "Give {old} the name {new} by the command `{command}`.",
        "In the terminal, rename {old}: `{command}`",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 5)
        files = clutter(draw, others)
        old, new = draw.choice(list(files)), f"{name}.txt"
        return {
            "old": old,
            "new": new,
            "command": f"mv {old} {new}",
            "files": files,
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        kept = {p.new if name == p.old else name: text for name, text in p.files.items()}
        return all_of(*untouched(kept))

    def left(self, p: Params) -> Any:
        return says(p.new, p.files[p.old])


class Delete(OneCommand):
    id = "core/terminal-delete-v1"
    skill = "delete"
    instructions = (
        "Delete only the file {victim}: `{command}`",
        "{victim} is no longer needed. Run `{command}`.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        files = clutter(draw, names(draw, 5))
        victim = draw.choice(list(files))
        return {"victim": victim, "command": f"rm {victim}", "files": files, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return all_of(*untouched({name: text for name, text in p.files.items() if name != p.victim}))

    def left(self, p: Params) -> Any:
        return gone(p.victim)


class SaveLine(OneCommand):
    id = "core/terminal-save-line-v1"
    skill = "type"
    instructions = (
        "Write a line into {file} with `{command}`.",
        "In the terminal, run `{command}` so that {file} holds that text.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 4)
        text, file = draw.phrase(3), f"{name}.txt"
        return {
            "text": text,
            "file": file,
            "command": f"echo {text} > {file}",
            "files": clutter(draw, others),
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        return all_of(*untouched({**p.files, p.file: p.text + "\n"}))

    def left(self, p: Params) -> Any:
        return says(p.file, p.text + "\n")


class Filter(OneCommand):
    id = "core/terminal-filter-lines-v1"
    skill = "search"
    instructions = (
        "Save the lines of {file} that mention {word} to {result}: `{command}`",
        "Run `{command}`.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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
            "found": "".join(f"{line}\n" for line in lines if word in line.split()),
            "files": {**clutter(draw, others), file: "".join(f"{line}\n" for line in lines)},
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        return all_of(*untouched({**p.files, p.result: p.found}))

    def left(self, p: Params) -> Any:
        return says(p.result, p.found)


class Permissions(OneCommand):
    id = "core/terminal-permissions-v1"
    skill = "settings"
    unseen = True
    instructions = (
        "Set the permissions of {file} to {mode} with `{command}`.",
        "Run `{command}` in the terminal.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        files = clutter(draw, names(draw, 4))
        before, mode = draw.sample(MODES, 2)
        file = draw.choice(list(files))
        return {
            "file": file,
            "mode": mode,
            "before": before,
            "command": f"chmod {mode} {file}",
            "files": files,
            "place": draw.place(*SIZE),
        }

    def prepare(self, p: Params) -> list[SetupStep]:
        paths = [f"{HOME}/{WORK}/{name}" for name in p.files]
        return [*super().prepare(p), Run(command=["chmod", p.before, *paths])]

    def success(self, p: Params) -> Criterion:
        modes = [p.mode if name == p.file else p.before for name in p.files]
        paths = [f"{HOME}/{WORK}/{name}" for name in p.files]
        kept = CommandOutput(command=["stat", "-c", "%a", *paths], equals="\n".join(modes))
        return all_of(*untouched(p.files), kept)

    def left(self, p: Params) -> Any:
        def holds(view: View) -> bool:
            found = view.desktop.run(["stat", "-c", "%a", f"{HOME}/{WORK}/{p.file}"])
            return found.output.strip() == str(p.mode)

        return holds


class CountLines(TerminalTask):
    id = "core/terminal-count-lines-v1"
    skill = "read"
    family = "command"
    difficulty = Difficulty.EASY
    instructions = (
        "How many lines has {file}? Run `{command}` and report the number.",
        "Run `{command}` and report the count that it prints.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        files = {
            f"{name}.txt": "".join(f"{draw.word('products')}\n" for _ in range(draw.random.randint(12, 60)))
            for name in names(draw, 4)
        }
        file = draw.choice(list(files))
        return {"file": file, "command": f"wc -l {file}", "files": files, "place": draw.place(*SIZE)}

    def success(self, p: Params) -> Criterion:
        return all_of(Answer(text=str(p.files[p.file].count("\n")), numeric=True), *untouched(p.files))

    def oracle(self, p: Params) -> Oracle:
        counted = Action.type(p.command + "\n")
        answer = Action(ActionKind.ANSWER, text=str(p.files[p.file].count("\n")))
        count = Milestone(
            "counted",
            lambda view: view.last == counted,
            lambda view: in_terminal(view) or enter(view, p.command),
        )
        return Milestones([count], finish=answer)


class StopProgram(TerminalTask):
    id = "core/terminal-stop-program-v1"
    skill = "keys"
    family = "process"
    difficulty = Difficulty.EASY
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

    def success(self, p: Params) -> Criterion:
        others = sorted(f"{HOME}/jobs/{job}" for job in p.jobs if job != p.job)
        look = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep '^/home/user/jobs/' | sort -u"
        return all_of(
            FileEquals(path="jobs/stopped", text=p.job),
            CommandOutput(command=["sh", "-c", look], equals="\n".join(others)),
        )

    def oracle(self, p: Params) -> Oracle:
        stopped = Milestone(
            "stopped",
            lambda view: view.read("jobs/stopped") == f"{p.job}\n",
            lambda view: in_terminal(view, p.job) or Action.key("ctrl", "c"),
        )
        return Milestones([stopped])


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
    *CHAINS,
    *SESSIONS,
)
