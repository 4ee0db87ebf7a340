"""One desktop to a thousand on a simulated cluster (``operant.bench.cluster_simulation``), and where the curve bends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from operant.bench.cluster_simulation import Scenario, simulate
from operant.bench.recorded_latencies import Latencies

__all__ = ["SIZES", "draw_scaling", "measure_scaling"]

SIZES = (1, 4, 16, 64, 250, 500, 1000)
STRAIGHT = 0.7  # below this share of the ideal throughput, the curve has bent


def measure_scaling(
    progress: Callable[[str], None],
    latencies: Latencies,
    sizes: Sequence[int] = SIZES,
    seconds: float = 20.0,
    address: str = "local",
) -> dict[str, Any]:
    points = []
    for desktops in sizes:
        progress(f"{desktops} simulated desktops")
        points.append(simulate(Scenario(desktops, seconds=seconds), latencies, address))
    # Few desktops end few episodes: only what stays below for all larger sizes is a bend.
    bent = list(takewhile(lambda point: point["efficiency"] < STRAIGHT, reversed(points)))
    usual = Scenario(1)
    return {
        "seed": usual.seed,
        "answer_s": usual.answer_s,
        "update_share": usual.update_share,
        "max_staleness": usual.max_staleness,
        "desktop_latency_mean_s": latencies.mean_s,
        "steps_per_episode": latencies.mean_steps,
        "most_episodes_per_s": max(point["episodes_per_s"] for point in points),
        "bends_at_desktops": int(bent[-1]["desktops"]) if bent else None,
        "points": points,
    }


def draw_scaling(result: dict[str, Any], path: Path) -> Path:
    """Throughput beside the ideal, what waits where, and how old experience is."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    points = result["points"]
    sizes = [point["desktops"] for point in points]

    def column(name: str) -> list[float]:
        return [point[name] for point in points]

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    left.loglog(sizes, column("episodes_per_s"), "o-", label="measured")
    left.loglog(sizes, column("ideal_episodes_per_s"), "--", color="grey", label="ideal")
    left.set(title="Throughput", xlabel="simulated desktops", ylabel="episodes a second")
    left.legend()
    middle.semilogx(sizes, column("waiting_actors"), "o-", label="actors at the bound")
    middle.semilogx(sizes, column("queued_groups"), "s-", label="groups to be learned from")
    middle.semilogx(sizes, column("store_delay_p50_ms"), "^-", label="delay of the store [ms]")
    middle.set(title="Queues", xlabel="simulated desktops", yscale="symlog")
    middle.legend()
    right.semilogx(sizes, column("mean_staleness"), "o-", label="mean")
    right.semilogx(sizes, column("max_staleness"), "s-", label="highest")
    right.semilogx(sizes, column("machine_busy_cores"), "^--", color="grey", label="busy cores")
    right.set(title="Staleness [versions]", xlabel="simulated desktops")
    right.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path
