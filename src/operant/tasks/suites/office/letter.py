"""What tasks of Writer share: a letter of a few paragraphs that is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from operant.tasks.draw import Draw
from operant.tasks.office.text_document import Paragraph, TextDocument
from operant.tasks.suites.office.office_task import OfficeTask, OracleStep, field_of, file_names
from operant.tasks.template import Params
from operant.types import Action, Difficulty

__all__ = ["LINE", "TextTask", "find"]

WINDOW = (1080, 680)
#: Selects from the start of a line to its end. Paragraphs of letters are shorter than a line.
LINE = (Action.key("home"), Action.key("shift", "end"))


def find(text: str, file: str) -> list[OracleStep]:
    """Select a text of a file by the bar for finding."""
    return [Action.key("ctrl", "f"), field_of(file), Action.type(f"{text}\n"), Action.key("esc")]


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
