"""What is known of an application, in one place: how it is installed, started, recognised and read.

Each application has a module of its own beside this one, with a subclass of ``App`` named ``APP`` at its end. The module
also holds the application's moves: functions that return a ``Move``, a ``Goal`` or a ``Milestone`` (see ``moves``).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from operant.apps.view import View
from operant.types import Node, Window

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["App"]


class App(ABC):
    """One application. Subclass it and fill in the class attributes; override what differs."""

    name: ClassVar[str]
    """How users and tasks call it, such as ``mousepad``."""
    title: ClassVar[str]
    """What it is in one line, such as "text editor"."""
    packages: ClassVar[tuple[str, ...]] = ()
    """Debian packages that install it."""
    toolkit: ClassVar[str] = ""
    """What draws its windows, such as ``gtk3``: a name in ``operant.desktop.toolkits``."""
    command: ClassVar[tuple[str, ...]]
    """The program and the arguments that it always gets."""
    wm_class: ClassVar[str]
    """The class of its windows."""
    accessible_name: ClassVar[str] = ""
    """Its name on the accessibility bus, if it has one."""

    part_of_desktop: ClassVar[bool] = False
    """Whether it comes with the desktop, as panel and window manager do, and is not opened."""

    # How it starts.

    def home(self) -> Mapping[str, str | bytes]:
        """Files of HOME that it starts with, by path: its settings, no first-run page, no update check."""
        return {}

    def argv(self, *arguments: str) -> list[str]:
        """The command line that opens these documents."""
        return [*self.command, *arguments]

    def is_ready(self, view: View) -> bool:
        """Whether its window is there and can be used."""
        return self.window(view) is not None

    # How it is recognised and read.

    def window(self, view: View) -> Window | None:
        """Its topmost window."""
        return view.window(wm_class=self.wm_class)

    def tree(self, view: View) -> Node:
        """Its widgets."""
        return view.tree(self.accessible_name or None)

    def state(self, desktop: Desktop) -> Any:
        """What it shows and holds, as a dataclass of its own. None if there is nothing to say."""
        return None
