"""LibreOffice Calc: cells, formulas, formats, sheets, charts and pivot tables of the open spreadsheet.

All functions are about the topmost spreadsheet unless `document` gives the title or path of another, and about the sheet
that is shown unless `sheet` names one. Ranges are written A1:C9, B2, A:C, 2:5 or Data!A1. Nothing is saved before
`save`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, Literal

import programs
from office import charts, documents, looks
from office.connection import enum, struct, typed
from office.documents import CALC, changing, reading
from office.ranges import (
    CONTENTS,
    Area,
    address,
    area,
    border_line,
    check_unprotected,
    column_named,
    columns_of,
    corner,
    formulas_of,
    letters,
    one_cell,
    plain,
    sheet_of,
    summary,
    texts_of,
    used,
    values_of,
    write,
)
from refusal import Refused

WM_CLASS = "libreoffice-calc"
TIME_LIMITS = {
    "open_document": 60,
    "new_document": 60,
    "save": 30,
    "save_as": 30,
    "export_to_pdf": 30,
    "export_to_csv": 30,
}
FORMATS = {
    "general": "General",
    "number": "#,##0.00",
    "integer": "0",
    "currency": '"$"#,##0.00',
    "percent": "0.00%",
    "date": "YYYY-MM-DD",
    "time": "HH:MM:SS",
    "datetime": "YYYY-MM-DD HH:MM:SS",
    "scientific": "0.00E+00",
    "fraction": "# ?/?",
    "text": "@",
}
LEGENDS = {"top": "TOP", "bottom": "BOTTOM", "left": "LEFT", "right": "RIGHT"}
CONDITIONS = {
    "=": "EQUAL",
    "!=": "NOT_EQUAL",
    ">": "GREATER",
    ">=": "GREATER_EQUAL",
    "<": "LESS",
    "<=": "LESS_EQUAL",
}
BY_VALUE = 3  # a zoom that is a number


# The document.


def open_document(path: str) -> str:
    """Open a spreadsheet (xlsx, ods, xls, csv) in a window; start LibreOffice if it does not run."""
    return documents.open_file(CALC, path)


def new_document() -> str:
    """Open an empty spreadsheet; start LibreOffice if it does not run."""
    return documents.new(CALC)


def list_documents() -> list[dict[str, object]]:
    """List the open spreadsheets: title, path, whether modified, whether read-only."""
    return documents.listed(CALC)


def save(document: str | None = None) -> str:
    """Save the spreadsheet to its file, in the file's own format."""
    return documents.save(CALC, document)


def save_as(path: str, overwrite: bool = False, document: str | None = None) -> str:
    """Save the spreadsheet to another file, which becomes its file: .xlsx, .ods, .xls or .csv."""
    return documents.save_as(CALC, path, overwrite, document)


def close_document(discard_changes: bool = False, document: str | None = None) -> str:
    """Close the spreadsheet. Changes that are not saved are an error unless they are discarded."""
    return documents.close(CALC, discard_changes, document)


def export_to_pdf(path: str, overwrite: bool = False, document: str | None = None) -> str:
    """Export the whole spreadsheet to a PDF file. Its own file stays as it is."""
    return documents.export(CALC, path, overwrite, document)


def export_to_csv(
    path: str,
    sheet: str | None = None,
    separator: str = ",",
    overwrite: bool = False,
    document: str | None = None,
) -> str:
    """Export one sheet to a CSV file (UTF-8, cells as shown). The spreadsheet's own file stays as it is."""
    if len(separator) != 1 or ord(separator) > 127:
        raise Refused("a separator is one ASCII character")
    with reading(CALC, document) as model:
        position = sheet_of(model, sheet).getRangeAddress().Sheet + 1
    options = "%d,34,76,1,,0,false,true,false,false,false,%d" % (ord(separator), position)
    filters = {"FilterName": CALC.filters[".csv"], "FilterOptions": options}
    place = documents.target(path, overwrite)
    # LibreOffice puts the name of the sheet into that of the file.
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        documents.store_copy(CALC, os.path.join(folder, "sheet.csv"), document, **filters)
        shutil.move(os.path.join(folder, os.listdir(folder)[0]), place)
    return "exported to %s (%d bytes)" % (programs.shown(place), os.path.getsize(place))


def get_workbook_info(document: str | None = None) -> dict[str, object]:
    """Tell the file, the sheets with their used ranges, the sheet that is shown and the selected range."""
    with reading(CALC, document) as model:
        shown = sheet_of(model)
        return {
            **documents.facts(model),
            "active_sheet": shown.getName(),
            "selection": _selection(model),
            "sheets": [summary(model.getSheets().getByIndex(i)) for i in range(model.getSheets().getCount())],
            "charts": list(shown.getCharts().getElementNames()),
        }


