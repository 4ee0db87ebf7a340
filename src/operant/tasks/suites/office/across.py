"""Two documents: what one of them says goes into the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps.libreoffice.calc import put
from operant.tasks.draw import Draw
from operant.tasks.office.office_file import Document, OpenOfficeFile
from operant.tasks.office.presentation import Presentation, Slide
from operant.tasks.office.text_document import TextDocument
from operant.tasks.office.workbook import Sheet, Workbook
from operant.tasks.setup import SetupStep
from operant.tasks.suites.office.impress_slides import EDIT_TITLE, LEAVE
from operant.tasks.suites.office.office_task import OfficeTask, OracleStep, file_names
from operant.tasks.suites.office.spreadsheet import GOODS, goods
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

WINDOW = (900, 600)
EXTENSIONS = {"libreoffice-calc": "xlsx", "libreoffice-writer": "docx", "libreoffice-impress": "pptx"}


class AcrossTask(OfficeTask):
    """``p.file`` is open in the first of ``apps`` and has the focus; ``p.source``, open in the second, stays as it is."""

    skill = "read"
    family = "across"
    difficulty = Difficulty.EASY

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

    def others(self, p: Params) -> Mapping[str, Document]:
        return {p.source: self.source(p)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        *written, target = super().setup(p)
        return [*written, OpenOfficeFile(app=self.apps[1], path=p.source, place=p.source_place), target]


class PriceIntoLetter(AcrossTask):
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

    def source(self, p: Params) -> Workbook:
        return Workbook.of(Sheet.of("Prices", [GOODS, *p.rows]))

    def before(self, p: Params) -> TextDocument:
        return TextDocument.of(*p.lines)

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*p.lines, f"{p.item}: {p.price}")

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [Action.key("ctrl", "end"), Action.type(f"\n{p.item}: {p.price}")]

    def calls(self, p: Params) -> Sequence[Action]:
        read = Action.call("calc.get_cell", {"cell": p.cell})
        return [read, self.call("insert_paragraph", text=f"{p.item}: {p.price}")]


class PriceIntoTable(AcrossTask):
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

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return put(p.cell, str(p.new))

    def calls(self, p: Params) -> Sequence[Action]:
        read = Action.call("writer.get_text", {})
        return [read, self.call("set_cell_value", cell=p.cell, value=p.new)]


class IntoTitle(AcrossTask):
    """A text of the source becomes the title of the first slide."""

    difficulty = Difficulty.MEDIUM

    @abstractmethod
    def title(self, p: Params) -> str:
        """The new title."""

    @abstractmethod
    def read(self, p: Params) -> Action:
        """The call that tells it."""

    def before(self, p: Params) -> Presentation:
        return Presentation.of(*(Slide(title=title, lines=tuple(p.lines[:2])) for title in p.titles))

    def after(self, p: Params) -> Presentation:
        first, *others = self.before(p).slides
        return Presentation.of(first.changed(title=self.title(p)), *others)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*EDIT_TITLE, Action.type(self.title(p)), LEAVE, LEAVE]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.read(p), self.call("set_title", slide=1, text=self.title(p))]


class DearestIntoTitle(IntoTitle):
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

    def source(self, p: Params) -> Workbook:
        return Workbook.of(Sheet.of("Prices", [GOODS, *p.rows]))

    def title(self, p: Params) -> str:
        return str(max(p.rows, key=lambda row: row[1])[0])

    def read(self, p: Params) -> Action:
        return Action.call("calc.get_range", {"range": f"A1:B{len(p.rows) + 1}"})


class SubjectIntoTitle(IntoTitle):
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

    def read(self, p: Params) -> Action:
        return Action.call("writer.get_text", {})


TEMPLATES: tuple[type[Template], ...] = (
    PriceIntoLetter,
    PriceIntoTable,
    DearestIntoTitle,
    SubjectIntoTitle,
)
