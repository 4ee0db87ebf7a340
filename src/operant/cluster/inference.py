"""Inference on a cluster: an actor that answers many callers in small batches.

It answers no request before the learner has given it a version, and fetches the newest one itself after a crash.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import ray

from operant.agents.vlm.backends.base import Backend, BackendStats
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation
from operant.cluster.actor_handles import VERSIONS, namespace_of
from operant.cluster.versions import Release, unpacked
from operant.config.vlm_training import VLMTrainingConfig
from operant.types import Size

__all__ = ["InferenceActor"]


class InferenceActor:
    """Runs as an asynchronous actor around a backend: a copy of the model, or one that asks a model server."""

    def __init__(self, config: VLMTrainingConfig, directory: Path) -> None:
        self._config = config
        self._directory = directory
        self._backend: Backend | None = None
        self._release = 0
        self._building = asyncio.Lock()
        self._loaded = asyncio.Event()

    async def start(self) -> None:
        """Have the model ready; an error if it can't be loaded."""
        await self._ready()

    async def ping(self) -> None:
        """Say that it is there."""

    async def _ready(self) -> Backend:
        async with self._building:
            if self._backend is None:
                self._backend = await asyncio.to_thread(self.make_backend)
                if self._backend.wants_directory:
                    self._loaded.set()  # a server has the model itself
                versions = await asyncio.to_thread(ray.get_actor, VERSIONS, namespace_of(self._directory))
                newest = await versions.newest.remote()
                if newest is not None:
                    await self._load(self._backend, newest)
        return self._backend

    def make_backend(self) -> Backend:
        return make_backend(self._config, self._directory)

    async def load(self, release: Release) -> None:
        await self._load(await self._ready(), release)

    async def _load(self, backend: Backend, release: Release) -> None:
        if release.number > self._release:  # one that comes late is not the newest
            self._release = release.number
            data = await release.packed[0]
            await asyncio.to_thread(backend.load, unpacked(release, data))
            self._loaded.set()

    async def answer(self, prompt: Prompt, seed: int, temperature: float | None) -> Generation:
        backend = await self._ready()
        await self._loaded.wait()
        return await asyncio.wrap_future(backend.submit(prompt, seed=seed, temperature=temperature))

    async def shown(self, screen: Size) -> tuple[Units, Size]:
        """How the model counts coordinates, and the size at which it is to be shown a screen."""
        backend = await self._ready()
        return backend.units, backend.shown(screen)

    async def stats(self) -> BackendStats:
        return (await self._ready()).stats


def make_backend(config: VLMTrainingConfig, directory: Path) -> Backend:
    """A model server if the settings name one; otherwise the model itself."""
    if config.inference is not None:
        from operant.agents.vlm.backends.server import ServerBackend

        return ServerBackend(config.inference, config.sampling, need_tokens=True)
    from operant.agents.vlm.backends.local import LocalBackend
    from operant.agents.vlm.loading import limit_threads
    from operant.agents.vlm.wrapper import VLMWrapper
    from operant.train.vlm.parts import base_model

    if config.training.threads is not None:
        limit_threads(config.training.threads)
    settings = base_model(config.model, directory, config.training.seed)
    model = VLMWrapper(settings, prompt=config.prompt, sampling=config.sampling)
    return LocalBackend(model, max_batch=config.actor.max_batch)
