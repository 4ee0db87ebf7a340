"""Spreadsheets: ``compare_table`` and its rules, each about cells, charts, pivot tables or properties of sheets."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.metrics import sheet_parts
from operant.tasks.osworld.metrics.rules import matches_rule
from operant.tasks.osworld.metrics.text import read_lines

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

__all__ = ["METRICS", "unknown_rules"]

MAX_UNPACKED = 1 << 30
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Book:
    """A workbook: its formulas, the values that were saved with them, and where it lies."""

    path: Path
    cells: Workbook
    values: Workbook

    @classmethod
    def read(cls, path: Path) -> Book:
        import openpyxl

        with zipfile.ZipFile(path) as package:
            if sum(part.file_size for part in package.infolist()) > MAX_UNPACKED:
                raise Refuted(f"{path.name} is too large")
        return cls(path, openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True))

    @property
    def names(self) -> list[str]:
        return list(self.cells.sheetnames)


@dataclass(frozen=True)
class Tables:
    """What the rules compare: the result, and the gold file if there is one."""

    result: Book
    expected: Book | None

    def pick(self, index: int | str) -> tuple[Book, str]:
        """``0``, ``RI0`` and ``RNName`` are sheets of the result by number and name, ``EI0`` and ``ENName`` of the gold file."""
        text = f"RI{index}" if isinstance(index, int) else str(index)
        kind, by, rest = text[:1], text[1:2], text[2:]
        book = {"R": self.result, "E": self.expected}.get(kind)
        if book is None or by not in ("I", "N"):
            raise TaskError(f"{index!r} is not a sheet")
        name = rest if by == "N" else book.names[int(rest)] if int(rest) < len(book.names) else ""
        if name not in book.names:
            if book is self.expected:
                raise TaskError(f"the gold file has no sheet {index!r}")
            raise Refuted(f"there is no sheet {rest!r}")
        return book, name

    def sheet(self, index: int | str) -> Worksheet:
        book, name = self.pick(index)
        return book.cells[name]

    def values(self, index: int | str) -> Worksheet:
        book, name = self.pick(index)
        return book.values[name]


Check = Callable[[Tables, Options], bool]


def compare_table(result: Path, expected: Path | None, options: Options) -> float:
    """Every rule holds."""
    tables = Tables(Book.read(result), None if expected is None else Book.read(expected))
    for rule in options["rules"]:
        if not RULES[rule["type"]](tables, rule):
            raise Refuted(
                f"{rule['type']} of {rule.get('sheet_idx0', rule.get('sheet_idx', 'the book'))} differs"
            )
    return 1.0


def unknown_rules(options: Options) -> list[str]:
    """Types of rules that are not known."""
    return [str(rule.get("type")) for rule in options.get("rules") or [] if rule.get("type") not in RULES]


# Cells.


def _sheet_data(tables: Tables, rule: Options) -> bool:
    """The same values in the same places; numbers are compared to some decimals."""
    digits = int(rule.get("precision", 4))
    found, wanted = (
        _grid(tables.values(rule[key]), digits, bool(rule.get("ignore_case")))
        for key in ("sheet_idx0", "sheet_idx1")
    )
    for place in sorted(found.keys() | wanted.keys()):
        if found.get(place) != wanted.get(place):
            row, column = place
            raise Refuted(
                f"row {row}, column {column} is {found.get(place)!r:.60} instead of {wanted.get(place)!r:.60}"
            )
    return True


def _grid(sheet: Worksheet, digits: int, ignore_case: bool) -> dict[tuple[int, int], Any]:
    found = {}
    for row in sheet.iter_rows():
        for cell in row:
            value = cell.value
            if value is None or value == "":
                continue
            if isinstance(value, float):
                value = round(value, digits)
            elif isinstance(value, str) and ignore_case:
                value = value.lower()
            found[cell.row, cell.column] = value
    return found


def _sheet_print(tables: Tables, rule: Options) -> bool:
    """The same lines in the CSV files that post-config writes beside the books, as ``BOOK-SHEET.csv``."""
    found, wanted = (_printed(*tables.pick(rule[key])) for key in ("sheet_idx0", "sheet_idx1"))
    if rule.get("ignore_case"):
        found, wanted = [line.lower() for line in found], [line.lower() for line in wanted]
    return found == wanted


def _printed(book: Book, name: str) -> list[str]:
    path = book.path.with_name(f"{book.path.stem}-{name}.csv")
    if not path.is_file():
        raise Refuted(f"there is no {path.name}")
    lines = [line.strip() for line in read_lines(path)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _sheet_fuzzy(tables: Tables, rule: Options) -> bool:
    from openpyxl.worksheet.cell_range import MultiCellRange

    sheets = [tables.values(rule[key]) for key in ("sheet_idx0", "sheet_idx1")]
    for one in rule["rules"]:
        for area in MultiCellRange(" ".join(one["range"])):
            for row, column in area.cells:
                found, wanted = (_normal(sheet.cell(row, column).value, one) for sheet in sheets)
                if not _alike(found, wanted, one):
                    raise Refuted(f"row {row}, column {column} is {found!r:.60} instead of {wanted!r:.60}")
    return True


def _normal(value: Any, rule: Options) -> str:
    text = (
        str(float(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
    )
    for old, new in rule.get("normalization") or []:
        text = text.replace(old, new)
    if "trim_leadings" in rule:
        text = text.lstrip(rule["trim_leadings"])
    if "trim_trailings" in rule:
        text = text.rstrip(rule["trim_trailings"])
    text = "".join(letter for letter in text if letter not in rule.get("ignore_chars", ""))
    return text.lower() if rule.get("ignore_case") else text


def _alike(found: str, wanted: str, rule: Options) -> bool:
    if rule["type"] == "exact_match":
        return found == wanted
    if rule["type"] == "includes":
        return wanted in found
    if rule["type"] == "included_by":
        return found in wanted
    if rule["type"] == "fuzzy_match":
        from rapidfuzz import fuzz

        return fuzz.ratio(found, wanted) >= float(rule.get("threshold", 85.0))
    raise TaskError(f"{rule['type']!r} is not a way to compare cells")


def _check_cell(tables: Tables, rule: Options) -> bool:
    cell = tables.sheet(rule["sheet_idx"])[rule["coordinate"]]
    for name, wanted in rule["props"].items():
        if name == "value":
            value = tables.values(rule["sheet_idx"])[rule["coordinate"]].value
            value = float(value) if isinstance(value, int) and not isinstance(value, bool) else value
        else:
            value = sheet_parts.style(name, cell)
        if not matches_rule(value, wanted):
            raise Refuted(f"{name} of {rule['coordinate']} is {value!r:.80}")
    return True


def _style(tables: Tables, rule: Options) -> bool:
    """The same looks of the same cells, conditional formats included."""
    found, wanted = (
        sheet_parts.styles(tables.sheet(rule[key]), tables.values(rule[key]), rule["props"])
        for key in ("sheet_idx0", "sheet_idx1")
    )
    return found == wanted


# Sheets.


def _sheet_name(tables: Tables, rule: Options) -> bool:
    return tables.expected is not None and tables.result.names == tables.expected.names


def _compared(read: Callable[[Worksheet, Options], Any]) -> Check:
    def check(tables: Tables, rule: Options) -> bool:
        found, wanted = (read(tables.sheet(rule[key]), rule) for key in ("sheet_idx0", "sheet_idx1"))
        return bool(found == wanted)

    return check


def _zoom(tables: Tables, rule: Options) -> bool:
    return matches_rule(float(tables.sheet(rule["sheet_idx"]).sheet_view.zoomScale or 100), rule)


def _data_validation(tables: Tables, rule: Options) -> bool:
    """Each validation is one of those that are described, and there are enough of them."""
    found = tables.sheet(rule["sheet_idx"]).data_validations.dataValidation
    return len(found) >= len(rule["dv_props"]) and all(
        any(_has(one, wanted) for wanted in rule["dv_props"]) for one in found
    )


def _has(one: Any, wanted: Options) -> bool:
    names = sheet_parts.VALIDATION
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise TaskError(f"{unknown[0]!r} is no property of a validation")
    return all(matches_rule(getattr(one, name), rule) for name, rule in wanted.items())


RULES: dict[str, Check] = {
    "sheet_name": _sheet_name,
    "sheet_data": _sheet_data,
    "sheet_print": _sheet_print,
    "sheet_fuzzy": _sheet_fuzzy,
    "check_cell": _check_cell,
    "style": _style,
    "chart": _compared(sheet_parts.charts),
    "pivot_table": _compared(sheet_parts.pivot_tables),
    "freeze": _compared(sheet_parts.frozen),
    "row_props": _compared(sheet_parts.row_properties),
    "col_props": _compared(sheet_parts.column_properties),
    "filter": _compared(sheet_parts.filters),
    "zoom": _zoom,
    "data_validation": _data_validation,
}

METRICS: dict[str, Callable[[Any, Any, Options], float]] = {"compare_table": compare_table}