# Reading.


def get_range(
    range: str,
    sheet: str | None = None,
    what: Literal["values", "formulas", "shown"] = "values",
    document: str | None = None,
) -> list[list[object]]:
    """Read the rows of a range: values, formulas, or the texts that are shown. An error value is null."""
    with reading(CALC, document) as model:
        place = area(model, range, sheet)
        return {"values": values_of, "formulas": formulas_of, "shown": texts_of}[what](place)


def get_cell(cell: str, sheet: str | None = None, document: str | None = None) -> dict[str, object]:
    """Read one cell: value, formula, shown text and format."""
    with reading(CALC, document) as model:
        place = one_cell(model, cell, sheet)
        found = place.cell(0, 0)
        formats = model.getNumberFormats()
        return {
            "cell": str(place),
            "value": plain(found.getDataArray()[0][0])
            if hasattr(found, "getDataArray")
            else found.getString(),
            "formula": found.getFormula(),
            "shown": found.getString(),
            "number_format": formats.getByKey(found.NumberFormat).FormatString,
            "bold": found.CharWeight > looks.NORMAL,
            "color": looks.color_name(found.CharColor),
            "background": looks.color_name(found.CellBackColor),
        }


def get_column_data(column: str, sheet: str | None = None, document: str | None = None) -> list[object]:
    """Read the used cells of a column, from the first row. The column is a letter or the text in its first row."""
    with reading(CALC, document) as model:
        place = sheet_of(model, sheet)
        at = column_named(place, column)
        block = used(place)
        return [row[0] for row in values_of(Area(place, at, 0, at, block.bottom))]


def find_cells(
    text: str,
    sheet: str | None = None,
    match_case: bool = False,
    whole_cell: bool = False,
    document: str | None = None,
) -> list[str]:
    """List the cells of a sheet that contain a text, such as ["A1", "C7"]; at most 1000."""
    if not text:
        raise Refused("an empty text can't be found")
    with reading(CALC, document) as model:
        place = sheet_of(model, sheet)
        search = place.createSearchDescriptor()
        search.setSearchString(text)
        search.SearchCaseSensitive = match_case
        search.SearchWords = whole_cell
        found = place.findAll(search)
        if found is None:
            return []
        cells = []
        for one in found.getRangeAddresses():
            for row in _span(one.StartRow, one.EndRow):
                cells += ["%s%d" % (letters(x), row + 1) for x in _span(one.StartColumn, one.EndColumn)]
                if len(cells) >= 1000:
                    return cells[:1000]
        return cells


# Contents.


def set_cell_value(
    cell: str, value: object, sheet: str | None = None, parse: bool = False, document: str | None = None
) -> str:
    """Set one cell to a number, a text, true, false, null or a formula ("=SUM(A1:A9)", functions in English).

    parse=True reads a text as if it were typed: "2024-01-31" becomes a date, "12%" a percentage.
    """
    with changing(CALC, document) as model:
        place = one_cell(model, cell, sheet)
        said = write(model, place, [[value]], parse)
        return (
            "; ".join(said)
            if said
            else "%s shows %s" % (place, place.cell(0, 0).getString()[:200] or "nothing")
        )


def set_range_values(
    range: str,
    values: list[list[object]],
    sheet: str | None = None,
    parse: bool = False,
    document: str | None = None,
) -> str:
    """Set a block of cells to rows of values, as set_cell_value does. The range may be its first cell only."""
    if not values or not values[0] or any(len(row) != len(values[0]) for row in values):
        raise Refused("values are rows of the same length")
    with changing(CALC, document) as model:
        place = area(model, range, sheet, whole=False)
        if place.width * place.height == 1:
            last = "%s%d" % (letters(place.left + len(values[0]) - 1), place.top + len(values))
            place = area(model, "%s:%s" % (place, last), place.sheet.getName())
        if (place.width, place.height) != (len(values[0]), len(values)):
            size = (len(values), len(values[0]), place, place.height, place.width)
            raise Refused("%d rows of %d values were given for %s, which has %d rows of %d" % size)
        said = write(model, place, values, parse)
        return "set %s%s" % (place, _errors(said))


def set_column_values(
    column: str,
    values: list[object],
    first_row: int = 2,
    sheet: str | None = None,
    parse: bool = False,
    document: str | None = None,
) -> str:
    """Set the cells of a column downwards from a row. The column is a letter or the text in its first row."""
    if not values or first_row < 1:
        raise Refused("one value at least is needed, and rows are counted from 1")
    with changing(CALC, document) as model:
        name = letters(column_named(sheet_of(model, sheet), column))
        place = area(model, "%s%d:%s%d" % (name, first_row, name, first_row + len(values) - 1), sheet)
        said = write(model, place, [[value] for value in values], parse)
        return "set %s%s" % (place, _errors(said))


