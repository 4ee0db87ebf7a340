"""For tests: a desktop without X, tasks that can be learned on it, and the check that every task should pass.

Shipped, so that users can test their own tasks and agents in milliseconds.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from operant.testing.fake_desktop import FakeDesktop
    from operant.testing.fake_tasks import FAKE_TEMPLATES
    from operant.testing.oracle_harness import TaskCheck, check_task

__all__ = ["FAKE_TEMPLATES", "FakeDesktop", "TaskCheck", "check_task"]

_HOMES = {
    "FAKE_TEMPLATES": "operant.testing.fake_tasks",
    "FakeDesktop": "operant.testing.fake_desktop",
    "TaskCheck": "operant.testing.oracle_harness",
    "check_task": "operant.testing.oracle_harness",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
