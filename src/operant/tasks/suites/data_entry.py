"""Data entry: rows of a table are submitted through a form beside it. What UI-RL calls ``simple_data_entry``.

The values are on the screen, so that "Complete the data entry form" is instruction enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.chromium import first_of
from operant.apps.moves import Goal
from operant.tasks.changes import Change
from operant.tasks.criteria import FileContains
from operant.tasks.draw import Draw
from operant.tasks.template import Params, Template
from operant.tasks.website.browser_task import SITE, BrowserTask, found, kept_list
from operant.tasks.website.form_fields import text_field, whole_form
from operant.tasks.website.pages import form, listed, page, paragraph, table
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

LABELS = {"name": "Name", "email": "Email"}
ROWS = 2
SUBMIT = "Submit"
RECORDS = f"{SITE}/lists/records.jsonl"


class SimpleDataEntry(BrowserTask):
    id = "data_entry/simple-data-entry-v1"
    skill = "type"
    family = "form"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Complete the data entry form: submit each row of the table {title}, one at a time.",
        "Enter the rows of {title} into the form and submit each of them.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(2 * ROWS, "names")
        rows = [
            {"name": f"{first} {last}", "email": f"{first}.{last}@example.org".lower()}
            for first, last in zip(names[::2], names[1::2], strict=True)
        ]
        return {"title": draw.word("cities"), "rows": rows}

    def pages(self, p: Params) -> Mapping[str, str]:
        shown = table(list(LABELS.values()), [[row[key] for key in LABELS] for row in p.rows])
        fields = [text_field(label, "").html for label in LABELS.values()]
        entering = form("/lists/records/add", *fields, button=SUBMIT)
        return {"index": page(p.title, shown, paragraph("Submit each row once."), entering)}

    def changes(self, p: Params) -> Sequence[Change]:
        """A part for each row, so that progress counts rows; the last one says that there is nothing else."""
        exactly = kept_list("records", p.rows)
        wrong = Action.fail("a row was submitted that is not in the table")
        nothing_else = Change(Goal(found(exactly), lambda view: wrong), holds=[exactly])
        return [*map(submitted, p.rows), nothing_else]


def submitted(row: Mapping[str, str]) -> Change:
    moves = whole_form([text_field(label, row[key]) for key, label in LABELS.items()], SUBMIT).moves
    goal = Goal(lambda view: listed([row]) in (view.read(RECORDS) or ""), first_of(*moves))
    return Change(goal, holds=[FileContains(path=RECORDS, text=listed([row]).strip())])


TEMPLATES: list[Template] = [SimpleDataEntry()]