def fill_formula(range: str, formula: str, sheet: str | None = None, document: str | None = None) -> str:
    """Put a formula into each cell of a range. It is written for the first cell; references move with the cell."""
    if not formula.startswith("=") or len(formula) < 2:
        raise Refused("a formula starts with =")
    with changing(CALC, document) as model:
        place = area(model, range, sheet).bounded()
        said = write(model, Area(place.sheet, place.left, place.top, place.left, place.top), [[formula]])
        cells, first = place.cells, place.cell(0, 0)
        if place.height > 1:
            column = Area(place.sheet, place.left, place.top, place.left, place.bottom)
            column.cells.fillAuto(enum("sheet.FillDirection", "TO_BOTTOM"), 1)
        if place.width > 1:
            cells.fillAuto(enum("sheet.FillDirection", "TO_RIGHT"), 1)
        return "filled %s; the first shows %s%s" % (place, first.getString()[:100], _errors(said))


def clear_range(
    range: str, formats: bool = False, sheet: str | None = None, document: str | None = None
) -> str:
    """Empty the cells of a range; with formats=True also take their formats away."""
    with changing(CALC, document) as model:
        place = area(model, range, sheet)
        check_unprotected(place)
        everything = 1023
        place.cells.clearContents(everything if formats else CONTENTS)
        return "cleared %s" % place


def copy_range(source: str, target: str, sheet: str | None = None, document: str | None = None) -> str:
    """Copy cells with formulas and formats. The target is the first cell, maybe of another sheet (Data!A1)."""
    with changing(CALC, document) as model:
        place, goal = area(model, source, sheet), _goal(model, target, sheet)
        check_unprotected(goal)
        goal.sheet.copyRange(corner(goal), address(place))
        return "copied %s to %s" % (place, goal)


def move_range(source: str, target: str, sheet: str | None = None, document: str | None = None) -> str:
    """Move cells; formulas that refer to them follow. The target is the first cell."""
    with changing(CALC, document) as model:
        place, goal = area(model, source, sheet), _goal(model, target, sheet)
        check_unprotected(place)
        check_unprotected(goal)
        goal.sheet.moveRange(corner(goal), address(place))
        return "moved %s to %s" % (place, goal)


def find_and_replace(
    find: str,
    replacement: str,
    sheet: str | None = None,
    match_case: bool = False,
    whole_cell: bool = False,
    regex: bool = False,
    document: str | None = None,
) -> str:
    """Replace every occurrence of a text in the cells of a sheet, formulas included."""
    if not find:
        raise Refused("an empty text can't be found")
    with changing(CALC, document) as model:
        place = sheet_of(model, sheet)
        check_unprotected(used(place))
        change = place.createReplaceDescriptor()
        change.setSearchString(find)
        change.setReplaceString(replacement)
        change.SearchCaseSensitive = match_case
        change.SearchWords = whole_cell
        change.SearchRegularExpression = regex
        count = place.replaceAll(change)
        if not count:
            raise Refused("the sheet %r does not contain %r" % (place.getName(), find[:80]))
        return "replaced in %d cells" % count


def sort_range(
    range: str,
    column: str,
    ascending: bool = True,
    header: bool = True,
    sheet: str | None = None,
    document: str | None = None,
) -> str:
    """Sort the rows of a range by one of its columns, a letter or the text in the range's first row."""
    with changing(CALC, document) as model:
        place = area(model, range, sheet)
        check_unprotected(place)
        first = [str(value) for value in place.cells.getDataArray()[0]] if header else []
        at = first.index(column) if column in first else column_named(place.sheet, column) - place.left
        if not 0 <= at < place.width:
            raise Refused("the column %r is not in %s" % (column, place))
        key = struct("table.TableSortField", Field=at, IsAscending=ascending)
        wanted = {
            "SortFields": typed("[]com.sun.star.table.TableSortField", (key,)),
            "ContainsHeader": header,
            "IsSortColumns": False,
        }
        place.cells.sort(tuple(struct("beans.PropertyValue", Name=k, Value=v) for k, v in wanted.items()))
        return "sorted %s by column %s" % (place, letters(place.left + at))


def sort_column(
    column: str,
    ascending: bool = True,
    start_row: int = 2,
    sheet: str | None = None,
    document: str | None = None,
) -> str:
    """Sort the cells of one column alone, from a row to its last used one. Other columns stay as they are."""
    with changing(CALC, document) as model:
        name = letters(column_named(sheet_of(model, sheet), column))
        last = used(sheet_of(model, sheet)).bottom + 1
        if not 1 <= start_row <= last:
            raise Refused("the sheet has %d used rows, and rows are counted from 1" % last)
    return sort_range("%s%d:%s%d" % (name, start_row, name, last), name, ascending, False, sheet, document)


