"""The tools that clients are offered, by name.

A further group is a module with tools and one line in ``tools_of``.
"""

from __future__ import annotations

from typing import Any

from operant.mcp.offer import Offer
from operant.mcp.tools import acting, files, functions, looking, programs
from operant.mcp.tools.base import Tool
from operant.mcp.tools.episode import BEGIN_TASK, RESET, SUBMIT

__all__ = ["Tool", "tools_of"]


def tools_of(offer: Offer) -> dict[str, Tool[Any]]:
    """What the clients of a server can do."""
    hands = acting.TOOLS if offer.desktop.actions != "api" else ()
    tools: list[Tool[Any]] = [*looking.TOOLS, *hands, *programs.TOOLS, *files.TOOLS, RESET]
    tools += functions.tools_for(offer.desktop.actions)
    if offer.has_tasks:
        tools += [*([BEGIN_TASK] if offer.templates else []), SUBMIT]
    return {tool.name: tool for tool in tools}
