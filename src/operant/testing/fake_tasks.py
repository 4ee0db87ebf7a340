"""Tasks on the fake desktop's panel that an agent can learn from scratch in seconds to minutes, with oracles.

For learning tests, for trying an agent before a real desktop is at hand, and as examples of how small a task
can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.moves import Milestone, Milestones
from operant.apps.view import View
from operant.errors import AccessibilityError
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["FAKE_TEMPLATES", "Compute", "FillField", "PanelLog", "PressButton", "PressInOrder"]


class PanelLog(Criterion):
    """What was done to the panel is exactly this, in this order."""

    lines: tuple[str, ...]
    """The lines of ``panel.log``."""

    def check(self, world: World) -> Verdict:
        files = world.desktop.files
        found = files.read_text("panel.log").splitlines() if files.exists("panel.log") else []
        return Verdict(found == list(self.lines), f"the panel was used like this: {found}")


class DisplayShows(Criterion):
    """The calculator's display."""

    number: int
    """What it shows."""

    def check(self, world: World) -> Verdict:
        try:
            node = world.desktop.accessibility(app="galculator").find("text")
        except AccessibilityError:
            return Verdict(False, "there is no calculator")
        shown = node.text if node is not None else None
        return Verdict(shown == str(self.number), f"the display shows {shown!r}")


def _log(view: View) -> list[str]:
    return (view.read("panel.log") or "").splitlines()


class _OnPanel(Template):
    apps = ("panel",)
    difficulty = Difficulty.EASY
    family = "panel"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [Launch(command=["panel", *p.widgets], place=p.place)]

    def success(self, p: Params) -> Criterion:
        return PanelLog(lines=p.log)


class PressButton(_OnPanel):
    """One click on the named one of a few buttons."""

    id = "fake/press-button-v1"
    skill = "click"
    instructions = ("Press the button {target}.", "Click {target}.")
    max_steps = 4

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = [word.capitalize() for word in draw.words(4)]
        draw.given += names
        return {
            "target": names[0],
            "widgets": [f"button:{name}" for name in draw.sample(names, len(names))],
            "log": [f"pressed {names[0]}"],
            "place": draw.place(700, 500),
        }

    def oracle(self, p: Params) -> Oracle:
        return Milestones(
            [
                Milestone(
                    "pressed",
                    lambda view: bool(_log(view)),
                    lambda view: view.click(view.widget("push button", p.target)),
                )
            ]
        )


class PressInOrder(_OnPanel):
    """Two buttons, one after the other: each is half of the way, which shaping can see."""

    id = "fake/press-in-order-v1"
    skill = "click"
    instructions = ("Press {first}, then {second}.",)
    max_steps = 6

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        first, second, *rest = (word.capitalize() for word in draw.words(4))
        draw.given += [first, second]
        return {
            "first": first,
            "second": second,
            "widgets": [f"button:{name}" for name in draw.sample([first, second, *rest], 4)],
            "log": [f"pressed {first}", f"pressed {second}"],
            "place": draw.place(700, 500),
        }

    def oracle(self, p: Params) -> Oracle:
        def press(name: str, after: int) -> Milestone:
            return Milestone(
                f"{name} pressed",
                lambda view: len(_log(view)) >= after,
                lambda view: view.click(view.widget("push button", name)),
            )

        return Milestones([press(p.first, 1), press(p.second, 2)])


class FillField(_OnPanel):
    """A word of the instruction into a field, and Enter."""

    id = "fake/fill-field-v1"
    skill = "type"
    instructions = ("Enter {word} as the {field}.", "Set the {field} to {word} and confirm with Enter.")
    max_steps = 6

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        field, other = draw.sample(["name", "city", "topic", "colour"], 2)
        word = draw.word()
        widgets = draw.sample([f"entry:{field}", f"entry:{other}", "button:Cancel"], 3)
        return {
            "word": word,
            "field": field,
            "widgets": widgets,
            "log": [f"entered {word}"],
            "place": draw.place(700, 500),
        }

    def oracle(self, p: Params) -> Oracle:
        def field(view: View) -> Any:
            return view.widget("text", p.field)

        return Milestones(
            [
                Milestone(
                    "focused",
                    lambda view: "focused" in field(view).states,
                    lambda view: view.click(field(view)),
                ),
                Milestone("typed", lambda view: field(view).text == p.word, lambda view: Action.type(p.word)),
                Milestone("entered", lambda view: bool(_log(view)), lambda view: Action.key("enter")),
            ]
        )


class Compute(Template):
    """A sum on the calculator."""

    id = "fake/compute-v1"
    apps = ("galculator",)
    skill = "calculate"
    family = "calculator"
    difficulty = Difficulty.EASY
    instructions = (
        "Compute {a} + {b} on the calculator.",
        "How much is {a} + {b}? Let the calculator show it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b = draw.numbers(2, 10, 99)
        return {"a": a, "b": b, "place": draw.place(360, 420)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [Launch(command=["galculator"], place=p.place)]

    def success(self, p: Params) -> Criterion:
        return DisplayShows(number=p.a + p.b)

    def oracle(self, p: Params) -> Oracle:
        def display(view: View) -> str:
            node = view.widget("text")
            return "" if node is None else node.text or ""

        return Milestones(
            [
                Milestone(
                    "reckoned",
                    lambda view: display(view) == str(p.a + p.b),
                    lambda view: Action.type(f"{p.a}+{p.b}="),
                ),
            ]
        )


FAKE_TEMPLATES: tuple[Template, ...] = (PressButton(), PressInOrder(), FillField(), Compute())
