"""The backend that asks inference actors, with actors that are only played: spread, failover, patience."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from ray.exceptions import ActorUnavailableError, RayTaskError

from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation
from operant.cluster.remote_backend import RemoteBackend
from operant.cluster.versions import Release, packed, unpacked
from operant.errors import ModelError, ModelServerError
from operant.types import Size

PROMPT = Prompt.of(np.zeros((2, 2, 3), np.uint8), "Task")
ANSWER = Generation("x", (1, 2), (-1.0, -2.0), (3, 3))
SCREEN = Size(1280, 800)


class PlayedActor:
    """Answers by hand: ``calls`` are the futures of those who wait."""

    def __init__(self) -> None:
        self.calls: list[Future[Any]] = []
        self.pings: list[Future[Any]] = []
        self.answer = SimpleNamespace(remote=self._method(self.calls))
        self.ping = SimpleNamespace(remote=self._method(self.pings))

    def _method(self, calls: list[Future[Any]]) -> Callable[..., Any]:
        def remote(*_: object) -> Any:
            calls.append(Future())
            return SimpleNamespace(future=lambda: calls[-1])

        return remote


def gone() -> ActorUnavailableError:
    return ActorUnavailableError("gone", None)


def test_requests_go_to_whoever_has_the_fewest() -> None:
    actors = [PlayedActor(), PlayedActor()]
    backend = RemoteBackend(actors, SCREEN)
    answers = [backend.submit(PROMPT) for _ in range(4)]
    assert [len(actor.calls) for actor in actors] == [2, 2]
    actors[1].calls[0].set_result(ANSWER)
    backend.submit(PROMPT)
    assert len(actors[1].calls) == 3
    assert sum(answer.done() for answer in answers) == 1
    assert backend.stats.tokens == 2


def test_an_actor_that_is_gone_is_asked_again_only_when_it_says_that_it_is_back() -> None:
    first, second = PlayedActor(), PlayedActor()
    backend = RemoteBackend([first, second], SCREEN)
    answer = backend.submit(PROMPT)
    first.calls[0].set_exception(gone())
    for _ in range(100):
        if second.calls:
            break
        with pytest.raises(TimeoutError):
            answer.result(0.05)
    assert len(first.calls) == 1
    backend.submit(PROMPT)
    assert len(second.calls) == 2  # although it has more to do
    first.pings[0].set_result(None)
    backend.submit(PROMPT)
    assert len(first.calls) == 2
    second.calls[0].set_result(ANSWER)
    assert answer.result(1) == ANSWER


def test_nobody_who_answers_is_the_machines_failure_and_an_error_of_the_model_its_own() -> None:
    actor = PlayedActor()
    backend = RemoteBackend([actor], SCREEN, patience_s=0.05)
    with pytest.raises(ModelServerError, match="no inference actor answered"):
        backend.submit(PROMPT).result(5)
    patient = RemoteBackend([actor], SCREEN)
    answer = patient.submit(PROMPT)
    actor.calls[-1].set_exception(RayTaskError("answer", "traceback", ModelError("broken")))
    with pytest.raises(ModelError, match="broken"):
        answer.result(1)
    with pytest.raises(ModelServerError, match="come from the learner"):
        patient.load(Weights(1))
    with pytest.raises(ModelServerError, match="a screen of"):
        patient.shown(Size(1, 1))


def test_weights_survive_the_way_in_every_precision() -> None:
    tensors = {"a": torch.randn(3, 2), "b": torch.randn(4).to(torch.bfloat16)}
    data = packed(Weights(7, tensors))
    back = unpacked(Release(1, 7, None, ()), data)
    assert back.version == 7
    torch.testing.assert_close(dict(back.tensors), tensors)
    assert data.nbytes < 400
