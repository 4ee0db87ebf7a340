"""The suite office: what it must contain, that its splits share nothing, that oracles solve it and that cheats do not."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
import xlsxwriter

from operant.actions.keys import canonical_key
from operant.rollout.episode import EpisodeResult
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.office.office_file import Document
from operant.tasks.office.presentation import Presentation
from operant.tasks.office.text_document import Paragraph, TextDocument
from operant.tasks.office.workbook import Workbook
from operant.tasks.script import Script
from operant.tasks.suites import load_suite
from operant.tasks.suites.office.office_task import OfficeTask
from operant.tasks.task import Task
from operant.tasks.template import Params, Template
from operant.tasks.words import HELDOUT
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Action, ActionMode

Solved = Callable[[Task, ActionMode], EpisodeResult]
OFFICE = load_suite("office")
#: One of each application and of each kind of way; `operant tasks check --suite office` plays all of them.
PLAYED = ("calc-invoice", "writer-replace", "impress-title")


def template(name: str) -> OfficeTask:
    found = next(one for one in OFFICE if one.id == f"office/{name}-v1")
    assert isinstance(found, OfficeTask)
    return found


def saved(document: Document) -> bytes:
    """A file as an application saves it: with the results of formulas, which openpyxl does not write."""
    if not isinstance(document, Workbook):
        return document.written()
    buffer = io.BytesIO()
    file = xlsxwriter.Workbook(buffer)
    for sheet in document.sheets:
        page = file.add_worksheet(sheet.name)
        if sheet.frozen:
            page.freeze_panes(sheet.frozen)
        for name, cell in sheet.cells.items():
            look: dict[str, Any] = {
                "bold": cell.bold,
                "italic": cell.italic,
                "num_format": cell.number_format,
            }
            if cell.align:
                look["align"] = cell.align
            style = file.add_format(look)
            if cell.formula:
                page.write_formula(name, cell.formula, style, cell.value)
            else:
                page.write(name, cell.value, style)
    file.close()
    return buffer.getvalue()


def judged(task: Task, documents: dict[str, Document | bytes]) -> Verdict:
    """What the criteria say of these files; the others are as at the start."""
    with FakeDesktop() as desktop:
        for step in task.setup:
            if hasattr(step, "document"):
                desktop.files.write(step.path, saved(step.document))
        for path, document in documents.items():
            desktop.files.write(path, document if isinstance(document, bytes) else saved(document))
        return task.success.check(World(desktop))


def instance(name: str, seed: int = 3) -> tuple[Task, Params, str]:
    task = template(name).instance(seed)
    return task, Params(**task.parameters), task.parameters["file"]


def test_it_is_as_mixed_as_it_claims() -> None:
    assert len(OFFICE) >= 40
    assert sum(one.unseen for one in OFFICE) >= 8
    assert {app for one in OFFICE for app in one.apps} >= {
        "libreoffice-calc",
        "libreoffice-impress",
        "libreoffice-writer",
    }


@pytest.mark.parametrize("template", OFFICE, ids=lambda template: template.id)
def test_the_splits_share_no_instruction(template: Template) -> None:
    shown = {
        split: {template.instance(seed, split).instruction for seed in range(25)}
        for split in ("train", "heldout")
    }
    assert not shown["train"] & shown["heldout"]
    assert len(shown["train"]) > 3
    for instruction in shown["train"]:
        assert not set(re.findall(r"[A-Za-z]+", instruction)) & HELDOUT
    assert template.instance(0, "heldout").split == "heldout"


@pytest.mark.parametrize("template", OFFICE, ids=lambda template: template.id)
def test_a_seed_always_makes_the_same_instance(template: Template) -> None:
    one, two = template.instance(7, "train"), template.instance(7, "train")
    assert (one.instruction, one.setup, one.success) == (two.instruction, two.setup, two.success)


LISTS = ("writer-bullets", "writer-numbers")  # python-docx writes no lists


@pytest.mark.parametrize("name", [t.id[7:-3] for t in OFFICE if t.id[7:-3] not in LISTS])
def test_the_wanted_file_is_right_and_the_one_before_is_not(name: str) -> None:
    task, p, file = instance(name)
    assert judged(task, {file: template(name).after(p)})
    assert not judged(task, {})
    assert not judged(task, {file: b"PK not a document"})


@pytest.mark.parametrize("name", ["calc-sum", "calc-average", "calc-look-up", "calc-count-above"])
def test_the_right_number_without_a_formula_is_refused(name: str) -> None:
    task, p, file = instance(name)
    wanted = template(name).after(p)
    assert isinstance(wanted, Workbook)
    sheet = wanted.sheets[0]
    value = sheet.cells[p.cell].value
    for cheat in (value, str(value)):
        verdict = judged(task, {file: wanted.with_sheet(sheet.with_cells({p.cell: cheat}))})
        assert not verdict
        assert p.cell in verdict.why


def test_a_formula_that_does_not_use_the_cells_is_refused() -> None:
    task, p, file = instance("calc-sum")
    wanted = template("calc-sum").after(p)
    assert isinstance(wanted, Workbook)
    sheet = wanted.sheets[0]
    cell = sheet.cells[p.cell]
    for formula, right in (
        (f"={cell.value}", False),
        ("=B2", False),
        ("=" + "+".join(f"{p.area[0]}{row}" for row in range(2, p.last + 1)), True),
    ):
        changed = sheet.with_cells({p.cell: cell.model_copy(update={"formula": formula})})
        assert judged(task, {file: wanted.with_sheet(changed)}).holds is right, formula


def test_edits_elsewhere_are_refused() -> None:
    task, p, file = instance("calc-sum")
    wanted = template("calc-sum").after(p)
    assert isinstance(wanted, Workbook)
    sheet = wanted.sheets[0]
    for cheat in (
        sheet.with_cells({"A2": "Something"}),
        sheet.with_cells({"H40": 1}),
        sheet.styled(["A1"], bold=True),
        sheet.changed(name="Other"),
    ):
        assert not judged(task, {file: wanted.with_sheet(cheat, sheet.name)})
    assert not judged(task, {file: wanted, p.other: wanted})  # the other document


def test_rows_that_are_sorted_cell_by_cell_are_refused() -> None:
    task, p, file = instance("calc-sort")
    wanted = template("calc-sort").after(p)
    assert isinstance(wanted, Workbook)
    torn = {f"B{row}": values[1] for row, values in enumerate(p.rows, 2)}  # only the names were sorted
    backwards = [*sorted(p.rows, reverse=True)]
    turned = {
        f"{c}{row}": v for row, values in enumerate(backwards, 2) for c, v in zip("ABC", values, strict=True)
    }
    for cheat in (torn, turned):
        assert not judged(task, {file: wanted.with_sheet(wanted.sheets[0].with_cells(cheat))})


def test_other_rows_or_columns_that_are_frozen_are_refused() -> None:
    task, p, file = instance("calc-freeze")
    wanted = template("calc-freeze").after(p)
    assert isinstance(wanted, Workbook)
    for frozen in (f"A{p.row + 1}", f"B{p.row}", ""):
        assert not judged(task, {file: wanted.with_sheet(wanted.sheets[0].changed(frozen=frozen))}), frozen


def test_text_that_looks_different_elsewhere_is_refused() -> None:
    task, p, file = instance("writer-append")
    wanted = template("writer-append").after(p)
    assert isinstance(wanted, TextDocument)
    bold_word = Paragraph.of(p.line).styled(p.word, bold=True)
    for cheat in (
        wanted.with_paragraph(p.number - 1, bold_word),
        TextDocument.of(p.sentence, *p.lines),
        wanted.with_paragraph(0, Paragraph.of("Other words.")),
        wanted.with_paragraph(0, wanted.paragraphs[0].changed(style="Heading 1")),
        TextDocument.of(*wanted.paragraphs, "One more."),
    ):
        assert not judged(task, {file: cheat})
    assert judged(task, {file: wanted})


def test_a_file_that_grows_without_end_is_not_read() -> None:
    import zipfile

    task, _, file = instance("calc-sum")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/a.bin", bytes(65 << 20))
    assert "larger than what is looked at" in judged(task, {file: bomb.getvalue()}).why
    entities = io.BytesIO()
    with zipfile.ZipFile(entities, "w") as archive:
        archive.writestr("xl/workbook.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    assert "document type" in judged(task, {file: entities.getvalue()}).why


@pytest.mark.parametrize(
    ("name", "cheats"),
    [
        ("writer-bold-word", [{"bold": True, "italic": True}, {"underline": True}, {}]),
        ("writer-italic", [{"bold": True}, {}]),
    ],
)
def test_another_look_than_the_wanted_one_is_refused(name: str, cheats: list[dict[str, bool]]) -> None:
    task, p, file = instance(name)
    before = template(name).before(p)
    assert isinstance(before, TextDocument)
    for look in cheats:
        cheat = before.with_paragraph(p.number - 1, before.paragraphs[p.number - 1].styled(p.word, **look))
        assert not judged(task, {file: cheat}), look


def test_a_heading_of_another_level_or_only_its_look_is_refused() -> None:
    task, p, file = instance("writer-heading")
    before = template("writer-heading").before(p)
    assert isinstance(before, TextDocument)
    line = before.paragraphs[p.number - 1]
    other = line.changed(style=f"Heading {p.level % 3 + 1}")
    for cheat in (other, line.styled(p.line, bold=True), line.changed(style="Title")):
        assert not judged(task, {file: before.with_paragraph(p.number - 1, cheat)})


def test_slides_that_differ_elsewhere_are_refused() -> None:
    task, p, file = instance("impress-add-point")
    wanted = template("impress-add-point").after(p)
    assert isinstance(wanted, Presentation)
    at = p.number - 1
    slide = wanted.slides[at]
    for cheat in (
        slide.changed(lines=(p.point, *slide.lines[:-1])),
        slide.changed(title=p.point),
        slide.changed(bold_title=True),
        slide.changed(notes=p.point),
    ):
        slides = [*wanted.slides[:at], cheat, *wanted.slides[at + 1 :]]
        assert not judged(task, {file: Presentation.of(*slides)})
    assert not judged(task, {file: Presentation.of(*wanted.slides, slide)})
    assert not judged(task, {file: wanted, p.other: wanted})


@pytest.mark.parametrize("template", OFFICE, ids=lambda template: template.id)
def test_it_is_shown_with_the_keyboard_and_by_calls(template: Template) -> None:
    task = template.instance(0)
    assert isinstance(task.oracle, Script)
    assert task.api_oracle is not None or task.gui_only
    pressed = {key for step in task.oracle.steps if isinstance(step.does, Action) for key in step.does.keys}
    assert {canonical_key(key) for key in pressed} == pressed


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.parametrize("actions", ["gui", "api"])
@pytest.mark.parametrize("name", PLAYED)
def test_the_oracle_solves_it_and_it_is_not_solved_before(
    name: str, actions: ActionMode, solved: Solved
) -> None:
    solved(template(name).instance(11, "heldout"), actions)
