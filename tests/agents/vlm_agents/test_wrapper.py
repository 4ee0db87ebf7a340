"""Every family through the same interface: load, generate, judge, adapt, save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from loguru import logger
from peft.tuners.lora import LoraLayer
from PIL import Image

from operant.agents.vlm import loading
from operant.agents.vlm.families import FAMILIES, family_of, kind_of_name
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.vlm import SamplingSettings
from operant.errors import ConfigError, ModelError
from operant.testing.tiny_vlm import TINY_FAMILIES, build_tiny_vlm
from operant.types import Size

from .conftest import question, screen
from .unnamed import UNNAMED, build_unnamed

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
    assert all("lora_" in name for name in names)
    seeing = [name for name in names if "visual" in name or "vision" in name]
    assert bool(seeing) is (family == "generic")  # which takes all linear layers
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


@pytest.fixture
def unnamed(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    root = tmp_path_factory.getbasetemp() / "unnamed-vlms"

    def directory(kind: str) -> Path:
        return root / kind if (root / kind).exists() else build_unnamed(root / kind, kind)

    return directory


@pytest.mark.parametrize("kind", UNNAMED)
def test_models_of_no_named_family_work_with_a_warning(unnamed: Tiny, kind: str, tmp_path: Path) -> None:
    loading._unnamed.cache_clear()
    said: list[str] = []
    sink = logger.add(said.append, level="WARNING", format="{message}")
    try:
        vlm = VLMWrapper(unnamed(kind), use_lora=True, lora_config={"r": 4}, **SMALL)
        VLMWrapper(unnamed(kind), **SMALL)
    finally:
        logger.remove(sink)
    assert len([line for line in said if f"kind {kind} are not known by name" in line]) == 1
    assert vlm.family.units == "fractions"
    assert vlm.shown(Size(1280, 800)) == Size(98, 61)  # 6000 pixels, the screen's shape
    adapted = {name.partition(".lora_")[0] for name in vlm.trainable()}
    linear = [name for name, part in vlm.model.named_modules() if isinstance(part, LoraLayer)]
    assert adapted == set(linear)
    assert any("vision" in name for name in adapted)

    prompts = [question(vlm, 0), question(vlm, 5, images=2, text="Open the file menu and press Save as.")]
    sampling = SamplingSettings(temperature=0.7, max_new_tokens=8)
    answers = vlm.generate(prompts, sampling, seeds=[3, 4])
    judged = vlm.judge(prompts, [answer.token_ids for answer in answers], temperature=0.7)
    for row, answer in enumerate(answers):
        torch.testing.assert_close(
            judged.log_probs[row, : len(answer.log_probs)],
            torch.tensor(answer.log_probs),
            atol=2e-4,
            rtol=0,
        )
    other = vlm.judge([question(vlm, 9), prompts[1]], [answer.token_ids for answer in answers])
    assert not torch.allclose(other.log_probs[0], judged.log_probs[0])  # the picture matters

    optimiser = torch.optim.AdamW(vlm.trainable().values(), lr=0.005)
    losses = []
    for _ in range(6):
        optimiser.zero_grad()
        loss = vlm.forward([screen()], ["Press Save."], labels=["Action: finished()"])["loss"]
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.1
    again = VLMWrapper(vlm.save(tmp_path / "adapter"), **SMALL)
    assert again.predict_action(screen(), "Press Save.") == vlm.predict_action(screen(), "Press Save.")


def test_a_family_that_judges_otherwise_than_it_draws_is_not_trained(
    unnamed: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = VLMWrapper(unnamed("paligemma"), **SMALL)
    extend = vlm._extend

    def wrongly(inputs: dict[str, torch.Tensor], *more: torch.Tensor) -> None:
        extend(inputs, *more)
        inputs["token_type_ids"] = torch.zeros_like(inputs["token_type_ids"])  # the prompt sees the answer

    monkeypatch.setattr(vlm, "_extend", wrongly)
    assert vlm.predict_action(screen(), "Press Save.") is not None
    with pytest.raises(ModelError, match="judges its own answer otherwise"):
        vlm.forward([screen()], ["Press Save."], labels=["Action: finished()"])


def test_screenshots_are_pictures_or_arrays(tiny: Tiny) -> None:
    vlm = VLMWrapper(tiny("qwen2_vl"), **SMALL)
    array = screen()
    picture = Image.fromarray(array)
    asked = {
        vlm.predict_action(one, prompt="Click login")
        for one in (
            array,
            picture,
            picture.convert("RGBA"),
            np.dstack([array, np.zeros_like(array[:, :, :1])]),
        )
    }
    assert len(asked) == 1
    grey = picture.convert("L")
    assert vlm.predict_action(grey, "Click login") == vlm.predict_action(np.asarray(grey), "Click login")
    ids = [vlm.tokens("Action: finished()"), vlm.tokens("done")]
    padded = torch.full((2, 40), -100)
    for row, tokens in enumerate(ids):
        padded[row, : len(tokens)] = torch.tensor(tokens)
    losses = [
        vlm.forward(images, ["Press Save.", "Go."], labels=labels)["loss"].item()
        for images, labels in (
            ([picture, array], ["Action: finished()", "done"]),
            ([array, picture], ids),
            ([picture, picture], padded),
        )
    ]
    assert losses == pytest.approx([losses[0]] * 3)
    assert vlm.forward([picture], ["Press Save."])["logits"].shape[:2] == (1, 1)
    for wrong in (array.astype(float), array[:, :, :2], np.zeros((0, 0, 3), np.uint8), "screen.png"):
        with pytest.raises(ModelError, match="no screenshot"):
            vlm.predict_action(wrong, "Click login")
    with pytest.raises(ModelError, match="prompt 2 needs one"):
        vlm.forward([picture], ["Press Save.", "Go."], labels=["a", "b"])
    with pytest.raises(ModelError, match="2 prompts and 1 labels"):
        vlm.forward([picture, picture], ["Press Save.", "Go."], labels=["a"])


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
    with pytest.raises(ModelError, match="does not answer pictures with text"):
        VLMWrapper(tmp_path / "text")
    (tmp_path / "text" / "config.json").write_text('{"model_type": "pix2struct"}')
    with pytest.raises(ModelError, match="encoder-decoder"):
        VLMWrapper(tmp_path / "text")
    with pytest.raises(ConfigError, match="alpha is not a setting") as caught:
        VLMWrapper(tiny("llava"), use_lora=True, lora_config={"alpha": 32})
    assert caught.value.hint == "did you mean 'lora_alpha'?"
    with pytest.raises(ModelError, match="target_modules"):
        VLMWrapper(tiny("llava"), use_lora=True, lora_config={"target_modules": ["no_such_layer"]})
    with pytest.raises(ConfigError, match="there is no device 'cuda:7'"):
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
    named = {kind for family in FAMILIES for kind in family.model_types}
    assert {*named, "generic"} == set(TINY_FAMILIES)
    with pytest.raises(ModelError, match="no known family"):
        family_of("gpt2")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Qwen/Qwen2-VL-2B-Instruct", "qwen2_vl"),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_5_vl"),
        ("ByteDance-Seed/UI-TARS-1.5-7B", "qwen2_5_vl"),
        ("ByteDance-Seed/UI-TARS-7B-DPO", "qwen2_vl"),
        ("Qwen/Qwen3-VL-4B-Instruct", "qwen3_vl"),
        ("HuggingFaceTB/SmolVLM2-500M-Video-Instruct", "smolvlm"),
        ("HuggingFaceM4/Idefics3-8B-Llama3", "idefics3"),
        ("HuggingFaceM4/idefics2-8b", "idefics2"),
        ("llava-hf/llava-1.5-7b-hf", "llava"),
        ("llava-hf/llava-onevision-qwen2-0.5b-ov-hf", ""),
        ("google/paligemma-3b-mix-448", ""),
    ],
)
def test_a_hub_name_tells_the_kind(name: str, kind: str) -> None:
    assert kind_of_name(name) == kind
