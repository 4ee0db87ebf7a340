"""Mousepad, several documents in tabs: close one, and carry text between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from operant.apps.moves import SELECT_ALL
from operant.apps.view import View
from operant.tasks.criteria import Accessible, AllOf, Criterion, Not
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.editor_desk import (
    BOTTOM,
    COPY,
    NEW,
    PASTE,
    PROGRAM,
    SAVE,
    UNDO,
    UNTITLED,
    WIDE,
    Editor,
    bystanders,
    dialog,
    document,
    errands,
    file_names,
    files_say,
    grounded,
    joined,
    save_as,
    selection,
    show_tab,
    surroundings,
    tab,
    text_of,
    unchanged,
    whole_line,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]


class CloseTab(Editor):
    id = "core/editor-close-tab-v1"
    skill = "navigate"
    family = "tabs"
    difficulty = Difficulty.EASY
    instructions = (
        "Close the tab of {file}, and leave the others open.",
        "Four documents are open in the editor. Close only {file}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        files = bystanders(draw, file_names(draw, 4))
        opened = draw.sample(sorted(files), 4)
        return {"file": draw.choice(opened[:-1]), "files": files, "open": opened, **surroundings(draw, WIDE)}

    def success(self, p: Params) -> Criterion:
        kept = [_has_tab(name) for name in p.open if name != p.file]
        return AllOf(of=(Not(of=_has_tab(p.file)), *kept, *unchanged(p.files)))

    def oracle(self, p: Params) -> Oracle:
        return ClosingTab(p.file)


class CopyBetween(Editor):
    id = "core/editor-copy-between-v1"
    skill = "copy"
    family = "tabs"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Copy the line about {product} from {source} to the end of {target}, and save {target}. "
        "Both are open in tabs.",
        "{target} lacks the line about {product} that {source} has. Copy it to the end of {target} and save "
        "that.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        source, target, other = file_names(draw, 3)
        lines = errands(draw, 8)
        line = draw.choice(lines[:5])
        files = {source: joined(lines[:5]), target: joined(lines[5:]), **bystanders(draw, [other])}
        which = {"source": source, "target": target, "line": line, "product": line.split()[2]}
        return {**which, "files": files, "open": [source, target], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.target: p.files[p.target] + p.line})

    def oracle(self, p: Params) -> Oracle:
        return Carrying(p.source, p.files, {p.target: p.line})


class MergeFiles(Editor):
    id = "core/editor-merge-files-v1"
    skill = "copy"
    family = "tabs"
    difficulty = Difficulty.HARD
    instructions = (
        "Merge {a}, {b} and {c}, one after another, into a new document and save it as {whole}.",
        "Make one file {whole} out of the three open documents: first all of {a}, then {b}, then {c}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c, whole = file_names(draw, 4)
        lines = errands(draw, 8)
        files = {a: joined(lines[:3]), b: joined(lines[3:5]), c: joined(lines[5:])}
        names = {"a": a, "b": b, "c": c, "whole": whole}
        return {**names, "files": files, "open": draw.sample([a, b, c], 3), **surroundings(draw, WIDE)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.whole: "".join(p.files.values())})

    def oracle(self, p: Params) -> Oracle:
        return Merging(p.files, p.whole)


class Distribute(Editor):
    id = "core/editor-distribute-v1"
    skill = "copy"
    family = "tabs"
    difficulty = Difficulty.HARD
    unseen = True
    instructions = (
        "Copy lines of {source} to where they belong: the one about {a} to the end of {first}, the one about "
        "{b} to the end of {second}, and the one about {c} to the end of {third}. Save all three.",
        "Three lines of {source} are needed elsewhere. Add the line with {a} to {first}, the line with {b} "
        "to {second} and the line with {c} to {third}, always at the end, and save these files.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        source, *targets = file_names(draw, 4)
        lines = errands(draw, 8)
        chosen = draw.sample(lines[:5], 3)
        files = {source: joined(lines[:5])} | {
            name: line + "\n" for name, line in zip(targets, lines[5:], strict=True)
        }
        which = dict(zip(("first", "second", "third"), targets, strict=True))
        which |= {key: line.split()[2] for key, line in zip("abc", chosen, strict=True)}
        more = {"source": source, "targets": targets, "chosen": chosen}
        return {**which, **more, "files": files, "open": [source, *targets], **surroundings(draw, WIDE)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {name: p.files[name] + line for name, line in self._wanted(p).items()})

    def oracle(self, p: Params) -> Oracle:
        return Carrying(p.source, p.files, self._wanted(p))

    def _wanted(self, p: Params) -> dict[str, str]:
        return dict(zip(p.targets, p.chosen, strict=True))


def _has_tab(name: str) -> Criterion:
    return Accessible(app=PROGRAM, role="page tab", name=name)


# Oracles.


@dataclass(frozen=True)
class ClosingTab:
    name: str

    def act(self, view: View) -> Action:
        if (there := grounded(view)) is not None:
            return there
        if tab(view, self.name) is None:
            return Action.done()
        return Action.key("ctrl", "w") if document(view) == self.name else show_tab(view, self.name)


@dataclass(frozen=True)
class Carrying:
    """Copy lines of one document to the ends of others, one after another."""

    source: str
    files: Mapping[str, str]
    wanted: Mapping[str, str]

    def act(self, view: View) -> Action:
        left = [name for name in self.wanted if view.read(name) != self.files[name] + self.wanted[name]]
        if (there := grounded(view)) is not None:
            return there
        if not left:
            return Action.done()
        target, line = left[0], self.wanted[left[0]]
        name, text = document(view), text_of(view)
        if name == self.source:
            if text != self.files[self.source]:
                return UNDO
            if view.clipboard() == line:
                return show_tab(view, target)
            return COPY if selection(view) == line else whole_line(text, line)(view)
        if name == target:
            return self._at_target(view, text, target, line)
        return show_tab(view, target if view.clipboard() == line else self.source)

    def _at_target(self, view: View, text: str | None, target: str, line: str) -> Action:
        if text == self.files[target] + line:
            return Action.wait() if view.last == SAVE else SAVE
        if text != self.files[target]:
            return UNDO
        if view.clipboard() != line:
            return show_tab(view, self.source)
        return PASTE if view.last == BOTTOM else BOTTOM


@dataclass(frozen=True)
class Merging:
    """Copy whole documents into a new one, one after another, and save that."""

    files: Mapping[str, str]
    whole: str

    def act(self, view: View) -> Action:
        everything = "".join(self.files.values())
        name, text = document(view), text_of(view)
        if dialog(view) is None and view.read(self.whole) == everything:
            return Action.done()
        if name == UNTITLED and text == everything:
            return save_as(view, self.whole, SAVE)
        if (there := grounded(view)) is not None:
            return there
        if tab(view, UNTITLED) is None:
            return NEW
        if name is not None and name in self.files:
            return self._at_source(view, name, text)
        return self._at_target(view, text or "")

    def _at_source(self, view: View, name: str, text: str | None) -> Action:
        if text != self.files[name]:
            return UNDO
        if view.clipboard() == text:
            return show_tab(view, UNTITLED)
        return COPY if selection(view) == text else SELECT_ALL

    def _at_target(self, view: View, text: str) -> Action:
        written = ""
        for name, content in self.files.items():
            if text == written:
                if view.clipboard() != content:
                    return show_tab(view, name)
                return PASTE if view.last == BOTTOM else BOTTOM
            written += content
        return UNDO


TEMPLATES: tuple[type[Template], ...] = (
    CloseTab,
    CopyBetween,
    MergeFiles,
    Distribute,
)
