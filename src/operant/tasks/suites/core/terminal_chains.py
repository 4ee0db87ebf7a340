"""Xterm: several commands in order, each building on what the ones before left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps import xterm
from operant.apps.view import HOME
from operant.tasks.changes import Change, Disk
from operant.tasks.criteria import CommandOutput, DirectoryContains, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.setup import SetupStep, WriteFile
from operant.tasks.suites.core.shell import WORK, commands, text_of
from operant.tasks.suites.core.terminal import TerminalTask, clutter, names, spoken, terminal
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]


def asked(lines: Sequence[str]) -> dict[str, Any]:
    """Command lines, and how an instruction asks for them."""
    return {"commands": lines, "steps": spoken([f"`{line}`" for line in lines])}


class Chain(TerminalTask):
    """Commands ``p.commands`` in this order."""

    family = "chain"
    difficulty = Difficulty.MEDIUM

    def changes(self, p: Params) -> Sequence[Change]:
        return [commands(Disk.of(self.setup(p)), p.commands)]


class StartProject(Chain):
    id = "core/terminal-start-project-v1"
    skill = "navigate"
    instructions = (
        "Start the {project} folder. Run these one after the other: {steps}.",
        "Set up a directory for {project} in the terminal with {steps}.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        project, first, second, empty, listing = draw.words(5)
        files = clutter(draw, names(draw, 4))
        copied, moved = draw.sample(list(files), 2)
        lines = [
            f"mkdir {project}",
            f"cd {project}",
            f"mkdir {first}",
            f"mkdir {second}",
            f"cp ../{copied} {first}",
            f"mv ../{moved} {second}",
            f"touch {empty}.txt",
            f"ls > {listing}.txt",
        ]
        return {"project": project, **asked(lines), "files": files}


class MoveByArchive(Chain):
    id = "core/terminal-move-by-archive-v1"
    skill = "archive"
    instructions = (
        "Move the directory {source} into {target} by way of an archive: run {steps}, one after the other.",
        "Run, one after the other, {steps}. Afterwards {source} is inside {target}.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        source, target, archive, listing = draw.words(4)
        packed = clutter(draw, names(draw, 3))
        lines = [
            f"tar cf {archive}.tar {source}",
            f"rm -r {source}",
            f"mkdir {target}",
            f"cd {target}",
            f"tar xf ../{archive}.tar",
            f"ls {source} > {listing}.txt",
            "cd ..",
            f"rm {archive}.tar",
        ]
        files = {f"{draw.word('topics')}.txt": f"{draw.phrase(3)}\n"}
        return {"source": source, "target": target, "packed": packed, **asked(lines), "files": files}

    def prepare(self, p: Params) -> list[SetupStep]:
        packed = [WriteFile(path=f"{WORK}/{p.source}/{name}", text=text) for name, text in p.packed.items()]
        return [*super().prepare(p), *packed]


class MergeOrders(Chain):
    id = "core/terminal-merge-sales-v1"
    skill = "sort"
    instructions = (
        "Put together the sales of {one} and {two}: run {steps}, one after the other.",
        "In the terminal, run {steps}, one after the other.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        one, two, new, *others = draw.words(5, "cities")
        source, first, second, both, count = (f"{name}.txt" for name in names(draw, 5))
        cities = [one] * 3 + [two] * 3 + others * 2
        draw.random.shuffle(cities)
        amounts = draw.numbers(len(cities), 100, 999)
        sales = [f"{draw.word('products')} {n} {city}" for n, city in zip(amounts, cities, strict=True)]
        lines = [
            f"grep {one} {source} > {first}",
            f"grep {two} {source} > {second}",
            f"cat {first} {second} > {both}",
            f"sort -o {both} {both}",
            f"sed -i s/{one}/{new}/ {both}",
            f"wc -l < {both} > {count}",
            f"rm {first} {second}",
        ]
        return {"one": one, "two": two, "files": {source: text_of(sales)}, **asked(lines)}


class MoreTerminals(TerminalTask):
    id = "core/terminal-more-terminals-v1"
    skill = "windows"
    family = "chain"
    difficulty = Difficulty.MEDIUM
    unseen = True
    size = (560, 320)
    instructions = (
        "Open two more terminals with `{open_one}` and `{open_two}`. Then run `cd {dirs[0]}` in the first "
        "terminal, `cd {dirs[1]}` in {one} and `cd {dirs[2]}` in {two}, and `{mark}` in all three.",
        "Work in three terminals: `cd {dirs[0]}` and `{mark}` in this one, `cd {dirs[1]}` and `{mark}` in "
        "one that you open with `{open_one}`, `cd {dirs[2]}` and `{mark}` in one that you open with "
        "`{open_two}`.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        one, two, *dirs = draw.words(5)
        note = f"{draw.word('topics')}.txt"
        return {
            "one": one,
            "two": two,
            "dirs": dirs,
            "note": note,
            "mark": f"touch {note}",
            "open_one": f"xterm -T {one} &",
            "open_two": f"xterm -T {two} &",
            "files": {f"{name}/{draw.word('products')}.txt": f"{draw.phrase(2)}\n" for name in dirs},
        }

    def changes(self, p: Params) -> Sequence[Change]:
        """Work in each new terminal while it has the focus, in the first one at last."""
        titles = (xterm.TITLE, p.one, p.two)
        before = Disk.of(self.setup(p))
        first, one, two = (
            # Only the note is checked: other files may come into the directories.
            Change(
                commands(before, [f"cd {name}", p.mark], title=title).goal,
                holds=[FileEquals(path=f"{WORK}/{name}/{p.note}", text="")],
            )
            for title, name in zip(titles, p.dirs, strict=True)
        )
        # Each terminal is known by its command line; the brackets keep this look from finding itself.
        look = 'for t in "$@"; do readlink "/proc/$(pgrep -P "$(pgrep -f "[x]term .*-T $t")" -o)/cwd"; done'
        where = "\n".join(f"{HOME}/{WORK}/{name}" for name in p.dirs)
        nothing_else = Change(
            holds=[
                DirectoryContains(path=WORK, names=tuple(f"{name}/" for name in p.dirs), exactly=True),
                CommandOutput(command=["sh", "-c", look, "look", *titles], equals=where),
            ]
        )
        open_one, open_two = Change(xterm.opened(p.one, p.open_one)), Change(xterm.opened(p.two, p.open_two))
        return [open_one, one, open_two, two, first, nothing_else]


class TidyThree(TerminalTask):
    id = "core/terminal-tidy-three-v1"
    skill = "windows"
    family = "chain"
    difficulty = Difficulty.HARD
    instructions = (
        "In each of the terminals {one}, {two} and {three}, run {steps}, one after the other.",
        "Three terminals are open: {one}, {two} and {three}. Run {steps} in every one of them.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        one, two, three, old, listing, note = draw.words(6)
        files = {
            f"{name}/{other}.txt": f"{draw.phrase(3)}\n"
            for name in (one, two, three)
            for other in names(draw, 2)
        }
        lines = [
            f"mkdir {old}",
            f"mv *.txt {old}",
            f"ls {old} > {listing}.log",
            f"touch {note}.txt",
            f"cat {old}/*.txt > {note}.log",
        ]
        columns = draw.sample((14, 434, 854), 3)
        places = [(x + draw.random.randint(0, 12), draw.random.randint(40, 460), 390, 280) for x in columns]
        return {"one": one, "two": two, "three": three, **asked(lines), "files": files, "places": places}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        terminals = zip((p.one, p.two, p.three), p.places, strict=True)
        return [
            *self.prepare(p),
            *(terminal(place, title=name, directory=f"{WORK}/{name}") for name, place in terminals),
        ]

    def changes(self, p: Params) -> Sequence[Change]:
        before = Disk.of(self.setup(p))
        tidied = {
            name: commands(before, p.commands, directory=f"{WORK}/{name}", title=name)
            for name in (p.one, p.two, p.three)
        }
        goal = xterm.everywhere({name: change.goal for name, change in tidied.items() if change.goal})
        return [Change(goal), *(Change(effect=change.effect) for change in tidied.values())]


TEMPLATES: tuple[type[Template], ...] = (StartProject, MoveByArchive, MergeOrders, MoreTerminals, TidyThree)
