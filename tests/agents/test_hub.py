"""Checkpoints to a hub and back, over real HTTP: the hub is one on the loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from tests.agents.hub_server import GATED, TOKEN, Hub

from operant.agents.vlm.wrapper import VLMWrapper
from operant.testing.tiny_vlm import build_tiny_vlm

SOURCE = Path(__file__).parents[2] / "src"
Run = Callable[..., str]


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


@pytest.fixture
def run(hub: Hub, tmp_path: Path) -> Run:
    """The command with that hub for HuggingFace's and a cache of its own."""

    def run(*args: str | Path, code: int = 0, program: str | None = None, **environment: str) -> str:
        what = ["-c", program] if program else ["-m", "operant"]
        ended = subprocess.run(
            [sys.executable, *what, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            cwd=tmp_path,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
                "PYTHONPATH": str(SOURCE),
                "HF_ENDPOINT": hub.url,
                "HF_HOME": str(tmp_path / "hf"),
                "HF_TOKEN": TOKEN,
                "HF_HUB_DISABLE_TELEMETRY": "1",
                **environment,
            },
        )
        assert ended.returncode == code, ended.stderr
        assert "Traceback" not in ended.stderr
        return ended.stdout if code == 0 else ended.stderr

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_vlm(tmp_path_factory.mktemp("models") / "whole", "qwen2_vl")


LOAD = """
import sys
import numpy as np
from operant.agents.vlm.wrapper import VLMWrapper
vlm = VLMWrapper(sys.argv[1], max_pixels=6000, trainable=False)
print(vlm.adapted, repr(vlm.predict_action(np.zeros((100, 160, 3), np.uint8), "Press Save.")))
"""


def test_a_whole_model_goes_up_comes_down_and_loads_by_its_name(hub: Hub, run: Run, model: Path) -> None:
    said = run("hub", "push", model, "owner/tiny", "--private", "--message", "The first")
    assert said.strip() == f"{hub.url}/owner/tiny"
    assert hub.private == {"owner/tiny": True}
    assert hub.messages == ["The first"]
    there = hub.repos["owner/tiny"]
    assert set(there) == {path.name for path in model.iterdir()} | {"README.md"}
    assert there["model.safetensors"] == (model / "model.safetensors").read_bytes()

    place = Path(run("hub", "pull", "owner/tiny", "here").strip())
    assert (place / "model.safetensors").read_bytes() == there["model.safetensors"]
    by_directory = run(place, program=LOAD)
    assert by_directory == run("owner/tiny", program=LOAD)  # transformers' own download
    hub.repos.clear()
    assert run("owner/tiny", program=LOAD, HF_HUB_OFFLINE="1") == by_directory  # from the cache
    cached = run("hub", "pull", "owner/other", code=1, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set" in cached


def test_adapters_go_up_with_a_card_that_names_their_model(
    hub: Hub, run: Run, model: Path, tmp_path: Path
) -> None:
    hub.repos["owner/base"] = {path.name: path.read_bytes() for path in model.iterdir()}
    version = tmp_path / "run" / "checkpoints" / "version_000007"
    vlm = VLMWrapper(model, use_lora=True, lora_config={"r": 4}, max_pixels=6000)
    vlm.save(version / "model")
    (version / "state.pt").write_bytes(b"the learner's")
    (tmp_path / "run" / "config.yaml").write_text(
        "training: {algorithm: grpo}\nenvironment: {suite: clicks}\n"
    )

    refused = run("hub", "push", tmp_path / "run", "owner/mine", code=1)
    assert "which others do not have" in refused
    assert "save_merged" in refused
    config = version / "model" / "adapter_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "base_model_name_or_path": "owner/base"}))
    shown = run("hub", "push", tmp_path / "run", "owner/mine", "--dry-run")
    assert "owner/mine" not in hub.repos
    run("hub", "push", tmp_path / "run", "owner/mine")
    there = hub.repos["owner/mine"]
    assert {"adapter_config.json", "adapter_model.safetensors", "operant.json", "README.md"} <= set(there)
    assert "state.pt" not in there
    assert there["README.md"].decode() == shown
    card = ModelCard(shown)
    assert card.data.base_model == "owner/base"
    assert card.data.library_name == "peft"
    assert "| training.algorithm | grpo |" in card.text
    assert "| environment.suite | clicks |" in card.text

    place = run("hub", "pull", "owner/mine", "adapters").strip()
    assert run(place, program=LOAD).startswith("True ")  # with its model from the hub

    written = version / "model" / "README.md"
    written.write_text("---\nlicense: mit\n---\nWritten by hand.\n")
    assert run("hub", "push", version, "owner/mine", "--dry-run") == written.read_text()


def test_a_hierarchical_checkpoint_goes_up_and_comes_down(hub: Hub, run: Run, tmp_path: Path) -> None:
    shutil.copy(SOURCE / "operant" / "agents" / "hierarchical" / "default.pt", tmp_path / "agent.pt")
    run("hub", "push", "agent.pt", "owner/agent")
    assert set(hub.repos["owner/agent"]) == {"agent.pt", "README.md"}
    place = Path(run("hub", "pull", "owner/agent", "pulled").strip())
    program = (
        "import sys; from pathlib import Path; from operant.agents.registry import make_agent\n"
        "from operant.evaluation.checkpoint_kind import agent_of_checkpoint\n"
        "name = agent_of_checkpoint(Path(sys.argv[1])); print(name, type(make_agent(name)).__name__)"
    )
    assert run(place, program=program).split() == [f"hierarchical:{place / 'agent.pt'}", "HierarchicalAgent"]


def test_refusals_say_what_to_do(hub: Hub, run: Run, model: Path, tmp_path: Path) -> None:
    assert "accept its terms" in run("hub", "pull", GATED, code=1)
    assert "is the name right?" in run("hub", "pull", "owner/missing", code=1)
    assert "HF_TOKEN" in run("hub", "push", model, "owner/tiny", code=1, HF_TOKEN="hf_wrong")
    assert "is the name right?" in run("hub", "pull", "owner/tiny", code=1)  # nothing went up
    down = run("hub", "pull", "owner/tiny", code=1, HF_ENDPOINT="http://127.0.0.1:9")
    assert "http://127.0.0.1:9 reachable" in down
    assert "holds no checkpoint" in run("hub", "push", tmp_path, "owner/tiny", code=2)
    assert "OWNER/NAME" in run("hub", "pull", "a/b/c", code=2)
    load = (
        "import sys\nfrom operant.agents.vlm.wrapper import VLMWrapper\nfrom operant.errors import ModelError\n"
        "try: VLMWrapper(sys.argv[1])\nexcept ModelError as error: print(error.hint)"
    )
    assert "accept its terms" in run(GATED, program=load)
