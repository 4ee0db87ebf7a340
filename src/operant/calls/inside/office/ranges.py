"""Sheets, ranges and the values of cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from office import connection, formulas
from office.connection import struct
from office.documents import no_such
from refusal import Refused

MOST_CELLS = 20_000
MOST_SHOWN = 2_000  # cells whose shown text is asked for one by one
CELL = r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})"
ONE = re.compile(CELL)
BLOCK = re.compile(CELL + ":" + CELL)
COLUMNS = re.compile(r"\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})")
ROWS = re.compile(r"\$?([0-9]{1,7}):\$?([0-9]{1,7})")
CONTENTS = 1 | 2 | 4 | 16  # numbers, dates, texts and formulas


@dataclass(frozen=True)
class Area:
    """A block of cells, counted from 0, both ends included."""

    sheet: Any
    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left + 1

    @property
    def height(self) -> int:
        return self.bottom - self.top + 1

    @property
    def cells(self) -> Any:
        return self.sheet.getCellRangeByPosition(self.left, self.top, self.right, self.bottom)

    def cell(self, column: int, row: int) -> Any:
        """A cell by its place within the area."""
        return self.sheet.getCellByPosition(self.left + column, self.top + row)

    def __str__(self) -> str:
        first = "%s%d" % (letters(self.left), self.top + 1)
        last = "%s%d" % (letters(self.right), self.bottom + 1)
        return first if first == last else first + ":" + last

    def bounded(self, most: int = MOST_CELLS) -> Area:
        if self.width * self.height > most:
            raise Refused(
                "%s has %d cells, and at most %d are allowed" % (self, self.width * self.height, most)
            )
        return self


def letters(column: int) -> str:
    """The name of a column that is counted from 0."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def number(name: str) -> int:
    """A column by its letters, counted from 0."""
    total = 0
    for letter in name.upper():
        total = total * 26 + ord(letter) - ord("A") + 1
    return total - 1


def sheet_of(model: Any, name: Optional[str] = None) -> Any:
    """The sheet of that name, or the one that is shown."""
    if name is None:
        return model.getCurrentController().getActiveSheet()
    sheets = model.getSheets()
    if not sheets.hasByName(name):
        raise Refused(no_such("sheet", name, list(sheets.getElementNames())))
    return sheets.getByName(name)


def used(sheet: Any) -> Area:
    """The block from A1 to the last cell in use."""
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    address = cursor.getRangeAddress()
    return Area(sheet, 0, 0, address.EndColumn, address.EndRow)


def area(model: Any, text: str, sheet: Optional[str] = None, whole: bool = True) -> Area:
    """A range as people write it: ``B2``, ``A1:C9``, ``A:C``, ``2:5``, ``Data!A1`` or ``'My data'.A1``.

    Whole columns and rows end with the used cells, unless ``whole`` is False, which refuses them.
    """
    name, _, rest = text.strip().rpartition("!")
    if not name:
        match = re.fullmatch(r"\$?('(?:[^']|'')*'|[^'.:]+)\.(.+)", rest)
        if match:
            name, rest = match.groups()
    if name:
        name = name.lstrip("$")
        if name[:1] == name[-1:] == "'":
            name = name[1:-1].replace("''", "'")
        if sheet is not None and name != sheet:
            raise Refused("the range %r is not on the sheet %r" % (text[:80], sheet[:80]))
        sheet = name
    place = sheet_of(model, sheet)
    ends = _ends(place, rest.strip(), whole)
    if ends is None:
        raise Refused("%r is no range of cells: write B2, A1:C9, A:C or 2:5" % text[:80])
    left, top, right, bottom = ends
    left, right = min(left, right), max(left, right)
    top, bottom = min(top, bottom), max(top, bottom)
    columns, rows = place.getColumns().getCount(), place.getRows().getCount()
    if top < 0 or right >= columns or bottom >= rows:
        raise Refused(
            "%r is outside of the sheet, which ends with %s%d" % (text[:80], letters(columns - 1), rows)
        )
    return Area(place, left, top, right, bottom)


def _ends(sheet: Any, text: str, whole: bool) -> Optional[Tuple[int, int, int, int]]:
    match = ONE.fullmatch(text)
    if match:
        column, row = number(match[1]), int(match[2]) - 1
        return column, row, column, row
    match = BLOCK.fullmatch(text)
    if match:
        return number(match[1]), int(match[2]) - 1, number(match[3]), int(match[4]) - 1
    if not whole:
        return None
    match = COLUMNS.fullmatch(text)
    if match:
        return number(match[1]), 0, number(match[2]), used(sheet).bottom
    match = ROWS.fullmatch(text)
    if match:
        return 0, int(match[1]) - 1, used(sheet).right, int(match[2]) - 1
    return None


