"""The oracles across applications write what the source says, and not what the task's parameters say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from operant.apps.view import View
from operant.tasks.script import Script, ScriptStep
from operant.tasks.suites import load_suite
from operant.tasks.task import Task
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Action, Node

BOX = (10, 10, 40, 20)
PRODUCTS = {"xlsx": "LibreOffice Calc", "docx": "LibreOffice Writer"}


def instance(name: str) -> Task:
    return next(one for one in load_suite("office") if one.id == f"office/across-{name}-v1").instance(3)


def rows_with(task: Task, changed: str) -> list[list[str]]:
    """The table of the source, with a price that the task does not know."""
    return [
        [row[0], changed if row[0] == task.parameters["item"] else "1", "5"]
        for row in task.parameters["rows"]
    ]


def letter_with(task: Task, *lines: str) -> list[str]:
    return [*lines, *task.parameters["lines"]]


def asked(steps: Sequence[ScriptStep], view: View) -> Action:
    """What the step does that depends on what is seen."""
    does = next(step.does for step in steps if callable(step.does))
    action = does(view)
    assert isinstance(action, Action)
    return action


class Showing(FakeDesktop):
    """A desktop on which LibreOffice shows documents."""

    def __init__(self, *frames: Node) -> None:
        super().__init__()
        self.frames = frames

    def accessibility(self, **_: Any) -> Node:
        return Node("application", "soffice", frozenset(), None, children=self.frames)


def frame(task: Task, *nodes: Node) -> Node:
    source = task.parameters["source"]
    title = f"{source} - {PRODUCTS[source.rsplit('.')[-1]]}"
    return Node("frame", title, frozenset(), BOX, children=nodes)


def table(rows: Sequence[Sequence[str]]) -> list[Node]:
    cells = enumerate([["Item", "Price", "Count"], *rows], 1)
    return [
        Node("table cell", f"{letter}{number}", frozenset(), BOX, text=text)
        for number, row in cells
        for letter, text in zip("ABCD", [*row, ""], strict=True)
    ]


def paragraphs(lines: Sequence[str]) -> list[Node]:
    return [Node("paragraph", "", frozenset(), BOX, text=line) for line in lines]


@pytest.mark.parametrize("name", ["price-to-letter", "dearest-to-slide"])
def test_what_a_table_says_is_written(name: str) -> None:
    task = instance(name)
    item = task.parameters["item"]
    wanted = f"\n{item}: 999" if name == "price-to-letter" else item
    assert isinstance(task.oracle, Script)
    assert isinstance(task.api_oracle, Script)
    rows = rows_with(task, "999")
    with Showing(frame(task, *table(rows))) as desktop:
        typed = asked(task.oracle.steps, View(desktop))
        answer = json.dumps([*rows, ["", "", ""]])
        called = asked(task.api_oracle.steps, View(desktop, answer=answer))
    assert typed == Action.type(wanted)
    assert dict(called.kwargs)["text"] == wanted.strip()


@pytest.mark.parametrize(
    ("name", "line", "wanted"),
    [("price-to-table", "{item} cost 999 now.", "999\n"), ("subject-to-slide", "Subject: Zebras", "Zebras")],
)
def test_what_a_letter_says_is_written(name: str, line: str, wanted: str) -> None:
    task = instance(name)
    assert isinstance(task.oracle, Script)
    assert isinstance(task.api_oracle, Script)
    lines = letter_with(task, line.format(**task.parameters))
    with Showing(frame(task, *paragraphs(lines))) as desktop:
        typed = asked(task.oracle.steps, View(desktop))
        called = asked(task.api_oracle.steps, View(desktop, answer="\n".join(lines)))
    assert typed == Action.type(wanted)
    assert str(next(value for name, value in called.kwargs if name in ("value", "text"))) == wanted.strip()


@pytest.mark.parametrize(
    "name", ["price-to-letter", "dearest-to-slide", "price-to-table", "subject-to-slide"]
)
def test_nothing_is_written_before_the_source_was_read(name: str) -> None:
    task = instance(name)
    with Showing() as desktop:
        for oracle in (task.oracle, task.api_oracle):
            assert isinstance(oracle, Script)
            does = next(step.does for step in oracle.steps if callable(step.does))
            assert does(View(desktop)) is None
