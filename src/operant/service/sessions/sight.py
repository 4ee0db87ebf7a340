"""What an agent sees of a session when it is asked for one action: all that it would see in an episode.

The widgets are read for agents that want them. What was done before comes from the session itself: a client
that predicts and executes in turn says how many steps it has taken, and those are remembered here.
"""

from __future__ import annotations

from loguru import logger

from operant.errors import AccessibilityError
from operant.service.sessions.session import Session
from operant.types import Node, Observation, Point

__all__ = ["read_widgets", "see"]

TREE_S = 5.0  # a crowded machine may be slow, but a client waits for the answer


def see(session: Session, instruction: str, *, step: int, max_steps: int, with_tree: bool) -> Observation:
    """Look; waits for an action that is under way."""
    with session.exclusive_access():
        desktop = session.desktop
        history = session.past_actions(step)
        session.seen = Observation(
            screen=desktop.frame(),
            instruction=instruction,
            step=step,
            max_steps=max_steps,
            pointer=Point.from_pixel(*desktop.pointer(), desktop.size),
            last_action=history[-1].action if history else None,
            history=history,
            windows=tuple(desktop.windows()),
            tree=read_widgets(session) if with_tree else None,
        )
        return session.seen


def read_widgets(session: Session) -> Node | None:
    """The widgets; None if it is the user's own screen and offers none. The agent then has the picture only."""
    try:
        return session.desktop.accessibility(lines=True, timeout_s=TREE_S)
    except AccessibilityError as error:
        if not session.live:
            raise
        logger.warning("the live screen shows no widgets to the agent: {}", error.message)
        return None