def transpose_range(source: str, target: str, sheet: str | None = None, document: str | None = None) -> str:
    """Write the values of a range with rows and columns exchanged, from the target's cell on."""
    with changing(CALC, document) as model:
        place, goal = area(model, source, sheet), _goal(model, target, sheet)
        rows = [list(row) for row in zip(*values_of(place))]  # noqa: B905 - Python 3.9
        last = "%s%d" % (letters(goal.left + place.height - 1), goal.top + place.width)
        written = area(model, "%s:%s" % (goal, last), goal.sheet.getName())
        write(model, written, [[None if value == "" else value for value in row] for row in rows])
        return "wrote %s" % written


def reorder_columns(columns: list[str], sheet: str | None = None, document: str | None = None) -> str:
    """Put the used columns of a sheet into another order: all of them, by letter or by the text in the first row."""
    with changing(CALC, document) as model:
        place = sheet_of(model, sheet)
        block = used(place)
        check_unprotected(block)
        order = [column_named(place, name) for name in columns]
        if sorted(order) != list(_span(0, block.right)):
            raise Refused("name each of the columns A to %s once" % letters(block.right))
        widths = [place.getColumns().getByIndex(at).Width for at in order]
        # By a free place beside them, so that none covers another. Moving keeps what refers to them.
        for at in _span(0, block.right):
            moved = Area(place, at, 0, at, block.bottom)
            place.moveRange(corner(Area(place, at + block.width, 0, at + block.width, 0)), address(moved))
        for at, source in enumerate(order):
            moved = Area(place, source + block.width, 0, source + block.width, block.bottom)
            place.moveRange(corner(Area(place, at, 0, at, 0)), address(moved))
            place.getColumns().getByIndex(at).Width = widths[at]
        return "the columns are %s" % ", ".join(str(one) for one in used(place).cells.getDataArray()[0])[:500]


# Rows and columns.


def insert_rows(row: int, count: int = 1, sheet: str | None = None, document: str | None = None) -> str:
    """Insert empty rows before a row, counted from 1."""
    with changing(CALC, document) as model:
        place = _rows(model, row, count, sheet)
        place.sheet.getRows().insertByIndex(row - 1, count)
        return "inserted %d rows before row %d" % (count, row)


def delete_rows(row: int, count: int = 1, sheet: str | None = None, document: str | None = None) -> str:
    """Delete rows from a row on, counted from 1."""
    with changing(CALC, document) as model:
        place = _rows(model, row, count, sheet)
        place.sheet.getRows().removeByIndex(row - 1, count)
        return "deleted %d rows from row %d on" % (count, row)


def insert_columns(column: str, count: int = 1, sheet: str | None = None, document: str | None = None) -> str:
    """Insert empty columns before a column (letter)."""
    with changing(CALC, document) as model:
        place = _columns(model, column, count, sheet)
        place.sheet.getColumns().insertByIndex(place.left, count)
        return "inserted %d columns before column %s" % (count, letters(place.left))


def delete_columns(column: str, count: int = 1, sheet: str | None = None, document: str | None = None) -> str:
    """Delete columns from a column (letter) on."""
    with changing(CALC, document) as model:
        place = _columns(model, column, count, sheet)
        place.sheet.getColumns().removeByIndex(place.left, count)
        return "deleted %d columns from column %s on" % (count, letters(place.left))


def adjust_column_width(
    columns: str, width_mm: float | None = None, sheet: str | None = None, document: str | None = None
) -> str:
    """Set the width of columns ("B" or "A:D") in millimetres, or fit them to their contents."""
    with changing(CALC, document) as model:
        place = columns_of(model, columns, sheet)
        found = place.cells.getColumns()
        if width_mm is None:
            found.OptimalWidth = True
        else:
            found.Width = looks.hundredths(width_mm, "a width", 1, 1000)
        return "column %s is %.1f mm wide" % (letters(place.left), found.getByIndex(0).Width / 100)


def adjust_row_height(
    rows: str, height_mm: float | None = None, sheet: str | None = None, document: str | None = None
) -> str:
    """Set the height of rows ("3" or "2:5") in millimetres, or fit them to their contents."""
    with changing(CALC, document) as model:
        place = area(model, "%s:%s" % (rows, rows) if rows.strip().isdigit() else rows, sheet)
        found = place.cells.getRows()
        if height_mm is None:
            found.OptimalHeight = True
        else:
            found.Height = looks.hundredths(height_mm, "a height", 1, 1000)
        return "row %d is %.1f mm high" % (place.top + 1, found.getByIndex(0).Height / 100)


