"""Tool invocation: functions called where they help, and left alone where they do not."""

from __future__ import annotations

import pytest

from operant.evaluation.tool_use import ToolUse, tool_invocation_rate


def test_only_solved_tasks_with_the_right_means_count() -> None:
    episodes = [
        ToolUse("helped", solved=True, calls=2),
        ToolUse("helped", solved=True, calls=0),
        ToolUse("helped", solved=False, calls=2),
        ToolUse("other", solved=True, calls=0),
        ToolUse("other", solved=True, calls=1),
        ToolUse("other", solved=False, calls=0),
    ]
    assert tool_invocation_rate(episodes, {"helped"}) == pytest.approx(2 / 6)
    assert tool_invocation_rate([], {"helped"}) is None
