"""``compare_table``: each rule holds on a copy, and not after one change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.formatting.rule import CellIsRule
from openpyxl.pivot.cache import CacheDefinition, CacheField, CacheSource, WorksheetSource
from openpyxl.pivot.record import RecordList
from openpyxl.pivot.table import DataField, Location, PivotField, RowColField, TableDefinition
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

Change = Callable[[Any], None]


def pivot() -> TableDefinition:
    """The sums by name."""
    source = CacheSource(type="worksheet", worksheetSource=WorksheetSource(ref="A1:B4", sheet="Sheet1"))
    cache = CacheDefinition(
        cacheSource=source, cacheFields=[CacheField(name="Name"), CacheField(name="Sum")], id="rId1"
    )
    cache.records = RecordList()
    table = TableDefinition(
        name="Sums",
        cacheId=1,
        dataCaption="Values",
        location=Location(ref="F1:G5", firstHeaderRow=1, firstDataRow=1, firstDataCol=1),
        pivotFields=[PivotField(), PivotField()],
        rowFields=[RowColField(x=0)],
        dataFields=[DataField(fld=1, subtotal="sum", name="Sum - Sum")],
    )
    table.cache = cache
    return table


def by_average(sheet: Any) -> None:
    sheet._pivots[0].dataFields[0].subtotal = "average"


def by_sum_column(sheet: Any) -> None:
    sheet._pivots[0].rowFields[0].x = 1


def book(path: Path, change: Change = lambda sheet: None) -> Path:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Sheet1"
    for row in (["Name", "Sum"], ["Ann", 1.5], ["Bob", 3], ["Cid", 20]):
        sheet.append(row)
    sheet["A1"].font = Font(bold=True, color="FFFF0000")
    chart = BarChart()
    chart.title = "Sums"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=4), titles_from_data=True)
    sheet.add_chart(chart, "D2")
    sheet.freeze_panes = "A2"
    sheet.row_dimensions[3].hidden = True
    sheet.sheet_view.zoomScale = 120
    sheet.merge_cells("A8:B8")
    sheet.conditional_formatting.add(
        "B2:B4", CellIsRule(operator="greaterThan", formula=["10"], fill=PatternFill(bgColor="FF00FF00"))
    )
    validation = DataValidation(type="list", formula1='"Pass,Fail"')
    validation.add("C2:C4")
    sheet.add_data_validation(validation)
    sheet.add_pivot(pivot())
    change(sheet)
    workbook.save(path)
    return path


def other_chart(sheet: Any) -> None:
    sheet._charts.clear()
    chart = LineChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=4), titles_from_data=True)
    sheet.add_chart(chart, "D2")


def assign(place: str, value: Any) -> Change:
    return lambda sheet: sheet.__setitem__(place, value)


RULES: list[tuple[dict[str, Any], Change]] = [
    ({"type": "sheet_name"}, lambda sheet: setattr(sheet, "title", "Other")),
    ({"type": "sheet_data"}, assign("B2", 1.6)),
    ({"type": "sheet_data"}, assign("C9", "more")),
    ({"type": "sheet_fuzzy", "rules": [{"range": ["A1:A4"], "type": "exact_match"}]}, assign("A3", "bob")),
    ({"type": "sheet_fuzzy", "rules": [{"range": ["A2:A3"], "type": "fuzzy_match", "threshold": 90}]}, assign("A3", "Eve")),
    ({"type": "sheet_fuzzy", "rules": [{"range": ["A2:A2"], "type": "includes"}]}, assign("A2", "An")),
    ({"type": "chart", "chart_props": ["type", "title"]}, other_chart),
    ({"type": "pivot_table", "pivot_props": ["data_fields"]}, by_average),
    ({"type": "pivot_table", "pivot_props": ["row_fields", "col_fields", "filter"]}, by_sum_column),
    ({"type": "pivot_table", "pivot_props": ["name"]}, lambda sheet: sheet._pivots.clear()),
    ({"type": "style", "props": ["font_bold", "font_color"]}, lambda sheet: setattr(sheet["A1"], "font", Font())),
    ({"type": "style", "props": ["bgcolor"]}, assign("B3", 11)),  # a conditional format reaches one more cell
    ({"type": "freeze"}, lambda sheet: setattr(sheet, "freeze_panes", "B2")),
    ({"type": "row_props", "props": ["hidden"]}, lambda sheet: setattr(sheet.row_dimensions[4], "hidden", True)),
    ({"type": "zoom", "sheet_idx": 0, "method": "lt", "ref": 200}, lambda sheet: setattr(sheet.sheet_view, "zoomScale", 260)),
    (
        {"type": "data_validation", "sheet_idx": 0, "dv_props": [
            {"type": {"method": "eq", "ref": "list"}, "formula1": {"method": "str_set_eq", "ref": ["Fail", "Pass"]}}]},
        lambda sheet: setattr(sheet.data_validations.dataValidation[0], "formula1", '"Pass"'),
    ),
    (
        {"type": "check_cell", "sheet_idx": "RNSheet1", "coordinate": "A2", "props": {"value": {"method": "eq", "ref": "Ann"}}},
        assign("A2", "Anne"),
    ),
    (
        {"type": "check_cell", "sheet_idx": 0, "coordinate": "B8", "props": {"merge": {"method": "eq", "ref": True}}},
        lambda sheet: sheet.unmerge_cells("A8:B8"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "change"), RULES, ids=lambda value: "" if callable(value) else str(value)[:60]
)
def test_a_rule_holds_on_a_copy_and_not_after_a_change(
    tmp_path: Path, score, rule: dict[str, Any], change: Change
) -> None:
    gold = book(tmp_path / "gold.xlsx")
    full = {"sheet_idx0": 0, "sheet_idx1": "EI0", **rule}
    assert score("compare_table", book(tmp_path / "same.xlsx"), gold, rules=[full]) == 1
    assert score("compare_table", book(tmp_path / "wrong.xlsx", change), gold, rules=[full]) == 0


def test_printed_sheets_are_csv_files_beside_the_books(tmp_path: Path, score) -> None:
    result, gold = book(tmp_path / "result.xlsx"), book(tmp_path / "gold.xlsx")
    rule = {"type": "sheet_print", "sheet_idx0": "RNSheet1", "sheet_idx1": "ENSheet1"}
    assert score("compare_table", result, gold, rules=[rule]) == 0  # there is no CSV file
    (tmp_path / "result-Sheet1.csv").write_text("a,b\n\n")
    (tmp_path / "gold-Sheet1.csv").write_text("a,b\n")
    assert score("compare_table", result, gold, rules=[rule]) == 1
    (tmp_path / "result-Sheet1.csv").write_text("a,c\n")
    assert score("compare_table", result, gold, rules=[rule]) == 0


def test_a_sheet_that_is_not_there_scores_nothing(tmp_path: Path, score) -> None:
    result, gold = book(tmp_path / "result.xlsx"), book(tmp_path / "gold.xlsx")
    rule = {"type": "sheet_data", "sheet_idx0": "RNSheet9", "sheet_idx1": "EI0"}
    assert score("compare_table", result, gold, rules=[rule]) == 0
