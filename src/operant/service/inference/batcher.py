"""Questions of many requests, answered together in one thread beside the event loop.

While one batch is being answered the next one gathers, so that no request waits longer than for the batch before.
A model that is switched meanwhile is used from the next batch on.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from operant.errors import OperantError, ServiceNotReady, TooManyRequests
from operant.service.inference.predictor import Prediction, PredictionRequest, Predictor

__all__ = ["Batcher", "Timed"]

Observe = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class Timed:
    """An answer, whose it is and how long the model took for the batch that it was in."""

    answer: Prediction
    model: str
    inference_ms: float
    batch: int


class Batcher:
    """``observe`` hears of each batch: its size and its seconds. Belongs to one event loop."""

    def __init__(
        self,
        current: Callable[[], Predictor],
        *,
        size: int = 16,
        wait_s: float = 0.002,
        queued: int = 256,
        observe: Observe = lambda size, seconds: None,
    ) -> None:
        self.size = size
        self.wait_s = wait_s
        self.queued = queued
        self._current = current
        self._observe = observe
        self._waiting: deque[tuple[PredictionRequest, asyncio.Future[Timed]]] = deque()
        self._arrived = asyncio.Event()
        self._full = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "operant-inference")
        self._worker: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        self._worker = asyncio.create_task(self._work(), name="operant-batcher")

    async def ask(self, question: PredictionRequest) -> Timed:
        """The model's answer; waits its turn."""
        if self._worker is None or self._worker.done():
            raise ServiceNotReady("the service is stopping")
        if len(self._waiting) >= self.queued:
            raise TooManyRequests(
                f"{self.queued} questions are waiting already", hint="ask again in a moment"
            )
        future: asyncio.Future[Timed] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        self._arrived.set()
        if len(self._waiting) >= self.size:
            self._full.set()
        return await future

    async def close(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        while self._waiting:
            future = self._waiting.popleft()[1]
            if not future.done():
                future.set_exception(ServiceNotReady("the service is stopping"))
        self._thread.shutdown(wait=False, cancel_futures=True)

    def run_after(self, work: Callable[[], None]) -> None:
        """Do something in the inference thread once the batch that is under way is done."""
        self._thread.submit(work)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            if len(self._waiting) < self.size and self.size > 1 and self.wait_s:
                self._full.clear()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self.wait_s)
            batch = [self._waiting.popleft() for _ in range(min(self.size, len(self._waiting)))]
            if not self._waiting:
                self._arrived.clear()
            # A client that went away needs no answer.
            batch = [(question, future) for question, future in batch if not future.done()]
            if not batch:
                continue
            try:
                predictor, answers, took = await loop.run_in_executor(
                    self._thread, self._predict, [question for question, _ in batch]
                )
            except Exception as error:  # noqa: BLE001 - a model may fail in any way: its askers hear of it
                failure = error if isinstance(error, OperantError) else ServiceNotReady("the model failed")
                for _, future in batch:
                    if not future.done():
                        future.set_exception(failure)
                continue
            self._observe(len(batch), took)
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, OperantError):
                    future.set_exception(answer)
                else:
                    future.set_result(Timed(answer, predictor.info.name, 1000 * took, len(batch)))

    def _predict(
        self, questions: list[PredictionRequest]
    ) -> tuple[Predictor, list[Prediction | OperantError], float]:
        predictor = self._current()
        began = time.perf_counter()
        return predictor, predictor.predict(questions), time.perf_counter() - began
