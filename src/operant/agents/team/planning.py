"""From a task's instruction to parts: by rules, as the settings fix it, or as a planner says.

Knows nothing of desktops or of how parts are done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from operant.config.team import TeamSettings

__all__ = ["Part", "fixed_plan", "planner_question", "read_plan", "split_instruction"]

QUOTED = re.compile(r'"[^"]*"|`[^`]*`')
NUMBER = re.compile(r"(?:^|\s)\(?\d{1,2}[.)]\s+")
JOINT = re.compile(r"\s*;\s+|,?\s+and then\s+|,\s+then\s+|\.\s+Then,?\s+|\.\s+After that,?\s+", re.IGNORECASE)
BULLET = re.compile(r"^\s*(?:[-*]\s+|\(?\d{1,2}[.)]\s+)?")


@dataclass(frozen=True, slots=True)
class Part:
    """What one member has to do."""

    instruction: str
    member: str
    steps: int | None = None
    """Steps that it may take in all."""


def split_instruction(instruction: str) -> list[str]:
    """A numbered list, or sentences that are joined by a semicolon or by "then", as parts; otherwise one part.

    Nothing is split inside quotes or backticks.
    """
    masked = QUOTED.sub(lambda found: "_" * len(found.group()), instruction)
    numbers = list(NUMBER.finditer(masked))
    joints = numbers if len(numbers) > 1 else list(JOINT.finditer(masked))
    cuts = [0, *(place for joint in joints for place in joint.span()), len(instruction)]
    pieces = [instruction[begin:end].strip() for begin, end in zip(cuts[::2], cuts[1::2], strict=True)]
    if len(numbers) > 1 and pieces[0]:
        # What stands before the list ("In the folder music:") concerns every part.
        return [f"{pieces[0]} {piece}" for piece in pieces[1:] if piece]
    return [piece for piece in pieces if piece]


def fixed_plan(instruction: str, settings: TeamSettings) -> list[Part] | None:
    """The parts where no member plans; None where one does."""
    first = settings.workers[0]
    if settings.parts:
        return [
            Part(part.instruction.replace("{task}", instruction), part.member or first, part.steps)
            for part in settings.parts
        ]
    if settings.planner == "whole":
        return [Part(instruction, first)]
    if settings.planner == "split":
        return _bounded(
            [Part(piece, first) for piece in split_instruction(instruction)], instruction, settings
        )
    return None


def planner_question(instruction: str, workers: Sequence[str]) -> str:
    return (
        "Do not do this task yourself. Split it into parts that are done one after another, and answer with one part a "
        f"line, in the form `member: instruction`. The members are {', '.join(workers)}.\nThe task: {instruction}"
    )


def read_plan(answer: str, instruction: str, settings: TeamSettings) -> list[Part]:
    """The parts that a planner named, one a line; the whole task as one part if it named none or too many."""
    parts = []
    for line in filter(str.strip, answer.splitlines()):
        text = BULLET.sub("", line, count=1).strip()
        name, colon, rest = text.partition(":")
        known = bool(colon) and name.strip() in settings.workers and bool(rest.strip())
        parts.append(Part(rest.strip(), name.strip()) if known else Part(text, settings.workers[0]))
    return _bounded(parts, instruction, settings)


def _bounded(parts: list[Part], instruction: str, settings: TeamSettings) -> list[Part]:
    if 0 < len(parts) <= settings.most_parts:
        return parts
    return [Part(instruction, settings.workers[0])]
