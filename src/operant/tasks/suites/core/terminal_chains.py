"""Xterm: several commands in order, each building on what the ones before left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import CommandOutput, Criterion, DirectoryContains, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import SetupStep, WriteFile
from operant.tasks.suites.core.terminal_moves import (
    HOME,
    SIZE,
    WORK,
    Commands,
    Step,
    TerminalTask,
    all_hold,
    all_of,
    at,
    clutter,
    directory,
    gone,
    in_terminal,
    names,
    says,
    spoken,
    terminal,
    terminal_window,
    untouched,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["CHAINS"]


def quoted(commands: Sequence[str]) -> str:
    return spoken([f"`{command}`" for command in commands])


class Chain(TerminalTask):
    """Commands ``p.commands`` in this order."""

    family = "chain"
    difficulty = Difficulty.MEDIUM
    skill = "chain"

    def left(self, p: Params) -> Sequence[Any]:
        """How the oracle sees what each of them left."""
        raise NotImplementedError

    def oracle(self, p: Params) -> Oracle:
        return Commands([Step(line, left) for line, left in zip(p.commands, self.left(p), strict=True)])


class StartProject(Chain):
    id = "core/terminal-start-project-v1"
    skill = "navigate"
    instructions = (
        "Start the {project} folder. Run these one after the other: {steps}.",
        "Set up a directory for {project} in the terminal with {steps}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        project, first, second, empty, listing = draw.words(5)
        files = clutter(draw, names(draw, 4))
        copied, moved = draw.sample(list(files), 2)
        commands = [
            f"mkdir {project}",
            f"cd {project}",
            f"mkdir {first}",
            f"mkdir {second}",
            f"cp ../{copied} {first}",
            f"mv ../{moved} {second}",
            f"touch {empty}.txt",
            f"ls > {listing}.txt",
        ]
        return {
            "project": project,
            "first": first,
            "second": second,
            "empty": f"{empty}.txt",
            "listing": f"{listing}.txt",
            "copied": copied,
            "moved": moved,
            "commands": commands,
            "steps": quoted(commands),
            "files": files,
            "place": draw.place(*SIZE),
        }

    def listed(self, p: Params) -> str:
        return "".join(f"{name}\n" for name in sorted((p.first, p.second, p.empty, p.listing)))

    def success(self, p: Params) -> Criterion:
        place = f"{WORK}/{p.project}"
        kept = {name: text for name, text in p.files.items() if name != p.moved}
        return all_of(
            *untouched(kept, beside=[f"{p.project}/"]),
            DirectoryContains(
                path=place, names=(f"{p.first}/", f"{p.second}/", p.empty, p.listing), exactly=True
            ),
            *untouched({p.copied: p.files[p.copied]}, directory=f"{place}/{p.first}"),
            *untouched({p.moved: p.files[p.moved]}, directory=f"{place}/{p.second}"),
            FileEquals(path=f"{place}/{p.empty}", text=""),
            FileEquals(path=f"{place}/{p.listing}", text=self.listed(p)),
        )

    def left(self, p: Params) -> Sequence[Any]:
        return [
            directory(p.project),
            at(f"{WORK}/{p.project}"),
            directory(f"{p.project}/{p.first}"),
            directory(f"{p.project}/{p.second}"),
            says(f"{p.project}/{p.first}/{p.copied}", p.files[p.copied]),
            says(f"{p.project}/{p.second}/{p.moved}", p.files[p.moved]),
            says(f"{p.project}/{p.empty}", ""),
            says(f"{p.project}/{p.listing}", self.listed(p)),
        ]


class MoveByArchive(Chain):
    id = "core/terminal-move-by-archive-v1"
    skill = "archive"
    instructions = (
        "Move the directory {source} into {target} by way of an archive: run {steps}, one after the other.",
        "Run, one after the other, {steps}. Afterwards {source} is inside {target}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        source, target, archive, listing = draw.words(4)
        packed = clutter(draw, names(draw, 3))
        commands = [
            f"tar cf {archive}.tar {source}",
            f"rm -r {source}",
            f"mkdir {target}",
            f"cd {target}",
            f"tar xf ../{archive}.tar",
            f"ls {source} > {listing}.txt",
            "cd ..",
            f"rm {archive}.tar",
        ]
        return {
            "source": source,
            "target": target,
            "archive": f"{archive}.tar",
            "listing": f"{listing}.txt",
            "packed": packed,
            "commands": commands,
            "steps": quoted(commands),
            "files": {f"{draw.word('topics')}.txt": f"{draw.phrase(3)}\n"},
            "place": draw.place(*SIZE),
        }

    def prepare(self, p: Params) -> list[SetupStep]:
        packed = [WriteFile(path=f"{WORK}/{p.source}/{name}", text=text) for name, text in p.packed.items()]
        return [*super().prepare(p), *packed]

    def success(self, p: Params) -> Criterion:
        inside = f"{WORK}/{p.target}"
        return all_of(
            *untouched(p.files, beside=[f"{p.target}/"]),
            DirectoryContains(path=inside, names=(f"{p.source}/", p.listing), exactly=True),
            *untouched(p.packed, directory=f"{inside}/{p.source}"),
            FileEquals(path=f"{inside}/{p.listing}", text=self.listed(p)),
        )

    def listed(self, p: Params) -> str:
        return "".join(f"{name}\n" for name in sorted(p.packed))

    def left(self, p: Params) -> Sequence[Any]:
        packed = lambda view: not gone(p.archive)(view)  # noqa: E731
        alone = all_hold(gone(p.source), packed)
        unpacked = all_hold(
            gone(p.source),
            *(says(f"{p.target}/{p.source}/{name}", text) for name, text in p.packed.items()),
        )
        listed = all_hold(unpacked, says(f"{p.target}/{p.listing}", self.listed(p)))
        return [
            packed,
            alone,
            all_hold(alone, directory(p.target)),
            all_hold(alone, at(f"{WORK}/{p.target}")),
            unpacked,
            listed,
            all_hold(listed, at(WORK)),
            all_hold(listed, gone(p.archive)),
        ]


class MergeOrders(Chain):
    id = "core/terminal-merge-sales-v1"
    skill = "sort"
    instructions = (
        "Put together the sales of {one} and {two}: run {steps}, one after the other.",
        "In the terminal, run {steps}, one after the other.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        one, two, new, *others = draw.words(5, "cities")
        source, first, second, both, count = (f"{name}.txt" for name in names(draw, 5))
        cities = [one] * 3 + [two] * 3 + others * 2
        draw.random.shuffle(cities)
        amounts = draw.numbers(len(cities), 100, 999)
        lines = [f"{draw.word('products')} {n} {city}" for n, city in zip(amounts, cities, strict=True)]
        texts = {source: lines}
        texts[first] = [line for line in lines if line.endswith(one)]
        texts[second] = [line for line in lines if line.endswith(two)]
        texts[both] = sorted(texts[first] + texts[second])
        renamed = [line.replace(one, new) for line in texts[both]]
        commands = [
            f"grep {one} {source} > {first}",
            f"grep {two} {source} > {second}",
            f"cat {first} {second} > {both}",
            f"sort -o {both} {both}",
            f"sed -i s/{one}/{new}/ {both}",
            f"wc -l < {both} > {count}",
            f"rm {first} {second}",
        ]
        return {
            "one": one,
            "two": two,
            "files": {source: _text(lines)},
            "source": source,
            "first": first,
            "second": second,
            "both": both,
            "count": count,
            "joined": [_text(texts[first]), _text(texts[second]), _text(texts[first] + texts[second])],
            "sorted": _text(texts[both]),
            "renamed": _text(renamed),
            "commands": commands,
            "steps": quoted(commands),
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        return all_of(*untouched({**p.files, p.both: p.renamed, p.count: "6\n"}))

    def left(self, p: Params) -> Sequence[Any]:
        counted = all_hold(says(p.both, p.renamed), says(p.count, "6\n"))
        return [
            says(p.first, p.joined[0]),
            all_hold(says(p.first, p.joined[0]), says(p.second, p.joined[1])),
            says(p.both, p.joined[2]),
            says(p.both, p.sorted),
            says(p.both, p.renamed),
            counted,
            all_hold(counted, gone(p.first), gone(p.second)),
        ]


class MoreTerminals(TerminalTask):
    id = "core/terminal-more-terminals-v1"
    skill = "windows"
    family = "chain"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Open two more terminals with `{open_one}` and `{open_two}`. Then run `cd {dirs[0]}` in the first "
        "terminal, `cd {dirs[1]}` in {one} and `cd {dirs[2]}` in {two}, and `{mark}` in all three.",
        "Work in three terminals: `cd {dirs[0]}` and `{mark}` in this one, `cd {dirs[1]}` and `{mark}` in "
        "one that you open with `{open_one}`, `cd {dirs[2]}` and `{mark}` in one that you open with "
        "`{open_two}`.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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
            "place": draw.place(560, 320),
        }

    def success(self, p: Params) -> Criterion:
        inside = [FileEquals(path=f"{WORK}/{name.partition('/')[0]}/{p.note}", text="") for name in p.files]
        # Each terminal is known by its command line; the brackets keep this look from finding itself.
        look = 'for t in "$@"; do readlink "/proc/$(pgrep -P "$(pgrep -f "[x]term .*-T $t")" -o)/cwd"; done'
        titles = ["Terminal", p.one, p.two]
        where = "\n".join(f"{HOME}/{WORK}/{name}" for name in p.dirs)
        return all_of(
            *inside,
            DirectoryContains(path=WORK, names=tuple(f"{name}/" for name in p.dirs), exactly=True),
            CommandOutput(command=["sh", "-c", look, "look", *titles], equals=where),
        )

    def oracle(self, p: Params) -> Oracle:
        return _ThreeTerminals(p)


class _ThreeTerminals:
    """Works in each new terminal as soon as it is open, while it has the focus; in the first one at last."""

    def __init__(self, p: Params) -> None:
        self.p = p
        lines = zip((p.one, p.two, "Terminal"), (*p.dirs[1:], p.dirs[0]), strict=True)
        self.work = [
            Commands(
                [
                    Step(f"cd {name}", at(f"{WORK}/{name}", title)),
                    Step(p.mark, all_hold(at(f"{WORK}/{name}", title), says(f"{name}/{p.note}", ""))),
                ],
                title=title,
            )
            for title, name in lines
        ]

    def act(self, view: View) -> Action:
        p = self.p
        for work, line in zip(self.work, (p.open_one, p.open_two, None), strict=True):
            if line is not None and terminal_window(view, work.title) is None:
                return in_terminal(view) or Commands([Step(line, lambda view: False)]).act(view)
            action = work.next(view)
            if action is not None:
                return action
        return Action.done()


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
        commands = [
            f"mkdir {old}",
            f"mv *.txt {old}",
            f"ls {old} > {listing}.log",
            f"touch {note}.txt",
            f"cat {old}/*.txt > {note}.log",
        ]
        columns = draw.sample((14, 434, 854), 3)
        places = [(x + draw.random.randint(0, 12), draw.random.randint(40, 460), 390, 280) for x in columns]
        return {
            "one": one,
            "two": two,
            "three": three,
            "old": old,
            "listing": f"{listing}.log",
            "note": note,
            "commands": commands,
            "steps": quoted(commands),
            "files": files,
            "places": places,
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        terminals = zip((p.one, p.two, p.three), p.places, strict=True)
        return [
            *self.prepare(p),
            *(terminal(place, title=name, directory=f"{WORK}/{name}") for name, place in terminals),
        ]

    def texts(self, p: Params, name: str) -> dict[str, str]:
        """The files of one directory, in the order of their names."""
        files = sorted((path.removeprefix(f"{name}/"), text) for path, text in p.files.items())
        return {file: text for file, text in files if "/" not in file}

    def success(self, p: Params) -> Criterion:
        criteria: list[Criterion] = []
        for name in (p.one, p.two, p.three):
            texts = self.texts(p, name)
            made = {p.listing: _text(texts), f"{p.note}.txt": "", f"{p.note}.log": "".join(texts.values())}
            criteria += untouched(made, beside=[f"{p.old}/"], directory=f"{WORK}/{name}")
            criteria += untouched(texts, directory=f"{WORK}/{name}/{p.old}")
        return all_of(*criteria)

    def oracle(self, p: Params) -> Oracle:
        return _EachTerminal([self.work(p, name) for name in (p.one, p.two, p.three)])

    def work(self, p: Params, name: str) -> Commands:
        texts = self.texts(p, name)
        moved = all_hold(*(says(f"{name}/{p.old}/{file}", text) for file, text in texts.items()))
        left = [
            directory(f"{name}/{p.old}"),
            moved,
            all_hold(moved, says(f"{name}/{p.listing}", _text(texts))),
            all_hold(moved, says(f"{name}/{p.note}.txt", "")),
            all_hold(moved, says(f"{name}/{p.note}.log", "".join(texts.values()))),
        ]
        return Commands([Step(line, holds) for line, holds in zip(p.commands, left, strict=True)], title=name)


class _EachTerminal:
    """Works in the terminal that has the focus while there is something to do there, then in the others."""

    def __init__(self, work: Sequence[Commands]) -> None:
        self.work = work

    def act(self, view: View) -> Action:
        focused = view.focused.title if view.focused else ""
        for work in sorted(self.work, key=lambda work: work.title != focused):
            action = work.next(view)
            if action is not None:
                return action
        return Action.done()


def _text(lines: Any) -> str:
    return "".join(f"{line}\n" for line in lines)


CHAINS: tuple[type[Template], ...] = (StartProject, MoveByArchive, MergeOrders, MoreTerminals, TidyThree)
