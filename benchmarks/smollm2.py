"""A real language model behind a real server, end to end: does the loop hold for 50 episodes?

SmolLM2-135M is far too small to solve the tasks. It answers with anything at all, which is what this is for.

    /tmp/smollm2/bin/python scripts/serve_smollm2.py --port 8011 &      # see there for its environment
    python benchmarks/smollm2.py --minutes 4 --json                     # again until all episodes are there

The run can be cut off at any time; the same command goes on. Numbers: ``benchmarks/results/smollm2-*.json``.
Two steps, 20 widgets and replies of 40 tokens: a prompt has about 500 tokens, and 50 episodes take about ten minutes
on two cores that do nothing else.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path

from operant.bench.record import provenance
from operant.evaluation.evaluation_run import find_runs
from operant.evaluation.summary import lines_of, summarise

EPISODES = 50
AGENT = """\
vendor: chat
model: smollm2
base_url: http://127.0.0.1:{port}/v1
observation: a11y_tree
max_widgets: 20
history: 1
max_tokens: 40
timeout_s: 110
temperature: 0.2
prices: {{input: 0, cached: 0, output: 0}}
"""
TOLD = ("overall", "outcomes", "ends", "invalid_steps", "seeds", "splits", "max_steps")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8011)
    parser.add_argument(
        "--minutes", type=float, default=240.0, help="stop after so long; call it again to go on"
    )
    parser.add_argument("--result-dir", type=Path, default=Path("results-smollm2"))
    parser.add_argument("--json", action="store_true", help="print what there is so far")
    given = parser.parse_args()
    given.result_dir.mkdir(parents=True, exist_ok=True)
    (given.result_dir / "smollm2.yaml").write_text(AGENT.format(port=given.port))
    play = [sys.executable, "-m", "operant", "eval", "--agent", "smollm2.yaml", "--suite", "core"]
    play += ["--difficulty", "EASY", "--limit", str(EPISODES), "--max-steps", "2", "--num-workers", "1"]
    play += ["--action-timeout", "120", "--result-dir", "."]
    process = subprocess.Popen(play, cwd=given.result_dir, stdout=subprocess.DEVNULL)
    try:
        process.wait(given.minutes * 60)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait(60)
    if given.json:
        (run,) = find_runs(given.result_dir)
        summary = summarise(run, lines_of(run))
        told = {name: summary[name] for name in TOLD}
        print(json.dumps({**provenance(), "evaluation": " ".join(play[1:]), **told}, indent=2))


if __name__ == "__main__":
    main()
