"""Parts of a run: tiny models of any size, and what their tokenizers know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.tiny import build_tiny_vlm
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.vlm import SamplingSettings
from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import ConfigError
from operant.testing import FAKE_TEMPLATES
from operant.train.vlm.parts import _tiny_size
from operant.train.vlm.tasks import phrasings, task_source


@pytest.mark.parametrize("text", ["12", "x4", "192x", "100x2", "16x2", "192x0", "192x4x2", "-64x2", "a"])
def test_a_size_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="no size of a tiny model"):
        _tiny_size(text)


def test_a_size_is_width_and_layers() -> None:
    assert _tiny_size("192x4") == {"width": 192, "layers": 4}
    assert _tiny_size("") == {}


def test_phrases_are_what_stands_between_blanks() -> None:
    def settings(**environment: str) -> VLMTrainingConfig:
        return VLMTrainingConfig.build(model={"name": "tiny:qwen2_vl"}, environment=environment)

    found = phrasings(task_source(settings(suite="clicks")))
    assert "Task: Click the red terminal " in found
    assert not any("{" in phrase for phrase in found)
    assert phrasings(task_source(settings(), FAKE_TEMPLATES))
    with_calls = phrasings(task_source(settings(suite="clicks")), "both")
    assert '{"kind": "call", "function": "files.make_folder", "kwargs": {"path": "' in with_calls
    assert with_calls[-len(found) :] == found


@pytest.mark.parametrize("family", ["qwen2_vl", "qwen2_5_vl", "qwen3_vl"])
def test_models_of_other_widths_answer_and_find_phrases_short(family: str, tmp_path: Path) -> None:
    phrase = "Task: Click the terminal "
    build_tiny_vlm(tmp_path, family, width=96, layers=1, phrases=[phrase])
    vlm = VLMWrapper(str(tmp_path), max_pixels=6000)
    assert len(vlm.tokenizer.encode(phrase, add_special_tokens=False)) <= 2
    picture = np.zeros((64, 96, 3), np.uint8)
    (answer,) = vlm.generate([Prompt.of(picture, phrase)], SamplingSettings(max_new_tokens=3))
    judged = vlm.judge([Prompt.of(picture, phrase)], [answer.token_ids])
    assert np.allclose(judged.log_probs[0].detach().numpy(), answer.log_probs, atol=2e-4)
