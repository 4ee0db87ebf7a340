"""Lessons of the hierarchical agent as tensors, and how well it does what they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from operant.agents.trainable import Arrays, Tensors

if TYPE_CHECKING:
    from operant.agents.hierarchical.policy import HierarchicalPolicy

__all__ = ["hits", "lesson_batch", "surprise"]

LOOKS_AT_WIDGETS = 0.1  # share of clicks on widgets that teach the worker too
#: Heads of which the accuracy is told.
HEADS = ("kind", "target", "first", "last", "key")
#: Heads that choose a place, and the negative log-likelihood from which one is far off.
PLACES = frozenset({"offset", "end_offset", "spot", "end_spot", "refine"})
FAR_OFF = 2.0


def lesson_batch(
    policy: HierarchicalPolicy, lessons: Arrays, random: np.random.Generator
) -> tuple[Tensors, Tensors]:
    """Observations and actions; the worker's crops are cut anew each time, off centre."""

    def part_of(prefix: str) -> Tensors:
        return {
            name.removeprefix(prefix): torch.from_numpy(part).to(policy.device)
            for name, part in lessons.items()
            if name.startswith(prefix)
        }

    seen, actions = part_of("seen."), part_of("label.")
    worker, count = policy.config.worker, len(lessons["patch"])
    size, reach = worker.crop, worker.reach
    moved = random.integers(-reach, reach + 1, (count, 2))
    crops = [
        patch[reach + dy : reach + dy + size, reach + dx : reach + dx + size]
        for patch, (dx, dy) in zip(lessons["patch"], moved, strict=True)
    ]
    actions["crop"] = torch.from_numpy(np.stack(crops)).to(policy.device)
    actions["refine"] = torch.from_numpy(-moved.astype(np.float32) / reach).to(policy.device)
    # The worker is asked about points of the map; of the others a few are enough to learn from.
    points = policy.manager.points[actions["kind"]]
    on_map = actions["target"] >= policy.perception.rows
    some = torch.from_numpy(random.random(count) < LOOKS_AT_WIDGETS).to(policy.device)
    actions["refined"] = points * (on_map | some)
    return seen, actions


def surprise(log_probs: Mapping[str, Tensor]) -> Tensor:
    """(batch,): the negative log-likelihood over all heads, robust for places: logarithmic in the tail.

    A title bar can be held anywhere, and a cell clicked at its other end. The density there is next to nothing, and one
    such place would outweigh all other lessons of its batch.
    """
    return torch.stack([_of_head(head, -log_prob) for head, log_prob in log_probs.items()]).sum(0)


def _of_head(head: str, loss: Tensor) -> Tensor:
    if head not in PLACES:
        return loss
    return torch.where(loss < FAR_OFF, loss, FAR_OFF + torch.log1p((loss - FAR_OFF).clamp(min=0)))


def hits(policy: HierarchicalPolicy, seen: Tensors, actions: Tensors) -> dict[str, list[float]]:
    """By head, 1 where the likeliest choice is the oracle's, of the rows that use that head."""
    chosen = policy.sample(seen, deterministic=True).actions
    used = policy.judge(seen, actions).entropy
    kind = (chosen["kind"] == actions["kind"]).float()
    found: dict[str, list[float]] = {}
    for name in HEADS:
        if name in used:  # a row of the batch uses it
            right = (chosen[name] == actions[name]).float() * kind
            found[name] = right[(used[name] != 0) | (name == "kind")].tolist()
    return found
