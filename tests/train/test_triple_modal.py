"""``config/triple_modal.yaml``, the three-modal agent at full size, trains: on fake desktops, with a BERT made here."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import yaml

from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train.config import TrainConfig
from operant.train.run import train

SHIPPED = Path(__file__).parents[2] / "config" / "triple_modal.yaml"


def bert_tiny(directory: Path) -> Path:
    """BERT-tiny's shape (two layers of 128) over the letters, as ``save_pretrained`` writes it."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{one}" for one in letters),
        "click",
    ]
    directory.mkdir()
    (directory / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast.from_pretrained(directory).save_pretrained(directory)
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512}
    BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(directory)
    return directory


def settings(tmp_path: Path) -> TrainConfig:
    """The shipped file, with a directory for its text model and a run of a few steps."""
    values = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    values["agent"]["encoder"]["text"] = str(bert_tiny(tmp_path / "bert"))
    path = tmp_path / "triple_modal.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    few = {"total_timesteps": 16, "num_envs": 2, "buffer_size": 8, "minibatch_size": 4, "update_epochs": 1}
    flags = {f"training.{name}": value for name, value in few.items()}
    flags |= {"run.save_dir": tmp_path / "c", "run.log_dir": tmp_path / "l", "environment.spares": 2}
    return TrainConfig.load(path, flags=flags, environ={})


@pytest.mark.slow
def test_it_trains_in_all_three_modalities(tmp_path: Path) -> None:
    config = settings(tmp_path)
    torch.manual_seed(config.training.seed)
    before = HierarchicalPolicy(config.agent)
    before.save(tmp_path / "before.pt")
    result = train(
        config, init_from=tmp_path / "before.pt", tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory
    )
    assert result.step >= 16
    assert result.skipped == 0
    assert result.checkpoint is not None
    after = HierarchicalPolicy.from_checkpoint(result.checkpoint)
    for name in (
        "encoder.vision.body.features.0.0.weight",
        "encoder.vision.body.features.8.0.weight",
        "encoder.reader.body.embeddings.word_embeddings.weight",
        "encoder.reader.body.encoder.layer.1.output.dense.weight",
        "encoder.state.0.weight",
    ):
        moved = (after.get_parameter(name) - before.get_parameter(name)).detach().abs().max()
        assert float(moved) > 0, name
    assert after.config.encoder.vision == "efficientnet_b0"


def test_the_file_is_read_as_it_is() -> None:
    config = TrainConfig.load(SHIPPED, environ={})
    assert config.agent is not None
    assert config.agent.encoder.vision == "efficientnet_b0"
    assert "bert" in config.agent.encoder.text
