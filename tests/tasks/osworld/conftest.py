"""Task files in OSWorld's schema, written for a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
