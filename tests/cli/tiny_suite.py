"""A suite of three small tasks on real applications, for evaluations from the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.moves import Milestone, Milestones
from operant.apps.view import View
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty


class FileSays(Criterion):
    """A file's text is this."""

    path: str
    """Which file."""
    text: str
    """What it says."""

    def check(self, world: World) -> Verdict:
        files = world.desktop.files
        found = files.read_text(self.path) if files.exists(self.path) else None
        return Verdict((found or "").strip() == self.text, f"{self.path} says {found!r}")


class _InTerminal(Template):
    """Type a command into a terminal."""

    apps = ("xterm",)
    skill = "type"
    family = "terminal"
    difficulty = Difficulty.EASY
    max_steps = 5

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile(path="lying/around.txt", text="nothing"), Launch(command=["xterm"])]

    def success(self, p: Params) -> Criterion:
        return FileSays(path=p.name, text=p.word)

    def oracle(self, p: Params) -> Oracle:
        command = Action.type(f"echo {p.word} > {p.name}\n")
        return Milestones(
            [Milestone("written", lambda view: (view.read(p.name) or "") != "", lambda view: command)]
        )


class WriteWord(_InTerminal):
    id = "tiny/write-word-v1"
    instructions = ("Write {word} into the file {name}.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"word": draw.word(), "name": "note.txt"}


class NameFile(_InTerminal):
    id = "tiny/name-file-v1"
    instructions = ("Make a file {name} that says {word}.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"word": draw.word("adjectives"), "name": draw.file_name()}


class SayTwice(_InTerminal):
    id = "tiny/say-twice-v1"
    difficulty = Difficulty.MEDIUM
    instructions = ("Write {first} and then {second} into note.txt, over what was there.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        first, second = draw.words(2)
        return {"first": first, "second": second, "word": second, "name": "note.txt"}

    def oracle(self, p: Params) -> Oracle:
        def says(view: View, word: str) -> bool:
            return (view.read("note.txt") or "").strip() == word

        def write(word: str) -> Any:
            return lambda view: Action.type(f"echo {word} > note.txt\n")

        return Milestones([
            Milestone("first", lambda view: says(view, p.first), write(p.first)),
            Milestone("second", lambda view: says(view, p.second), write(p.second)),
        ])  # fmt: skip


TEMPLATES = [WriteWord(), NameFile(), SayTwice()]
