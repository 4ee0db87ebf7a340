"""Charts and pivot tables of a sheet."""

from __future__ import annotations

from typing import Any, List, Optional

from office.connection import enum, struct
from office.documents import no_such
from office.ranges import Area, address, corner
from refusal import Refused

#: The service that draws a type, and what is set on it.
TYPES = {
    "column": ("BarDiagram", {}),
    "bar": ("BarDiagram", {"Vertical": True}),
    "line": ("LineDiagram", {}),
    "area": ("AreaDiagram", {}),
    "pie": ("PieDiagram", {}),
    "donut": ("DonutDiagram", {}),
    "scatter": ("XYDiagram", {}),
}
FUNCTIONS = {
    "sum": "SUM",
    "count": "COUNT",
    "average": "AVERAGE",
    "max": "MAX",
    "min": "MIN",
    "product": "PRODUCT",
}


def add_chart(source: Area, kind: str, place: Any, size: Any, headers: bool, labels: bool) -> Any:
    """A chart of these cells, at a place in 1/100 mm; returns it by its name in the sheet."""
    charts = source.sheet.getCharts()
    name = free_name("Chart", charts.getElementNames())
    box = struct("awt.Rectangle", X=place.X, Y=place.Y, Width=size[0], Height=size[1])
    charts.addNewByName(name, box, (address(source),), headers, labels)
    chart = charts.getByName(name).getEmbeddedObject()
    service, settings = TYPES[kind]
    chart.setDiagram(chart.createInstance("com.sun.star.chart." + service))
    for key, value in settings.items():
        chart.getDiagram().setPropertyValue(key, value)
    return name, chart


def chart_named(sheet: Any, name: Optional[str]) -> Any:
    """A chart of a sheet; the only one, or the newest, if no name is given."""
    names = list(sheet.getCharts().getElementNames())
    if not names:
        raise Refused("the sheet %r has no chart" % sheet.getName())
    if name is not None and name not in names:
        raise Refused(no_such("chart", name, names))
    return sheet.getCharts().getByName(name or names[-1]).getEmbeddedObject()


def free_name(stem: str, taken: Any) -> str:
    number = 1
    while "%s%d" % (stem, number) in taken:
        number += 1
    return "%s%d" % (stem, number)


def add_pivot(
    source: Area, target: Area, rows: List[str], columns: List[str], values: List[str], function: str
) -> str:
    """A pivot table of the source, whose first row names the fields."""
    names = [str(name) for name in source.cells.getDataArray()[0]]
    for name in rows + columns + values:
        if name not in names:
            raise Refused(no_such("field", name, names))
    if not values or not rows + columns:
        raise Refused("a pivot table needs a field of values and a field of rows or columns")
    tables = target.sheet.getDataPilotTables()
    descriptor = tables.createDataPilotDescriptor()
    descriptor.setSourceRange(address(source))
    fields = descriptor.getDataPilotFields()
    for chosen, orientation in ((rows, "ROW"), (columns, "COLUMN"), (values, "DATA")):
        for name in chosen:
            field = fields.getByName(name)
            field.Orientation = enum("sheet.DataPilotFieldOrientation", orientation)
            if orientation == "DATA":
                field.Function = enum("sheet.GeneralFunction", FUNCTIONS[function])
    name = free_name("Pivot", tables.getElementNames())
    tables.insertNewByName(name, corner(target), descriptor)
    return name
