"""Spreadsheets as data: sheets, their cells, and how these look. Files are xlsx, through openpyxl."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import StrictBool, StrictFloat, StrictInt, StrictStr

from operant.config.base import Config
from operant.errors import TaskError
from operant.tasks.criteria.packages import Package
from operant.tasks.criteria.question import NoEvidence, Refuted

if TYPE_CHECKING:
    import openpyxl
    from openpyxl.cell.cell import Cell as FileCell
    from openpyxl.worksheet.worksheet import Worksheet

__all__ = ["Cell", "Sheet", "Value", "Workbook", "cells_used"]

Value = StrictBool | StrictInt | StrictFloat | StrictStr | None
MAX_CELLS = 100_000  # of a sheet that is looked at
RANGE = re.compile(r"\$?([A-Z]{1,3})\$?([1-9][0-9]{0,6})(?::\$?([A-Z]{1,3})\$?([1-9][0-9]{0,6}))?")


class Cell(Config):
    """One cell: what it holds and how it looks."""

    value: Value = None
    """What it shows: a text, a number, or the result of its formula."""
    formula: str = ""
    """Its formula, such as ``=SUM(B2:B5)``. A wanted one may be written in another way with the same cells."""
    bold: bool = False
    italic: bool = False
    fill: str = ""
    """Colour of its background as rrggbb; empty if it has none."""
    number_format: str = "General"
    align: Literal["", "left", "center", "right"] = ""

    @property
    def is_plain_and_empty(self) -> bool:
        return self == Cell()


class Sheet(Config):
    """One sheet."""

    name: str
    cells: dict[str, Cell]
    """What is not empty, by names such as ``B3``."""
    merged: tuple[str, ...] = ()
    """Ranges of cells that are one."""
    frozen: str = ""
    """The first cell that scrolls, such as ``A2``; empty if all do."""
    hidden_rows: tuple[int, ...] = ()
    filtered: str = ""
    """The range whose first row has buttons that filter."""
    charts: int = 0

    @classmethod
    def of(cls, name: str, rows: Iterable[Sequence[Value | Cell]], **more: Any) -> Sheet:
        """A sheet of these rows, from A1 on."""
        cells = {
            f"{_letters(column)}{row}": one if isinstance(one, Cell) else Cell(value=one)
            for row, values in enumerate(rows, 1)
            for column, one in enumerate(values)
            if one is not None
        }
        return cls(name=name, cells=cells, **more)

    def with_cells(self, cells: Mapping[str, Cell | Value]) -> Sheet:
        """The same sheet with other cells; None empties one."""
        made = {name: one if isinstance(one, Cell) else Cell(value=one) for name, one in cells.items()}
        merged = {**self.cells, **made}
        return self.changed(
            cells={name: cell for name, cell in merged.items() if not cell.is_plain_and_empty}
        )

    def styled(self, names: Iterable[str], **style: Any) -> Sheet:
        """The same sheet with cells that look different."""
        return self.with_cells({name: self.cells[name].model_copy(update=style) for name in names})

    def changed(self, **fields: Any) -> Sheet:
        return self.model_copy(update=fields)


class Workbook(Config):
    """A file of sheets."""

    kind: Literal["xlsx"] = "xlsx"
    sheets: tuple[Sheet, ...]

    @classmethod
    def of(cls, *sheets: Sheet) -> Workbook:
        return cls(sheets=sheets)

    def with_sheet(self, sheet: Sheet, name: str | None = None) -> Workbook:
        """The same book with this sheet in place of the one of its name, or of another."""
        wanted = sheet.name if name is None else name
        return Workbook.of(*(sheet if one.name == wanted else one for one in self.sheets))

    def written(self) -> bytes:
        from openpyxl import Workbook as File

        file = File()
        file.remove(file.worksheets[0])
        for sheet in self.sheets:
            _write(sheet, file.create_sheet(sheet.name))
        buffer = io.BytesIO()
        file.save(buffer)
        return buffer.getvalue()

    @classmethod
    def read(cls, data: bytes, name: str) -> Workbook:
        """What a file says; ``Refuted`` if it is no such file."""
        Package(data, name).screen()
        formulas, results = _opened(data, name, results=False), _opened(data, name, results=True)
        return cls.of(
            *(_sheet(sheet, results[sheet.title], name) for sheet in formulas.worksheets),
        )

    def difference(self, wanted: Workbook) -> str | None:
        """What is not as it should be, in a sentence."""
        found_names, names = [s.name for s in self.sheets], [s.name for s in wanted.sheets]
        if found_names != names:
            return f"the sheets are {', '.join(found_names)}, expected {', '.join(names)}"
        return next(
            (
                f"sheet {ours.name}, {told}"
                for ours, theirs in zip(self.sheets, wanted.sheets, strict=True)
                for told in _differences(ours, theirs)
            ),
            None,
        )


# Files.


def _opened(data: bytes, name: str, *, results: bool) -> openpyxl.Workbook:
    from openpyxl import load_workbook

    try:
        return load_workbook(io.BytesIO(data), data_only=results)
    except Exception as error:  # a library that meets a broken file may raise anything
        raise Refuted(f"{name} is no spreadsheet: {type(error).__name__}: {str(error)[:100]}") from error


def _write(sheet: Sheet, file: Worksheet) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    if sheet.charts:
        raise TaskError("charts are read, not written", hint="begin with a sheet without charts")
    for name, cell in sheet.cells.items():
        place = file[name]
        place.value = cell.formula or cell.value
        place.font = Font(bold=cell.bold, italic=cell.italic)
        place.number_format = cell.number_format
        if cell.fill:
            place.fill = PatternFill("solid", fgColor=cell.fill)
        if cell.align:
            place.alignment = Alignment(horizontal=cell.align)
    for area in sheet.merged:
        file.merge_cells(area)
    for row in sheet.hidden_rows:
        file.row_dimensions[row].hidden = True
    file.freeze_panes = sheet.frozen or None
    file.auto_filter.ref = sheet.filtered or None


def _sheet(file: Worksheet, results: Worksheet, name: str) -> Sheet:
    if file.max_row * file.max_column > MAX_CELLS:
        raise NoEvidence(f"{name}: the sheet {file.title[:40]} is larger than what is looked at")
    cells = {
        place.coordinate: cell
        for row in file.iter_rows()
        for place in row
        if not (cell := _cell(place, results[place.coordinate].value)).is_plain_and_empty
    }
    return Sheet(
        name=file.title,
        cells=cells,
        merged=tuple(sorted(str(area) for area in file.merged_cells.ranges)),
        frozen=str(file.freeze_panes or ""),
        hidden_rows=tuple(sorted(row for row, how in file.row_dimensions.items() if how.hidden)),
        filtered=str(file.auto_filter.ref or ""),
        charts=len(file._charts),
    )


def _cell(place: FileCell, result: object) -> Cell:
    formula = place.value if place.data_type == "f" else ""
    fill = getattr(place.fill, "fill_type", None) == "solid" and place.fill.fgColor.rgb
    align = place.alignment.horizontal if place.alignment is not None else None
    value = result if isinstance(result, (bool, int, float, str, type(None))) else str(result)
    return Cell(
        value=value,
        formula=str(getattr(formula, "text", formula) or ""),
        bold=bool(place.font and place.font.b),
        italic=bool(place.font and place.font.i),
        fill=fill[-6:].lower() if isinstance(fill, str) else "",
        number_format=place.number_format,
        align=align if align in ("left", "center", "right") else "",
    )


# What differs.


def _differences(found: Sheet, wanted: Sheet) -> Iterator[str]:
    for name in sorted({*found.cells, *wanted.cells}, key=_row_first):
        told = _cell_difference(found.cells.get(name, Cell()), wanted.cells.get(name, Cell()))
        if told is not None:
            yield f"cell {name}: {told}"
    for field in ("merged", "frozen", "hidden_rows", "filtered", "charts"):
        ours, theirs = getattr(found, field), getattr(wanted, field)
        if ours != theirs:
            yield f"{field.replace('_', ' ')}: {ours!r}, expected {theirs!r}"


def _cell_difference(found: Cell, wanted: Cell) -> str | None:
    if not same_value(found.value, wanted.value):
        return f"{_short(found.value)}, expected {_short(wanted.value)}"
    if wanted.formula and not found.formula:
        return f"{_short(found.value)} is there without a formula"
    if found.formula and not wanted.formula:
        return f"the formula {found.formula[:60]}, expected {_short(wanted.value)}"
    unused = cells_used(wanted.formula) - cells_used(found.formula)
    if unused:
        return f"the formula {found.formula[:60]} does not use {', '.join(sorted(unused)[:3])}"
    for field in ("bold", "italic", "fill", "number_format", "align"):
        ours, theirs = getattr(found, field), getattr(wanted, field)
        if ours != theirs:
            return f"{field.replace('_', ' ')} {ours!r}, expected {theirs!r}"
    return None


def same_value(found: Value, wanted: Value) -> bool:
    """Numbers as numbers, a number as text never; blanks around a text do not matter."""
    numbers = (int, float)
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, numbers) and isinstance(wanted, numbers):
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(found, str) and isinstance(wanted, str):
        return found.strip() == wanted.strip()
    return found is None and wanted is None


def cells_used(formula: str) -> frozenset[str]:
    """The cells that a formula names, each of a range for itself, with their sheet where it is named."""
    from openpyxl.formula import Tokenizer

    used: set[str] = set()
    if not formula.startswith("="):
        return frozenset()
    for token in Tokenizer(formula).items:
        if token.type != "OPERAND" or token.subtype != "RANGE":
            continue
        sheet, mark, area = token.value.rpartition("!")
        match = RANGE.fullmatch(area.upper())
        if match is None:
            continue
        left, top, right, bottom = match[1], int(match[2]), match[3] or match[1], int(match[4] or match[2])
        columns = range(_number(left), _number(right) + 1)
        if len(columns) * (bottom - top + 1) <= MAX_CELLS:
            start = f"{sheet.strip('$').strip(chr(39))}!" if mark else ""
            used |= {f"{start}{_letters(c)}{r}" for c in columns for r in range(top, bottom + 1)}
    return frozenset(used)


# Names of cells.


def _letters(column: int) -> str:
    """A column, counted from 0, as A, B, ..."""
    name = ""
    while column >= 0:
        name = chr(ord("A") + column % 26) + name
        column = column // 26 - 1
    return name


def _number(letters: str) -> int:
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1


def _row_first(name: str) -> tuple[int, int]:
    letters = name.rstrip("0123456789")
    return int(name[len(letters) :]), _number(letters)


def _short(value: Value) -> str:
    return "nothing" if value is None else repr(value)[:60]
