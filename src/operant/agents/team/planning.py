"""From a task's instruction to parts: by rules, as the settings fix it, or as a planner says.

Knows nothing of desktops or of how parts are done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from operant.config.team import TeamSettings

__all__ = ["Part", "fixed_plan", "in_stages", "planner_question", "read_plan", "split_instruction"]

QUOTED = re.compile(r'"[^"]*"|`[^`]*`')
NUMBER = re.compile(r"(?:^|\s)\(?\d{1,2}[.)]\s+")
IN_ORDER = re.compile(r"then|after that", re.IGNORECASE)
AFTER = re.compile(r"then:?\s+", re.IGNORECASE)
JOINT = re.compile(r"\s*;\s+|,?\s+and then\s+|,\s+then\s+|\.\s+Then,?\s+|\.\s+After that,?\s+", re.IGNORECASE)
BULLET = re.compile(r"^\s*(?:[-*]\s+|\(?\d{1,2}[.)]\s+)?")


@dataclass(frozen=True, slots=True)
class Part:
    """What one member has to do."""

    instruction: str
    member: str
    steps: int | None = None
    """Steps that it may take in all."""
    alone: bool = False
    """It needs the parts before it, so it is not done beside them."""


def split_instruction(instruction: str) -> list[tuple[str, bool]]:
    """A numbered list, or sentences that are joined by a semicolon or by "then", as parts; otherwise one part.

    With each part, whether it comes after those before it ("then"). Nothing is split inside quotes or backticks.
    """
    masked = QUOTED.sub(lambda found: "_" * len(found.group()), instruction)
    numbers = list(NUMBER.finditer(masked))
    joints = numbers if len(numbers) > 1 else list(JOINT.finditer(masked))
    cuts = [0, *(place for joint in joints for place in joint.span()), len(instruction)]
    pieces = [instruction[begin:end].strip() for begin, end in zip(cuts[::2], cuts[1::2], strict=True)]
    after = [False, *(IN_ORDER.search(joint.group()) is not None for joint in joints)]
    if len(numbers) > 1 and pieces[0]:
        # What stands before the list ("In the folder music:") concerns every part.
        return [(f"{pieces[0]} {piece}", False) for piece in pieces[1:] if piece]
    return [(piece, later) for piece, later in zip(pieces, after, strict=True) if piece]


def fixed_plan(instruction: str, settings: TeamSettings) -> list[Part] | None:
    """The parts where no member plans; None where one does."""
    first = settings.workers[0]
    if settings.parts:
        return [
            Part(
                part.instruction.replace("{task}", instruction), part.member or first, part.steps, part.alone
            )
            for part in settings.parts
        ]
    if settings.planner == "whole":
        return [Part(instruction, first)]
    if settings.planner == "split":
        pieces = [Part(piece, first, alone=after) for piece, after in split_instruction(instruction)]
        return _bounded(pieces, instruction, settings)
    return None


def planner_question(instruction: str, settings: TeamSettings) -> str:
    how = "that are done one after another"
    if settings.desktops > 1:
        how = (
            "that are done at the same time, each on a desktop of its own that begins like this one; the files that they"
            f" make or change are then brought here, and the folder {settings.shared} is the same on all. A part that"
            " needs those before it is done here after them: put `then ` before its line"
        )
    return (
        f"Do not do this task yourself. Split it into parts {how}. Answer with one part a line, in the form"
        f" `member: instruction`. The members are {', '.join(settings.workers)}.\nThe task: {instruction}"
    )


def read_plan(answer: str, instruction: str, settings: TeamSettings) -> list[Part]:
    """The parts that a planner named, one a line; the whole task as one part if it named none or too many."""
    parts = []
    for line in filter(str.strip, answer.splitlines()):
        text = BULLET.sub("", line, count=1).strip()
        after = AFTER.match(text)
        text = text[after.end() :] if after else text
        name, colon, rest = text.partition(":")
        known = bool(colon) and name.strip() in settings.workers and bool(rest.strip())
        member, instructed = (name.strip(), rest.strip()) if known else (settings.workers[0], text)
        parts.append(Part(instructed, member, alone=after is not None))
    return _bounded(parts, instruction, settings)


def _bounded(parts: list[Part], instruction: str, settings: TeamSettings) -> list[Part]:
    if 0 < len(parts) <= settings.most_parts:
        return parts
    return [Part(instruction, settings.workers[0])]


def in_stages(parts: Sequence[Part], desktops: int) -> list[list[Part]]:
    """Parts that are done at once, stage by stage; with one desktop, each by itself."""
    stages: list[list[Part]] = []
    for part in parts:
        beside = stages and desktops > 1 and not part.alone and not stages[-1][-1].alone
        if beside:
            stages[-1].append(part)
        else:
            stages.append([part])
    return stages
