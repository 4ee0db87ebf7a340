"""The backend of environment actors: asks inference actors, and asks another one when one is gone.

A request goes to the actor with the fewest of this process's requests. Only when none answers for a while is it
an error, and then the machine's, not the agent's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation
from operant.errors import ModelServerError, OperantError
from operant.types import Size

__all__ = ["RemoteBackend"]

PATIENCE_S = 50.0  # less than an agent gets for an action: beyond that it would be the agent's failure
PAUSE_S = 0.2


@dataclass(frozen=True, eq=False)
class _Request:
    prompt: Prompt
    seed: int
    temperature: float | None
    answer: Future[Generation]
    until: threading.Timer


class RemoteBackend(Backend):
    """``actors`` are handles of ``operant.cluster.inference.Inference``."""

    def __init__(self, actors: Sequence[Any], screen: Size, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__()
        self.patience_s = patience_s
        self._actors = list(actors)
        self._screen = screen
        self._lock = threading.Lock()
        self._in_flight = [0] * len(self._actors)
        self._gone: set[int] = set()

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        answer: Future[Generation] = Future()
        timer = threading.Timer(self.patience_s, _give_up, (answer, self.patience_s))
        timer.daemon = True
        timer.start()
        self._send(_Request(prompt, seed, temperature, answer, timer))
        return answer

    def _send(self, request: _Request) -> None:
        if request.answer.done():
            return
        with self._lock:
            index = min(range(len(self._actors)), key=lambda one: (one in self._gone, self._in_flight[one]))
            self._in_flight[index] += 1
        call = self._actors[index].answer.remote(request.prompt, request.seed, request.temperature)
        call.future().add_done_callback(lambda future: self._answered(index, request, future))

    def _answered(self, index: int, request: _Request, future: Future[Generation]) -> None:
        with self._lock:
            self._in_flight[index] -= 1
        error = future.exception()
        if isinstance(error, RayError) and not isinstance(error, RayTaskError):
            self._miss(index)
            again = threading.Timer(PAUSE_S, self._send, (request,))
            again.daemon = True
            again.start()
            return
        request.until.cancel()
        if request.answer.done():
            return
        if error is not None:
            request.answer.set_exception(_cause(error))
            return
        found = future.result()
        with self._lock:
            self.stats.requests += 1
            self.stats.tokens += len(found.token_ids)
        request.answer.set_result(found)

    def _miss(self, index: int) -> None:
        """Ask others until it says that it is back."""
        with self._lock:
            if index in self._gone:
                return
            self._gone.add(index)
        self._probe(index)

    def _probe(self, index: int) -> None:
        self._actors[index].ping.remote().future().add_done_callback(
            lambda future: self._probed(index, future)
        )

    def _probed(self, index: int, future: Future[None]) -> None:
        if future.exception() is None:
            with self._lock:
                self._gone.discard(index)
            return
        again = threading.Timer(1.0, self._probe, (index,))
        again.daemon = True
        again.start()

    # What the model is like.

    @cached_property
    def _model(self) -> tuple[Units, Size]:
        until = time.monotonic() + self.patience_s
        number = 0
        while True:
            actor = self._actors[number % len(self._actors)]
            try:
                return ray.get(actor.shown.remote(self._screen), timeout=max(0.1, until - time.monotonic()))  # type: ignore[no-any-return]
            except RayTaskError as error:
                raise _cause(error) from error
            except RayError as error:
                if time.monotonic() > until:
                    raise ModelServerError("no inference actor is there") from error
                number += 1
                time.sleep(PAUSE_S)

    @property
    def units(self) -> Units:  # type: ignore[override]
        return self._model[0]

    def shown(self, screen: Size) -> Size:
        if screen != self._screen:
            raise ModelServerError(f"a screen of {screen} where all should be of {self._screen}")
        return self._model[1]

    def load(self, weights: Weights) -> None:
        raise ModelServerError("versions come from the learner")


def _give_up(answer: Future[Generation], patience_s: float) -> None:
    if not answer.done():
        answer.set_exception(ModelServerError(f"no inference actor answered within {patience_s:g} s"))


def _cause(error: BaseException) -> BaseException:
    """The error itself, without Ray's wrapping, where it is one of ours."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, OperantError) else error
