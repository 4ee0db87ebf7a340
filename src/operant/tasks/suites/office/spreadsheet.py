"""What tasks of Calc share: a table of goods in an open workbook."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.draw import Draw
from operant.tasks.office.workbook import Sheet, Value, Workbook
from operant.tasks.suites.office.office_task import OfficeTask, file_names
from operant.tasks.template import Params
from operant.types import Difficulty

__all__ = ["GOODS", "SpreadsheetTask", "goods", "table"]

WINDOW = (1080, 680)
SHEETS = ("Sales", "Stock", "Orders", "Plan")
#: Headers of the table of goods.
GOODS = ("Item", "Price", "Count")


class SpreadsheetTask(OfficeTask):
    """The workbook ``p.file`` is open at its first sheet, ``p.sheet``: a table with ``p.rows`` under ``headers``."""

    apps: ClassVar[tuple[str, ...]] = ("libreoffice-calc",)
    difficulty = Difficulty.EASY
    headers: ClassVar[tuple[str, ...]] = GOODS

    def before(self, p: Params) -> Workbook:
        return Workbook.of(Sheet.of(p.sheet, [self.headers, *p.rows]))

    def after(self, p: Params) -> Workbook:
        book = self.before(p)
        return book.with_sheet(self.changed(book.sheets[0], p))

    @abstractmethod
    def changed(self, sheet: Sheet, p: Params) -> Sheet:
        """The first sheet as it must be saved."""

    def others(self, p: Params) -> Mapping[str, Workbook]:
        return {p.other: Workbook.of(Sheet.of(p.sheet, [self.headers, *p.rows[1:]]))}


def table(draw: Draw, rows: Sequence[Sequence[Value]], **more: Any) -> dict[str, Any]:
    """The parameters of every task: file, sheet, rows, the last of them, where the window is."""
    file, other = file_names(draw, 2, "xlsx")
    return {
        "file": file,
        "other": other,
        "sheet": draw.choice(SHEETS),
        "rows": [list(row) for row in rows],
        "last": len(rows) + 1,
        "next": len(rows) + 2,
        "place": draw.place(*WINDOW),
        **more,
    }


def goods(draw: Draw, counts: Sequence[int] = (5, 6, 7, 8)) -> list[list[Value]]:
    """Rows of item, price and count."""
    items = draw.words(draw.choice(counts), "products")
    prices = draw.numbers(len(items), 11, 400)
    return [
        [item.capitalize(), price, draw.choice(range(2, 60))]
        for item, price in zip(items, prices, strict=True)
    ]
