"""Which tasks a run plays: chosen and checked by name before any desktop starts."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from operant.errors import ConfigError, TaskError
from operant.tasks.oracle import check_oracles
from operant.tasks.suites import load_suite, select
from operant.tasks.template import Template
from operant.train.config import TrainConfig
from operant.types import Difficulty

__all__ = ["choose_tasks", "parse_difficulty", "stages_of", "starting_stage", "training_templates"]


def choose_tasks(config: TrainConfig) -> tuple[Template, ...]:
    """The templates to draw from. Stages begin with a difficulty and go on; otherwise it is the only one."""
    wanted = config.environment
    first = starting_stage(config)
    staged = config.curriculum.strategy == "stages"
    found = [
        template
        for template in _named(wanted.suite, wanted.tasks)
        if first is None or staged or template.difficulty is first
    ]
    if not found or (first is not None and first not in {template.difficulty for template in found}):
        level = "" if first is None else f"{first.value} "
        raise ConfigError(
            f"there are no {level}tasks to train on in the suite {wanted.suite!r}"
            + (" among those that were named" if wanted.tasks else ""),
            hint=f"operant tasks list --suite {wanted.suite} shows what there is",
        )
    return tuple(found)


def _named(suite: str, ids: Sequence[str], only: str = "") -> list[Template]:
    every = load_suite(suite)
    hidden = {template.id for template in every if template.unseen}
    for name in ids:
        if name in hidden:
            raise TaskError(f"{name} is kept unseen: it is never trained on", hint="choose another task")
    visible = [template for template in every if not template.unseen]
    if not only:
        return select(visible, ids, suite)
    return [template for template in select(every, ids, suite, only=only) if not template.unseen]


def starting_stage(config: TrainConfig) -> Difficulty | None:
    return parse_difficulty(config.environment.difficulty)


def parse_difficulty(name: str | None) -> Difficulty | None:
    if name is None:
        return None
    try:
        return Difficulty(name.upper())
    except ValueError as error:
        names = [level.value for level in Difficulty]
        near = difflib.get_close_matches(name.upper(), names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"difficulties: {', '.join(names)}"
        raise ConfigError(f"{name!r} is not a difficulty", hint=hint) from error


def training_templates(
    suite: str,
    difficulty: str | None = None,
    only: str = "",
    *,
    ids: Sequence[str] = (),
    oracle: bool = False,
) -> list[Template]:
    """Those that may be learned, of a difficulty and with a part of their id where that is asked; with ``oracle``, an
    error if one of them has none."""
    level = parse_difficulty(difficulty)
    found = [one for one in _named(suite, ids, only) if level is None or one.difficulty is level]
    if not found:
        raise ConfigError(
            f"no task of the suite {suite!r} that may be learned is {'chosen' if level is None else level.value}",
            hint=f"operant tasks list --suite {suite} shows them; unseen ones are never learned",
        )
    if oracle:
        check_oracles([one.instance(0) for one in found], "learn from")
    return found


def stages_of(templates: tuple[Template, ...]) -> dict[str, list[str]]:
    """Their ids by difficulty, easiest first."""
    return {
        level.value: [template.id for template in templates if template.difficulty is level]
        for level in Difficulty
    }
