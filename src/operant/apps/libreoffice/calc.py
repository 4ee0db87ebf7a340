"""LibreOffice Calc: spreadsheets."""

from __future__ import annotations

import string

from operant.apps.libreoffice.office_app import OfficeApp
from operant.apps.view import View
from operant.types import Action

__all__ = ["APP", "Calc", "go_to", "put", "shown_rows"]

LETTERS = string.ascii_uppercase


class Calc(OfficeApp):
    name = "libreoffice-calc"
    title = "spreadsheets"
    packages = ("libreoffice-calc", "libreoffice-gtk3")
    command = ("soffice", "--calc", "--norestore", "--nologo")
    wm_class = "libreoffice-calc"
    product = "LibreOffice Calc"


APP = Calc()


def go_to(place: str) -> list[Action]:
    """Select a cell, a range or whole rows (``5:5``) by the Name Box."""
    return [Action.key("ctrl", "shift", "t"), Action.type(f"{place}\n")]


def put(cell: str, text: str) -> list[Action]:
    """Type a value or a formula into a cell."""
    return [*go_to(cell), Action.type(f"{text}\n")]


def shown_rows(view: View, document: str) -> list[list[str]]:
    """The texts of the cells that the window of a document shows, row by row, without rows that are empty."""
    rows: dict[str, list[str]] = {}
    for node in APP.shown(view, document):
        if node.role == "table cell":
            rows.setdefault(node.name.lstrip(LETTERS), []).append(node.text or "")
    return [row for row in rows.values() if any(row)]
