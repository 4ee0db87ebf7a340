"""docs/coming_from.md keeps its word: every row names tests that exist, or an issue that is open."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coming_from.md"
OPEN_ISSUES = {16, 17, 18, 19, 20, 21}
TEST_ID = re.compile(r"tests/[\w/]+\.py(?:::\w+)+")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([\w-]+))?\)")


def rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each row of a table of three columns, with the heading it stands under. A bar in code is written ``\\|``."""
    heading = ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        if line.startswith("|") and not re.fullmatch(r"[|\s-]+", line):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if cells != ["there", "here", "shown by"]:
                yield heading, cells


@cache
def names_in(file: Path) -> frozenset[str]:
    """Names of the tests in a file, those in classes with their class."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(found)


def mistake(cells: list[str]) -> str | None:
    """What is wrong with a row."""
    if len(cells) != 3 or not all(cells):
        return "a row has three cells, none of them empty"
    shown = cells[2]
    tests = TEST_ID.findall(shown)
    issues = [int(number) for number in re.findall(r"issue (\d+)", shown)]
    for test in tests:
        file, _, name = test.partition("::")
        if not (ROOT / file).is_file() or name not in names_in(ROOT / file):
            return f"there is no test {test}"
        if not name.rpartition("::")[2].startswith("test_"):
            return f"{test} is no test"
    for issue in issues:
        if issue not in OPEN_ISSUES:
            return f"issue {issue} is not open"
    rest = re.sub(r"issue \d+|[`,\s]", "", TEST_ID.sub("", shown))
    if rest:
        return f"{rest!r} is neither a test nor an issue"
    return None if tests or issues else "neither a test nor an issue"


def test_every_row_has_a_test_or_an_open_issue() -> None:
    wrong = [
        f"{heading}: {cells[0]}: {why}"
        for heading, cells in rows(PAGE.read_text())
        if (why := mistake(cells))
    ]
    assert wrong == []


def test_every_document_has_its_table() -> None:
    count: dict[str, int] = {}
    for heading, _ in rows(PAGE.read_text()):
        count[heading[:3]] = count.get(heading[:3], 0) + 1
    assert set(count) == {"000", "001", "002", "003"}
    assert count["000"] >= 40
    assert min(count.values()) >= 15


@pytest.mark.parametrize(
    "cells",
    [
        ["a", "b"],
        ["a", "", "issue 18"],
        ["a", "b", ""],
        ["a", "b", "soon"],
        ["a", "b", "issue 14"],
        ["a", "b", "`tests/seeds/test_nothing.py::test_x`"],
        ["a", "b", "`tests/seeds/test_coming_from.py::test_that_there_is_not`"],
        ["a", "b", "`tests/seeds/test_coming_from.py::rows`"],
        ["a", "b", "`tests/seeds/test_coming_from.py::test_every_document_has_its_table`, perhaps"],
    ],
)
def test_the_check_finds_rows_without_a_word_kept(cells: list[str]) -> None:
    assert mistake(cells) is not None


def test_code_style_commands() -> None:
    """002, "Code Style": one command that formats, one that lints."""

    def said(target: str) -> str:
        return subprocess.run(
            ["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout

    assert re.search(r"ruff check --fix-only .*\n.*ruff format \.", said("format"))
    for command in ("ruff format --check .", "ruff check .", "mypy", "pytest"):
        assert command in said("check")


def test_citation() -> None:
    """002, "Citation": what a paper cites, in the form that tools read."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["title"].startswith("Operant")
    assert cited.get("license", "MIT") == "MIT"


def anchors(page: Path) -> set[str]:
    """What a link to a heading of the page is called."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted(PAGE.parent.glob("*.md")), ids=lambda page: page.name)
def test_guides_and_their_links(page: Path) -> None:
    """002, "Documentation": each page that another names is there, and so is the heading."""
    broken = []
    for target, anchor in LINK.findall(page.read_text()):
        if "://" in target:
            continue
        file = (page.parent / target).resolve()
        if not file.exists():
            broken.append(target)
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            broken.append(f"{target}#{anchor}")
    assert broken == []
