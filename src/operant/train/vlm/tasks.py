"""Where a run's tasks come from. Imports no model library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from operant.calls.catalog import ALWAYS, functions_of
from operant.calls.declaration import Function
from operant.config.vlm_training import ActorSettings, VLMTrainingConfig
from operant.envs.task_source import TaskSource
from operant.tasks.suites import select
from operant.tasks.template import Template
from operant.types import ActionMode

__all__ = ["phrasings", "task_source"]

BLANK = re.compile(r"\{[^}]*\}")


def task_source(config: VLMTrainingConfig, tasks: Sequence[Any] | None = None) -> TaskSource:
    """Where tasks are drawn from; ``tasks`` in place of those that the settings name."""
    settings, profile = config.environment, config.desktop.chosen_profile
    if tasks is None and config.actor.session_type is not None:
        return TaskSource([_session(config.actor)])
    if tasks is None:
        source = TaskSource.of(settings.suite, settings.split, settings.difficulty)
    else:
        source = TaskSource(tasks, settings.split)
    source.profile, source.max_steps = profile, config.actor.max_steps_per_episode
    if not settings.tasks:
        return source
    source.tasks = tuple(select(source.tasks, settings.tasks, settings.suite))
    return source


def _session(actor: ActorSettings) -> Template:
    from operant.tasks.ui_rl import MAX_STEPS, SessionTemplate

    assert actor.session_type is not None
    steps = actor.max_steps_per_episode or MAX_STEPS
    return SessionTemplate(actor.session_type, actor.task_prompt or "", max_steps=steps)


def phrasings(source: TaskSource, actions: ActionMode = "gui") -> list[str]:
    """How the tasks of a source are worded, between their blanks, and calls where they are allowed."""
    called = functions_of(ALWAYS) if actions != "gui" else ()
    found: dict[str, None] = dict.fromkeys(_call_opening(one) for one in called)
    for one in source.tasks:
        worded = one.instructions if isinstance(one, Template) else (one.instruction,)
        for text in worded:
            found |= dict.fromkeys(part for part in BLANK.split(f"Task: {text}\n") if part)
    return list(found)


def _call_opening(function: Function) -> str:
    """A call in JSON up to its first argument."""
    first = f'"{function.parameters[0].name}": "' if function.parameters else ""
    return f'{{"kind": "call", "function": "{function.full_name}", "kwargs": {{{first}'
