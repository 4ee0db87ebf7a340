"""The criterion on what the agent reports in words."""

from __future__ import annotations

import math
import re

from pydantic import Field, model_validator

from operant.errors import TaskError
from operant.tasks.criteria.base import Criterion, Verdict, World

__all__ = ["Answer"]

NUMBER = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+\u2212]?\.\d+")
MAX_ANSWER = 1000
QUOTES = "\"'`\u201c\u201d\u2018\u2019"


class Answer(Criterion):
    """The agent reported that, and nothing else: an answer that lists every possibility is none."""

    text: str = Field(min_length=1)
    """The right answer."""
    ignore_case: bool = True
    """Whether capital and small letters are the same."""
    numeric: bool = False
    """Whether it is a number, which may stand in a sentence as the only one."""

    @model_validator(mode="after")
    def _is_a_number(self) -> Answer:
        if self.numeric and len(_numbers(self.text)) != 1:
            raise TaskError(f"the answer {self.text!r} is not a number")
        return self

    def check(self, world: World) -> Verdict:
        if world.answer is None:
            return Verdict(False, f"the agent reported no answer, expected {self.text[:80]!r}")
        said = world.answer
        shown = f"the agent reported {said[:80]!r}"
        if len(said) > MAX_ANSWER:
            shown += f" and {len(said) - 80} more characters"
        elif self._fits(said):
            return Verdict(True, shown)
        return Verdict.compared(False, shown, repr(self.text[:80]))

    def _fits(self, said: str) -> bool:
        if not self.numeric:
            return self._plain(said) == self._plain(self.text)
        numbers = _numbers(said)
        (wanted,) = _numbers(self.text)
        return len(numbers) == 1 and math.isclose(numbers[0], wanted, rel_tol=1e-9, abs_tol=1e-9)

    def _plain(self, text: str) -> str:
        bare = " ".join(text.split()).removesuffix(".").strip(QUOTES + " ").removesuffix(".")
        return bare.casefold() if self.ignore_case else bare


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "").replace("\u2212", "-")) for found in NUMBER.findall(text)]
