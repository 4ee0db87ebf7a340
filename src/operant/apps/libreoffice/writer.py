"""LibreOffice Writer: text documents."""

from __future__ import annotations

from operant.apps.libreoffice.office_app import OfficeApp
from operant.apps.view import View

__all__ = ["APP", "Writer", "shown_paragraphs"]


class Writer(OfficeApp):
    name = "libreoffice-writer"
    title = "text documents"
    packages = ("libreoffice-writer", "libreoffice-gtk3")
    command = ("soffice", "--writer", "--norestore", "--nologo")
    wm_class = "libreoffice-writer"
    product = "LibreOffice Writer"


APP = Writer()


def shown_paragraphs(view: View, document: str) -> list[str]:
    """The texts of the paragraphs that the window of a document shows."""
    return [node.text or "" for node in APP.shown(view, document) if node.role == "paragraph"]
