"""Data entry: the oracle enters the rows, a wrong or missing row is no success, and progress counts rows."""

from __future__ import annotations

import json

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.tasks.criteria.base import World
from operant.tasks.suites import load_suite
from operant.tasks.website.browser_task import SITE
from operant.testing import check_task

(TEMPLATE,) = load_suite("data_entry")
RECORDS = f"{SITE}/lists/records.jsonl"


def test_the_splits_share_no_instruction() -> None:
    shown = {
        split: {TEMPLATE.instance(seed, split).instruction for seed in range(200)}
        for split in ("train", "heldout")
    }
    assert not shown["train"] & shown["heldout"]


@pytest.mark.x11
def test_the_oracle_solves_it() -> None:
    with SandboxDesktop() as desktop:
        for seed in (1, 2):
            found = check_task(TEMPLATE.instance(seed, "heldout"), desktop)
            assert found, str(found)


@pytest.mark.x11
def test_progress_counts_rows_and_a_wrong_one_spoils_it() -> None:
    task = TEMPLATE.instance(3)
    rows = [json.dumps(row, sort_keys=True) for row in task.parameters["rows"]]
    parts = task.success.parts()
    assert len(parts) == 3
    with SandboxDesktop() as desktop:
        world = World(desktop)

        def holding(*lines: str) -> int:
            desktop.files.write(RECORDS, "".join(f"{line}\n" for line in sorted(lines)))
            return sum(bool(part.check(world)) for part in parts)

        assert sum(bool(part.check(world)) for part in parts) == 0
        assert holding(rows[0]) == 1
        assert holding(*rows) == 3
        assert task.success.check(world)
        assert holding(*rows, '{"email": "x", "name": "y"}') == 2
        assert not task.success.check(world)
        assert holding(rows[0], *rows) == 2  # submitted twice
