"""Text that must not be kept: masked before it reaches a log, an episode, an answer or a metric.

Pixels are not masked: a password field hides what is typed, a terminal does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from operant.rollout.episode import EpisodeResult, Step
from operant.types import Action, ActionKind, Node, Observation

if TYPE_CHECKING:
    from operant.rollout.recorders import Recorder
    from operant.tasks.task import Task

__all__ = ["MASK", "MaskedRecorder", "mask_action", "mask_observation", "mask_text"]

MASK = "•••"


def mask_text(text: str, secrets: Sequence[str]) -> str:
    """The text without the secrets; the longest first, so that one inside another leaves nothing."""
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            text = text.replace(secret, MASK)
    return text


def mask_action(action: Action, secrets: Sequence[str] = (), *, wholly: bool = False) -> Action:
    """The action as it may be told: ``wholly`` masks all that it types."""
    if action.kind in (ActionKind.KEY, ActionKind.KEY_DOWN, ActionKind.KEY_UP, ActionKind.HOLD):
        return replace(action, keys=("space",)) if wholly else action
    if action.kind is ActionKind.CALL:
        if wholly:
            return replace(action, args=(MASK,) if action.args or action.kwargs else (), kwargs=())
        args, kwargs = _mask_values((action.args, action.kwargs), secrets)
        return replace(action, args=args, kwargs=kwargs)
    if not action.text:
        return action
    return replace(action, text=MASK if wholly else mask_text(action.text, secrets))


def mask_observation(observation: Observation, secrets: Sequence[str]) -> Observation:
    """The observation without the secrets in its texts: windows, widgets and past actions."""
    if not any(secrets):
        return observation
    history = tuple(
        replace(one, action=mask_action(one.action, secrets), target=mask_text(one.target, secrets))
        for one in observation.history
    )
    return replace(
        observation,
        instruction=mask_text(observation.instruction, secrets),
        history=history,
        last_action=observation.last_action and mask_action(observation.last_action, secrets),
        windows=tuple(
            replace(window, title=mask_text(window.title, secrets)) for window in observation.windows
        ),
        tree=None if observation.tree is None else _mask_node(observation.tree, secrets),
        error=None if observation.error is None else mask_text(observation.error, secrets),
        results=(),  # the steps tell it, masked
    )


def _mask_node(node: Node, secrets: Sequence[str]) -> Node:
    return replace(
        node,
        name=mask_text(node.name, secrets),
        text=None if node.text is None else mask_text(node.text, secrets),
        description=mask_text(node.description, secrets),
        url=None if node.url is None else mask_text(node.url, secrets),
        children=tuple(_mask_node(child, secrets) for child in node.children),
    )


class MaskedRecorder:
    """Hands everything on to another recorder, without the secrets."""

    def __init__(self, recorder: Recorder, secrets: Sequence[str]) -> None:
        self._recorder = recorder
        self._secrets = tuple(secrets)

    def begin(self, task: Task) -> None:
        parameters = _mask_values(dict(task.parameters), self._secrets)
        self._recorder.begin(
            replace(task, instruction=mask_text(task.instruction, self._secrets), parameters=parameters)
        )

    def look(self, observation: Observation) -> None:
        self._recorder.look(mask_observation(observation, self._secrets))

    def step(self, step: Step, observation: Observation) -> None:
        step = replace(
            step,
            action=None if step.action is None else mask_action(step.action, self._secrets),
            response=mask_text(step.response, self._secrets),
            invalid=None if step.invalid is None else mask_text(step.invalid, self._secrets),
            info=_mask_values(dict(step.info), self._secrets),
            record=_mask_values(dict(step.record), self._secrets),
            state=_mask_values(dict(step.state), self._secrets),
        )
        self._recorder.step(step, mask_observation(observation, self._secrets))

    def end(self, result: EpisodeResult) -> None:
        self._recorder.end(replace(result, why=mask_text(result.why, self._secrets)))

    def abandon(self) -> None:
        self._recorder.abandon()


def _mask_values(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return mask_text(value, secrets)
    if isinstance(value, dict):
        return {key: _mask_values(item, secrets) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_mask_values(item, secrets) for item in value)
    return value
