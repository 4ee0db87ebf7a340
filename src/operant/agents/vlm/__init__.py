"""Vision-language models as agents: loading, prompts, answers, adapters and inference backends.

Names are imported when they are asked for: the libraries behind them take seconds.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from operant.agents.vlm.agent import VLMAgent
    from operant.agents.vlm.prompt import Prompt
    from operant.agents.vlm.trajectory import Trajectory, Turn
    from operant.agents.vlm.wrapper import VLMWrapper

__all__ = ["Prompt", "Trajectory", "Turn", "VLMAgent", "VLMWrapper"]

_HOMES = {
    "Prompt": "prompt",
    "Trajectory": "trajectory",
    "Turn": "trajectory",
    "VLMAgent": "agent",
    "VLMWrapper": "wrapper",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
