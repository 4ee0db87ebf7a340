"""Tasks of a browser on a site inside the desktop, and what the site keeps of what visitors do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from operant.apps import chromium
from operant.apps.chromium import Holds
from operant.apps.moves import Goal
from operant.apps.view import View
from operant.tasks.changes import Change
from operant.tasks.criteria import FileContains, FileEquals, Url
from operant.tasks.draw import Draw
from operant.tasks.setup import OpenPage, Run, SetupStep, WriteFile
from operant.tasks.template import Params, Template
from operant.tasks.website.pages import listed, stored

__all__ = [
    "HOST",
    "ORIGIN",
    "SITE",
    "BrowserTask",
    "found",
    "is_at",
    "kept_form",
    "kept_list",
    "on_site",
    "reached",
    "seen",
    "visited",
    "written_down",
]

HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"
SITE = "/tmp/site"
SIZE = (1000, 660)

Moves = Mapping[str, Sequence[Goal]]
"""What is to be reached on each page, by its path."""


class BrowserTask(Template):
    """A site of ``pages(p)`` runs in the desktop, and the browser shows ``start(p)``."""

    apps = ("chromium",)

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        """What differs between instances, beside the place of the browser."""
        raise NotImplementedError

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**self.drawn(draw), "place": draw.place(*SIZE)}

    def pages(self, p: Params) -> Mapping[str, str]:
        """path -> page, the first page at ``index``."""
        raise NotImplementedError

    def kept(self, p: Params) -> Mapping[str, str]:
        """More files of the site, which it does not show."""
        return {}

    def start(self, p: Params) -> tuple[str, ...]:
        """Paths of the pages that are open, each in a tab; the first one is shown."""
        return ("/",)

    def setup(self, p: Params) -> Sequence[SetupStep]:
        files = {f"pages/{path}.html": text for path, text in self.pages(p).items()} | dict(self.kept(p))
        program = Path(__file__).with_name("site_program.py").read_text()
        return [
            WriteFile(path=f"{SITE}/site.py", text=program),
            *(WriteFile(path=f"{SITE}/{path}", text=text) for path, text in files.items()),
            Run(command=["python3", f"{SITE}/site.py", SITE]),
            OpenPage(urls=tuple(ORIGIN + path for path in self.start(p)), place=p.place),
        ]


# Where the browser is and was.


def is_at(path: str) -> Holds:
    return lambda view: chromium.location(view) == ORIGIN + path


def visited(view: View, path: str) -> bool:
    return path in (view.read(f"{SITE}/visits.txt") or "").split()


def seen(path: str) -> FileContains:
    """That page was shown."""
    return FileContains(path=f"{SITE}/visits.txt", text=f"{path}\n")


def on_site(done: Holds, pages: Moves) -> Goal:
    return chromium.on_pages(HOST, done, pages)


def reached(path: str, pages: Moves) -> Change:
    """The browser shows that page at the end."""
    return Change(on_site(is_at(path), pages), holds=[Url(url=ORIGIN + path)])


# What the site writes down.


def kept_form(name: str, fields: Mapping[str, str]) -> FileEquals:
    """That form was submitted, at last with exactly these values."""
    return FileEquals(path=f"{SITE}/forms/{name}.json", text=stored(fields))


def kept_list(name: str, rows: Sequence[Mapping[str, str]]) -> FileEquals:
    """That list of the site has exactly these entries."""
    return FileEquals(path=f"{SITE}/lists/{name}.jsonl", text=listed(rows))


def found(criterion: FileEquals) -> Holds:
    """Whether the site has written down what a criterion asks for."""
    return lambda view: view.read(criterion.path) == criterion.text


def written_down(criteria: FileEquals | Sequence[FileEquals], pages: Moves) -> Change:
    """The site has what these criteria ask for, by work on its pages."""
    wanted = [criteria] if isinstance(criteria, FileEquals) else list(criteria)
    holds = [found(one) for one in wanted]
    return Change(on_site(lambda view: all(one(view) for one in holds), pages), holds=wanted)
