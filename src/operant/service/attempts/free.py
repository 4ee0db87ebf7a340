"""Free instructions, with or without criteria to check them by.

Without criteria an attempt ends ``unverified``: what the agent says of itself is a claim, not a success.
"""

from __future__ import annotations

from dataclasses import replace

from operant.config.desktop import Profile
from operant.errors import RequestForbidden
from operant.service.sessions.session import Session
from operant.tasks.criteria.base import Criterion, NoCriteria
from operant.tasks.task import Task
from operant.types import Difficulty

__all__ = ["FREE", "free_task", "is_free", "task_for"]

FREE = "free/instruction-v1"


def free_task(
    instruction: str, max_steps: int, success: Criterion | None = None, profile: Profile = "full"
) -> Task:
    """A task that begins from whatever is on the screen; ``profile`` is for one that gets a desktop of its own."""
    return Task(
        FREE,
        instruction,
        Difficulty.of_steps(max_steps),
        success or NoCriteria(),
        max_steps=max_steps,
        profile=profile,
    )


def is_free(task: Task) -> bool:
    return task.id == FREE


def task_for(session: Session, task: Task) -> Task:
    """The task as it is done in that session, whose criteria decide about an instruction that has none."""
    if not task.checked and session.success is not None:
        task = replace(task, success=session.success)
    if session.live and task.checked:
        raise RequestForbidden(
            "set-ups and criteria work in sandboxed desktops only, not on the screen of this machine",
            hint="give an instruction without success_criteria, or name another session",
        )
    return task
