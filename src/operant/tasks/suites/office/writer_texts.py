"""Writer: change what a letter says and how it looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps.libreoffice.writer import select_text
from operant.tasks.draw import Draw
from operant.tasks.office.text_document import Paragraph, TextDocument
from operant.tasks.suites.office.office_task import Deed, OfficeTask, button, file_names, window
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

WINDOW = (1080, 680)


def call(function: str, **arguments: object) -> Action:
    """A call of one of Writer's functions."""
    return Action.call(f"writer.{function}", arguments)


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


class WordLook(TextTask):
    """One word looks different."""

    skill = "keys"
    family = "looks"
    look: ClassVar[str]

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return paragraph.styled(p.word, **{self.look: True})

    def keys(self, p: Params) -> Sequence[Deed]:
        return [*select_text(p.word), Action.key("ctrl", self.look[0])]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("format_text", text=p.word, **{self.look: True}), call("save")]


class BoldWord(WordLook):
    id = "office/writer-bold-word-v1"
    look = "bold"
    instructions = (
        "Make the word {word} bold in {file}, and save the file.",
        "In {file}, the word {word} should stand out in bold type. Save the document.",
    )


class ItalicWord(WordLook):
    id = "office/writer-italic-word-v1"
    look = "italic"
    instructions = (
        "Put the word {word} in italics in {file}, and save the file.",
        "In {file}, the word {word} should be italic. Save the document.",
    )


class UnderlineWord(WordLook):
    id = "office/writer-underline-word-v1"
    look = "underline"
    unseen = True
    instructions = (
        "Underline the word {word} in {file}, and save the file.",
        "In {file}, the word {word} should be underlined. Save the document.",
    )


class AlignedParagraph(TextTask):
    """One paragraph is aligned in another way."""

    skill = "keys"
    family = "paragraphs"
    align: ClassVar[str]
    shortcut: ClassVar[str]

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return paragraph.changed(align=self.align)

    def keys(self, p: Params) -> Sequence[Deed]:
        return [*select_text(p.word), Action.key("ctrl", self.shortcut)]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("set_paragraph_alignment", align=self.align, paragraphs=[p.number]), call("save")]


class CenterParagraph(AlignedParagraph):
    id = "office/writer-center-v1"
    align, shortcut = "center", "e"
    instructions = (
        "Center the paragraph of {file} that mentions {word}. Save the file.",
        "In {file}, the line with the word {word} should be centered. Save the document.",
    )


class RightParagraph(AlignedParagraph):
    id = "office/writer-align-right-v1"
    align, shortcut = "right", "r"
    unseen = True
    instructions = (
        "Align the paragraph of {file} that mentions {word} to the right. Save the file.",
        "In {file}, the line with the word {word} should end at the right margin. Save the document.",
    )


class JustifyParagraph(AlignedParagraph):
    id = "office/writer-justify-v1"
    align, shortcut = "justify", "j"
    instructions = (
        "Justify the paragraph of {file} that mentions {word}. Save the file.",
        "In {file}, set the line with the word {word} to justified text. Save the document.",
    )


class MakeHeading(TextTask):
    id = "office/writer-heading-v1"
    skill = "keys"
    family = "styles"
    instructions = (
        "Give the paragraph of {file} that mentions {word} the style Heading {level}, and save the file.",
        "In {file}, the line with {word} is a heading of level {level}: set its style to Heading {level}. Save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**super().parameters(draw), "level": draw.choice((1, 2, 3))}

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return paragraph.changed(style=f"Heading {p.level}")

    def keys(self, p: Params) -> Sequence[Deed]:
        return [*select_text(p.word), Action.key("ctrl", str(p.level))]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("set_paragraph_style", style=f"Heading {p.level}", paragraphs=[p.number]), call("save")]


class CorrectWord(TextTask):
    id = "office/writer-correct-word-v1"
    skill = "type"
    family = "texts"
    instructions = (
        "In {file}, replace the word {word} by {new}, and save the file.",
        "{file} says {word} where it should say {new}. Correct it and save the document.",
    )

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return Paragraph.of(p.line.replace(p.word, p.new))

    def keys(self, p: Params) -> Sequence[Deed]:
        return [*select_text(p.word), Action.type(p.new)]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("find_and_replace", find=p.word, replacement=p.new), call("save")]


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

    def keys(self, p: Params) -> Sequence[Deed]:
        return [Action.key("ctrl", "end"), Action.key("enter"), Action.type(p.sentence)]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("insert_paragraph", text=p.sentence), call("save")]


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

    def keys(self, p: Params) -> Sequence[Deed]:
        top = Action.key("ctrl", "home")
        return [top, Action.type(p.title), Action.key("enter"), Action.key("up"), Action.key("ctrl", "1")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("insert_paragraph", text=p.title, before=1, style="Heading 1"), call("save")]


class DeleteParagraph(TextTask):
    id = "office/writer-delete-paragraph-v1"
    skill = "delete"
    family = "texts"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Delete the paragraph about the {word} from {file}, so that no empty line is left. Save the file.",
        "The line of {file} that mentions {word} is wrong. Remove all of it and save the document.",
    )

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*(line for line in p.lines if line != p.line))

    def keys(self, p: Params) -> Sequence[Deed]:
        whole = [Action.key("home"), Action.key("shift", "end"), Action.key("delete")]
        return [*select_text(p.word), *whole, Action.key("delete")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("delete_paragraphs", first=p.number), call("save")]


class ReplaceEverywhere(TextTask):
    id = "office/writer-replace-all-v1"
    skill = "dialog"
    family = "texts"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Replace {old} by {other_name} everywhere in {file}, and save the file.",
        "In {file}, every {old} has to become {other_name}. Save the document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        p = super().parameters(draw)
        old, new = draw.words(2, "surnames")
        lines = [line.replace(" is in ", f" {old} is in ") for line in p["lines"]]
        return {**p, "lines": lines, "old": old, "other_name": new}

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*(line.replace(p.old, p.other_name) for line in p.lines))

    def keys(self, p: Params) -> Sequence[Deed]:
        return [
            Action.key("ctrl", "h"),
            window("Find & Replace"),
            Action.type(p.old),
            Action.key("alt", "p"),
            Action.type(p.other_name),
            button("Replace All"),
            button("Close"),
        ]

    def calls(self, p: Params) -> Sequence[Action]:
        return [call("find_and_replace", find=p.old, replacement=p.other_name), call("save")]


class MakeList(TextTask):
    """All paragraphs become a list."""

    skill = "keys"
    family = "paragraphs"
    listed: ClassVar[str]
    shortcut: ClassVar[tuple[str, ...]]

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*(Paragraph.of(line, listed=self.listed) for line in p.lines))

    def keys(self, p: Params) -> Sequence[Deed]:
        return [Action.key("ctrl", "a"), Action.key(*self.shortcut)]

    def calls(self, p: Params) -> Sequence[Action]:
        numbers = list(range(1, len(p.lines) + 1))
        return [call("set_list", kind=f"{self.listed}s", paragraphs=numbers), call("save")]


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
    BoldWord,
    ItalicWord,
    UnderlineWord,
    CenterParagraph,
    RightParagraph,
    JustifyParagraph,
    MakeHeading,
    CorrectWord,
    AppendParagraph,
    AddTitle,
    DeleteParagraph,
    ReplaceEverywhere,
    BulletList,
    NumberedList,
)
