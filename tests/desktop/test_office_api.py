"""The functions of LibreOffice, called on a real desktop; what they did is read from the saved files."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from openpyxl import Workbook, load_workbook
from PIL import Image
from pptx import Presentation

from operant.calls.catalog import built_in_apis
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import CallFailed
from operant.types import Action

pytestmark = [pytest.mark.x11, pytest.mark.slow]

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def office() -> Iterator[SandboxDesktop]:
    """A desktop on which LibreOffice runs from the first test on: its start takes seconds."""
    with SandboxDesktop() as desktop:
        yield desktop


@pytest.fixture
def call(office: SandboxDesktop) -> Iterator[Call]:
    def perform(name: str, /, **arguments: object) -> Any:
        office.perform(Action.call(name, arguments))
        text = office.last_step.text
        return json.loads(text) if text[:1] in ("[", "{") else text

    yield perform
    for kind in ("calc", "writer", "impress"):
        for one in perform(f"{kind}.list_documents"):
            perform(f"{kind}.close_document", discard_changes=True, document=one["document"])


@pytest.fixture
def sheet(office: SandboxDesktop, call: Call) -> Call:
    """A workbook with a table and an empty sheet, open."""
    book = Workbook()
    first = book.active
    assert first is not None
    first.title = "Sales"
    for row in (["Item", "Pieces", "Price"], ["pen", 12, 1.5], ["ink", 3, 4], ["cap", 7, 2.25]):
        first.append(row)
    book.create_sheet("Other")
    saved = io.BytesIO()
    book.save(saved)
    office.files.write("book.xlsx", saved.getvalue())
    assert call("calc.open_document", path="book.xlsx") == "opened ~/book.xlsx"
    return call


def saved_book(office: SandboxDesktop, name: str = "book.xlsx", values: bool = False) -> Any:
    return load_workbook(io.BytesIO(office.files.read(name)), data_only=values)


def test_listed_functions_are_there() -> None:
    """Those that the system of ComputerRL lists, by its names."""
    listed = {
        "calc": "get_workbook_info save switch_active_sheet get_column_data set_column_values set_cell_value sort_column "
        "reorder_columns transpose_range merge_cells highlight_range format_range set_number_format hide_row_data "
        "set_validation_list freeze_panes adjust_column_width adjust_row_height create_chart set_chart_legend_position "
        "create_pivot_table rename_sheet copy_sheet reorder_sheets set_zoom_level export_to_csv export_to_pdf",
        "impress": "save save_as go_to_slide get_slide_count duplicate_slide write_text delete_content set_style "
        "set_slide_font set_text_color set_background_color set_slide_background set_text_strikethrough "
        "set_textbox_alignment position_box insert_image insert_file set_slide_orientation set_slide_number_color "
        "configure_auto_save configure_display_settings export_to_image",
        "writer": "save write_text find_and_replace set_font set_font_size set_default_font set_color set_line_spacing "
        "set_paragraph_alignment set_strikethrough capitalize_words change_text_case remove_highlighting "
        "find_highlighted_text insert_formula_at_cursor insert_image_at_cursor insert_page_break add_page_numbers "
        "export_to_pdf",
    }
    for name, functions in listed.items():
        assert not set(functions.split()) - {one.name for one in built_in_apis()[name].functions}


def test_without_libreoffice_a_call_says_so(office: SandboxDesktop) -> None:
    office.reset()
    with pytest.raises(CallFailed, match="LibreOffice is not running"):
        office.perform(Action.call("calc.get_workbook_info", {}))


def test_cells_are_read_written_and_saved_in_the_files_format(office: SandboxDesktop, sheet: Call) -> None:
    assert sheet("calc.get_range", range="A1:C2") == [["Item", "Pieces", "Price"], ["pen", 12, 1.5]]
    sheet("calc.set_cell_value", cell="D1", value="Total")
    sheet("calc.fill_formula", range="D2:D4", formula="=B2*C2")
    assert sheet("calc.set_cell_value", cell="D5", value="=SUM(D2:D4,Sales!B2)") == "D5 shows 57.75"
    sheet("calc.set_range_values", range="F1", values=[["0012", True], [None, "2024-01-31"]])
    sheet("calc.set_cell_value", cell="G2", value="2024-01-31", parse=True)
    assert sheet("calc.set_cell_value", cell="H1", value="=1/0") == "H1: #DIV/0!"
    assert sheet("calc.get_column_data", column="Pieces") == ["Pieces", 12, 3, 7, ""]
    sheet("calc.sort_range", range="A1:D4", column="Item")
    sheet("calc.set_column_values", column="B", values=[1, 2], first_row=2, sheet="Other")
    assert sheet("calc.save") == "saved ~/book.xlsx"
    book = saved_book(office)
    page = book["Sales"]
    assert [page[f"A{row}"].value for row in (2, 3, 4)] == ["cap", "ink", "pen"]
    assert page["D5"].value.startswith("=SUM(")
    assert page["F1"].value == "0012"
    assert page["G2"].value.year == 2024
    assert [row[1].value for row in book["Other"].iter_rows(min_row=2, max_row=3)] == [1, 2]
    assert saved_book(office, values=True)["Sales"]["D5"].value == 52.75


def test_formats_sheets_and_charts_are_saved(office: SandboxDesktop, sheet: Call) -> None:
    sheet("calc.format_range", range="A1:C1", bold=True, color="blue", background="#ffff00", align="center")
    sheet("calc.set_number_format", range="C2:C4", format="percent")
    sheet("calc.merge_cells", range="A6:C6")
    sheet("calc.freeze_panes", rows=1)
    sheet("calc.set_validation_list", range="E2:E4", values=["yes", "no"])
    sheet("calc.hide_row_data", value="ink")
    sheet("calc.adjust_column_width", columns="A:B", width_mm=50)
    sheet("calc.create_chart", range="A1:B4", kind="pie", title="Pieces")
    sheet("calc.set_chart_legend_position", position="bottom")
    assert sheet("calc.list_charts")[0]["title"] == "Pieces"
    sheet("calc.create_pivot_table", source="A1:C4", target="Other!A1", rows=["Item"], values=["Pieces"])
    sheet("calc.copy_sheet", sheet="Sales", name="Copy")
    sheet("calc.reorder_sheets", sheet="Copy", position=1)
    sheet("calc.rename_sheet", sheet="Other", name="Pivot")
    sheet("calc.save")
    book = saved_book(office)
    assert book.sheetnames == ["Copy", "Sales", "Pivot"]
    page = book["Sales"]
    assert (page["A1"].font.b, page["A1"].fill.fgColor.rgb) == (True, "FFFFFF00")
    assert page["C2"].number_format == "0.00%"
    assert [str(one) for one in page.merged_cells.ranges] == ["A6:C6"]
    assert page.freeze_panes == "A2"
    assert page.row_dimensions[3].hidden
    assert page.data_validations.dataValidation[0].formula1 == '"yes,no"'
    assert len(page._charts) == 1
    assert any(one.value == "Total Result" for row in book["Pivot"].iter_rows() for one in row)


def test_columns_are_moved_with_what_refers_to_them(sheet: Call) -> None:
    sheet("calc.set_cell_value", cell="D2", value="=B2*2")
    sheet("calc.reorder_columns", columns=["Price", "Item", "Pieces", "D"])
    assert sheet("calc.get_range", range="A1:D2", what="formulas")[1] == ["1.5", "pen", "12", "=C2*2"]
    sheet("calc.transpose_range", source="A1:B2", target="Other!A1")
    assert sheet("calc.get_range", range="Other!A1:B2") == [["Price", 1.5], ["Item", "pen"]]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("get_range", {"range": "A1", "sheet": "Sale"}, "did you mean Sales"),
        ("get_range", {"range": "1A"}, "no range of cells"),
        ("get_range", {"range": "A1:ZZZ9"}, "outside of the sheet"),
        ("get_range", {"range": "A1:Z9999"}, "at most 20000"),
        ("set_cell_value", {"cell": "D1", "value": "=SUM(A1:;;+"}, "can't be read"),
        ("set_range_values", {"range": "A1:B2", "values": [[1]]}, "which has 2 rows of 2"),
        ("format_range", {"range": "A1", "color": "yelow"}, "did you mean yellow"),
        ("rename_sheet", {"sheet": "Sales", "name": "Other"}, "already"),
        ("get_cell", {"cell": "A1", "document": "bok.xlsx"}, "did you mean book.xlsx"),
        ("save_as", {"path": "book.xlsx"}, "overwrite=True"),
        ("save_as", {"path": "book.docx"}, "saved as .xlsx"),
        ("close_document", {}, "not saved"),
    ],
)
def test_what_can_not_be_done_is_said(
    sheet: Call, name: str, arguments: dict[str, object], said: str
) -> None:
    sheet("calc.set_cell_value", cell="A9", value=1)
    with pytest.raises(CallFailed, match=said):
        sheet(f"calc.{name}", **arguments)


def test_read_only_files_and_protected_sheets_are_refused(office: SandboxDesktop, call: Call) -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    page.protection.sheet = True
    saved = io.BytesIO()
    book.save(saved)
    office.files.write("locked.xlsx", saved.getvalue())
    call("terminal.run", command="cp locked.xlsx read.xlsx && chmod 400 read.xlsx")
    call("calc.open_document", path="locked.xlsx")
    with pytest.raises(CallFailed, match="is protected"):
        call("calc.set_cell_value", cell="A1", value=1)
    assert call("calc.open_document", path="read.xlsx") == "opened ~/read.xlsx (read-only)"
    for name, arguments in (("set_cell_value", {"cell": "A1", "value": 1}), ("save", {})):
        with pytest.raises(CallFailed, match=r"read\.xlsx.* is read-only"):
            call(f"calc.{name}", **arguments)


def test_a_dialog_is_named_at_once_and_other_documents_can_be_called(
    office: SandboxDesktop, sheet: Call
) -> None:
    sheet("windows.focus", window="book.xlsx")
    office.perform(Action.key("ctrl", "1"))
    for _ in range(100):
        if any("Format Cells" in one.title for one in office.windows()):
            break
        office.perform(Action.wait())
    begun = time.monotonic()
    with pytest.raises(CallFailed, match="the dialog 'Format Cells' of LibreOffice is open"):
        sheet("calc.get_cell", cell="A1")
    assert time.monotonic() - begun < 5  # 2 s, and what a busy machine adds
    sheet("writer.new_document")
    sheet("writer.write_text", text="Meanwhile")
    assert sheet("writer.get_text") == "Meanwhile"
    sheet("windows.focus", window="Format Cells")
    office.perform(Action.key("esc"))
    assert sheet("calc.get_cell", cell="A1")["value"] == "Item"


def test_the_topmost_document_is_meant_and_the_focus_stays(office: SandboxDesktop, sheet: Call) -> None:
    sheet("calc.new_document")
    assert sheet("calc.get_workbook_info")["path"] is None
    sheet("windows.focus", window="book.xlsx")
    assert sheet("calc.get_workbook_info")["document"] == "book.xlsx"
    sheet("terminal.open_terminal")
    before = next(one.title for one in office.windows() if one.focused)
    sheet("calc.set_cell_value", cell="A1", value="changed")
    assert next(one.title for one in office.windows() if one.focused) == before


def test_sheets_are_exported(office: SandboxDesktop, sheet: Call) -> None:
    sheet("calc.set_cell_value", cell="A1", value="x", sheet="Other")
    sheet("calc.export_to_csv", path="sales.csv", separator=";")
    sheet("calc.export_to_csv", path="other.csv", sheet="Other")
    assert office.files.read_text("sales.csv").splitlines()[1] == "pen;12;1.5"
    assert office.files.read_text("other.csv") == "x\n"
    sheet("calc.export_to_pdf", path="book.pdf")
    assert office.files.read("book.pdf").startswith(b"%PDF")
    assert sheet("calc.get_workbook_info")["path"] == "~/book.xlsx"


@pytest.fixture
def text(office: SandboxDesktop, call: Call) -> Call:
    made = Document()
    for line in ("a small title", "Water is H2O.", "The last line"):
        made.add_paragraph(line)
    saved = io.BytesIO()
    made.save(saved)
    office.files.write("text.docx", saved.getvalue())
    call("writer.open_document", path="text.docx")
    return call


def picture() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (200, 100), "navy").save(made, "PNG")
    return made.getvalue()


def saved_text(office: SandboxDesktop) -> Any:
    return Document(io.BytesIO(office.files.read("text.docx")))


def test_text_is_changed_and_saved(office: SandboxDesktop, text: Call) -> None:
    assert text("writer.get_text") == "a small title\nWater is H2O.\nThe last line"
    text("writer.set_paragraph_style", style="Heading 1", paragraphs=[1])
    text("writer.capitalize_words", paragraphs=[1])
    text("writer.set_script", text="2", script="subscript")
    text("writer.find_and_replace", find="last", replacement="final")
    text("writer.insert_paragraph", text="In between", before=3)
    text("writer.write_text", text="\nEnd", place="end", bold=True)
    text("writer.format_text", text="Water", italic=True, color="red", size=20)
    text("writer.set_paragraph_alignment", align="center", paragraphs=[2])
    text("writer.set_line_spacing", lines=2, paragraphs=[2])
    text("writer.change_text_case", case="upper", text="between")
    text("writer.insert_table", values=[["a", "b"], ["c", 1]], before=4)
    text("writer.add_table_row", values=["d", 2])
    office.files.write("p.png", picture())
    text("writer.insert_image_at_cursor", path="p.png", width_mm=20, place="end")
    text("writer.add_page_numbers", align="right")
    text("writer.save")
    made = saved_text(office)
    lines = [one.text for one in made.paragraphs]
    assert lines[:4] == ["A Small Title", "Water is H2O.", "In BETWEEN", "The final line"]
    assert "End" in lines[4]
    assert made.paragraphs[0].style.name == "Heading 1"
    second = made.paragraphs[1]
    assert second.alignment == WD_ALIGN_PARAGRAPH.CENTER
    assert second.paragraph_format.line_spacing == 2
    looks = {run.text: run for run in second.runs}
    assert looks["2"].font.subscript
    assert (looks["Water"].italic, looks["Water"].font.size.pt, str(looks["Water"].font.color.rgb)) == (
        True,
        20,
        "FF0000",
    )
    assert [cell.text for cell in made.tables[0].rows[1].cells] == ["c", "1"]
    assert len(made.tables[0].rows) == 3
    assert len(made.inline_shapes) == 1
    assert "PAGE" in made.sections[0].footer._element.xml


def test_highlights_are_found_and_removed(text: Call) -> None:
    text("writer.set_highlight", color="yellow", text="Water")
    text("writer.set_highlight", color="lime", text="last")
    assert text("writer.find_highlighted_text", color="yellow") == [
        {"paragraph": 2, "text": "Water", "color": "#ffff00"}
    ]
    assert len(text("writer.find_highlighted_text")) == 2
    text("writer.remove_highlighting", paragraphs=[2])
    assert [one["text"] for one in text("writer.find_highlighted_text")] == ["last"]
    for name, arguments, said in (
        ("set_paragraph_style", {"style": "Hedding 1", "paragraphs": [1]}, "did you mean Heading 1"),
        ("set_paragraph_text", {"paragraph": 9, "text": ""}, "3 paragraphs"),
        ("find_and_replace", {"find": "nowhere", "replacement": ""}, "does not contain"),
        ("insert_image_at_cursor", {"path": "none.png"}, "no file"),
        ("get_table", {}, "no table"),
    ):
        with pytest.raises(CallFailed, match=said):
            text(f"writer.{name}", **arguments)


@pytest.fixture
def show(office: SandboxDesktop, call: Call) -> Call:
    made = Presentation()
    for title in ("One", "Two"):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "first\nsecond"
    saved = io.BytesIO()
    made.save(saved)
    office.files.write("show.pptx", saved.getvalue())
    call("impress.open_document", path="show.pptx")
    return call


def test_slides_are_changed_and_saved(office: SandboxDesktop, show: Call) -> None:
    assert [one["title"] for one in show("impress.get_info")["slides"]] == ["One", "Two"]
    show("impress.add_slide", title="Three", text="a\nb")
    show("impress.move_slide", slide=3, position=1)
    show("impress.duplicate_slide", slide=2)
    show("impress.delete_slide", slide=2)
    show("impress.set_title", slide=3, text="Second")
    show("impress.write_text", slide=1, box=2, text="c", append=True)
    show("impress.set_style", slide=1, box=1, bold=True, color="red")
    show("impress.set_text_strikethrough", slide=3, box=2, lines=[2])
    show("impress.add_text_box", slide=3, text="Here", left_mm=10, top_mm=10)
    show("impress.position_box", slide=3, box=3, position="bottom_right")
    show("impress.set_slide_background", slide=3, color="#112233")
    office.files.write("p.png", picture())
    show("impress.insert_image", slide=3, path="p.png", width_mm=40)
    show("impress.set_notes", slide=1, text="Speak slowly")
    show("impress.export_to_image", path="slide.png", slide=1)
    assert Image.open(io.BytesIO(office.files.read("slide.png"))).width > 100
    show("impress.save")
    made = Presentation(io.BytesIO(office.files.read("show.pptx")))
    slides = list(made.slides)
    assert [one.shapes.title.text for one in slides] == ["Three", "One", "Second"]
    assert "a\nb\nc" in [one.text_frame.text for one in slides[0].shapes if one.has_text_frame]
    assert slides[0].shapes.title.text_frame.paragraphs[0].runs[0].font.bold
    assert slides[0].notes_slide.notes_text_frame.text == "Speak slowly"
    box = next(one for one in slides[2].shapes if one.has_text_frame and one.text == "Here")
    assert abs(box.left + box.width - made.slide_width) < 40000
    assert any(one.shape_type is not None and "PICTURE" in str(one.shape_type) for one in slides[2].shapes)
    assert str(slides[2].background.fill.fore_color.rgb) == "112233"
    for name, arguments, said in (
        ("go_to_slide", {"slide": 9}, "3 slides"),
        ("write_text", {"slide": 1, "box": 9, "text": ""}, "no box 9"),
        ("write_text", {"slide": 3, "box": 4, "text": ""}, "takes no text"),
    ):
        with pytest.raises(CallFailed, match=said):
            show(f"impress.{name}", **arguments)


def test_a_libreoffice_that_died_is_told_and_started_again(office: SandboxDesktop, call: Call) -> None:
    call("calc.new_document")
    call("terminal.run", command="kill -9 $(ps -eo pid,comm | awk '/soffice.bin/ {print $1}')")
    with pytest.raises(CallFailed, match="LibreOffice is not running"):
        call("calc.get_cell", cell="A1")
    assert call("calc.new_document") == "opened Untitled 1"


def test_a_large_result_a_silent_and_a_dead_libreoffice_are_said_and_the_next_call_works(
    office: SandboxDesktop, call: Call
) -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    for _ in range(300):
        page.append(["x" * 20_000] * 18)
    saved = io.BytesIO()
    book.save(saved)
    office.files.write("large.xlsx", saved.getvalue())
    call("calc.open_document", path="large.xlsx")
    with pytest.raises(CallFailed, match="the result has 108022200 bytes"):
        call("calc.get_range", range="A1:R300")
    pid = next(one.pid for one in office.processes() if one.name.startswith("soffice.bin"))
    call("terminal.run", command=f"kill -STOP {pid}")
    begun = time.monotonic()
    with pytest.raises(CallFailed, match="LibreOffice does not answer"):
        call("calc.get_cell", cell="A1")
    assert time.monotonic() - begun < 5  # 2 s, and what a busy machine adds
    call("terminal.run", command=f"kill -KILL {pid}")
    with pytest.raises(CallFailed, match="LibreOffice is not running"):
        call("calc.get_cell", cell="A1")
    assert call("calc.open_document", path="large.xlsx") == "opened ~/large.xlsx"
