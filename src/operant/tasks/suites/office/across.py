"""Two documents: what one of them says goes into the other.

Both oracles read the source and write what they read: the one with the keyboard goes to its window and takes the text
that is shown there, the one by calls takes what the call answered.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps.libreoffice import calc, writer
from operant.apps.view import View
from operant.tasks.criteria import Accessible, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.office.office_file import Document, OpenOfficeFile
from operant.tasks.office.presentation import Presentation, Slide
from operant.tasks.office.text_document import TextDocument
from operant.tasks.office.workbook import Sheet, Workbook
from operant.tasks.script import ScriptStep, WidgetSelector
from operant.tasks.setup import SetupStep
from operant.tasks.suites.office.impress_slides import EDIT_TITLE, LEAVE
from operant.tasks.suites.office.office_task import OfficeTask, OracleStep, file_names, until
from operant.tasks.suites.office.spreadsheet import GOODS, goods
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

WINDOW = (900, 600)
EXTENSIONS = {"libreoffice-calc": "xlsx", "libreoffice-writer": "docx", "libreoffice-impress": "pptx"}
MOST_ROWS = 20  # that are asked for; tables of goods are shorter
OPEN_WINDOWS = ScriptStep(WidgetSelector(role="menu", name="Window"))

#: What a source says: rows of cells, or paragraphs as rows of one.
Rows = Sequence[Sequence[str]]


class AcrossTask(OfficeTask):
    """``p.file`` is open in the first of ``apps`` and has the focus; ``p.source``, open in the second, stays as it is."""

    skill = "read"
    family = "across"
    difficulty = Difficulty.MEDIUM
    product: ClassVar[str]
    """How the title of the source's window ends."""

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        target, source = (EXTENSIONS[app] for app in self.apps)
        rows = goods(draw)
        index = draw.choice(range(len(rows)))
        item, price, _ = rows[index]
        topics = [topic.capitalize() for topic in draw.words(3, "topics")]
        return {
            "file": file_names(draw, 1, target)[0],
            "source": file_names(draw, 1, source)[0],
            "rows": [list(row) for row in rows],
            "item": item,
            "price": price,
            "cell": f"B{index + 2}",
            "new": draw.number(401, 900),
            "titles": topics[:2],
            "topic": topics[2],
            "lines": [
                f"The {noun} of {name}."
                for noun, name in zip(draw.words(3), draw.words(3, "names"), strict=True)
            ],
            "place": draw.place(*WINDOW),
            "source_place": draw.place(*WINDOW),
        }

    @abstractmethod
    def source(self, p: Params) -> Document:
        """The document that is read."""

    @abstractmethod
    def shown(self, p: Params, view: View) -> Rows:
        """What the window of the source shows; nothing if it can't be read yet."""

    @abstractmethod
    def ask(self, p: Params) -> Action:
        """The call that reads the source."""

    @abstractmethod
    def answered(self, answer: str) -> Rows:
        """What that call answered."""

    @abstractmethod
    def found(self, p: Params, rows: Rows) -> str | None:
        """What the task wants to know of the source; None if that is not in sight."""

    @abstractmethod
    def typed(self, p: Params, found: str) -> Action:
        """Type it, at the right place of the target."""

    @abstractmethod
    def written(self, p: Params, found: str) -> Action:
        """The call that writes it."""

    @abstractmethod
    def there(self, p: Params) -> Sequence[Action]:
        """What leads to the place where it is typed."""

    leave: ClassVar[tuple[Action, ...]] = ()
    """What ends the typing."""

    def keys(self, p: Params) -> Sequence[OracleStep]:
        def type_it(view: View) -> Action | None:
            found = self.found(p, self.shown(p, view))
            return None if found is None else self.typed(p, found)

        return [*look_at(p, self.product), *self.there(p), ScriptStep(type_it), *self.leave]

    def calls(self, p: Params) -> Sequence[OracleStep]:
        def write_it(view: View) -> Action | None:
            found = self.found(p, self.answered(view.answer)) if view.answer else None
            return None if found is None else self.written(p, found)

        return [self.ask(p), ScriptStep(write_it)]

    def others(self, p: Params) -> Mapping[str, Document]:
        return {p.source: self.source(p)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        *written, target = super().setup(p)
        return [*written, OpenOfficeFile(app=self.apps[1], path=p.source, place=p.source_place), target]


def look_at(p: Params, product: str) -> list[OracleStep]:
    """Go to the window of the source by the menu that lists the documents, and back.

    Not by alt+tab: LibreOffice may take the alt key for its menu bar, which then takes the next keys. The menu of the
    source shows the target, which was opened last, at its end, but does not tell of it.
    """
    item = WidgetSelector(role="radio menu item", name=f"{p.source} - {product}")
    listed = until(Accessible(app="soffice", role=item.role, name=item.name))
    there: list[OracleStep] = [OPEN_WINDOWS, ScriptStep(item), focused(p.source)]
    return [*there, OPEN_WINDOWS, listed, Action.key("up"), Action.key("enter"), focused(p.file)]


def focused(file: str) -> ScriptStep:
    """Wait until the window of a document has the focus."""
    return until(WindowTitle(title=file, focused=True))


class FromTable(AcrossTask):
    """The source is a table of goods."""

    product = calc.APP.product

    def source(self, p: Params) -> Workbook:
        return Workbook.of(Sheet.of("Prices", [GOODS, *p.rows]))

    def shown(self, p: Params, view: View) -> Rows:
        return calc.shown_rows(view, p.source)[1:]

    def ask(self, p: Params) -> Action:
        asked = {"range": f"A2:C{MOST_ROWS}", "what": "shown", "document": p.source}
        return Action.call("calc.get_range", asked)

    def answered(self, answer: str) -> Rows:
        return [row for row in json.loads(answer) if any(row)]


class FromLetter(AcrossTask):
    """The source is a letter."""

    product = writer.APP.product

    def shown(self, p: Params, view: View) -> Rows:
        return [[text] for text in writer.shown_paragraphs(view, p.source)]

    def ask(self, p: Params) -> Action:
        return Action.call("writer.get_text", {"document": p.source})

    def answered(self, answer: str) -> Rows:
        return [[line] for line in answer.splitlines()]


class PriceIntoLetter(FromTable):
    id = "office/across-price-to-letter-v1"
    apps: ClassVar[tuple[str, ...]] = ("libreoffice-writer", "libreoffice-calc")
    instructions = (
        "Look up the price of {item} in {source} and add a last line to {file} that says: {item}: PRICE, with the number "
        "for PRICE. Save {file}.",
        "{file} should end with a new paragraph of the form {item}: N, where N is the price of {item} in {source}. Save it.",
    )
    heldout_instructions = (
        "Write what {item} costs, as the table {source} says, below the text of {file}: {item}, a colon, a blank and the "
        "number. Save {file}.",
    )

    def before(self, p: Params) -> TextDocument:
        return TextDocument.of(*p.lines)

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*p.lines, f"{p.item}: {p.price}")

    def found(self, p: Params, rows: Rows) -> str | None:
        return next((price for item, price, *_ in rows if item == p.item), None)

    def there(self, p: Params) -> Sequence[Action]:
        return [Action.key("ctrl", "end")]

    def typed(self, p: Params, found: str) -> Action:
        return Action.type(f"\n{p.item}: {found}")

    def written(self, p: Params, found: str) -> Action:
        return self.call("insert_paragraph", text=f"{p.item}: {found}")


