"""How fast OSWorld's tasks are here: set-up of office tasks to the first observation, and a do-nothing audit."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from operant.config.desktop import DesktopConfig
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.errors import TaskError
from operant.evaluation.osworld_audit import audit_osworld, summarise_audit
from operant.tasks.osworld.support import missing_here
from operant.tasks.osworld.template import DESKTOP, OsworldTemplate

__all__ = ["measure_osworld"]

OFFICE = ("libreoffice_calc", "libreoffice_writer", "libreoffice_impress")


def measure_osworld(
    templates: Sequence[OsworldTemplate],
    *,
    times: int = 3,
    workers: int = 2,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """``office_setup_p50_s``, ``audit_minutes`` and ``tasks_run``."""
    config = DesktopConfig(**DESKTOP, profile="full")
    office = [one for one in templates if one.file.domain in OFFICE]
    ready = [one for one in office if not missing_here(one.file, one.cache)]
    if office and not ready:
        raise TaskError(
            f"no office task can run here: {office[0].id} lacks {missing_here(office[0].file, office[0].cache)[0]}",
            hint="python examples/osworld/make_assets.py writes the files of the example tasks",
        )
    seconds = [_setup_s(one, config) for one in ready for _ in range(times)]
    say(f"{len(seconds)} set-ups of office tasks")
    began = time.monotonic()
    audited = audit_osworld(templates, trials=("nothing",), times=1, workers=workers, config=config)
    summary = summarise_audit(templates, audited, began)
    return {
        "office_setup_p50_s": statistics.median(seconds) if seconds else None,
        "office_setups": len(seconds),
        "audit_minutes": summary["minutes"],
        "tasks_run": summary["tasks_run"],
        "not_run": summary["not_run"],
        "nothing_scores": summary["nothing_scores"],
        "broken": summary["broken"],
    }


def _setup_s(template: OsworldTemplate, config: DesktopConfig) -> float:
    """From a desktop that is up to the first observation."""
    task = template.instance(0)
    with SandboxDesktop(config) as desktop:
        began = time.perf_counter()
        TaskEnvironment(desktop).begin(task)
        return time.perf_counter() - began
