"""What the tasks of office applications share: a document that is open, what it says afterwards, and the oracle.

Each task has two oracles, one of keys and one of calls. Both are scripts. A document tells too little of itself while
it is edited for an oracle that decides by what it sees (where the cursor is, what was changed and not saved).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.criteria import Accessible, AllOf, Criterion, WindowAbsent, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.office.office_file import Document, OfficeFile, OpenOfficeFile, WriteOfficeFile
from operant.tasks.oracle import Oracle
from operant.tasks.script import Script, ScriptStep, WidgetSelector
from operant.tasks.setup import SetupStep
from operant.tasks.template import Params, Template
from operant.types import Action

__all__ = [
    "SAVE",
    "OfficeTask",
    "OracleStep",
    "field_of",
    "file_names",
    "menu",
    "replace_all",
    "until",
    "vanishes",
]

#: One step of an oracle.
OracleStep = Action | ScriptStep
SAVE = Action.key("ctrl", "s")
MOMENT = Action.wait(0.1)
MAX_STEPS = 90  # an application of this size may keep an oracle waiting


class OfficeTask(Template):
    """The document ``p.file`` is open. ``before`` says what it holds, ``after`` what the saved file must hold."""

    max_steps: ClassVar[int | None] = MAX_STEPS

    @abstractmethod
    def before(self, p: Params) -> Document:
        """The document as it is opened."""

    @abstractmethod
    def after(self, p: Params) -> Document:
        """The document as it must be saved."""

    @abstractmethod
    def keys(self, p: Params) -> Sequence[OracleStep]:
        """How it is done with the keyboard, up to the saving."""

    @abstractmethod
    def calls(self, p: Params) -> Sequence[OracleStep]:
        """How it is done by calls, up to the saving."""

    def call(self, function: str, **arguments: Any) -> Action:
        """A call of a function of the task's application."""
        return Action.call(f"{self.apps[0].removeprefix('libreoffice-')}.{function}", arguments)

    def others(self, p: Params) -> Mapping[str, Document]:
        """Documents that lie around and must stay as they are."""
        return {}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        documents = {**self.others(p), p.file: self.before(p)}
        written = (WriteOfficeFile(path=path, document=document) for path, document in documents.items())
        return [*written, OpenOfficeFile(app=self.apps[0], path=p.file, place=p.place)]

    def success(self, p: Params) -> Criterion:
        documents = {p.file: self.after(p), **self.others(p)}
        return AllOf(of=tuple(OfficeFile(path=path, document=one) for path, one in documents.items()))

    def oracle(self, p: Params) -> Oracle | None:
        return _script([*self.keys(p), SAVE, until(self.success(p))])

    def api_oracle(self, p: Params) -> Oracle | None:
        return _script([*self.calls(p), self.call("save")])


def _script(steps: Iterable[OracleStep]) -> Script:
    return Script([one if isinstance(one, ScriptStep) else ScriptStep(one) for one in steps])


def until(criterion: Criterion) -> ScriptStep:
    """Wait for it."""
    return ScriptStep(MOMENT, until=criterion)


def field_of(window: str, text: str = "") -> ScriptStep:
    """Wait for a field of a window that takes what is typed, and that says this."""
    field = Accessible(app="soffice", role="text", state="focused", text=text, window=window)
    return until(AllOf(of=(WindowTitle(title=window, focused=True), field)))


def vanishes(title: str) -> ScriptStep:
    """Wait until a dialog is closed."""
    return until(WindowAbsent(title=title))


def menu(name: str, item: str, role: str = "menu item") -> list[OracleStep]:
    """Choose an item of a menu with the pointer."""
    return [
        ScriptStep(WidgetSelector(role="menu", name=name)),
        ScriptStep(WidgetSelector(role=role, name=item)),
    ]


def replace_all(text: str, new: str) -> list[OracleStep]:
    """Replace a text everywhere in a document, by the dialog that Writer and Impress share."""
    dialog = "Find and Replace"
    find: list[OracleStep] = [field_of(dialog), Action.type(text), field_of(dialog, text)]
    replace: list[OracleStep] = [
        Action.key("alt", "p"),
        field_of(dialog),
        Action.type(new),
        field_of(dialog, new),
    ]
    # A button that is pressed by its letter works later than the key that follows, so it is clicked.
    press = ScriptStep(WidgetSelector(role="push button", name="Replace All"))
    return [Action.key("ctrl", "h"), *find, *replace, press, Action.key("esc"), vanishes(dialog)]


def file_names(draw: Draw, count: int, extension: str) -> list[str]:
    """Names of files, no two alike."""
    adjectives, nouns = draw.words(count, "adjectives"), draw.words(count, "nouns")
    return [f"{one}-{other}.{extension}" for one, other in zip(adjectives, nouns, strict=True)]
