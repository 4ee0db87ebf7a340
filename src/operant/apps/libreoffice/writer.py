"""LibreOffice Writer: text documents."""

from __future__ import annotations

from operant.apps.libreoffice.office_app import OfficeApp

__all__ = ["APP", "Writer"]


class Writer(OfficeApp):
    name = "libreoffice-writer"
    title = "text documents"
    packages = ("libreoffice-writer", "libreoffice-gtk3")
    command = ("soffice", "--writer", "--norestore", "--nologo")
    wm_class = "libreoffice-writer"
    product = "LibreOffice Writer"


APP = Writer()
