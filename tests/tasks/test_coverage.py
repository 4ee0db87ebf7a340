"""The coverage table: what it counts, and that the docs show the current one."""

from __future__ import annotations

from pathlib import Path

from operant.tasks.coverage import coverage_markdown
from operant.tasks.suites import load_suite

DOCS = Path(__file__).parents[2] / "docs" / "tasks.md"


def test_the_docs_show_what_the_core_suite_covers_now() -> None:
    table = coverage_markdown(load_suite("core")).strip()
    assert table in DOCS.read_text(), "run `operant tasks coverage` and put its output into docs/tasks.md"


def test_every_template_is_counted_once_in_the_last_line() -> None:
    templates = load_suite("core")
    line = next(
        line for line in coverage_markdown(templates).splitlines() if line.startswith("| all templates")
    )
    easy, medium, hard, _unseen = (int(cell) for cell in line.strip("| ").split("|")[1:])
    assert easy + medium + hard == len(templates)
