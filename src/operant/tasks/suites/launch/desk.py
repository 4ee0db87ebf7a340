"""What the tasks of a full desktop share: what lies around on it, ways to ask for a program, and their oracle.

An oracle here is a list of steps, each of which says what to do next or that nothing is left to do. It decides by the
windows and widgets that it sees, so it can also go on from states that a learner got itself into.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from operant.apps.lxpanel import LAUNCHERS, Program
from operant.apps.moves import Move
from operant.apps.view import View
from operant.config.desktop import Profile
from operant.tasks.criteria import AllOf, Criterion, FileEquals, WindowAbsent, WindowGeometry
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.types import Action

__all__ = [
    "HELDOUT_OPENINGS",
    "OPENINGS",
    "Desk",
    "Steps",
    "clutter",
    "file_name",
    "is_open",
    "only",
    "parameters",
    "untouched",
]


_VERBS = ("Open", "Start", "Launch", "Run", "Bring up", "Show")
#: Ways to ask for a program. Training sees the first ones, held-out instances the others.
OPENINGS = (
    *(f"{verb} the {{program}}" for verb in _VERBS),
    *(f"{verb} the {{program}}." for verb in _VERBS),
    *(f"{verb} the {{program}} {kind}" for verb in _VERBS[:4] for kind in ("application", "program", "app")),
    *(f"{verb} {{program}}" for verb in _VERBS[:3]),
    *(f"Please {verb.lower()} the {{program}}." for verb in _VERBS[:5]),
    *(f"Can you {verb.lower()} the {{program}}?" for verb in _VERBS[:4]),
    "I want to use the {program}.",
    "I need the {program}. Please open it.",
    "Open the {program} for me, please.",
    "Make the {program} appear.",
    "Use the menu or the panel to start the {program}.",
)
HELDOUT_OPENINGS = (
    "Fire up the {program}.",
    "Could you get the {program} going?",
    "Let me see the {program}, please.",
    "The {program} should be open on the screen.",
    "Switch on the {program} app",
    "I would like to work with the {program} now.",
)


class Desk(Template):
    """A full desktop with ``p.files`` in HOME and the programs ``p.running`` open."""

    profile: ClassVar[Profile] = "full"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        values = vars(p)
        files: Mapping[str, str] = values.get("files", {})
        running: Sequence[Sequence[str]] = values.get("running", ())
        return [
            *(WriteFile(path=path, text=text) for path, text in files.items()),
            *(Launch(command=list(command)) for command in running),
        ]


# What lies around.


def file_name(draw: Draw, extension: str = "txt") -> str:
    return draw.file_name(extension)


def clutter(draw: Draw, most: int = 5, taken: Collection[str] = ()) -> dict[str, str]:
    """Files that the task is not about, with names of their own: none of those that are taken."""
    count = draw.choice(range(most + 1))
    made = {file_name(draw): f"{draw.phrase(4)}\n" for _ in range(count)}
    return {name: text for name, text in made.items() if name not in taken}


# Criteria.


def is_open(program: Program) -> Criterion:
    return WindowGeometry(wm_class=program.wm_class, minimized=False)


def only(program: Program, *others: Criterion) -> Criterion:
    """The program is open, and none of those that have an icon beside it."""
    absent = [WindowAbsent(wm_class=one.wm_class) for one in LAUNCHERS if one is not program]
    return AllOf(of=(is_open(program), *others, *absent))


def untouched(files: Mapping[str, str]) -> list[Criterion]:
    return [FileEquals(path=path, text=text) for path, text in files.items()]


# Oracles.


@dataclass(frozen=True)
class Steps:
    """An oracle that takes the first of its steps with something left to do."""

    steps: Sequence[Move]
    finish: Action = field(default_factory=Action.done)

    def act(self, view: View) -> Action:
        for step in self.steps:
            action = step(view)
            if action is not None:
                return action
        return self.finish


def parameters(draw: Draw, program: Program, **more: Any) -> dict[str, Any]:
    """What a task needs that opens a program."""
    return {"program": draw.choice(program.names), "target": program, "files": clutter(draw), **more}