def set_rows_visible(rows: str, visible: bool, sheet: str | None = None, document: str | None = None) -> str:
    """Hide or show rows ("3" or "2:5")."""
    with changing(CALC, document) as model:
        place = area(model, "%s:%s" % (rows, rows) if rows.strip().isdigit() else rows, sheet)
        place.cells.getRows().IsVisible = visible
        return "rows %d to %d are %s" % (place.top + 1, place.bottom + 1, "shown" if visible else "hidden")


def set_columns_visible(
    columns: str, visible: bool, sheet: str | None = None, document: str | None = None
) -> str:
    """Hide or show columns ("B" or "A:D")."""
    with changing(CALC, document) as model:
        place = columns_of(model, columns, sheet)
        place.cells.getColumns().IsVisible = visible
        names = (letters(place.left), letters(place.right), "shown" if visible else "hidden")
        return "columns %s to %s are %s" % names


def hide_row_data(
    value: str, column: str | None = None, sheet: str | None = None, document: str | None = None
) -> str:
    """Hide the rows that have a cell with this text, in any column or in one."""
    with changing(CALC, document) as model:
        place = sheet_of(model, sheet)
        block = used(place)
        at = None if column is None else column_named(place, column)
        rows = values_of(block)
        hidden = [
            y
            for y, row in enumerate(rows)
            if any(_shows(place, x, y, one, value) for x, one in enumerate(row) if at in (None, x))
        ]
        if not hidden:
            raise Refused("no cell shows %r" % value[:80])
        for y in hidden:
            place.getRows().getByIndex(y).IsVisible = False
        return "hid %d rows: %s" % (len(hidden), ", ".join(str(y + 1) for y in hidden)[:300])


def freeze_panes(
    rows: int = 1, columns: int = 0, sheet: str | None = None, document: str | None = None
) -> str:
    """Keep the first rows and columns in sight while the sheet is scrolled. 0 and 0 end it."""
    if not (0 <= rows <= 1000 and 0 <= columns <= 100):
        raise Refused("from 0 to 1000 rows and from 0 to 100 columns can be kept")
    with changing(CALC, document) as model:
        view = model.getCurrentController()
        before, wanted = view.getActiveSheet(), sheet_of(model, sheet)
        view.setActiveSheet(wanted)
        view.freezeAtPosition(columns, rows)
        view.setActiveSheet(before)
        return "%d rows and %d columns of %s stay in sight" % (rows, columns, wanted.getName())


# Formats.


def format_range(
    range: str,
    bold: bool | None = None,
    italic: bool | None = None,
    underline: bool | None = None,
    strikethrough: bool | None = None,
    font: str | None = None,
    size: float | None = None,
    color: str | None = None,
    background: str | None = None,
    align: Literal["left", "center", "right", "justify", "standard"] | None = None,
    wrap: bool | None = None,
    border: bool | None = None,
    sheet: str | None = None,
    document: str | None = None,
) -> str:
    """Format cells; what is not given stays. Colors are names or "#rrggbb", size is in points."""
    values = looks.characters(bold, italic, underline, strikethrough, font, size, color)
    if background is not None:
        values["CellBackColor"] = looks.color_of(background)
    if align is not None:
        values["HoriJustify"] = enum("table.CellHoriJustify", looks.HORIZONTAL[align])
    if wrap is not None:
        values["IsTextWrapped"] = wrap
    if border is not None:
        line = border_line() if border else struct("table.BorderLine2")
        values.update({side + "Border": line for side in ("Top", "Bottom", "Left", "Right")})
    if not values:
        raise Refused("say what to change: bold, color, align and so on")
    with changing(CALC, document) as model:
        place = area(model, range, sheet)
        check_unprotected(place)
        looks.put(place.cells, values)
        return "formatted %s" % place


def highlight_range(
    range: str, color: str = "yellow", sheet: str | None = None, document: str | None = None
) -> str:
    """Give cells a background color, a name or "#rrggbb"; "none" takes it away."""
    return format_range(range, background=color, sheet=sheet, document=document)


def set_number_format(range: str, format: str, sheet: str | None = None, document: str | None = None) -> str:
    """Set how numbers are shown: general, number, integer, currency, percent, date, time, text, or a code ("0.000")."""
    code = FORMATS.get(format.strip().lower(), format)
    with changing(CALC, document) as model:
        place = area(model, range, sheet)
        check_unprotected(place)
        formats, english = model.getNumberFormats(), struct("lang.Locale")
        key = formats.queryKey(code, english, False)
        if key == -1:
            try:
                key = formats.addNew(code, english)
            except Exception as error:
                if "MalformedNumberFormat" not in type(error).__name__:
                    raise
                said = ", ".join(FORMATS)
                raise Refused("%r is no number format: use %s or a code" % (format[:80], said)) from None
        place.cells.NumberFormat = key
        return "%s has the format %s" % (place, code)


