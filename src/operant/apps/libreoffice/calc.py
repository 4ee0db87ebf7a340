"""LibreOffice Calc: spreadsheets."""

from __future__ import annotations

from operant.apps.libreoffice.office_app import OfficeApp

__all__ = ["APP", "Calc"]


class Calc(OfficeApp):
    name = "libreoffice-calc"
    title = "spreadsheets"
    packages = ("libreoffice-calc", "libreoffice-gtk3")
    command = ("soffice", "--calc", "--norestore", "--nologo")
    wm_class = "libreoffice-calc"
    product = "LibreOffice Calc"


APP = Calc()
