"""Writer: change what a letter says and how it looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.draw import Draw
from operant.tasks.office.text_document import Paragraph, TextDocument
from operant.tasks.suites.office.office_task import OfficeTask, OracleStep, file_names
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

WINDOW = (1080, 680)


class TextTask(OfficeTask):
    """The document ``p.file`` is open: a paragraph for each of ``p.lines``. The task is about number ``p.number``."""

    apps: ClassVar[tuple[str, ...]] = ("libreoffice-writer",)
    difficulty = Difficulty.EASY

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2, "docx")
        count = draw.choice((4, 5, 6))
        nouns = draw.words(count + 2, "nouns")
        names, cities = draw.words(count, "names"), draw.words(count, "cities")
        lines = [
            f"The {noun} of {name} is in {city}."
            for noun, name, city in zip(nouns[:count], names, cities, strict=True)
        ]
        index = draw.choice(range(1, count - 1))
        return {
            "file": file,
            "other": other,
            "lines": lines,
            "number": index + 1,
            "word": nouns[index],
            "name": names[index],
            "line": lines[index],
            "new": nouns[-1],
            "place": draw.place(*WINDOW),
        }

    def before(self, p: Params) -> TextDocument:
        return TextDocument.of(*p.lines)

    def after(self, p: Params) -> TextDocument:
        document = self.before(p)
        index = p.number - 1
        return document.with_paragraph(index, self.changed(document.paragraphs[index], p))

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        """The paragraph that the task is about, as it must be saved."""
        return paragraph

    def others(self, p: Params) -> Mapping[str, TextDocument]:
        return {p.other: TextDocument.of(*p.lines[1:])}


class AppendParagraph(TextTask):
    id = "office/writer-append-v1"
    skill = "type"
    family = "texts"
    instructions = (
        "Add a paragraph at the end of {file} that says: {sentence} Save the file.",
        "Write a new last line into {file} and save it: {sentence}",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {
            **super().parameters(draw),
            "sentence": f"Please {draw.word('verbs')} the {draw.word('nouns')}.",
        }

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*p.lines, p.sentence)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [Action.key("ctrl", "end"), Action.key("enter"), Action.type(p.sentence)]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("insert_paragraph", text=p.sentence)]


class AddTitle(TextTask):
    id = "office/writer-add-title-v1"
    skill = "type"
    family = "styles"
    instructions = (
        "Write {title} as a first paragraph into {file}, with the style Heading 1. Save the file.",
        "{file} needs a heading at its very top: {title}, in the style Heading 1. Save the document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**super().parameters(draw), "title": draw.word("topics").capitalize()}

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(Paragraph.of(p.title, style="Heading 1"), *p.lines)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        top = Action.key("ctrl", "home")
        return [top, Action.type(p.title), Action.key("enter"), Action.key("up"), Action.key("ctrl", "1")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("insert_paragraph", text=p.title, before=1, style="Heading 1")]


class MakeList(TextTask):
    """All paragraphs become a list."""

    skill = "keys"
    family = "paragraphs"
    listed: ClassVar[str]
    shortcut: ClassVar[tuple[str, ...]]

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*(Paragraph.of(line, listed=self.listed) for line in p.lines))

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [Action.key("ctrl", "a"), Action.key(*self.shortcut)]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_list", kind=f"{self.listed}s", paragraphs=list(range(1, len(p.lines) + 1)))]


class BulletList(MakeList):
    id = "office/writer-bullets-v1"
    listed, shortcut = "bullet", ("shift", "f12")
    instructions = (
        "Make all lines of {file} a list with bullets, and save the file.",
        "Every paragraph of {file} should have a bullet point. Save the document.",
    )


class NumberedList(MakeList):
    id = "office/writer-numbers-v1"
    listed, shortcut = "number", ("f12",)
    instructions = (
        "Make all lines of {file} a numbered list, and save the file.",
        "Number the paragraphs of {file} as a list. Save the document.",
    )


TEMPLATES: tuple[type[Template], ...] = (
    AppendParagraph,
    AddTitle,
    BulletList,
    NumberedList,
)
