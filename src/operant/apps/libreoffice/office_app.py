"""What Calc, Writer and Impress have in common: how they start, and what their windows tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from operant.apps.base import App

if TYPE_CHECKING:
    from operant.apps.view import View
    from operant.desktop.protocol import Desktop
    from operant.types import Node, Window

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
        documents = [name for window in windows if (name := self._document(window)) is not None]
        dialogs = [window.title for window in windows if window.wm_class.lower() == DIALOG_CLASS]
        return OfficeState(tuple(documents), dialogs[-1] if dialogs else None)

    def window_of(self, desktop: Desktop, document: str) -> Window | None:
        """The window that shows a document of that name, the topmost of several."""
        shown = [one for one in desktop.windows() if self._document(one) == document]
        return shown[-1] if shown else None

    def shown(self, view: View, document: str) -> Iterable[Node]:
        """The widgets of the window that shows a document, which need not have the focus; nothing if none does."""
        title = f"{document} - {self.product}"
        frames = (one for one in view.widgets("frame", app=self.accessible_name) if one.name == title)
        return next((frame.walk() for frame in frames), ())

    def _document(self, window: Window) -> str | None:
        """The name of the document that a window shows; None if it is not of this application."""
        ending = f" - {self.product}"
        if window.wm_class.lower() != self.wm_class or not window.title.endswith(ending):
            return None
        return window.title.removesuffix(ending)
