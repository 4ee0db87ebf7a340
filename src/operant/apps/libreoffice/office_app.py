"""What Calc, Writer and Impress have in common: how they start, and what their windows tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from operant.apps.base import App

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["OfficeApp", "OfficeState"]

DIALOG_CLASS = "soffice"  # of dialogs and of the start centre; documents have their application's


@dataclass(frozen=True)
class OfficeState:
    """What the windows of one of its applications say."""

    documents: tuple[str, ...]
    """Names of the open documents, the topmost last. A new one is called "Untitled 1"."""
    dialog: str | None
    """Title of the dialog that is open, if any. Documents behind it take no input."""


class OfficeApp(App):
    """One of LibreOffice's applications."""

    toolkit = "libreoffice"
    accessible_name = "soffice"
    product: ClassVar[str]
    """How titles of its windows end, such as ``LibreOffice Calc``."""

    def state(self, desktop: Desktop) -> OfficeState:
        windows = desktop.windows()
        ending = f" - {self.product}"
        documents = [
            window.title.removesuffix(ending)
            for window in windows
            if window.wm_class.lower() == self.wm_class and window.title.endswith(ending)
        ]
        dialogs = [window.title for window in windows if window.wm_class.lower() == DIALOG_CLASS]
        return OfficeState(tuple(documents), dialogs[-1] if dialogs else None)