class PriceIntoTable(FromLetter):
    id = "office/across-price-to-table-v1"
    apps: ClassVar[tuple[str, ...]] = ("libreoffice-calc", "libreoffice-writer")
    instructions = (
        "The letter {source} names a new price of {item}. Put it into the table {file} in place of the old one, and save "
        "{file}.",
        "Correct the price of {item} in {file}: {source} says what it is now. Save the table.",
    )
    heldout_instructions = (
        "{source} tells what {item} costs from now on. Bring {file} up to date and save it.",
    )

    def source(self, p: Params) -> TextDocument:
        return TextDocument.of(*p.lines, f"{p.item} cost {p.new} now.")

    def before(self, p: Params) -> Workbook:
        return Workbook.of(Sheet.of("Prices", [GOODS, *p.rows]))

    def after(self, p: Params) -> Workbook:
        book = self.before(p)
        return book.with_sheet(book.sheets[0].with_cells({p.cell: p.new}))

    def found(self, p: Params, rows: Rows) -> str | None:
        said = (re.fullmatch(rf"{p.item} cost (\d+) now\.", line) for (line,) in rows)
        return next((one[1] for one in said if one), None)

    def there(self, p: Params) -> Sequence[Action]:
        return calc.go_to(p.cell)

    def typed(self, p: Params, found: str) -> Action:
        return Action.type(f"{found}\n")

    def written(self, p: Params, found: str) -> Action:
        return self.call("set_cell_value", cell=p.cell, value=int(found))


