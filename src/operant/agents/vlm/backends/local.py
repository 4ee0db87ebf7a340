"""A model in this process that answers many callers in small batches, one batch after the other.

While a batch is being answered, the next requests gather; those that wait when it ends are the next batch. So one
caller never waits for others, and many callers share the cost of each pass.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation
from operant.agents.vlm.wrapper import VLMWrapper
from operant.errors import ModelError
from operant.types import Size

__all__ = ["LocalBackend"]

GOODBYE_S = 10.0


@dataclass(frozen=True)
class _Request:
    prompt: Prompt
    seed: int
    temperature: float
    answer: Future[Generation]


class LocalBackend(Backend):
    """Uses the model in its own thread: others that compute with it meanwhile take its ``turn``.

    ``linger_s`` is how long a request waits for company when the model stands idle.
    """

    def __init__(self, vlm: VLMWrapper, *, max_batch: int = 16, linger_s: float = 0.002) -> None:
        super().__init__()
        self.vlm = vlm
        self.units = vlm.family.units
        self.max_batch = max_batch
        self.linger_s = linger_s
        self._requests: queue.Queue[_Request | None] = queue.Queue()
        self._left_over: list[_Request] = []
        self._newer: Weights | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="operant-vlm", daemon=True)
        self._thread.start()

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        chosen = self.vlm.sampling.temperature if temperature is None else temperature
        answer: Future[Generation] = Future()
        with self._lock:
            if self._closed:
                raise ModelError("the model was closed")
            self._requests.put(_Request(prompt, seed, chosen, answer))
        return answer

    def shown(self, screen: Size) -> Size:
        return self.vlm.shown(screen)

    def load(self, weights: Weights) -> None:
        """Taken up before the next batch; a version that is overtaken meanwhile is never used."""
        if weights.directory is None:
            missing = set(weights.tensors) - set(self.vlm.trainable())
            if missing or not weights.tensors:
                some = f": {sorted(missing)[0]} is not trained here" if missing else ""
                raise ModelError(f"weights of version {weights.version} don't fit this model{some}")
        with self._lock:
            self._newer = weights

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._requests.put(None)
        self._thread.join(GOODBYE_S)

    # The thread that computes.

    def _work(self) -> None:
        while (batch := self._gather()) is not None:
            try:
                with self.vlm.turn:
                    self._take_newer()
                    answers = self._answer(batch)
            except Exception as error:  # noqa: BLE001 - it is the callers'
                for request in batch:
                    request.answer.set_exception(error)
                continue
            for request, answer in zip(batch, answers, strict=True):
                request.answer.set_result(answer)
        self._refuse_the_rest()

    def _gather(self) -> list[_Request] | None:
        """The next batch: all requests that wait and want the same temperature."""
        first = self._left_over.pop(0) if self._left_over else self._requests.get()
        if first is None:
            return None
        batch: list[_Request] = [first]
        others: list[_Request] = []
        until = time.monotonic() + self.linger_s
        waiting, self._left_over = self._left_over, others
        while len(batch) < self.max_batch:
            try:
                following = (
                    waiting.pop(0)
                    if waiting
                    else self._requests.get(timeout=max(0.0, until - time.monotonic()))
                )
            except queue.Empty:
                break
            if following is None:
                self._requests.put(None)  # after this batch
                break
            (batch if following.temperature == first.temperature else others).append(following)
        others.extend(waiting)
        return batch

    def _answer(self, batch: list[_Request]) -> list[Generation]:
        sampling = self.vlm.sampling.model_copy(update={"temperature": batch[0].temperature})
        began = time.perf_counter()
        answers = self.vlm.generate(
            [request.prompt for request in batch],
            sampling,
            seeds=[request.seed for request in batch],
            version=self.version,
        )
        self.stats.busy_s += time.perf_counter() - began
        self.stats.batches += 1
        self.stats.requests += len(batch)
        self.stats.tokens += sum(len(answer.token_ids) for answer in answers)
        return answers

    def _take_newer(self) -> None:
        with self._lock:
            weights, self._newer = self._newer, None
        if weights is None:
            return
        tensors = weights.tensors if weights.directory is None else _read_adapter(weights.directory)
        if weights.directory is None:
            trained = self.vlm.trainable()
            with torch.no_grad():
                for name, tensor in tensors.items():
                    trained[name].copy_(tensor)
        else:
            _set_adapter(self.vlm.model, tensors)
        self.version = weights.version

    def _refuse_the_rest(self) -> None:
        rest = list(self._left_over)
        while True:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                break
            if request is not None:
                rest.append(request)
        for request in rest:
            request.answer.set_exception(ModelError("the model was closed"))


def _read_adapter(directory: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    path = directory / "adapter_model.safetensors"
    try:
        return load_file(path)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"the adapter {path} can't be read: {error}") from error


def _set_adapter(model: Any, tensors: Any) -> None:
    from peft import PeftModel, set_peft_model_state_dict

    if not isinstance(model, PeftModel):
        raise ModelError("this model has no adapters to replace", hint="load it with use_lora")
    outcome = set_peft_model_state_dict(model, dict(tensors))
    if outcome.unexpected_keys:
        raise ModelError(f"the adapter does not fit this model: {outcome.unexpected_keys[0]} is not in it")
