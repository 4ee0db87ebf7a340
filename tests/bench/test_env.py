"""The benchmark of environments: it runs, and says what it is asked for."""

from __future__ import annotations

import json

import pytest

from operant.cli import main


@pytest.mark.x11
@pytest.mark.slow
def test_it_prints_its_numbers_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    # typer ends a command by leaving.
    with pytest.raises(SystemExit) as left:
        main(
            [
                "bench",
                "env",
                "--json",
                "--num-envs",
                "2",
                "--spares",
                "1",
                "--seconds",
                "1",
                "--no-sb3",
                "--no-oracles",
            ]
        )
    assert left.value.code == 0
    result = json.loads(capsys.readouterr().out)
    assert result["env_steps_per_s"] > 1
    assert 0.0 <= result["reset_share"] <= 1.0
    assert result["infra_errors"] == 0
    assert {"commit", "command", "machine"} <= result.keys()
