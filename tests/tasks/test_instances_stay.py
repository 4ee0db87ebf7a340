"""Instances stay what they are: a seed gives the same instruction and set-up as when results were published.

``instances.json`` holds, for every template, a hash over three seeds of both splits. A template whose instances must
change becomes a ``-v2``. New templates are added with ``python tests/tasks/test_instances_stay.py``, which never
changes a hash that is there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from operant.tasks.suites import SUITES, load_suite
from operant.tasks.template import Template

KEPT = Path(__file__).parent / "instances.json"
SEEDS = (0, 1, 1003)


def fingerprint(template: Template) -> str:
    """A hash of what six instances of a template say and how they begin."""
    instances = []
    for split in ("train", "heldout"):
        for seed in SEEDS:
            task = template.instance(seed, split)
            steps = [[type(step).__name__, step.model_dump(mode="json")] for step in task.setup]
            instances.append(
                [task.id, task.instruction, str(task.difficulty), task.max_steps, task.profile, steps]
            )
    return hashlib.sha256(json.dumps(instances, sort_keys=True).encode()).hexdigest()


def templates() -> dict[str, Template]:
    return {template.id: template for name in SUITES for template in load_suite(name)}


@pytest.mark.parametrize("name", sorted(templates()))
def test_an_instance_stays_what_it_is(name: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert name in kept, f"new: add it with python {Path(__file__).name}"
    assert fingerprint(templates()[name]) == kept[name], "other instances need another version: -v2"


def test_no_template_is_lost() -> None:
    assert set(json.loads(KEPT.read_text(encoding="utf-8"))) <= set(templates())


if __name__ == "__main__":
    known = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    new = {name: fingerprint(template) for name, template in templates().items() if name not in known}
    KEPT.write_text(json.dumps({**known, **new}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(new)} new, {len(known)} known")
