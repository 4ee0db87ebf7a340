"""Functions of applications as tools: one for each function, where the server's ``actions`` allow calls.

Names have an underscore in place of the dot (``files_move``): some clients refuse dots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from operant.calls.catalog import offered_functions
from operant.calls.declaration import Function
from operant.calls.tools import tool_schema
from operant.errors import InvalidAction
from operant.mcp.session import DesktopSession
from operant.mcp.tools.base import Acting, Tool, ToolReply
from operant.types import Action, ActionMode

__all__ = ["FunctionTool", "tools_for"]


@dataclass(frozen=True)
class FunctionTool(Tool[Acting]):
    """A tool whose arguments are those of a function."""

    function: Function | None = None

    def schema(self) -> dict[str, Any]:
        assert self.function is not None
        return tool_schema(self.function)

    def call(self, session: DesktopSession, given: Mapping[str, Any]) -> ToolReply:
        assert self.function is not None
        transition = session.act(Action.call(self.function.full_name, given))
        return ToolReply(str(transition.info.get("result") or "done"))


def _never(session: DesktopSession, arguments: Acting) -> ToolReply:
    raise InvalidAction("a function is called by its own arguments")


def tools_for(actions: ActionMode) -> list[Tool[Any]]:
    """A tool for each function that is offered."""
    return [
        FunctionTool(one.tool_name, one.doc, Acting, _never, function=one)
        for one in offered_functions(actions, everything=True)
    ]
