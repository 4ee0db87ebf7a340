"""Task files in OSWorld's schema, written for a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Score = Callable[..., float]


@pytest.fixture
def score() -> Score:
    """The score of a metric by its name."""
    from operant.tasks.criteria.question import Refuted
    from operant.tasks.osworld.metrics import METRICS

    def rate(metric: str, result: Any, expected: Any = None, **options: Any) -> float:
        try:
            return METRICS[metric](result, expected, options)
        except Refuted:
            return 0.0

    return rate


Checkout = Callable[..., Path]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Writes tasks given by id, each as (domain, fields), and returns the directory to point a suite at."""

    def write(**tasks: tuple[str, dict[str, Any]]) -> Path:
        root = tmp_path / "checkout" / "evaluation_examples"
        meta: dict[str, list[str]] = {}
        for id, (domain, fields) in tasks.items():
            name = id.replace("_", "-")
            task = {
                "id": name,
                "snapshot": domain,
                "instruction": "Do it.",
                "config": [],
                "evaluator": {"func": "infeasible"},
                **fields,
            }
            place = root / "examples" / domain / f"{name}.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(task))
            meta.setdefault(domain, []).append(name)
        (root / "test_all.json").write_text(json.dumps(meta))
        return root.parent

    return write
