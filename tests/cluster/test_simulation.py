"""A simulated cluster: recorded latencies in place of desktops, a model that only waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operant.bench.cluster_simulation import Scenario, simulate
from operant.bench.recorded_latencies import EpisodeLatency, Latencies
from operant.bench.scaling import draw_scaling


@pytest.mark.timeout(300)
def test_throughput_queues_and_staleness_are_measured_and_drawn(cluster: Any, tmp_path: Path) -> None:
    latencies = Latencies((EpisodeLatency(0.1, (0.05, 0.05)), EpisodeLatency(0.2, (0.05,))))
    scenario = Scenario(8, answer_s=0.1, max_staleness=1, warm_up_s=2.0, seconds=3.0)
    point = simulate(scenario, latencies, "auto")
    assert 0 < point["efficiency"] < 1.2
    assert point["updates"] > 0
    assert 0 <= point["mean_staleness"] <= 2
    assert 0 < point["env_utilisation"] <= 1
    assert point["store_delay_p50_ms"] > 0
    written = draw_scaling({"points": [point, {**point, "desktops": 16.0}]}, tmp_path / "scaling.png")
    assert written.stat().st_size > 10_000


@pytest.mark.timeout(300)
def test_an_environment_that_fails_is_an_error_and_not_a_measurement_of_nothing(cluster: Any) -> None:
    without_steps = Latencies((EpisodeLatency(0.1, ()),))
    with pytest.raises(IndexError):
        simulate(Scenario(1, answer_s=0.1, warm_up_s=2.0, seconds=20.0), without_steps, "auto")
