"""Writer: change how a letter looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.draw import Draw
from operant.tasks.office.text_document import Paragraph, TextDocument
from operant.tasks.suites.office.letter import LINE, TextTask, find
from operant.tasks.suites.office.office_task import OracleStep
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]


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


class BoldWord(TextTask):
    id = "office/writer-bold-word-v1"
    skill = "select"
    family = "looks"
    instructions = (
        "Make the word {word} in {file} bold and nothing else, then save the file.",
        "In {file}, {word} should stand out in bold type. Leave all other words as they are, and save it.",
    )
    heldout_instructions = ("Only one word of {file} should be bold: {word}. Save the document.",)

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return paragraph.styled(p.word, bold=True)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.word, p.file), Action.key("ctrl", "b")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("format_text", text=p.word, bold=True)]


class StyledLine(TextTask):
    """A whole paragraph looks different."""

    difficulty = Difficulty.MEDIUM
    skill = "select"
    family = "looks"
    look: ClassVar[str]
    shortcut: ClassVar[str]

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return paragraph.styled(p.line, **{self.look: True})

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.name, p.file), *LINE, Action.key("ctrl", self.shortcut)]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("format_text", paragraphs=[p.number], **{self.look: True})]


class ItalicLine(StyledLine):
    id = "office/writer-italic-v1"
    look, shortcut = "italic", "i"
    instructions = (
        "Put the whole paragraph about {name} in {file} in italics, and save the file.",
        "In {file}, {name}'s paragraph should be in italic type from its first to its last letter. Save it.",
    )
    heldout_instructions = ("Italicize the full line that mentions {name} in {file}. Save the document.",)


class UnderlinedLine(StyledLine):
    id = "office/writer-underline-v1"
    look, shortcut = "underline", "u"
    unseen = True
    instructions = (
        "Underline the whole paragraph about {name} in {file}, and save the file.",
        "In {file}, draw a line under all of {name}'s paragraph, with the underline format. Save the document.",
    )
    heldout_instructions = ("The full line that mentions {name} in {file} should be underlined. Save it.",)


class CenterParagraph(TextTask):
    id = "office/writer-center-v1"
    skill = "keys"
    family = "paragraphs"
    instructions = (
        "Center the paragraph about {name} in {file}, and save the file.",
        "In {file}, {name}'s paragraph should stand in the middle between the margins. Save the document.",
    )
    heldout_instructions = ("Give the line that mentions {name} in {file} centered alignment. Save it.",)

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return paragraph.changed(align="center")

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.name, p.file), Action.key("ctrl", "e")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_paragraph_alignment", align="center", paragraphs=[p.number])]


class MakeHeading(TextTask):
    id = "office/writer-heading-v1"
    skill = "keys"
    family = "styles"
    instructions = (
        "The paragraph about {name} in {file} should have the style Heading {level}. Save the file.",
        "In {file}, turn {name}'s paragraph into a heading of level {level}, and save the document.",
    )
    heldout_instructions = (
        "Make a heading of the line that mentions {name} in {file}: style Heading {level}. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**super().parameters(draw), "level": draw.choice((1, 2, 3))}

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return paragraph.changed(style=f"Heading {p.level}")

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.name, p.file), Action.key("ctrl", str(p.level))]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_paragraph_style", style=f"Heading {p.level}", paragraphs=[p.number])]


TEMPLATES: tuple[type[Template], ...] = (
    AddTitle,
    BulletList,
    NumberedList,
    BoldWord,
    ItalicLine,
    UnderlinedLine,
    CenterParagraph,
    MakeHeading,
)