def merge_cells(
    range: str, center: bool = False, sheet: str | None = None, document: str | None = None
) -> str:
    """Merge the cells of a range into one."""
    with changing(CALC, document) as model:
        place = area(model, range, sheet, whole=False)
        check_unprotected(place)
        place.cells.merge(True)
        if center:
            place.cells.HoriJustify = enum("table.CellHoriJustify", "CENTER")
        return "merged %s" % place


def unmerge_cells(range: str, sheet: str | None = None, document: str | None = None) -> str:
    """Split merged cells again."""
    with changing(CALC, document) as model:
        place = area(model, range, sheet, whole=False)
        check_unprotected(place)
        place.cells.merge(False)
        return "split %s" % place


def set_validation_list(
    range: str, values: list[str], sheet: str | None = None, document: str | None = None
) -> str:
    """Let cells take only these texts, offered as a list."""
    if not values or any('"' in one or not one for one in values):
        raise Refused("a list has one value at least, and none is empty or holds a quotation mark")
    with changing(CALC, document) as model:
        place = area(model, range, sheet)
        check_unprotected(place)
        rule = place.cells.Validation
        rule.Type = enum("sheet.ValidationType", "LIST")
        rule.ShowList = 1
        rule.setFormula1(";".join('"%s"' % one for one in values))
        place.cells.Validation = rule
        return "%s takes %s" % (place, ", ".join(values)[:300])


def add_conditional_format(
    range: str,
    condition: Literal["=", "!=", ">", ">=", "<", "<="],
    value: object,
    background: str | None = "yellow",
    color: str | None = None,
    bold: bool | None = None,
    sheet: str | None = None,
    document: str | None = None,
) -> str:
    """Format those cells of a range that fulfil a condition, such as > 100. It holds for later values, too."""
    if not isinstance(value, (int, float, str)) or isinstance(value, bool):
        raise Refused("a condition compares with a number or a text")
    shown = looks.characters(bold=bold, color=color)
    if background is not None:
        shown["CellBackColor"] = looks.color_of(background)
    with changing(CALC, document) as model:
        place = area(model, range, sheet)
        check_unprotected(place)
        styles = model.getStyleFamilies().getByName("CellStyles")
        name = charts.free_name("Condition", styles.getElementNames())
        styles.insertByName(name, model.createInstance("com.sun.star.style.CellStyle"))
        looks.put(styles.getByName(name), shown)
        quoted = '"%s"' % value.replace('"', '""') if isinstance(value, str) else repr(value)
        wanted = {
            "Operator": enum("sheet.ConditionOperator", CONDITIONS[condition]),
            "Formula1": quoted,
            "StyleName": name,
        }
        rules = place.cells.ConditionalFormat
        rules.addNew(tuple(struct("beans.PropertyValue", Name=k, Value=v) for k, v in wanted.items()))
        place.cells.ConditionalFormat = rules
        return "cells of %s that are %s %s are formatted" % (place, condition, quoted)


def set_auto_filter(
    range: str, on: bool = True, sheet: str | None = None, document: str | None = None
) -> str:
    """Show or remove the buttons that filter rows, in the first row of a range."""
    with changing(CALC, document) as model:
        place = area(model, range, sheet)
        ranges = model.DatabaseRanges
        wanted = address(place)
        for name in ranges.getElementNames():
            one = ranges.getByName(name)
            found = one.getDataArea()
            if (found.Sheet, found.StartRow, found.StartColumn) == (
                wanted.Sheet,
                wanted.StartRow,
                wanted.StartColumn,
            ):
                one.AutoFilter = on
                return "the filter of %s is %s" % (place, "on" if on else "off")
        if on:
            name = charts.free_name("Filter", ranges.getElementNames())
            ranges.addNewByName(name, wanted)
            ranges.getByName(name).AutoFilter = True
        return "the filter of %s is %s" % (place, "on" if on else "off")


# Charts and pivot tables.


def create_chart(
    range: str,
    kind: Literal["column", "bar", "line", "area", "pie", "donut", "scatter"] = "column",
    title: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    position: str | None = None,
    headers: bool = True,
    labels: bool = True,
    width_mm: float = 120,
    height_mm: float = 80,
    sheet: str | None = None,
    document: str | None = None,
) -> str:
    """Draw a chart of a range. The first row names the series (headers), the first column the points (labels).

    position is the cell of its top left corner; by default the chart lies right of the data.
    """
    size = looks.hundredths(width_mm, "a width", 10, 1000), looks.hundredths(height_mm, "a height", 10, 1000)
    with changing(CALC, document) as model:
        source = area(model, range, sheet)
        check_unprotected(source)
        if position is None:
            place = source.sheet.getCellByPosition(source.right + 2, source.top).Position
        else:
            place = one_cell(model, position, source.sheet.getName()).cell(0, 0).Position
        name, chart = charts.add_chart(source, kind, place, size, headers, labels)
        if title is not None:
            chart.HasMainTitle = True
            chart.getTitle().String = title
        if kind not in ("pie", "donut"):
            for text, axis in ((x_title, "X"), (y_title, "Y")):
                if text is not None:
                    setattr(chart.getDiagram(), "Has%sAxisTitle" % axis, True)
                    getattr(chart.getDiagram(), "get%sAxisTitle" % axis)().String = text
        return "drew %s of %s" % (name, source)


