"""What an agent said, checked: foreign code may return anything.

Knows nothing of desktops: whether an action can be performed there is found out by performing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from operant.actions.json_actions import from_json, to_json
from operant.agents.base import Decision, Usage
from operant.errors import InvalidAction
from operant.types import Action

__all__ = ["check_decision", "what_is_wrong"]


def check_decision(said: object) -> Decision:
    """A turn whose fields have their types; without actions and with an ``error`` if it holds none.

    Each action is still to be checked: those before a wrong one are performed.
    """
    if said is None:
        return Decision(error="the agent gave no action")
    if not isinstance(said, Decision):
        if isinstance(said, Action):
            return Decision((said,))
        return Decision(error=_not(said, "an action"))
    given: object = said.actions
    actions, error = said.actions, str(said.error)
    if not isinstance(given, tuple):
        actions, error = (), _not(given, "a tuple of actions")
    elif not actions and not said.end:
        error = error or "the agent gave no action"
    return replace(
        said,
        actions=actions,
        response=str(said.response),
        error="" if actions else error,
        record=said.record if isinstance(said.record, Mapping) else {},
        usage=said.usage if isinstance(said.usage, Usage) else None,
        end=str(said.end),
        actor=str(said.actor),
        desktop=str(said.desktop),
        checks=tuple(map(str, said.checks)) if isinstance(said.checks, (tuple, list)) else (),
    )


def what_is_wrong(action: object) -> str | None:
    """Why something is no action; None if it is one. Also finds fields of the wrong type in a real one."""
    if not isinstance(action, Action):
        return _not(action, "an action")
    try:
        from_json(to_json(action))
    except InvalidAction as error:
        return error.message
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        return f"the agent returned a malformed action: {error}"
    return None


def _not(value: object, wanted: str) -> str:
    return f"the agent returned {_quote(value)}, a {type(value).__name__} and not {wanted}"


def _quote(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - foreign code
        return "something"
    return text if len(text) <= 80 else text[:77] + "..."
