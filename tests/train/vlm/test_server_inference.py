"""A run whose actors are answered by a model server, which gets every version as an adapter's directory."""

from __future__ import annotations

from pathlib import Path

from operant.agents.vlm.backends.local import LocalBackend
from operant.agents.vlm.wrapper import VLMWrapper
from operant.testing.model_server import ModelServer
from operant.testing.tiny_vlm import build_tiny_vlm

from .test_training_run import lines, settings, train


def test_a_server_answers_and_swaps_adapters(tmp_path: Path) -> None:
    base = build_tiny_vlm(tmp_path / "base")
    lora = {"r": 2}
    model = {"name": str(base), "use_lora": True, "lora": lora, "max_pixels": 6000}
    config = settings(model=model, training={"num_iterations": 2, "max_staleness": 0})
    served = VLMWrapper(config.model, sampling=config.sampling)
    with ModelServer(LocalBackend(served)) as server:
        inference = {"url": server.url, "model": "tiny", "family": "qwen2_vl", "max_pixels": 6000}
        whole = type(config).build(**{**config.model_dump(), "inference": inference})
        training, _ = train(tmp_path / "run", whole)
    assert training.iteration == 2
    assert server.asked[0] == "tiny"
    assert server.asked[-1].startswith("tiny-operant-")
    assert [line["max_staleness"] for line in lines(tmp_path / "run")] == [0, 0]
    assert (tmp_path / "run" / "adapters" / "version_000001" / "adapter_model.safetensors").is_file()
