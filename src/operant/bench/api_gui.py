"""Steps and time of oracles with pointer and keyboard, with calls of functions, and with whichever is shorter.

Every task is played by its GUI oracle, by its oracle by calls if it has one, and by the mix of both. Calls help with a
task if its oracle by calls needs fewer steps. Tasks that calls can't do have no oracle by calls or forbid them.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operant.config.desktop import DesktopConfig
from operant.evaluation.suite_check import Played, check_suite
from operant.evaluation.tool_use import ToolUse, tool_invocation_rate
from operant.tasks.suites import load_suite
from operant.tasks.template import Template
from operant.types import ActionMode

__all__ = ["GOALS", "measure_api_gui", "summarise"]

Progress = Callable[[str], None]
MODES: tuple[ActionMode, ...] = ("gui", "api", "both")
#: (bound, whether smaller is better)
GOALS: dict[str, tuple[float, bool]] = {
    "mix_over_gui_steps": (1 / 3, True),
    "success_gui": (1.0, False),
    "success_api": (1.0, False),
    "success_both": (1.0, False),
}


def measure_api_gui(
    progress: Progress, suite: str = "core,office", seeds: int = 1, workers: int = 2, only: str = ""
) -> dict[str, Any]:
    """Play every oracle in each mode."""
    templates = [template for template in load_suite(suite) if only in template.id]
    played: dict[str, list[Played]] = {}
    for mode in MODES:
        chosen = [template for template in templates if _has_oracle(template, mode)]

        def told(one: Played, mode: str = mode) -> None:
            progress(f"{mode}: {one.task.id}")

        config = DesktopConfig(actions=mode)
        played[mode] = (
            check_suite(
                chosen,
                seeds=range(seeds),
                workers=workers,
                agents=("oracle",),
                config=config,
                on_progress=told,
            )
            if chosen
            else []
        )
    return {"suite": suite, "seeds": seeds, **summarise(templates, played)}


def _has_oracle(template: Template, mode: ActionMode) -> bool:
    task = template.instance(0)
    return (task.api_oracle if mode == "api" else task.oracle_for(mode)) is not None


def summarise(templates: Sequence[Template], played: Mapping[str, Sequence[Played]]) -> dict[str, Any]:
    """Means by task first, so that each task counts once; then by application and over all."""
    steps = {mode: _means(played[mode], lambda one: one.result.active_steps) for mode in MODES}
    seconds = {mode: _means(played[mode], lambda one: one.result.total_s) for mode in MODES}
    helped = sorted(task for task, count in steps["api"].items() if count < steps["gui"].get(task, 0))
    by_app: dict[str, list[str]] = collections.defaultdict(list)
    for template in templates:
        by_app[template.apps[0] if template.apps else "none"].append(template.id)
    uses = [ToolUse(one.task.id, one.success, one.result.calls) for one in played["both"]]
    gui, mix = _total(steps["gui"], helped), _total(steps["both"], helped)
    return {
        "tasks": len(templates),
        "helped": len(helped),
        "mix_over_gui_steps": mix / gui if gui else None,
        **{f"success_{mode}": _share([one.success for one in played[mode]]) for mode in MODES},
        "tool_invocation_rate": tool_invocation_rate(uses, set(helped)),
        "applications": {app: _about(ids, steps, seconds, helped) for app, ids in sorted(by_app.items())},
        "not_by_calls": sorted(template.id for template in templates if template.id not in steps["api"]),
        "not_helped": sorted(set(steps["api"]) - set(helped)),
        "failures": sorted(
            {f"{mode}: {one.task.id}" for mode in MODES for one in played[mode] if not one.success}
        ),
        "steps": {task: {mode: steps[mode].get(task) for mode in MODES} for task in sorted(steps["gui"])},
    }


def _about(
    ids: Sequence[str],
    steps: Mapping[ActionMode, Mapping[str, float]],
    seconds: Mapping[ActionMode, Mapping[str, float]],
    helped: Sequence[str],
) -> dict[str, Any]:
    """One application: means over its tasks that calls help with, and how many there are."""
    chosen = [task for task in helped if task in ids]
    return {
        "tasks": len(ids),
        "by_calls": sum(task in steps["api"] for task in ids),
        "helped": len(chosen),
        **{
            f"steps_{mode}": _mean([steps[mode][one] for one in chosen if one in steps[mode]])
            for mode in MODES
        },
        **{
            f"seconds_{mode}": _mean([seconds[mode][one] for one in chosen if one in seconds[mode]])
            for mode in MODES
        },
    }


def _means(played: Sequence[Played], value: Callable[[Played], float]) -> dict[str, float]:
    found: dict[str, list[float]] = collections.defaultdict(list)
    for one in played:
        found[one.task.id].append(value(one))
    return {task: sum(values) / len(values) for task, values in found.items()}


def _total(values: Mapping[str, float], tasks: Sequence[str]) -> float:
    return sum(values.get(task, 0.0) for task in tasks)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
