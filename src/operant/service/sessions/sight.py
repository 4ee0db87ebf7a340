"""What an agent sees of a session when it is asked for one action: all that it would see in an episode.

The widgets are read for agents that want them. What was done before comes from the session itself: a client
that predicts and executes in turn says how many steps it has taken, and those are remembered here.
"""

from __future__ import annotations

from operant.service.sessions.session import Session
from operant.types import Observation, Point

__all__ = ["see"]

TREE_S = 5.0  # a crowded machine may be slow, but somebody waits for the answer


def see(session: Session, instruction: str, *, step: int, max_steps: int, with_tree: bool) -> Observation:
    """Look; waits for an action that is under way."""
    with session.hands():
        desktop = session.desktop
        history = session.deeds(step)
        session.seen = Observation(
            screen=desktop.frame(),
            instruction=instruction,
            step=step,
            max_steps=max_steps,
            pointer=Point.from_pixel(*desktop.pointer(), desktop.size),
            last_action=history[-1].action if history else None,
            history=history,
            windows=tuple(desktop.windows()),
            tree=desktop.accessibility(lines=True, timeout_s=TREE_S) if with_tree else None,
        )
        return session.seen
