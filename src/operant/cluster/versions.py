"""Newer weights for all who answer: the learner hands a version in once, Ray's object store carries it to each machine.

Kept by an actor of its own, so that inference actors can be started again while the learner is gone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import ray

from operant.agents.vlm.backends.base import Weights

__all__ = ["Packed", "Release", "Versions", "packed", "unpacked"]

PATIENCE_S = 5.0  # for actors to load a version; one that is being started fetches it anyway

Packed = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Release:
    """A version on its way. Releases count on even where a learner that was restarted counts back."""

    number: int
    version: int
    directory: Any
    """Of the adapter, for model servers."""
    packed: tuple[Any, ...]
    """A reference to the packed tensors."""


class Versions:
    """Runs as one asynchronous actor. ``answering`` are names of the actors that load versions."""

    def __init__(self, answering: Sequence[str], namespace: str) -> None:
        self._answering = list(answering)
        self._namespace = namespace
        self._newest: Release | None = None

    async def publish(self, version: int, packed: Packed, directory: Any) -> int:
        """Give it to all; those who are gone get it when they are back. Returns how many have it."""
        release = Release(time.time_ns(), version, directory, (ray.put(packed),))
        self._newest = release
        actors = await asyncio.to_thread(self._actors)
        calls = [asyncio.wrap_future(actor.load.remote(release).future()) for actor in actors]
        done, _ = await asyncio.wait(calls, timeout=PATIENCE_S) if calls else (set(), set())
        return sum(one.exception() is None for one in done)

    def _actors(self) -> list[Any]:
        found = []
        for name in self._answering:
            try:
                found.append(ray.get_actor(name, self._namespace))
            except ValueError:  # not there yet: it asks for the newest itself
                continue
        return found

    async def newest(self) -> Release | None:
        return self._newest


def packed(weights: Weights) -> Packed:
    """Tensors as one run of bytes, with their names."""
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.tensors.items()}
    return np.frombuffer(save(tensors), np.uint8)


def unpacked(release: Release, data: Packed) -> Weights:
    from safetensors.torch import load

    if release.directory is not None:
        return Weights(release.version, directory=release.directory)
    return Weights(release.version, load(data.tobytes()))
