"""What a sheet has beside values: looks of cells, charts, pivot tables, frozen panes, hidden rows, filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from operant.errors import TaskError

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

__all__ = [
    "VALIDATION",
    "charts",
    "column_properties",
    "filters",
    "frozen",
    "pivot_tables",
    "row_properties",
    "style",
    "styles",
]

Options = Mapping[str, Any]
VALIDATION = (
    "ranges", "type", "formula1", "formula2", "operator", "allowBlank", "showDropDown", "showInputMessage",
    "showErrorMessage", "error", "errorTitle", "errorStyle", "prompt", "promptTitle", "imeMode",
)  # fmt: skip
DIMENSION = ("hidden", "collapsed", "height", "width", "outlineLevel", "bestFit")
#: property of a rule -> where it is in the font of a cell
FONT = {"font_name": "name", "font_family": "family", "font_bold": "bold", "font_italic": "italic",
        "font_underline": "underline", "font_size": "size"}  # fmt: skip
FLAGS = ("font_bold", "font_italic")
ORDERS: dict[str, Callable[[Any, Sequence[Any]], bool]] = {
    "lessThan": lambda value, to: value < to[0],
    "lessThanOrEqual": lambda value, to: value <= to[0],
    "equal": lambda value, to: value == to[0],
    "notEqual": lambda value, to: value != to[0],
    "greaterThan": lambda value, to: value > to[0],
    "greaterThanOrEqual": lambda value, to: value >= to[0],
    "between": lambda value, to: min(to) <= value <= max(to),
    "notBetween": lambda value, to: not min(to) <= value <= max(to),
    "containsText": lambda value, to: str(to[0]) in str(value),
    "notContains": lambda value, to: str(to[0]) not in str(value),
    "beginsWith": lambda value, to: str(value).startswith(str(to[0])),
    "endsWith": lambda value, to: str(value).endswith(str(to[0])),
}


# Looks.


def style(name: str, cell: Any, conditional: Any = None) -> Any:
    """One property of how a cell looks, or of a conditional format that applies to it."""
    if name == "merge":
        return type(cell).__name__ == "MergedCell"
    if name in ("bgcolor", "fgcolor"):
        fill = (conditional or cell).fill
        return None if fill is None else _colour(fill.bgColor if conditional is not None else fill.fgColor)
    if name == "fill_type":
        fill = (conditional or cell).fill
        return None if fill is None else fill.tagname
    if name not in (*FONT, "font_color", "number_format", "hyperlink"):
        raise TaskError(f"{name!r} is no property of a cell")
    if cell.value is None:
        return None
    if name == "number_format":
        return cell.number_format if cell.data_type == "n" else None
    if name == "hyperlink":
        return cell.hyperlink.target if cell.hyperlink is not None else ""
    font = (conditional or cell).font or cell.font
    if name == "font_color":
        return _colour(font.color)
    value = getattr(font, FONT[name])
    return bool(value) if name in FLAGS else value


def _colour(colour: Any) -> Any:
    if colour is None:
        return None
    return colour.rgb if colour.type == "rgb" else (colour.type, getattr(colour, colour.type))


def styles(sheet: Worksheet, values: Worksheet, properties: Sequence[str]) -> dict[str, list[Any]]:
    """The properties of every cell that has some; conditional formats count where they apply."""
    applied = _conditional(sheet, values)
    found: dict[str, list[Any]] = {}
    for row in sheet.iter_rows():
        for cell in row:
            looks = [style(name, cell, applied.get(cell.coordinate)) for name in properties]
            if any(look not in (None, False, "", "00000000") for look in looks):
                found[cell.coordinate] = looks
    return found


def _conditional(sheet: Worksheet, values: Worksheet) -> dict[str, Any]:
    """The format that the last rule which applies gives each cell."""
    found: dict[str, Any] = {}
    for area in sheet.conditional_formatting:
        for rule in area.rules:
            if rule.dxf is None or rule.operator not in ORDERS:
                continue
            references = [_reference(text, values) for text in rule.formula]
            for cell in _cells(area.cells):
                value = values[cell].value
                if value is not None and _holds(ORDERS[rule.operator], value, references):
                    found[cell] = rule.dxf
    return found


def _cells(areas: Any) -> Iterator[str]:
    from openpyxl.utils import get_column_letter

    for area in areas.ranges:
        for row, column in area.cells:
            yield f"{get_column_letter(column)}{row}"


def _reference(text: str, values: Worksheet) -> Any:
    """What a condition compares with: a number, a text, or a cell."""
    plain = str(text).strip()
    if re.fullmatch(r'".*"', plain):
        return plain[1:-1]
    if re.fullmatch(r"\$?[A-Z]{1,3}\$?\d+", plain):
        return values[plain.replace("$", "")].value
    try:
        return float(plain)
    except ValueError:
        return plain


def _holds(order: Callable[[Any, Sequence[Any]], bool], value: Any, references: Sequence[Any]) -> bool:
    try:
        return order(value, references)
    except (TypeError, IndexError, ValueError):
        return False


# Charts and pivot tables. openpyxl reads both, but has no public name for the lists.


def charts(sheet: Worksheet, rule: Options) -> dict[str, dict[str, Any]]:
    """Each chart by the cells that its series show."""
    wanted = rule.get("chart_props") or []
    unknown = [name for name in wanted if name not in CHART]
    if unknown:
        raise TaskError(f"{unknown[0]!r} is no property of a chart")
    found = {}
    for chart in getattr(sheet, "_charts", []):
        series = ";".join(f"{_source(one.val)},{_source(one.cat)}" for one in chart.series)
        found[series] = {name: CHART[name](chart) for name in wanted}
    return found


def _source(data: Any) -> str:
    for name in ("numRef", "strRef"):
        reference = getattr(data, name, None)
        if reference is not None and getattr(reference, "f", None):
            return str(reference.f)
    return ""


def _title(title: Any) -> str | None:
    try:
        return "".join(run.t for part in title.tx.rich.p for run in part.r or [])
    except (AttributeError, TypeError):
        return None


CHART: dict[str, Callable[[Any], Any]] = {
    "type": lambda chart: chart.tagname,
    "title": lambda chart: _title(chart.title),
    "xtitle": lambda chart: _title(getattr(getattr(chart, "x_axis", None), "title", None)),
    "ytitle": lambda chart: _title(getattr(getattr(chart, "y_axis", None), "title", None)),
    "ztitle": lambda chart: _title(getattr(getattr(chart, "z_axis", None), "title", None)),
    "legend": lambda chart: None if chart.legend is None else chart.legend.position,
    "direction": lambda chart: getattr(chart, "barDir", None),
    "width": lambda chart: chart.width,
    "height": lambda chart: chart.height,
}


def pivot_tables(sheet: Worksheet, rule: Options) -> list[dict[str, Any]]:
    """Each pivot table by its source and by the names of the columns that it uses."""
    wanted = rule.get("pivot_props") or []
    found = []
    for table in getattr(sheet, "_pivots", []):
        columns = [field.name for field in table.cache.cacheFields]
        source = table.cache.cacheSource.worksheetSource
        told: dict[str, Any] = {"source": (source.sheet, source.ref)}
        if "row_fields" in wanted:
            told["rows"] = _columns(table.rowFields, columns)
        if "col_fields" in wanted:
            told["columns"] = _columns(table.colFields, columns)
        if "filter" in wanted:
            told["filters"] = sorted(columns[field.fld] for field in table.pageFields or [])
        if "data_fields" in wanted:
            told["data"] = [
                (columns[field.fld], field.subtotal, field.showDataAs) for field in table.dataFields or []
            ]
        if "name" in wanted:
            told["name"] = table.name
        found.append(told)
    return sorted(found, key=repr)


def _columns(fields: Any, names: Sequence[str]) -> list[str]:
    """-2 stands for the values themselves where several are shown."""
    return [names[field.x] for field in fields or [] if field.x is not None and field.x >= 0]


# The sheet.


def frozen(sheet: Worksheet, rule: Options) -> tuple[Any, ...]:
    """How many columns and rows stay in sight; where the rest is scrolled to does not count."""
    pane = sheet.sheet_view.pane
    if pane is None:
        return ()
    split = (int(pane.xSplit or 0), int(pane.ySplit or 0))
    return ("frozen", *split) if (pane.state or "").startswith("frozen") else ("split", *split)


def row_properties(sheet: Worksheet, rule: Options) -> dict[Any, list[Any]]:
    return _dimensions(sheet.row_dimensions, rule)


def column_properties(sheet: Worksheet, rule: Options) -> dict[Any, list[Any]]:
    return _dimensions(sheet.column_dimensions, rule)


def _dimensions(dimensions: Any, rule: Options) -> dict[Any, list[Any]]:
    unknown = [name for name in rule["props"] if name not in DIMENSION]
    if unknown:
        raise TaskError(f"{unknown[0]!r} is no property of a row or column")
    found = {key: [getattr(one, name, None) for name in rule["props"]] for key, one in dimensions.items()}
    return {key: values for key, values in found.items() if any(values)}


def filters(sheet: Worksheet, rule: Options) -> Any:
    if sheet.auto_filter.ref is None:
        return None
    shown = [
        (column.colId, sorted(column.filters.filter) if column.filters is not None else None)
        for column in sheet.auto_filter.filterColumn
    ]
    return sheet.auto_filter.ref, shown
