"""Train a vision-language model with several actors: one for each server, unless --actors says otherwise.

python examples/train_multi_actor.py --config config/default_config.yaml --output runs/many --actors 4

The same as ``operant train vlm --config FILE --set actor.num_actors=4``: actors play in threads of this process, their
questions are answered in batches, and the learner takes trajectories as they come.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from operant.config.vlm_training import VLMTrainingConfig
from operant.train.vlm.training_run import VLMRun


def main(config: Path, output: Path, actors: int | None, changes: list[str]) -> None:
    settings = VLMTrainingConfig.load(config, assignments=changes)
    actors = actors or len(settings.environment.ui_env_urls) or settings.actor.num_actors
    settings = VLMTrainingConfig.load(config, assignments=[*changes, f"actor.num_actors={actors}"])
    run = VLMRun(settings, output, on_progress=print)
    try:
        print("trained:", run.train())
    finally:
        run.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", type=Path, default=Path("config/default_config.yaml"))
    parser.add_argument("--output", type=Path, default=Path("runs/multi_actor"))
    parser.add_argument("--actors", type=int, help="episodes that are played at once")
    parser.add_argument("--set", action="append", default=[], dest="changes", help="section.key=value")
    asked = parser.parse_args()
    main(asked.config, asked.output, asked.actors, asked.changes)
