"""Calc: formulas that compute something of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps.libreoffice.calc import go_to, put
from operant.tasks.draw import Draw
from operant.tasks.office.workbook import Cell, Sheet, Value, Workbook
from operant.tasks.suites.office.office_task import OracleStep
from operant.tasks.suites.office.spreadsheet import SpreadsheetTask, goods, table
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

ALL_CELLS = Action.key("alt", "enter")  # ends the typing for every selected cell
COLUMNS = {"Price": "B", "Count": "C"}


class OneFormula(SpreadsheetTask):
    """A formula goes into one cell."""

    skill = "compute"
    family = "formulas"

    def formula(self, p: Params) -> str:
        raise NotImplementedError

    def result(self, p: Params) -> Value:
        raise NotImplementedError

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.with_cells({p.cell: Cell(value=self.result(p), formula=self.formula(p))})

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return put(p.cell, self.formula(p))

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_cell_value", cell=p.cell, value=self.formula(p))]


class OfColumn(OneFormula):
    """A function of all numbers of one column, below it."""

    function: ClassVar[str]

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        header = draw.choice(tuple(COLUMNS))
        letter, last = COLUMNS[header], len(rows) + 1
        area, cell = f"{letter}2:{letter}{last}", f"{letter}{last + draw.choice((1, 2))}"
        return table(draw, rows, header=header, area=area, cell=cell)

    def formula(self, p: Params) -> str:
        return f"={self.function}({p.area})"

    def numbers(self, p: Params) -> list[int]:
        return [row[1 if p.header == "Price" else 2] for row in p.rows]


class SumColumn(OfColumn):
    id = "office/calc-sum-v1"
    function = "SUM"
    instructions = (
        "In {file}, put the sum of {area} into {cell} with a formula, and save the file.",
        "Add up the column {header} of {file} ({area}) by a formula in cell {cell}. Save the document.",
    )

    def result(self, p: Params) -> Value:
        return sum(self.numbers(p))


class AverageColumn(OfColumn):
    id = "office/calc-average-v1"
    function = "AVERAGE"
    instructions = (
        "In {file}, compute the average of {area} with a formula in cell {cell}. Save the file.",
        "Cell {cell} of {file} should show the mean of the column {header}, {area}, by a formula. Save it.",
    )

    def result(self, p: Params) -> Value:
        return sum(self.numbers(p)) / len(p.rows)


class LargestOfColumn(OfColumn):
    id = "office/calc-largest-v1"
    function = "MAX"
    unseen = True
    instructions = (
        "In {file}, find the largest number of {area} with a formula in cell {cell}. Save the file.",
        "Write a formula into {cell} of {file} that shows the maximum of {area}, then save the document.",
    )

    def result(self, p: Params) -> Value:
        return max(self.numbers(p))


class CountAbove(OneFormula):
    id = "office/calc-count-above-v1"
    unseen = True
    instructions = (
        "In {file}, count with a formula in {cell} how many prices of {area} are above {limit}. Save the file.",
        "Cell {cell} of {file}: a formula for the number of cells in {area} that are greater than {limit}. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        last = len(rows) + 1
        return table(
            draw, rows, area=f"B2:B{last}", cell=f"E{draw.choice((1, 2, 3))}", limit=draw.number(60, 300)
        )

    def formula(self, p: Params) -> str:
        return f'=COUNTIF({p.area},">{p.limit}")'

    def result(self, p: Params) -> Value:
        return sum(int(row[1] > p.limit) for row in p.rows)


class LookUpPrice(OneFormula):
    id = "office/calc-look-up-v1"
    instructions = (
        "In {file}, cell {cell} should look up the price of the item that is named in E1, with a formula over the table "
        "{area}. Save the file.",
        "E1 of {file} names an item of the table {area}. Put a formula into {cell} that finds its price there, and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        return table(draw, rows, area=f"A2:B{len(rows) + 1}", cell="F1", wanted=draw.choice(rows)[0])

    def before(self, p: Params) -> Workbook:
        book = super().before(p)
        return book.with_sheet(book.sheets[0].with_cells({"E1": p.wanted}))

    def formula(self, p: Params) -> str:
        return f"=VLOOKUP(E1,{p.area},2,0)"

    def result(self, p: Params) -> Value:
        return int(next(row[1] for row in p.rows if row[0] == p.wanted))


class TotalOfSheets(OneFormula):
    id = "office/calc-across-sheets-v1"
    family = "sheets"
    instructions = (
        "In cell {cell} of the sheet {sheet} of {file}, add {place_a} of the sheet {a} and {place_b} of the sheet {b} with "
        "a formula. Save the file.",
        "{file} has the sheets {a} and {b}. Write a formula into {cell} of {sheet} that adds {a}'s {place_a} and {b}'s "
        "{place_b}, and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b = (topic.capitalize() for topic in draw.words(2, "topics"))
        rows, more = goods(draw), goods(draw)
        first, second = draw.choice(range(len(rows))), draw.choice(range(len(more)))
        return table(
            draw,
            [["Total", None]],
            a=a,
            b=b,
            rows_a=rows,
            rows_b=more,
            place_a=f"B{first + 2}",
            place_b=f"B{second + 2}",
            total=rows[first][1] + more[second][1],  # type: ignore[operator]
            cell="B2",
        )

    def before(self, p: Params) -> Workbook:
        first = super().before(p).sheets[0]
        tables = ((p.a, p.rows_a), (p.b, p.rows_b))
        return Workbook.of(first, *(Sheet.of(name, [self.headers, *rows]) for name, rows in tables))

    def formula(self, p: Params) -> str:
        return f"={p.a}!{p.place_a}+{p.b}!{p.place_b}"

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return put(p.cell, f"=${p.a}.{p.place_a}+${p.b}.{p.place_b}")

    def result(self, p: Params) -> Value:
        return p.total  # type: ignore[no-any-return]


class FilledColumn(SpreadsheetTask):
    """A formula for every row of the table, in column D."""

    skill = "compute"
    family = "filling"

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        return table(draw, rows, area=f"D2:D{len(rows) + 1}")

    def formula(self, p: Params, row: int) -> str:
        raise NotImplementedError

    def result(self, p: Params, values: Sequence[Any]) -> Value:
        raise NotImplementedError

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        return sheet.with_cells(
            {
                f"D{row}": Cell(value=self.result(p, values), formula=self.formula(p, row))
                for row, values in enumerate(p.rows, 2)
            }
        )

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*go_to(p.area), Action.type(self.formula(p, 2)), ALL_CELLS]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("fill_formula", range=p.area, formula=self.formula(p, 2))]


class LineTotals(FilledColumn):
    id = "office/calc-line-totals-v1"
    instructions = (
        "In {file}, fill {area} with formulas that multiply price by count in every row. Save the file.",
        "Every cell of {area} in {file} should be the row's price times its count, by a formula. Save the document.",
    )

    def formula(self, p: Params, row: int) -> str:
        return f"=B{row}*C{row}"

    def result(self, p: Params, values: Sequence[Any]) -> Value:
        return values[1] * values[2]  # type: ignore[no-any-return]


class FixedRate(FilledColumn):
    id = "office/calc-fixed-rate-v1"
    unseen = True
    instructions = (
        "F1 of {file} holds a rate. Fill {area} with formulas: the price of the row times the rate in F1. Save the file.",
        "In {file}, each cell of {area} should multiply the price in its row by F1, by a formula. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**super().parameters(draw), "rate": draw.choice((2, 3, 4, 5))}

    def before(self, p: Params) -> Workbook:
        book = super().before(p)
        return book.with_sheet(book.sheets[0].with_cells({"F1": p.rate}))

    def formula(self, p: Params, row: int) -> str:
        return f"=B{row}*$F$1"

    def result(self, p: Params, values: Sequence[Any]) -> Value:
        return values[1] * p.rate  # type: ignore[no-any-return]


class LowOrHigh(FilledColumn):
    id = "office/calc-if-v1"
    instructions = (
        "In {file}, each cell of {area} should say low if the price of its row is below {limit} and high otherwise, by a "
        "formula. Save the file.",
        "Fill {area} of {file} with formulas that show low for prices under {limit} and high for all others. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**super().parameters(draw), "limit": draw.number(60, 300)}

    def formula(self, p: Params, row: int) -> str:
        return f'=IF(B{row}<{p.limit},"low","high")'

    def result(self, p: Params, values: Sequence[Any]) -> Value:
        return "low" if values[1] < p.limit else "high"


class Invoice(SpreadsheetTask):
    id = "office/calc-invoice-v1"
    skill = "compute"
    family = "filling"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Finish the bill in {file}: title {title} in D1, formulas for price times count in {area}, and their sum by a "
        "formula in {cell}. Save the file.",
        "In {file}, write {title} into D1, fill {area} with price times count as formulas and put a formula for the sum "
        "of {area} into {cell}. Save the document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = goods(draw)
        last = len(rows) + 1
        title = draw.choice(("Total", "Amount", "Cost"))
        return table(draw, rows, area=f"D2:D{last}", cell=f"D{last + 1}", title=title)

    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        lines = {
            f"D{row}": Cell(value=price * count, formula=f"=B{row}*C{row}")
            for row, (_, price, count) in enumerate(p.rows, 2)
        }
        total = sum(price * count for _, price, count in p.rows)
        return sheet.with_cells(
            {"D1": p.title, **lines, p.cell: Cell(value=total, formula=f"=SUM({p.area})")}
        )

    def keys(self, p: Params) -> Sequence[OracleStep]:
        lines = [*go_to(p.area), Action.type("=B2*C2"), ALL_CELLS]
        return [*put("D1", p.title), *lines, *put(p.cell, f"=SUM({p.area})")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [
            self.call("set_cell_value", cell="D1", value=p.title),
            self.call("fill_formula", range=p.area, formula="=B2*C2"),
            self.call("set_cell_value", cell=p.cell, value=f"=SUM({p.area})"),
        ]


TEMPLATES: tuple[type[Template], ...] = (
    SumColumn,
    AverageColumn,
    LargestOfColumn,
    CountAbove,
    LookUpPrice,
    TotalOfSheets,
    LineTotals,
    FixedRate,
    LowOrHigh,
    Invoice,
)