class IntoTitle(AcrossTask):
    """A text of the source becomes the title of the first slide."""

    leave = (LEAVE, LEAVE)

    @abstractmethod
    def title(self, p: Params) -> str:
        """The new title."""

    def before(self, p: Params) -> Presentation:
        return Presentation.of(*(Slide(title=title, lines=tuple(p.lines[:2])) for title in p.titles))

    def after(self, p: Params) -> Presentation:
        first, *others = self.before(p).slides
        return Presentation.of(first.changed(title=self.title(p)), *others)

    def there(self, p: Params) -> Sequence[Action]:
        return EDIT_TITLE

    def typed(self, p: Params, found: str) -> Action:
        return Action.type(found)

    def written(self, p: Params, found: str) -> Action:
        return self.call("set_title", slide=1, text=found)


class DearestIntoTitle(IntoTitle, FromTable):
    id = "office/across-dearest-to-slide-v1"
    apps: ClassVar[tuple[str, ...]] = ("libreoffice-impress", "libreoffice-calc")
    unseen = True
    instructions = (
        "The title of the first slide of {file} should be the item of {source} with the highest price, written as there. "
        "Save {file}.",
        "Find the dearest item of the table {source} and make its name the title of slide 1 of {file}. Save it.",
    )
    heldout_instructions = (
        "Which item of {source} costs most? Its name belongs on slide 1 of {file}, as the title. Save the presentation.",
    )

    def title(self, p: Params) -> str:
        return str(max(p.rows, key=lambda row: row[1])[0])

    def found(self, p: Params, rows: Rows) -> str | None:
        return max(rows, key=lambda row: int(row[1]))[0] if rows else None


class SubjectIntoTitle(IntoTitle, FromLetter):
    id = "office/across-subject-to-slide-v1"
    apps: ClassVar[tuple[str, ...]] = ("libreoffice-impress", "libreoffice-writer")
    instructions = (
        "The first line of {source} names a subject. Make that word the title of slide 1 of {file}, and save {file}.",
        "Slide 1 of {file} should have the subject of the letter {source} as its title, one word. Save it.",
    )
    heldout_instructions = (
        "Read the subject at the top of {source} and use this word as the title of the first slide of {file}. Save it.",
    )

    def source(self, p: Params) -> TextDocument:
        return TextDocument.of(f"Subject: {p.topic}", *p.lines)

    def title(self, p: Params) -> str:
        return str(p.topic)

    def found(self, p: Params, rows: Rows) -> str | None:
        return rows[0][0].removeprefix("Subject: ") if rows else None


TEMPLATES: tuple[type[Template], ...] = (
    PriceIntoLetter,
    PriceIntoTable,
    DearestIntoTitle,
    SubjectIntoTitle,
)
