"""An environment actor with real desktops: oracles show, the model plays, the actor is killed, nothing is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operant.desktop.launch import MARK

from .conftest import Training, assert_nothing_lost_or_twice, settings


def owners() -> set[str]:
    """Whose desktops are up on this machine: the marks that their processes bear."""
    wanted = f"{MARK}=".encode()
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        found |= {one[len(wanted) :].decode() for one in variables if one.startswith(wanted)}
    return found


def environments() -> set[str]:
    """Those of them that are environment actors, with desktops of ours."""
    found = set()
    for mark in owners():
        try:
            title = Path("/proc", mark.partition(".")[0], "cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::Environment"):
            found.add(mark)
    return found


@pytest.mark.x11
@pytest.mark.timeout(300)
def test_an_environment_actor_on_real_desktops_is_killed_and_replaced(cluster: Any, tmp_path: Path) -> None:
    config = settings(
        environment={"tasks": ["core/calculator-type-sum-v1"]},
        actor={"num_actors": 2, "max_steps_per_episode": 6},
        training={"num_iterations": 3, "groups_per_update": 1, "demonstrations": 1, "max_staleness": 0},
        cluster={"environment_actors": 1},
    )
    training = Training(config, tmp_path, desktops=None, tasks=None)
    seen: set[str] = set()

    def first_update() -> bool:
        seen.update(environments())
        return any(line["phase"] == "rl" for line in training.metrics())

    training.until(first_update)
    assert len(seen) == 1
    training.kill("environment-0")
    training.wait()
    seen |= environments()
    assert_nothing_lost_or_twice(training)
    assert [line["phase"] for line in training.metrics()] == ["sft", "rl", "rl", "rl"]
    assert all(line["max_staleness"] == 0 for line in training.metrics())
    training.until(lambda: not seen & owners())
