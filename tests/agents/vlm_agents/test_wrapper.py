"""Every family through the same interface: load, generate, judge, adapt, save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from operant.agents.vlm.families import FAMILIES, family_of
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.vlm import SamplingSettings
from operant.errors import ModelError
from operant.testing.tiny_vlm import TINY_FAMILIES, build_tiny_vlm

from .conftest import question, screen

Tiny = Callable[[str], Path]
SHORT = SamplingSettings(temperature=1.0, max_new_tokens=8)
SMALL = {"max_pixels": 6000}


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_the_learner_computes_the_probabilities_that_tokens_were_drawn_with(tiny: Tiny, family: str) -> None:
    vlm = VLMWrapper(tiny(family), **SMALL)
    prompts = [question(vlm, 0), question(vlm, 5, images=2, text="Open the file menu and press Save as.")]
    sampling = SamplingSettings(temperature=0.7, max_new_tokens=8)
    answers = vlm.generate(prompts, sampling, seeds=[3, 4], version=7)
    judged = vlm.judge(prompts, [answer.token_ids for answer in answers], temperature=0.7)
    for row, answer in enumerate(answers):
        length = len(answer.token_ids)
        assert length == len(answer.log_probs) == len(answer.versions)
        assert set(answer.versions) == {7}
        assert judged.mask[row].sum() == length
        torch.testing.assert_close(
            judged.log_probs[row, :length], torch.tensor(answer.log_probs), atol=2e-4, rtol=0
        )
        assert not vlm.suppressed[list(answer.token_ids)].any()
    assert judged.state.shape == (2, vlm.width)
    assert (judged.entropy[judged.mask] > 0).all()


def test_an_answer_depends_on_its_seed_and_not_on_its_neighbours(tiny: Tiny) -> None:
    vlm = VLMWrapper(tiny("qwen2_vl"), **SMALL)
    one, other = question(vlm, 0), question(vlm, 9, images=2)
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    (alone,) = vlm.generate([one], SHORT, seeds=[5])
    beside = vlm.generate([other, one], SHORT, seeds=[1, 5])[1]
    (another,) = vlm.generate([one], SHORT, seeds=[6])
    assert torch.equal(torch.random.get_rng_state(), before)
    assert alone.token_ids == beside.token_ids
    assert alone.token_ids != another.token_ids


def test_the_picture_matters(tiny: Tiny) -> None:
    for family in ("qwen2_vl", "idefics3", "llava"):
        vlm = VLMWrapper(tiny(family), **SMALL)
        prompts = [question(vlm, 0), question(vlm, 1)]
        judged = vlm.judge(prompts, [[300, 301], [300, 301]])
        assert not torch.allclose(judged.log_probs[0], judged.log_probs[1]), family


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_adapters_start_as_nothing_learn_and_come_back(tiny: Tiny, family: str, tmp_path: Path) -> None:
    vlm = VLMWrapper(tiny(family), use_lora=True, lora_config={"r": 4}, **SMALL)
    plain = VLMWrapper(tiny(family), **SMALL)
    prompt, answer = [question(vlm)], [[300, 301, vlm.ends[0]]]
    first = vlm.judge(prompt, answer).log_probs
    torch.testing.assert_close(first, plain.judge(prompt, answer).log_probs)
    names = list(vlm.trainable())
    assert names
    assert all("lora_" in name and "visual" not in name and "vision" not in name for name in names)
    optimiser = torch.optim.AdamW(vlm.trainable().values(), lr=0.005)
    for _ in range(8):
        optimiser.zero_grad()
        vlm.forward([], prompt, labels=answer)["loss"].backward()
        optimiser.step()
    after = vlm.judge(prompt, answer).log_probs.detach()
    assert after.sum() > first.sum() + 0.1
    again = VLMWrapper(vlm.save(tmp_path / "adapter"), **SMALL)
    torch.testing.assert_close(again.judge(prompt, answer).log_probs, after)
    assert set(again.trainable()) == set(names)
    merged = VLMWrapper(vlm.save_merged(tmp_path / "merged"), **SMALL)
    assert not merged.adapted
    torch.testing.assert_close(merged.judge(prompt, answer).log_probs, after, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(vlm.judge(prompt, answer).log_probs, after)


def test_full_fine_tuning_with_checkpointing_in_bf16(tiny: Tiny, tmp_path: Path) -> None:
    vlm = VLMWrapper(tiny("qwen2_vl"), gradient_checkpointing=True, dtype="bfloat16", **SMALL)
    labels = ["Action: finished()"]
    optimiser = torch.optim.SGD(vlm.trainable().values(), lr=0.03)
    losses = []
    for _ in range(6):
        optimiser.zero_grad()
        loss = vlm.forward([screen()], ["Press Save."], labels=labels)["loss"]
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    grads = {name for name, value in vlm.trainable().items() if value.grad is not None}
    assert any("visual" in name for name in grads)
    assert (
        VLMWrapper(vlm.save(tmp_path / "whole"), **SMALL).predict_action(screen(), "Press Save.") is not None
    )
    with torch.no_grad():
        assert vlm.generate([question(vlm)], SHORT)[0].token_ids


def test_checkpointing_changes_no_gradient(tiny: Tiny) -> None:
    grads = []
    for checkpointing in (False, True):
        vlm = VLMWrapper(tiny("qwen2_vl"), use_lora=True, gradient_checkpointing=checkpointing, **SMALL)
        torch.manual_seed(0)
        for parameter in vlm.trainable().values():
            torch.nn.init.normal_(parameter, std=0.05)
        vlm.forward([screen()], ["Press Save."], labels=["Action: finished()"])["loss"].backward()
        grads.append(torch.cat([value.grad.flatten() for value in vlm.trainable().values()]))
    torch.testing.assert_close(*grads)


def test_what_cannot_be_loaded_says_why(tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model directory"):
        VLMWrapper(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="holds no model"):
        VLMWrapper(tmp_path / "empty")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(ModelError, match="of no known family"):
        VLMWrapper(tmp_path / "text")
    with pytest.raises(ModelError, match="target_modules"):
        VLMWrapper(tiny("llava"), use_lora=True, lora_config={"target_modules": ["no_such_layer"]})
    with pytest.raises(ModelError, match="GPUs"):
        VLMWrapper(tiny("llava"), device="cuda:7")
    with pytest.raises(ModelError, match="families: qwen2_vl"):
        build_tiny_vlm(tmp_path / "x", "gpt")


def test_4_bit_weights_say_what_they_need(tiny: Tiny) -> None:
    import importlib.util

    if importlib.util.find_spec("bitsandbytes") is None:
        with pytest.raises(ModelError, match="pip install bitsandbytes"):
            VLMWrapper(tiny("qwen2_vl"), use_lora=True, load_in_4bit=True)
    else:
        vlm = VLMWrapper(tiny("qwen2_vl"), use_lora=True, load_in_4bit=True, **SMALL)
        assert vlm.generate([question(vlm)], SHORT)[0].token_ids


def test_each_family_knows_its_models() -> None:
    assert family_of("qwen2_5_vl").units == "pixels"
    assert {kind for family in FAMILIES for kind in family.model_types} == set(TINY_FAMILIES)