def list_charts(sheet: str | None = None, document: str | None = None) -> list[dict[str, object]]:
    """List the charts of a sheet: name, title, data range."""
    with reading(CALC, document) as model:
        found = []
        place = sheet_of(model, sheet)
        for name in place.getCharts().getElementNames():
            one = place.getCharts().getByName(name)
            chart = one.getEmbeddedObject()
            ranges = [
                str(Area(place, each.StartColumn, each.StartRow, each.EndColumn, each.EndRow))
                for each in one.getRanges()
            ]
            title = chart.getTitle().String if chart.HasMainTitle else None
            found.append({"name": name, "title": title, "ranges": ranges, "legend": bool(chart.HasLegend)})
        return found


def set_chart_title(
    title: str, chart: str | None = None, sheet: str | None = None, document: str | None = None
) -> str:
    """Set the title of a chart; an empty one takes it away. By default it is the sheet's newest chart."""
    with changing(CALC, document) as model:
        found = charts.chart_named(sheet_of(model, sheet), chart)
        found.HasMainTitle = bool(title)
        if title:
            found.getTitle().String = title
        return "the title is %r" % title


def set_chart_legend_position(
    position: Literal["top", "bottom", "left", "right", "none"],
    chart: str | None = None,
    sheet: str | None = None,
    document: str | None = None,
) -> str:
    """Place the legend of a chart, or hide it. By default it is the sheet's newest chart."""
    with changing(CALC, document) as model:
        found = charts.chart_named(sheet_of(model, sheet), chart)
        found.HasLegend = position != "none"
        if position != "none":
            found.getLegend().Alignment = enum("chart.ChartLegendPosition", LEGENDS[position])
        return "the legend is %s" % ("hidden" if position == "none" else "at the " + position)


def delete_chart(chart: str, sheet: str | None = None, document: str | None = None) -> str:
    """Delete a chart by its name."""
    with changing(CALC, document) as model:
        place = sheet_of(model, sheet)
        charts.chart_named(place, chart)
        place.getCharts().removeByName(chart)
        return "deleted %s" % chart


def create_pivot_table(
    source: str,
    target: str,
    rows: list[str],
    values: list[str],
    columns: list[str] | None = None,
    function: Literal["sum", "count", "average", "max", "min", "product"] = "sum",
    sheet: str | None = None,
    document: str | None = None,
) -> str:
    """Make a pivot table of a range whose first row names the fields. The target is a cell, maybe Other!A1."""
    with changing(CALC, document) as model:
        place, goal = area(model, source, sheet), _goal(model, target, sheet)
        check_unprotected(goal)
        name = charts.add_pivot(place, goal, rows, columns or [], values, function)
        return "made %s at %s of %s" % (name, goal, goal.sheet.getName())


# Sheets and view.


def switch_active_sheet(sheet: str, document: str | None = None) -> str:
    """Show another sheet."""
    with reading(CALC, document) as model:
        model.getCurrentController().setActiveSheet(sheet_of(model, sheet))
        return "%s is shown" % sheet


def add_sheet(name: str, position: int | None = None, document: str | None = None) -> str:
    """Add an empty sheet, at a position counted from 1, or behind the others."""
    with changing(CALC, document) as model:
        sheets = model.getSheets()
        _check_new_name(sheets, name)
        sheets.insertNewByName(name, _position(sheets, position, sheets.getCount() + 1))
        return "the sheets are %s" % ", ".join(sheets.getElementNames())[:500]


def rename_sheet(sheet: str, name: str, document: str | None = None) -> str:
    """Give a sheet another name."""
    with changing(CALC, document) as model:
        found = sheet_of(model, sheet)
        if name != sheet:
            _check_new_name(model.getSheets(), name)
            found.setName(name)
        return "the sheets are %s" % ", ".join(model.getSheets().getElementNames())[:500]


def copy_sheet(sheet: str, name: str, position: int | None = None, document: str | None = None) -> str:
    """Copy a sheet within its document, to a position counted from 1, or behind the others."""
    with changing(CALC, document) as model:
        sheets = model.getSheets()
        sheet_of(model, sheet)
        _check_new_name(sheets, name)
        sheets.copyByName(sheet, name, _position(sheets, position, sheets.getCount() + 1))
        return "the sheets are %s" % ", ".join(sheets.getElementNames())[:500]


