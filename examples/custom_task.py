"""A task of your own: set-up, instruction, criterion, oracle; and the check that every task should pass.

python examples/custom_task.py            # on the fake desktop, in milliseconds
python examples/custom_task.py --real     # on a sandboxed one
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.moves import Milestone, Milestones
from operant.apps.view import View
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep
from operant.tasks.template import Params, Template
from operant.testing import FakeDesktop, check_task
from operant.types import Action, Difficulty


class EditorShows(Criterion):
    """The editor's text, whether it is saved or not."""

    text: str
    """What it has to be."""

    def check(self, world: World) -> Verdict:
        node = world.desktop.accessibility(app="mousepad").find("text")
        shown = (node.text or "") if node is not None else ""
        return Verdict(shown.strip() == self.text, f"the editor shows {shown[:60]!r}")


class GreetSomebody(Template):
    """Type a greeting into an empty editor."""

    id = "mine/greet-v1"
    apps = ("mousepad",)
    skill = "type"
    family = "editor"
    difficulty = Difficulty.EASY
    instructions = ("Write 'Hello {name}' into the editor.", "Greet {name} in the editor: 'Hello {name}'.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {"name": draw.word()}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [Launch(command=["mousepad"])]

    def success(self, p: Params) -> Criterion:
        return EditorShows(text=f"Hello {p.name}")

    def oracle(self, p: Params) -> Oracle:
        def shown(view: View) -> str:
            node = view.widget("text")
            return "" if node is None else (node.text or "").strip()

        greeting = f"Hello {p.name}"
        typed = Milestone("typed", lambda view: shown(view) == greeting, lambda view: Action.type(greeting))
        return Milestones([typed])


def main() -> None:
    if "--real" in sys.argv:
        from operant.desktop import SandboxDesktop

        with SandboxDesktop() as desktop:
            checked = check_task(GreetSomebody().instance(7), desktop)
    else:
        checked = check_task(GreetSomebody().instance(7), FakeDesktop())
    print(checked)
    sys.exit(0 if checked else 1)


if __name__ == "__main__":
    main()
