"""Calc: change what a table holds, how it looks, and the sheets that it stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps.libreoffice.calc import go_to, put
from operant.tasks.draw import Draw
from operant.tasks.office.workbook import Sheet, Value
from operant.tasks.suites.office.office_task import OracleStep, menu
from operant.tasks.suites.office.spreadsheet import SpreadsheetTask, goods, table
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]


def under(headers: Sequence[Value], rows: Sequence[Sequence[Value]], name: str) -> Sheet:
    return Sheet.of(name, [headers, *rows])


class CorrectPrice(SpreadsheetTask):
    id = "office/calc-correct-price-v1"
    skill = "type"
    family = "values"
    instructions = (
        "In {file}, change the price of {item} to {price}, and save the file.",
        "{item} costs {price} now. Correct that in {file} and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        index = draw.choice(range(len(rows)))
        return table(draw, rows, item=rows[index][0], cell=f"B{index + 2}", price=draw.number(401, 900))

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.with_cells({p.cell: p.price})

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return put(p.cell, str(p.price))

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_cell_value", cell=p.cell, value=p.price)]


class AppendRow(SpreadsheetTask):
    id = "office/calc-append-row-v1"
    skill = "type"
    family = "values"
    instructions = (
        "Add a row at the end of the table in {file}: item {item}, price {price}, count {count}. Save the file.",
        "Below the last row of {file}, enter {item} with the price {price} and the count {count}, and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        *rows, new = goods(draw, (6, 7, 8))
        return table(draw, rows, item=new[0], price=new[1], count=new[2])

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.with_cells({f"A{p.next}": p.item, f"B{p.next}": p.price, f"C{p.next}": p.count})

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(f"A{p.next}"), Action.type(f"{p.item}\t{p.price}\t{p.count}\n")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_range_values", range=f"A{p.next}", values=[[p.item, p.price, p.count]])]


class DeleteRow(SpreadsheetTask):
    id = "office/calc-delete-row-v1"
    skill = "delete"
    family = "rows"
    instructions = (
        "Delete the row of {item} from the table in {file}, so that no gap is left, and save the file.",
        "{item} is sold out. Remove its whole row from {file} and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        index = draw.choice(range(len(rows) - 1))
        return table(draw, rows, item=rows[index][0], row=index + 2)

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return under(self.headers, [row for row in p.rows if row[0] != p.item], p.sheet)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(f"{p.row}:{p.row}"), Action.key("ctrl", "-")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("delete_rows", row=p.row)]


class InsertRow(SpreadsheetTask):
    id = "office/calc-insert-row-v1"
    skill = "type"
    family = "rows"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "In {file}, insert a row above {item} with {new}, the price {price} and the count {count}. Save the file.",
        "Put a new row directly before that of {item} in {file}: {new}, {price}, {count}. Then save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        *rows, new = goods(draw, (6, 7, 8))
        index = draw.choice(range(1, len(rows)))
        values = {"item": rows[index][0], "row": index + 2, "new": new[0], "price": new[1], "count": new[2]}
        return table(draw, rows, **values)

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        at = p.row - 2
        return under(self.headers, [*p.rows[:at], [p.new, p.price, p.count], *p.rows[at:]], p.sheet)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        typed = [*put(f"A{p.row}", p.new), *go_to(f"B{p.row}"), Action.type(f"{p.price}\t{p.count}\n")]
        return [*go_to(f"{p.row}:{p.row}"), Action.key("ctrl", "+"), *typed]

    def calls(self, p: Params) -> Sequence[Action]:
        values = [[p.new, p.price, p.count]]
        return [
            self.call("insert_rows", row=p.row),
            self.call("set_range_values", range=f"A{p.row}", values=values),
        ]


class ClearColumn(SpreadsheetTask):
    id = "office/calc-clear-column-v1"
    skill = "delete"
    family = "values"
    instructions = (
        "Empty the cells {area} of {file}; the table stays where it is. Save the file.",
        "The counts of {file} ({area}) are out of date. Delete these numbers and save the document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        return table(draw, rows, area=f"C2:C{len(rows) + 1}")

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.with_cells({f"C{row}": None for row in range(2, p.last + 1)})

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(p.area), Action.key("delete")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("clear_range", range=p.area)]


class CopyColumn(SpreadsheetTask):
    id = "office/calc-copy-column-v1"
    skill = "copy"
    family = "values"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Copy the cells {area} of {file} to the column E, from E1 on. Save the file.",
        "In {file}, {area} should also stand in column E, beginning with E1. Copy it there and save the document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        letter = draw.choice("AB")
        return table(draw, rows, letter=letter, area=f"{letter}1:{letter}{len(rows) + 1}")

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.with_cells({f"E{row}": sheet.cells[f"{p.letter}{row}"] for row in range(1, p.last + 1)})

    def keys(self, p: Params) -> Sequence[OracleStep]:
        # Escape ends the marching border of what was copied.
        copy, paste, quit = Action.key("ctrl", "c"), Action.key("ctrl", "v"), Action.key("esc")
        return [*go_to(p.area), copy, *go_to("E1"), paste, quit]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("copy_range", source=p.area, target="E1")]


class SortRows(SpreadsheetTask):
    id = "office/calc-sort-v1"
    skill = "menu"
    family = "rows"
    instructions = (
        "Sort the rows of the table in {file} by the names of the items, A to Z; the headers stay in row 1. Save the file.",
        "In {file}, bring the rows {area} into the alphabetical order of their items, whole rows at once. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        if rows == sorted(rows):  # as a task that is done before it begins
            rows.reverse()
        return table(draw, rows, area=f"A2:C{len(rows) + 1}")

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return under(self.headers, sorted(p.rows), p.sheet)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(p.area), *menu("Data", "Sort Ascending")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("sort_range", range=p.area, column="A", header=False)]


class FreezeRows(SpreadsheetTask):
    id = "office/calc-freeze-v1"
    skill = "menu"
    family = "views"
    instructions = (
        "Freeze the rows of {file} above row {row}, and no column, so that they stay in sight. Save the file.",
        "In {file}, everything above row {row} should stay where it is when one scrolls; no column is fixed. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return table(draw, goods(draw), row=draw.choice((2, 3, 4)))

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.changed(frozen=f"A{p.row}")

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(f"A{p.row}"), *menu("View", "Freeze Rows and Columns", role="check menu item")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("freeze_panes", rows=p.row - 1)]


class Styled(SpreadsheetTask):
    """Cells look different, and hold what they held."""

    skill = "keys"
    family = "looks"
    look: ClassVar[Mapping[str, Any]]

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.styled(p.cells, **self.look)

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("format_range", range=f"{p.cells[0]}:{p.cells[-1]}", **self.look)]


class BoldHeader(Styled):
    id = "office/calc-bold-header-v1"
    look = {"bold": True}  # noqa: RUF012
    instructions = (
        "Make the headers of the table in {file} ({area}) bold, and save the file.",
        "The first row of {file}, {area}, should be in bold type. Save the document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return table(draw, goods(draw), area="A1:C1", cells=["A1", "B1", "C1"])

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(p.area), Action.key("ctrl", "b")]


class ItalicItem(Styled):
    id = "office/calc-italic-item-v1"
    look = {"italic": True}  # noqa: RUF012
    unseen = True
    instructions = (
        "In {file}, put the name {item} in italics and nothing else. Save the file.",
        "Make only the cell with {item} italic in {file}, then save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        index = draw.choice(range(len(rows)))
        return table(draw, rows, item=rows[index][0], cells=[f"A{index + 2}"])

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(p.cells[0]), Action.key("ctrl", "i")]


class PercentFormat(Styled):
    id = "office/calc-percent-v1"
    headers = ("Item", "Price", "Share")
    look = {"number_format": "0.00%"}  # noqa: RUF012
    instructions = (
        "Show the numbers {area} of {file} as percentages with two decimals. Save the file.",
        "In {file}, format {area} as percent with two decimal places, and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = [[item, price, count / 100] for item, price, count in goods(draw)]  # type: ignore[operator]
        last = len(rows) + 1
        return table(draw, rows, area=f"C2:C{last}", cells=[f"C{row}" for row in range(2, last + 1)])

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(p.area), Action.key("ctrl", "shift", "5")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_number_format", range=p.area, format="percent")]


class CenterItems(Styled):
    id = "office/calc-center-v1"
    look = {"align": "center"}  # noqa: RUF012
    instructions = (
        "Center the cells {area} of {file}, and save the file.",
        "In {file}, align {area} to the center of the cells. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return table(draw, goods(draw), area="A1:C1", cells=["A1", "B1", "C1"])

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(p.area), Action.key("ctrl", "e")]


TEMPLATES: tuple[type[Template], ...] = (
    CorrectPrice,
    AppendRow,
    DeleteRow,
    InsertRow,
    ClearColumn,
    CopyColumn,
    SortRows,
    FreezeRows,
    BoldHeader,
    ItalicItem,
    PercentFormat,
    CenterItems,
)
