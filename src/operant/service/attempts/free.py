"""Instructions that somebody just says. Nobody can check those, so the agent's own word is all there is."""

from __future__ import annotations

from operant.errors import VerifierError
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.task import Task
from operant.types import Difficulty

__all__ = ["FREE", "free_task", "is_free"]

FREE = "free/instruction-v1"


class NobodyKnows(Criterion):
    """Neither success nor failure is known, and the episode says so."""

    def check(self, world: World) -> Verdict:
        raise VerifierError("a free instruction has no criteria, so nobody has checked it")


def free_task(instruction: str, max_steps: int) -> Task:
    """A task that begins from whatever is on the screen."""
    return Task(FREE, instruction, Difficulty.of_steps(max_steps), NobodyKnows(), max_steps=max_steps)


def is_free(task: Task) -> bool:
    return task.id == FREE
