"""LibreOffice Impress: presentations."""

from __future__ import annotations

from operant.apps.libreoffice.office_app import OfficeApp

__all__ = ["APP", "Impress"]


class Impress(OfficeApp):
    name = "libreoffice-impress"
    title = "presentations"
    packages = ("libreoffice-impress", "libreoffice-gtk3")
    command = ("soffice", "--impress", "--norestore", "--nologo")
    wm_class = "libreoffice-impress"
    product = "LibreOffice Impress"


APP = Impress()
