"""What the tasks of the text editor share: texts that are open in it at first, and the changes that they make to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from operant.apps.mousepad import document_goals, edits
from operant.apps.mousepad.edits import TextEdit
from operant.apps.mousepad.text_view import KEYFILE, SAVE_AS
from operant.apps.moves import Goals
from operant.tasks.changes import Change, Disk, Scope
from operant.tasks.criteria import Criterion, Setting
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action

__all__ = [
    "WIDE",
    "Editor",
    "bystanders",
    "carried",
    "edited",
    "errands",
    "file_names",
    "joined",
    "preference",
    "saved_as",
    "surroundings",
    "switched",
]

WINDOW = (620, 430)
WIDE = (1020, 430)  # shows the names of four tabs


class Editor(Template):
    """The editor is open on ``p.open``; ``p.files`` lie in HOME, also those that the instruction does not name."""

    apps: ClassVar[tuple[str, ...]] = ("mousepad",)
    scope: ClassVar[Scope] = "files"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        written = [WriteFile(path=path, text=text) for path, text in p.files.items()]
        bar = f"[org/xfce/mousepad/preferences/window]\nstatusbar-visible={str(p.status).lower()}\n"
        return [
            *written,
            WriteFile(path=KEYFILE, text=bar),
            Launch(command=["mousepad", *p.open], place=p.place),
        ]

    def oracle(self, p: Params) -> Oracle:
        goals = [change.goal for change in self.changes(p) if change.goal is not None]
        return Goals(goals, tidy=document_goals.tidy)


def surroundings(draw: Draw, size: tuple[int, int] = WINDOW) -> dict[str, Any]:
    """What differs between instances of every task of the editor."""
    return {"place": draw.place(*size), "status": draw.choice((True, False))}


# Texts.


def file_names(draw: Draw, count: int, extension: str = "txt", pool: str = "nouns") -> list[str]:
    """Names that have no word in common, so that nothing completes one to another."""
    pairs = zip(draw.words(count, "adjectives"), draw.words(count, pool), strict=True)
    return [f"{adjective}-{noun}.{extension}" for adjective, noun in pairs]


def errands(draw: Draw, count: int) -> list[str]:
    """Lines of a to-do list, each with a product and a name of its own."""
    rows = zip(
        draw.words(count, "verbs"),
        draw.numbers(count, 10, 99),
        _distinct(draw, count, "products"),
        draw.words(count, "names"),
        strict=True,
    )
    return [f"{verb} {number} {product} for {name}" for verb, number, product, name in rows]


def _distinct(draw: Draw, count: int, pool: str) -> list[str]:
    """Words none of which is a part of another one."""
    words = draw.words(count + 2, pool)
    return [one for one in words if not any(one in other for other in words if other != one)][:count]


def bystanders(draw: Draw, names: Sequence[str]) -> dict[str, str]:
    """Files that lie around."""
    return {name: joined(errands(draw, 3)) for name in names}


def joined(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)


# Changes.


def edited(path: str, steps: Sequence[TextEdit]) -> Change:
    """A file that is open is edited and saved."""
    return Change(edits.edited(path, steps), lambda disk: disk.write(path, steps[-1].after))


def saved_as(name: str, steps: Sequence[TextEdit], ask: Action = SAVE_AS) -> Change:
    """What is open is edited and saved under a name."""
    return Change(edits.saved_as(name, steps, ask), lambda disk: disk.write(name, steps[-1].after))


def carried(p: Params, target: str, line: str) -> Change:
    """A line of ``p.source`` stands at the end of another document, too."""

    def effect(disk: Disk) -> None:
        disk.write(target, p.files[target] + line)

    return Change(document_goals.carried(p.source, p.files, target, line), effect)


def preference(section: str, key: str, value: bool | str) -> Criterion:
    return Setting(schema=f"org.xfce.mousepad.preferences.{section}", key=key, equals=value)


def switched(*on: str) -> list[Change]:
    """Exactly these switches are on."""
    return [
        Change(document_goals.switched(name, name in on), holds=[preference(section, key, name in on)])
        for name, (_menu, _entry, section, key) in document_goals.SWITCHES.items()
    ]
