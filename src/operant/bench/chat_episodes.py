"""A language model behind a real server, end to end: does the loop hold for many episodes?

Made for small models such as SmolLM2-135M (``scripts/serve_smollm2.py``), which solve no task and answer with anything.
Two steps, 20 widgets and replies of 40 tokens make a prompt of about 500 tokens. A run that is cut off goes on when it
is started again.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from operant.errors import ConfigError
from operant.evaluation.evaluation_run import find_runs
from operant.evaluation.summary import lines_of, summarise

__all__ = ["measure_chat_server"]

AGENT = """\
vendor: chat
model: {model}
base_url: {url}
observation: a11y_tree
max_widgets: 20
history: 1
max_tokens: 40
timeout_s: 110
temperature: 0.2
prices: {{input: 0, cached: 0, output: 0}}
"""
REPORTED = ("overall", "outcomes", "ends", "invalid_steps", "seeds", "splits", "max_steps")
INTERRUPT_S = 60.0  # for an evaluation to end its desktops


def measure_chat_server(
    url: str, model: str, *, episodes: int, minutes: float, result_dir: Path
) -> dict[str, Any]:
    """Play easy tasks of core with the model for some minutes, and report all that was played so far."""
    result_dir.mkdir(parents=True, exist_ok=True)
    (result_dir / "agent.yaml").write_text(AGENT.format(model=model, url=url), encoding="utf-8")
    play = [sys.executable, "-m", "operant", "eval", "--agent", "agent.yaml", "--suite", "core"]
    play += ["--difficulty", "EASY", "--limit", str(episodes), "--max-steps", "2", "--num-workers", "1"]
    play += ["--action-timeout", "120", "--result-dir", "."]
    process = subprocess.Popen(play, cwd=result_dir, stdout=subprocess.DEVNULL)
    try:
        process.wait(minutes * 60)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait(INTERRUPT_S)
    runs = find_runs(result_dir)
    if len(runs) > 1:
        raise ConfigError(
            f"{result_dir} holds {len(runs)} evaluations with different settings",
            hint="choose another --result-dir",
        )
    (run,) = runs
    summary = summarise(run, lines_of(run))
    return {"evaluation": " ".join(play[1:]), **{name: summary[name] for name in REPORTED}}
