"""Seeds that drew the same thing twice: every instance can be made, and its oracle can tell its steps apart."""

from __future__ import annotations

import pytest

from operant.apps.galculator import Keypad, text
from operant.tasks.suites import load_suite

TEMPLATES = {template.id: template for template in load_suite("core,launch")}


@pytest.mark.parametrize("seed", [110, 275])
def test_three_notes_have_three_names(seed: int) -> None:
    """Two of them were drawn alike, and no task could be made."""
    drawn = TEMPLATES["core/chores-hand-out-lines-v1"].instance(seed, "heldout").parameters
    assert len({drawn["source"], drawn["one"], drawn["two"]}) == 3


def test_a_bill_has_four_results() -> None:
    """Two rows were drawn alike, and the oracle took the first for the third."""
    drawn = TEMPLATES["core/calculator-memory-bill-v1"].instance(35, "heldout").parameters
    assert len(set(drawn["results"])) == 4


@pytest.mark.parametrize("seed", [10, 16])
def test_a_margin_is_not_the_one_that_the_editor_has(seed: int) -> None:
    """It was drawn like the editor's own, which is stored nowhere: nothing told that it had been set."""
    assert TEMPLATES["core/settings-line-margin-v1"].instance(seed).parameters["column"] != 80


@pytest.mark.parametrize(
    ("task", "seed", "split"),
    [("launch/rename-icon-v1", 17, "heldout"), ("launch/new-file-v1", 109, "train")],
)
def test_a_new_name_is_not_there_yet(task: str, seed: int, split: str) -> None:
    """A bystander had it, and the task could not be done."""
    drawn = TEMPLATES[task].instance(seed, split).parameters
    assert drawn.get("new", drawn.get("file")) not in drawn.get("others", drawn.get("files"))


def test_steps_on_the_keypad_that_look_alike_are_refused() -> None:
    with pytest.raises(ValueError, match="can't be told apart"):
        Keypad([text("12"), text("3"), text("12")])
