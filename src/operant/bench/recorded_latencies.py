"""How long real desktops took, episode by episode, to be played back where no desktops are: in simulations of many.

Recorded from episodes on disk: the time until the first look (reset and set-up), and that of each step. What agents
took is left out: that is the model's time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operant.errors import ResultsError
from operant.rollout.store import find_episodes, read_episode

__all__ = ["EpisodeLatency", "Latencies", "shipped_latencies"]


def shipped_latencies() -> Path:
    """Those that were recorded for Operant: a wheel holds a copy, a checkout has the original."""
    shipped = Path(__file__).with_name("latencies.json")
    return shipped if shipped.is_file() else Path(__file__).parents[3] / "benchmarks" / "latencies.json"


@dataclass(frozen=True)
class EpisodeLatency:
    """Seconds of one episode."""

    begin: float
    steps: tuple[float, ...]

    @property
    def total(self) -> float:
        return self.begin + sum(self.steps)


@dataclass(frozen=True)
class Latencies:
    """A distribution of episodes: a draw gives a whole episode, so that long ones stay long."""

    episodes: tuple[EpisodeLatency, ...]

    def draw(self, chance: random.Random) -> EpisodeLatency:
        return chance.choice(self.episodes)

    @property
    def mean_s(self) -> float:
        return sum(one.total for one in self.episodes) / len(self.episodes)

    @property
    def mean_steps(self) -> float:
        return sum(len(one.steps) for one in self.episodes) / len(self.episodes)

    @classmethod
    def of(cls, results: Path) -> Latencies:
        """Those of all episodes below a directory that ended."""
        found = []
        for directory in find_episodes(results):
            episode = read_episode(directory)
            seconds = episode.header.get("seconds")
            if not seconds or not episode.steps:
                continue
            steps = tuple(step.desktop_ms / 1000 for step in episode.steps)
            found.append(EpisodeLatency(max(0.0, float(seconds["desktop"]) - sum(steps)), steps))
        if not found:
            raise ResultsError(
                f"no episode below {results} has ended", hint="operant bench latencies records some"
            )
        return cls(tuple(found))

    @classmethod
    def load(cls, path: Path) -> Latencies:
        try:
            form = json.loads(path.read_text(encoding="utf-8"))
            episodes = [
                EpisodeLatency(float(begin), tuple(map(float, steps))) for begin, steps in form["episodes"]
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResultsError(
                f"{path} holds no latencies: {error}", hint="operant bench latencies"
            ) from error
        if not episodes:
            raise ResultsError(f"{path} holds no latencies")
        return cls(tuple(episodes))

    def plain(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """With where it comes from, to be written as JSON; milliseconds are enough."""
        rows = [[round(one.begin, 3), [round(step, 3) for step in one.steps]] for one in self.episodes]
        return {
            **about,
            "mean_s": round(self.mean_s, 3),
            "mean_steps": round(self.mean_steps, 2),
            "episodes": rows,
        }
