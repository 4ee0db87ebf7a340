"""The phrasings: which may be trained on, what is counted, and a run on a real service."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from operant.bench import phrasings
from operant.bench.phrasings import PHRASINGS, SUMS, measure_phrasings

ROOT = Path(__file__).parents[2]
PLACES = ("src", "config", "examples", "docs", "tests", "scripts")
HELD_OUT = [one for one in PHRASINGS if not one.trained]
TEXTS = {".py", ".json", ".yaml", ".yml", ".md", ".txt", ".sh"}


def test_each_wish_has_five_of_each_kind() -> None:
    for wish in ("open", "compute"):
        mine = [one for one in PHRASINGS if one.wish == wish]
        assert [one.trained for one in mine] == [True] * 5 + [False] * 5
        assert len({one.words.casefold() for one in mine}) == 10
    assert SUMS[0] == (15, 27)
    first = next(one for one in PHRASINGS if one.wish == "compute")
    assert first.instruction(*SUMS[0]) == "Open calculator and compute 15 + 27"


def test_what_is_held_out_stands_nowhere_else() -> None:
    """A phrasing that training has seen is no longer one that it has not."""
    number = r"\S{1,20}"
    held_out = [
        re.compile(re.escape(one.words).replace(r"\{a\}", number).replace(r"\{b\}", number), re.IGNORECASE)
        for one in HELD_OUT
    ]
    assert all(
        pattern.search(one.instruction(8, 64)) for pattern, one in zip(held_out, HELD_OUT, strict=True)
    )
    files = [file for place in PLACES for file in (ROOT / place).rglob("*") if file.suffix in TEXTS]
    texts = [file for file in files if file != Path(phrasings.__file__)]
    assert len(texts) > 300
    for file in texts:
        text = file.read_text(encoding="utf-8", errors="replace")
        assert not [pattern for pattern in held_out if pattern.search(text)], file


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.skipif(shutil.which("mate-calc") is None, reason="mate-calc is not installed")
def test_the_service_is_asked_and_its_criteria_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever uses the run dialog succeeds, whoever does nothing does not, and both are verified."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    chosen = [PHRASINGS[0], PHRASINGS[5], PHRASINGS[10], PHRASINGS[15]]
    told: list[str] = []
    found = measure_phrasings(
        told.append,
        agent="tests.bench.run_dialog_agent:RunDialogAgent",
        repeats=2,
        desktops=2,
        phrasings=chosen,
    )
    assert (found["n"], found["successes"], found["unverified"]) == (8, 8, 0), found["requests"]
    assert found["by_wish"]["compute"]["n"] == 4
    assert found["by_trained"]["false"]["successes"] == 4
    assert found["interval_95"][1] == 1.0
    assert told[-1] == "8 of 8 requests"
    found = measure_phrasings(told.append, agent="done", repeats=1, phrasings=chosen[:1])
    assert (found["n"], found["successes"], found["unverified"]) == (1, 0, 0)
