"""Mousepad, several documents in tabs: close one, and carry text between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.mousepad import document_goals
from operant.tasks.changes import Change
from operant.tasks.criteria import Accessible, Criterion, Not
from operant.tasks.draw import Draw
from operant.tasks.suites.core.editor_changes import (
    WIDE,
    Editor,
    bystanders,
    carried,
    errands,
    file_names,
    joined,
    surroundings,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

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

    def changes(self, p: Params) -> Sequence[Change]:
        kept = [_has_tab(name) for name in p.open if name != p.file]
        return [Change(document_goals.tab_closed(p.file), holds=[Not(of=_has_tab(p.file)), *kept])]


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

    def changes(self, p: Params) -> Sequence[Change]:
        return [carried(p, p.target, p.line)]


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

    def changes(self, p: Params) -> Sequence[Change]:
        everything = "".join(p.files.values())
        goal = document_goals.merged(p.files, p.whole)
        return [Change(goal, lambda disk: disk.write(p.whole, everything))]


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

    def changes(self, p: Params) -> Sequence[Change]:
        return [carried(p, target, line) for target, line in zip(p.targets, p.chosen, strict=True)]


def _has_tab(name: str) -> Criterion:
    return Accessible(app="mousepad", role="page tab", name=name)


TEMPLATES: tuple[type[Template], ...] = (
    CloseTab,
    CopyBetween,
    MergeFiles,
    Distribute,
)