def delete_sheet(sheet: str, document: str | None = None) -> str:
    """Delete a sheet with all that is on it."""
    with changing(CALC, document) as model:
        sheets = model.getSheets()
        sheet_of(model, sheet)
        if sheets.getCount() == 1:
            raise Refused("the only sheet can't be deleted")
        sheets.removeByName(sheet)
        return "the sheets are %s" % ", ".join(sheets.getElementNames())[:500]


def reorder_sheets(sheet: str, position: int, document: str | None = None) -> str:
    """Move a sheet to a position, counted from 1."""
    with changing(CALC, document) as model:
        sheets = model.getSheets()
        sheet_of(model, sheet)
        goal = _position(sheets, position, sheets.getCount())
        # It is moved before the sheet that is there now.
        before = list(sheets.getElementNames()).index(sheet)
        sheets.moveByName(sheet, goal + 1 if goal > before else goal)
        return "the sheets are %s" % ", ".join(sheets.getElementNames())[:500]


def set_sheet_visible(sheet: str, visible: bool, document: str | None = None) -> str:
    """Hide or show a sheet."""
    with changing(CALC, document) as model:
        found = sheet_of(model, sheet)
        names = model.getSheets().getElementNames()
        if not visible and not any(
            model.getSheets().getByName(one).IsVisible for one in names if one != sheet
        ):
            raise Refused("the only sheet that is shown can't be hidden")
        found.IsVisible = visible
        return "%s is %s" % (sheet, "shown" if visible else "hidden")


def select_range(range: str, sheet: str | None = None, document: str | None = None) -> str:
    """Select cells and bring them into sight."""
    with reading(CALC, document) as model:
        place = area(model, range, sheet)
        view = model.getCurrentController()
        view.setActiveSheet(place.sheet)
        view.select(place.cells)
        return "selected %s" % place


def set_zoom_level(percent: int, document: str | None = None) -> str:
    """Set how large the sheet is shown, in percent."""
    if not 20 <= percent <= 400:
        raise Refused("a zoom is from 20 to 400 percent, not %d" % percent)
    with reading(CALC, document) as model:
        view = model.getCurrentController()
        view.ZoomType = BY_VALUE
        view.ZoomValue = percent
        return "the zoom is %d %%" % view.ZoomValue


# Inside.


def _span(first: int, last: int) -> Iterator[int]:
    """Numbers with both ends; `range` is a parameter of most functions here."""
    while first <= last:
        yield first
        first += 1


def _goal(model: Any, target: str, sheet: str | None) -> Any:
    """A cell that may be on another sheet than the source."""
    return one_cell(model, target, None if "!" in target or "." in target else sheet)


def _errors(said: list[str]) -> str:
    return "; %d cells with errors, such as %s" % (len(said), said[0]) if said else ""


def _shows(sheet: Any, x: int, y: int, found: object, value: str) -> bool:
    """Whether a cell shows a text; errors such as #N/A have no value."""
    if found is None:
        return sheet.getCellByPosition(x, y).getString() in (value, "#" + value)
    return str(found) == value


def _selection(model: Any) -> str | None:
    chosen = model.getCurrentSelection()
    if chosen is None or not hasattr(chosen, "getRangeAddress"):
        return None
    one = chosen.getRangeAddress()
    return str(Area(None, one.StartColumn, one.StartRow, one.EndColumn, one.EndRow))


def _rows(model: Any, row: int, count: int, sheet: str | None) -> Any:
    if row < 1 or not 1 <= count <= 10_000:
        raise Refused("rows are counted from 1, and from 1 to 10000 are changed at once")
    place = area(model, "%d:%d" % (row, row + count - 1), sheet)
    check_unprotected(place)
    return place


def _columns(model: Any, column: str, count: int, sheet: str | None) -> Any:
    if not 1 <= count <= 1000:
        raise Refused("from 1 to 1000 columns are changed at once")
    place = columns_of(model, column, sheet)
    check_unprotected(place)
    return place


def _check_new_name(sheets: Any, name: str) -> None:
    if not name.strip() or len(name) > 31 or any(one in name for one in "[]*?:/\\"):
        raise Refused("a sheet's name has from 1 to 31 characters, none of []*?:/\\")
    if sheets.hasByName(name):
        raise Refused("there is a sheet %r already" % name)


def _position(sheets: Any, position: int | None, last: int) -> int:
    if position is None:
        return last - 1
    if not 1 <= position <= last:
        raise Refused("a position is from 1 to %d, not %d" % (last, position))
    return position - 1
