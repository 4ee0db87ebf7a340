"""Data entry: rows of a table are submitted through a form beside it. What UI-RL calls ``simple_data_entry``.

The values are on the screen, so that "Complete the data entry form" is instruction enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, FileContains
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.browser_moves import (
    SITE,
    BrowserTask,
    fill,
    found,
    kept_list,
    named,
    press,
)
from operant.tasks.suites.core.browser_pages import field, form, listed, page, paragraph, table
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

LABELS = {"name": "Name", "email": "Email"}
ROWS = 2
SUBMIT = "Submit"


class SimpleDataEntry(BrowserTask):
    id = "data_entry/simple-data-entry-v1"
    skill = "type"
    family = "form"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Complete the data entry form: submit each row of the table {title}, one at a time.",
        "Enter the rows of {title} into the form and submit each of them.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(2 * ROWS, "names")
        rows = [
            {"name": f"{first} {last}", "email": f"{first}.{last}@example.org".lower()}
            for first, last in zip(names[::2], names[1::2], strict=True)
        ]
        return {"title": draw.word("cities"), "rows": rows, "place": self.place(draw)}

    def pages(self, p: Params) -> Mapping[str, str]:
        shown = table(list(LABELS.values()), [[row[key] for key in LABELS] for row in p.rows])
        fields = [field(label, key) for key, label in LABELS.items()]
        entering = form("/lists/records/add", *fields, button=SUBMIT)
        return {"index": page(p.title, shown, paragraph("Submit each row once."), entering)}

    def success(self, p: Params) -> Criterion:
        """A part for each row, so that progress counts rows; the last one says that there is nothing else."""
        path = f"{SITE}/lists/records.jsonl"
        rows = [FileContains(path=path, text=listed([row]).strip()) for row in p.rows]
        return AllOf(of=(*rows, kept_list("records", p.rows)))

    def oracle(self, p: Params) -> Oracle:
        return _Typist(tuple(p.rows))


@dataclass(frozen=True)
class _Typist:
    """Submits the first row that the site has not got."""

    rows: Sequence[Mapping[str, str]]

    def act(self, view: View) -> Action:
        if found(kept_list("records", self.rows))(view):
            return Action.done()
        kept = view.read(f"{SITE}/lists/records.jsonl") or ""
        row = next((row for row in self.rows if listed([row]) not in kept), None)
        if row is None:
            return Action.fail("a row was submitted that is not in the table")
        for key, label in LABELS.items():
            typed = fill(label, row[key])
            if not typed.reached(view):
                return typed.act(view)
        return press(named("push button", SUBMIT)).act(view)


TEMPLATES: list[Template] = [SimpleDataEntry()]
