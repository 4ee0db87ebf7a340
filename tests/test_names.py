"""One name for one thing, and prose that is read once."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "operant").rglob("*.py"))
PAGES = sorted(
    page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md"))
)
LONGEST = 120  # characters of a line of Markdown; tables, code and tags can't be wrapped
#: Programs and machines are not people. The user ``nobody`` of Unix is.
PERSONS = re.compile(r"\b(whoever|somebody|nobody)\b", re.IGNORECASE)
UNIX_USER = re.compile(r"\bnobody = |=nobody\b|\bnobody is None\b|NOBODY")
#: An instruction of a task, whose words must stay.
INSTRUCTION = "Somebody wrote {old} instead of {new}"
#: Part of what tasks set up, to the letter: another docstring would be another instance.
SITE = ROOT / "src" / "operant" / "tasks" / "website" / "site_program.py"


def test_no_two_public_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_sources_do_not_speak_of_programs_as_persons() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in SOURCES
        if path != SITE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if PERSONS.search(line) and not UNIX_USER.search(line) and INSTRUCTION not in line
    ]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_pages_fit_a_window(page: Path) -> None:
    code, long = False, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        start = line.lstrip()
        code ^= start.startswith("```")
        if len(line) > LONGEST and not code and not start.startswith(("|", "<")):
            long.append(number)
    assert long == []
