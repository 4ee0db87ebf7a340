"""LibreOffice Writer: text documents."""

from __future__ import annotations

from operant.apps.libreoffice.office_app import OfficeApp
from operant.types import Action

__all__ = ["APP", "Writer", "select_text"]


class Writer(OfficeApp):
    name = "libreoffice-writer"
    title = "text documents"
    packages = ("libreoffice-writer", "libreoffice-gtk3")
    command = ("soffice", "--writer", "--norestore", "--nologo")
    wm_class = "libreoffice-writer"
    product = "LibreOffice Writer"


APP = Writer()


def select_text(text: str) -> list[Action]:
    """Select the next occurrence of a text by the search bar, which is closed again."""
    return [Action.key("ctrl", "f"), Action.type(f"{text}\n"), Action.key("escape")]
