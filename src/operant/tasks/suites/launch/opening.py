"""Open a program: by whatever way, or by the menu, the panel, the run dialog or a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from operant.apps.lxpanel import (
    CALCULATOR,
    EDITOR,
    FILES,
    LAUNCHERS,
    MENU_ONLY,
    PROGRAMS,
    TERMINAL,
    Program,
    opened,
    opened_by_icon,
    opened_by_menu,
    opened_by_run,
    opened_from_terminal,
)
from operant.apps.moves import Move
from operant.tasks.criteria import AllOf, Criterion
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.launch.desk import (
    HELDOUT_OPENINGS,
    OPENINGS,
    Desk,
    Steps,
    is_open,
    only,
    parameters,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

TYPED = (CALCULATOR, EDITOR, *(one for one in MENU_ONLY if one.command != "viewnior"))


class Open(Desk):
    """One program is to be opened, and no other."""

    skill = "open"
    family = "programs"
    difficulty = Difficulty.EASY
    among: ClassVar[tuple[Program, ...]]

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return parameters(draw, draw.choice(self.among))

    def success(self, p: Params) -> Criterion:
        return only(p.target)

    def way(self, program: Program) -> Move:
        return opened(program)

    def oracle(self, p: Params) -> Oracle:
        return Steps([self.way(p.target)])


class OpenCalculator(Open):
    id = "launch/open-calculator-v1"
    apps = ("mate-calc", "panel")
    among = (CALCULATOR,)
    instructions = OPENINGS
    heldout_instructions = HELDOUT_OPENINGS


class OpenLauncher(Open):
    id = "launch/open-program-v1"
    apps = ("panel", "mousepad", "pcmanfm", "xterm", "chromium")
    among = LAUNCHERS[1:]
    instructions = OPENINGS
    heldout_instructions = HELDOUT_OPENINGS


class OpenOther(Open):
    id = "launch/open-other-program-v1"
    apps = ("panel", "atril", "viewnior", "xarchiver", "galculator", "lxappearance")
    among = MENU_ONLY
    instructions = OPENINGS
    heldout_instructions = HELDOUT_OPENINGS


class OpenByMenu(Open):
    id = "launch/open-by-menu-v1"
    skill = "menu"
    apps = ("panel",)
    among = PROGRAMS
    instructions = (
        "Open the {program} from the application menu.",
        "Start the {program} by the menu",
        "Use the application menu to launch the {program}.",
        "Find the {program} in the menu and open it.",
        "In the menu, choose the {program}.",
    )
    heldout_instructions = (
        "Pick the {program} out of the application menu.",
        "Go through the menu and start the {program}, please.",
    )

    def way(self, program: Program) -> Move:
        return opened_by_menu(program)


class OpenByIcon(Open):
    id = "launch/open-by-icon-v1"
    skill = "icon"
    apps = ("panel",)
    among = LAUNCHERS
    instructions = (
        "Open the {program} by its icon in the panel.",
        "Click the icon of the {program} in the panel.",
        "Start the {program} from the panel",
        "The panel has an icon for the {program}. Click it.",
    )
    heldout_instructions = (
        "Press the icon at the bottom that stands for the {program}.",
        "Use the panel icon to get the {program}.",
    )

    def way(self, program: Program) -> Move:
        return opened_by_icon(program)


class OpenByRun(Open):
    id = "launch/open-by-run-dialog-v1"
    skill = "run dialog"
    apps = ("panel",)
    among = TYPED
    instructions = (
        "Run the command {command} with the run dialog.",
        "Open the run dialog from the menu and start {command} with it.",
        "Choose Run in the menu and enter {command}",
        "Start {command} by the run dialog.",
    )
    heldout_instructions = (
        "Bring up the run dialog, type {command} and confirm.",
        "Let the run dialog of the menu execute {command}, please.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        program = draw.choice(self.among)
        return parameters(draw, program, command=program.command)

    def way(self, program: Program) -> Move:
        return opened_by_run(program)


class OpenFromTerminal(OpenByRun):
    id = "launch/open-from-terminal-v1"
    skill = "terminal"
    apps = ("xterm",)
    instructions = (
        "Open a terminal and start {command} from it.",
        "Start {command} from a terminal",
        "Open the terminal and run {command} there.",
        "In a terminal, run the command {command}.",
    )
    heldout_instructions = (
        "Get a terminal and type {command} into it to start that program.",
        "Launch {command} by way of a terminal, please.",
    )

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(is_open(p.target), is_open(TERMINAL)))

    def way(self, program: Program) -> Move:
        return opened_from_terminal(program)


class OpenTwo(Desk):
    id = "launch/open-two-programs-v1"
    skill = "open"
    family = "programs"
    difficulty = Difficulty.EASY
    unseen = True
    apps = ("panel", "mate-calc", "mousepad", "pcmanfm", "xterm")
    instructions = ("Open the {first} and the {second}.", "Start both the {first} and the {second}.")
    heldout_instructions = ("I need two programs open: the {first} and the {second}.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        one, two = draw.sample((CALCULATOR, EDITOR, FILES, TERMINAL), 2)
        return {"first": str(one), "second": str(two), "targets": (one, two)}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=tuple(is_open(one) for one in p.targets))

    def oracle(self, p: Params) -> Oracle:
        return Steps([opened(one) for one in p.targets])


TEMPLATES: tuple[type[Template], ...] = (
    OpenCalculator,
    OpenLauncher,
    OpenOther,
    OpenByMenu,
    OpenByIcon,
    OpenByRun,
    OpenFromTerminal,
    OpenTwo,
)
