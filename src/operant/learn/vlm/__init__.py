"""Learning from the trajectories of vision-language agents: one file per algorithm, and one trainer for all.

To add an algorithm: write ``operant/learn/vlm/<name>.py`` with a subclass of ``base.Algorithm``, and one line in
``ALGORITHMS``. Modules are imported when they are asked for.
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, Any

from operant.errors import ConfigError

if TYPE_CHECKING:
    from operant.learn.vlm.base import Algorithm

__all__ = ["ALGORITHMS", "make_algorithm"]

#: name -> "module:class"
ALGORITHMS: dict[str, str] = {
    "rejection_sampling": "rejection_sampling:RejectionSampling",
    "sft": "sft:SFT",
    "ppo": "ppo:PPO",
    "grpo": "grpo:GRPO",
    "reinforce": "reinforce:ReinforcePlusPlus",
    "rloo": "reinforce:RLOO",
}


def make_algorithm(name: str, **settings: Any) -> Algorithm:
    """The algorithm of that name; wrong names and settings are errors that say what is right."""
    if name not in ALGORITHMS:
        near = difflib.get_close_matches(name, ALGORITHMS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"algorithms: {', '.join(ALGORITHMS)}"
        raise ConfigError(f"there is no algorithm {name!r}", hint=hint)
    module, _, attribute = ALGORITHMS[name].partition(":")
    return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)(**settings)  # type: ignore[no-any-return]