def one_cell(model: Any, text: str, sheet: Optional[str] = None) -> Area:
    found = area(model, text, sheet, whole=False)
    if found.width * found.height != 1:
        raise Refused("%r is more than one cell" % text[:80])
    return found


def columns_of(model: Any, text: str, sheet: Optional[str] = None) -> Area:
    """Columns by letter (``B``, ``A:C``), or by the cells of a range."""
    text = text.strip()
    return area(model, "%s:%s" % (text, text) if re.fullmatch(r"[A-Za-z]{1,3}", text) else text, sheet)


def column_named(sheet: Any, name: str) -> int:
    """A column by the text in its first row, or else by its letters."""
    header = list(used(sheet).cells.getDataArray()[0])
    if name in header:
        return header.index(name)
    if re.fullmatch(r"[A-Za-z]{1,3}", name.strip()) and number(name.strip()) < sheet.getColumns().getCount():
        return number(name.strip())
    raise Refused(no_such("column", name, [str(one) for one in header if one != ""]))


def check_unprotected(place: Area) -> None:
    if place.sheet.isProtected():
        raise Refused("the sheet %r is protected" % place.sheet.getName())


# Values.


def plain(value: Any) -> Any:
    """A number without a needless fraction; an error is None."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def values_of(place: Area) -> List[List[Any]]:
    return [[plain(value) for value in row] for row in place.bounded().cells.getDataArray()]


def formulas_of(place: Area) -> List[List[str]]:
    return [list(row) for row in place.bounded().cells.getFormulaArray()]


def texts_of(place: Area) -> List[List[str]]:
    """What the cells show."""
    place.bounded(MOST_SHOWN)
    return [
        [place.cell(column, row).getString() for column in range(place.width)] for row in range(place.height)
    ]


def _type_in(model: Any, cell: Any, text: str) -> None:
    """Put a text in as if it were typed: dates, times and percentages become numbers with a format."""
    cell.setFormula(text)
    if cell.getType().value == "VALUE":
        formatter = connection.service("util.NumberFormatter")
        formatter.attachNumberFormatsSupplier(model)
        cell.NumberFormat = formatter.detectNumberFormat(0, text)


def write(model: Any, place: Area, rows: List[List[Any]], parse: bool = False) -> List[str]:
    """Put values into the cells; returns complaints about formulas.

    A text that starts with ``=`` is a formula, null empties a cell. Other texts stay texts unless ``parse``
    reads them as if they were typed.
    """
    check_unprotected(place)
    later: List[Tuple[int, int, Any]] = []
    block = []
    for y, row in enumerate(rows):
        line: List[Any] = []
        for x, value in enumerate(row):
            if value is not None and not isinstance(value, (str, int, float)):
                raise Refused(
                    "a cell holds a text, a number, true, false or null, not %s" % type(value).__name__
                )
            special = (
                value is None
                or isinstance(value, bool)
                or (isinstance(value, str) and _is_special(value, parse))
            )
            if special:
                later.append((x, y, value))
            line.append("" if special else value if isinstance(value, str) else float(value))
        block.append(tuple(line))
    before = place.bounded().cells.getFormulaArray()
    place.cells.setDataArray(tuple(block))
    said = []
    for x, y, value in later:
        cell = place.cell(x, y)
        if value is None:
            cell.clearContents(CONTENTS)
        elif isinstance(value, bool):
            cell.setFormula("=TRUE()" if value else "=FALSE()")
        elif not value.startswith("="):
            _type_in(model, cell, value)
        else:
            cell.setFormula(formulas.for_calc(value))
            code = cell.getError()
            if code in formulas.UNREADABLE:
                place.cells.setFormulaArray(before)
                raise Refused(
                    "the formula %r can't be read (error %d); nothing was changed" % (value[:200], code)
                )
            if code:
                name = "%s%d" % (letters(place.left + x), place.top + y + 1)
                said.append("%s: %s" % (name, formulas.ERRORS.get(code, "error %d" % code)))
    return said


def _is_special(text: str, parse: bool) -> bool:
    return (text.startswith("=") and len(text) > 1) or (parse and text != "")


def address(place: Area) -> Any:
    return place.cells.getRangeAddress()


def corner(place: Area) -> Any:
    """The address of its first cell."""
    return place.cell(0, 0).getCellAddress()


def summary(sheet: Any) -> Dict[str, Any]:
    block = used(sheet)
    return {"name": sheet.getName(), "used": str(block), "visible": bool(sheet.IsVisible)}


def border_line() -> Any:
    return struct("table.BorderLine2", OuterLineWidth=26, LineWidth=26)
