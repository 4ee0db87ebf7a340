"""Writer: change what a letter says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.tasks.draw import Draw
from operant.tasks.office.text_document import Paragraph, TextDocument
from operant.tasks.suites.office.letter import LINE, TextTask, find
from operant.tasks.suites.office.office_task import OracleStep, replace_all
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]


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


class InsertParagraph(TextTask):
    id = "office/writer-insert-v1"
    skill = "type"
    family = "texts"
    instructions = (
        "In {file}, write a new paragraph directly before the one about {name}: {sentence} Save the file.",
        "Put this sentence on a line of its own above {name}'s paragraph in {file}, and save it: {sentence}",
    )
    heldout_instructions = (
        "The paragraph that mentions {name} in {file} should have another one right above it, which reads: {sentence} "
        "Save the document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        sentence = f"Please {draw.word('verbs')} the {draw.word('nouns')}."
        return {**super().parameters(draw), "sentence": sentence}

    def after(self, p: Params) -> TextDocument:
        at = p.number - 1
        return TextDocument.of(*p.lines[:at], p.sentence, *p.lines[at:])

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.name, p.file), Action.key("home"), Action.type(f"{p.sentence}\n")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("insert_paragraph", text=p.sentence, before=p.number)]


class DeleteParagraph(TextTask):
    difficulty = Difficulty.MEDIUM
    id = "office/writer-delete-v1"
    skill = "delete"
    family = "texts"
    instructions = (
        "Delete the paragraph about {name} from {file}, so that no empty line is left. Save the file.",
        "{name}'s line does not belong into {file}. Take the whole paragraph out and save the document.",
    )
    heldout_instructions = (
        "Remove the sentence that mentions {name} from {file}, with its line, and keep the others. Save it.",
    )

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*(line for line in p.lines if line != p.line))

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.name, p.file), *LINE, *[Action.key("delete")] * 2]  # what it says, then the line

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("delete_paragraphs", first=p.number)]


class RewriteParagraph(TextTask):
    difficulty = Difficulty.MEDIUM
    id = "office/writer-rewrite-v1"
    skill = "type"
    family = "texts"
    instructions = (
        "Replace the sentence about {name} in {file} by this one: {sentence} Save the file.",
        "In {file}, the paragraph that names {name} should say instead: {sentence} Save the document.",
    )
    heldout_instructions = (
        "{sentence} That is what should stand in {file} where it speaks of {name} now. Change it and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        values = super().parameters(draw)
        return {**values, "sentence": f"The {values['new']} is lost."}

    def changed(self, paragraph: Paragraph, p: Params) -> Paragraph:
        return Paragraph.of(p.sentence)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.name, p.file), *LINE, Action.type(p.sentence)]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_paragraph_text", paragraph=p.number, text=p.sentence)]


class MoveParagraph(TextTask):
    id = "office/writer-move-v1"
    skill = "keys"
    family = "texts"
    unseen = True
    instructions = (
        "Move the paragraph about {name} in {file} up by one, so that it stands before the one above it. Save the file.",
        "In {file}, {name}'s paragraph should change places with the paragraph above it. Save the document.",
    )
    heldout_instructions = (
        "Swap the paragraph that mentions {name} in {file} with the one directly above, and save it.",
    )

    def after(self, p: Params) -> TextDocument:
        lines, at = list(p.lines), p.number - 1
        lines[at - 1], lines[at] = lines[at], lines[at - 1]
        return TextDocument.of(*lines)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*find(p.name, p.file), Action.key("ctrl", "alt", "up")]

    def calls(self, p: Params) -> Sequence[Action]:
        """Writer's functions move no paragraph, so both are written anew."""
        return [
            self.call("set_paragraph_text", paragraph=p.number - 1, text=p.line),
            self.call("set_paragraph_text", paragraph=p.number, text=p.lines[p.number - 2]),
        ]


class ReplaceInLetter(TextTask):
    id = "office/writer-replace-v1"
    skill = "dialog"
    family = "texts"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Replace {word} by {new} everywhere in {file}, and save the file.",
        "{file} says {word} several times. It should say {new} each time. Save the document.",
    )
    heldout_instructions = ("Every {word} in {file} should become {new}. Save it when that is done.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        values = super().parameters(draw)
        lines, at, other = list(values["lines"]), values["number"] - 1, draw.choice((0, -1))
        lines[other] = f"{lines[other][:-1]}, near the {values['word']}."
        return {**values, "lines": lines, "line": lines[at]}

    def after(self, p: Params) -> TextDocument:
        return TextDocument.of(*(line.replace(p.word, p.new) for line in p.lines))

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return replace_all(p.word, p.new)

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("find_and_replace", find=p.word, replacement=p.new)]


TEMPLATES: tuple[type[Template], ...] = (
    AppendParagraph,
    InsertParagraph,
    DeleteParagraph,
    RewriteParagraph,
    MoveParagraph,
    ReplaceInLetter,
)
