"""Starting over, beginning a task, and handing it in."""

from __future__ import annotations

import json

from pydantic import Field

from operant.mcp.session import DesktopSession
from operant.mcp.tools.acting import reply_after
from operant.mcp.tools.base import Acting, Arguments, Tool, ToolReply

__all__ = ["BEGIN_TASK", "RESET", "SUBMIT"]


class _Begin(Acting):
    task: str = Field(min_length=1, max_length=200, description="Its id, such as core/browser-fill-field-v1.")
    seed: int = Field(0, ge=0, le=2**31, description="Which instance of it.")


class _Submit(Arguments):
    answer: str | None = Field(None, max_length=10_000, description="For a task that asks a question.")


def reset(session: DesktopSession, a: Acting) -> ToolReply:
    session.restart()
    return reply_after(session, "The desktop is as it was at the start.", a)


def begin_task(session: DesktopSession, a: _Begin) -> ToolReply:
    task = session.offer.task_of(a.task, a.seed)
    session.restart(task)
    said = f"{task.instruction}\nAt most {task.max_steps} steps. Call submit when it is done."
    return reply_after(session, said, a)


def submit(session: DesktopSession, a: _Submit) -> ToolReply:
    ended = session.submit(a.answer)
    verdict = {
        "task": ended.task,
        "outcome": ended.outcome.value,
        "success": ended.success,
        "why": ended.why,
        "steps": ended.steps,
        "seconds": round(ended.total_s, 2),
    }
    return ToolReply(json.dumps(verdict))


RESET = Tool(
    "reset", "Back to the start; a task begins again. Everything on the desktop is lost.", Acting, reset
)
BEGIN_TASK = Tool(
    "begin_task", "Set a task up on a fresh desktop and read what is to be done.", _Begin, begin_task
)
SUBMIT = Tool(
    "submit", "End the task and return the verdict. Nothing can be done afterwards.", _Submit, submit
)
