"""Both backends with a tiny model behind them; the server is a real one, over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
import torch

from operant.agents.vlm.backends.base import Weights
from operant.agents.vlm.backends.local import LocalBackend
from operant.agents.vlm.backends.server import ServerBackend
from operant.agents.vlm.trajectory import Generation
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.vlm import SamplingSettings, ServerSettings
from operant.errors import ModelError, ModelServerError
from operant.testing.model_server import ModelServer

from .conftest import question

Tiny = Callable[[str], Path]
SAMPLING = SamplingSettings(temperature=1.0, max_new_tokens=6)


@pytest.fixture
def vlm(tiny: Tiny) -> VLMWrapper:
    return VLMWrapper(
        tiny("qwen2_vl"), use_lora=True, lora_config={"r": 2}, max_pixels=6000, sampling=SAMPLING
    )


@pytest.fixture
def server(vlm: VLMWrapper) -> Iterator[ModelServer]:
    with ModelServer(LocalBackend(vlm)) as server:
        yield server


def settings(server: ModelServer, **more: object) -> ServerSettings:
    return ServerSettings(url=server.url, model="tiny", family="qwen2_vl", max_pixels=6000, **more)


def shifted(vlm: VLMWrapper, amount: float = 0.3) -> dict[str, torch.Tensor]:
    return {name: value.detach() + amount for name, value in vlm.trainable().items()}


def test_many_callers_are_answered_in_few_batches_and_as_if_alone(vlm: VLMWrapper) -> None:
    prompts = [question(vlm, seed) for seed in range(8)]
    alone = [vlm.generate([prompt], seeds=[seed])[0].token_ids for seed, prompt in enumerate(prompts)]
    with LocalBackend(vlm, max_batch=8, linger_s=0.2) as backend:
        futures: list[Future[Generation]] = [Future() for _ in prompts]

        def ask(index: int) -> None:
            futures[index].set_result(backend.submit(prompts[index], seed=index).result(60))

        threads = [threading.Thread(target=ask, args=(index,)) for index in range(8)]
        for thread in threads:
            thread.start()
        answers = [future.result(60).token_ids for future in futures]
        for thread in threads:
            thread.join()
        assert answers == alone
        assert backend.stats.requests == 8
        assert backend.stats.batches <= 3
        assert backend.stats.tokens == sum(len(answer) for answer in answers)


def test_requests_of_two_temperatures_do_not_share_a_batch(vlm: VLMWrapper) -> None:
    prompt = question(vlm)
    greedy = vlm.generate([prompt], SAMPLING.model_copy(update={"temperature": 0.0}))[0].token_ids
    with LocalBackend(vlm, linger_s=0.1) as backend:
        futures = [backend.submit(prompt, seed=3, temperature=value) for value in (1.0, 0.0, 1.0, 0.0)]
        first, second, third, fourth = (future.result(60) for future in futures)
    assert second.token_ids == fourth.token_ids == greedy
    assert first.token_ids == third.token_ids != greedy
    assert backend.stats.batches == 2


def test_newer_weights_change_answers_and_are_recorded(vlm: VLMWrapper) -> None:
    prompt = question(vlm)
    with LocalBackend(vlm) as backend:
        before = backend.submit(prompt, seed=1).result(60)
        backend.load(Weights(4, shifted(vlm)))
        after = backend.submit(prompt, seed=1).result(60)
        assert set(before.versions) == {0}
        assert set(after.versions) == {4}
        assert before.log_probs != after.log_probs
        with pytest.raises(ModelError, match="don't fit"):
            backend.load(Weights(5, {"nothing": torch.zeros(1)}))
        with pytest.raises(ModelError, match="don't fit"):
            backend.load(Weights(5))


def test_an_error_reaches_its_caller_and_the_model_goes_on(vlm: VLMWrapper) -> None:
    from operant.agents.vlm.prompt import Prompt

    with LocalBackend(vlm, max_batch=1) as backend:
        broken = backend.submit(Prompt(({"role": "user", "content": [{"type": "image"}]},), ()))
        with pytest.raises(Exception, match=r".+"):
            broken.result(60)
        assert backend.submit(question(vlm)).result(60).token_ids
    with pytest.raises(ModelError, match="closed"):
        backend.submit(question(vlm))


def test_the_server_gives_the_same_answers_with_their_tokens(vlm: VLMWrapper, server: ModelServer) -> None:
    prompt = question(vlm, 3, images=2)
    here = vlm.generate([prompt], seeds=[11])[0]
    with ServerBackend(settings(server), SAMPLING, need_tokens=True) as backend:
        there = backend.submit(prompt, seed=11).result(60)
    assert there.token_ids == here.token_ids
    assert there.text == here.text
    assert there.log_probs == pytest.approx(here.log_probs, abs=1e-4)
    assert there.finished == here.finished


def test_adapters_are_swapped_by_directory_and_the_old_one_is_unloaded(
    vlm: VLMWrapper, server: ModelServer, tmp_path: Path
) -> None:
    prompt = question(vlm)
    directories = []
    for version, amount in ((1, 0.2), (2, -0.4)):
        with torch.no_grad():
            for parameter in vlm.trainable().values():
                parameter.add_(amount)
        directories.append(vlm.save(tmp_path / str(version)))
    expected = vlm.generate([prompt], seeds=[1])[0]
    with ServerBackend(settings(server), SAMPLING) as backend:
        for version, directory in enumerate(directories, 1):
            backend.load(Weights(version, directory=directory))
            answer = backend.submit(prompt, seed=1).result(60)
            assert set(answer.versions) == {version}
        assert answer.log_probs == pytest.approx(expected.log_probs, abs=1e-4)
        assert server.asked == ["tiny-operant-1", "tiny-operant-2"]
        assert list(server.adapters) == ["tiny-operant-2"]
        with pytest.raises(ModelServerError, match="no adapter found"):
            backend.load(Weights(3, directory=tmp_path / "missing"))
        assert backend.version == 2


def test_a_server_that_is_down_or_hides_its_tokens_or_wants_a_key_says_so(
    vlm: VLMWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = ServerSettings(url="http://127.0.0.1:9/v1", model="x", family="llava", retries=0, timeout_s=5)
    with ServerBackend(down) as backend, pytest.raises(ModelServerError, match="can't be reached"):
        backend.submit(question(vlm)).result(60)
    with ModelServer(LocalBackend(vlm), key="sesame", tokens=False) as server:
        with ServerBackend(settings(server)) as backend, pytest.raises(ModelServerError, match="a key"):
            backend.submit(question(vlm)).result(60)
        monkeypatch.setenv("OPENAI_API_KEY", "sesame")
        with ServerBackend(settings(server), SAMPLING) as backend:
            assert backend.submit(question(vlm)).result(60).token_ids == ()
        strict = ServerBackend(settings(server), SAMPLING, need_tokens=True)
        with strict as backend, pytest.raises(ModelServerError, match="does not tell the tokens"):
            backend.submit(question(vlm)).result(60)
