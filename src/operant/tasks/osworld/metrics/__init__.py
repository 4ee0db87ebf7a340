"""Metrics: a result and what is expected of it give a score from 0 to 1.

Each is a function of the result, the expected value (a gold file's path, or the task file's rules) and options. It may
raise ``Refuted`` with a reason instead of returning 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from operant.tasks.osworld.metrics import (
    accessibility,
    browser,
    documents,
    images,
    mail,
    office_settings,
    pdfs,
    program_settings,
    slides,
    sounds,
    system,
    tables,
    text,
)

__all__ = ["METRICS", "Metric"]

Metric = Callable[[Any, Any, Mapping[str, Any]], float]

METRICS: dict[str, Metric] = {
    name: metric
    for module in (
        text,
        program_settings,
        office_settings,
        mail,
        system,
        browser,
        tables,
        documents,
        slides,
        images,
        pdfs,
        sounds,
        accessibility,
    )
    for name, metric in module.METRICS.items()
}
