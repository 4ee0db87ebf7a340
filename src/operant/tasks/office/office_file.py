"""Office documents in tasks: the criterion on a saved file, and the set-up steps that write one and open it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import Field

from operant.apps import load_app
from operant.apps.libreoffice import OfficeApp
from operant.desktop.protocol import Capability, Desktop
from operant.errors import SetupFailed, TaskError
from operant.extras import missing_package
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.places import FileQuestion, read_file
from operant.tasks.office.presentation import Presentation
from operant.tasks.office.text_document import TextDocument
from operant.tasks.office.workbook import Workbook
from operant.tasks.setup import Launch, SetupStep
from operant.types import Action, Window

__all__ = ["Document", "OfficeFile", "OpenOfficeFile", "WriteOfficeFile"]

Document = Annotated[Workbook | TextDocument | Presentation, Field(discriminator="kind")]
STILL_MS = 300  # Writer and the ruler draw that long after a document is open


class OfficeFile(FileQuestion):
    """A saved document says exactly this: what the task changes, and all else as it was."""

    document: Document
    """What it should say."""

    def look(self, world: World) -> Verdict:
        data = read_file(world, self.path)
        with _packages():
            found: Any = type(self.document).read(data, self.path)
            told: str | None = found.difference(self.document)
        return Verdict(told is None, f"{self.path}: {told or 'as it should be'}")


class WriteOfficeFile(SetupStep):
    """Put a document into the desktop."""

    path: str
    """Where; relative paths start at HOME."""
    document: Document
    """What it says."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.FILES})

    def apply(self, desktop: Desktop) -> None:
        with _packages():
            data = self.document.written()
        desktop.files.write(self.path, data)


class OpenOfficeFile(SetupStep):
    """Open a document in its application, and wait until it is shown."""

    app: str
    """The application, such as ``libreoffice-calc``."""
    path: str
    """The document; relative paths start at HOME."""
    place: tuple[int, int, int, int] | None = None
    """Where its window goes: x, y, width, height of the client area."""
    timeout_s: float = Field(60.0, gt=0)
    """How long it may take."""

    def needs(self) -> frozenset[Capability]:
        needs = frozenset({Capability.PROGRAMS})
        return needs if self.place is None else needs | {Capability.WINDOW_CONTROL}

    def apply(self, desktop: Desktop) -> None:
        app = load_app(self.app)
        if not isinstance(app, OfficeApp):
            raise TaskError(f"{self.app} is no office application")
        deadline = time.monotonic() + self.timeout_s
        Launch(command=app.argv(self.path), timeout_s=self.timeout_s).apply(desktop)
        while True:
            window = app.window_of(desktop, self.path.rpartition("/")[2])
            if window is not None:
                if self.place is None or _is_at(window, self.place):
                    break
                # It sizes its window itself while it loads, so the place is asked for until it stays.
                desktop.place_window(window, *self.place)
            if time.monotonic() > deadline:
                raise SetupFailed(
                    f"{self.app} did not show {self.path} in its place within {self.timeout_s:g} s"
                )
            desktop.perform(Action.wait(0.05))
        desktop.settle(STILL_MS)


def _is_at(window: Window, place: tuple[int, int, int, int]) -> bool:
    return (window.x, window.y, window.width, window.height) == place


@contextmanager
def _packages() -> Iterator[None]:
    """Names the extra that brings a package which is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_package("this document", error) or error from error
