"""Tiny models of families that ``families`` does not name, built from their configurations as published ones are.

Each is awkward in its own way: PaliGemma has no chat template and lets prompts attend in both directions, Gemma 3
marks pictures by token types, and Cohere's models (Aya Vision) scale their logits after the output layer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModelForImageTextToText

from operant.agents.vlm.tiny import _TURNS, END, PAD, PATCH, SIDE, _eye, _text, _tokenizer

WIDTH, LAYERS = 64, 2


def _siglip() -> dict[str, Any]:
    return _eye(WIDTH, model_type="siglip_vision_model", vision_use_head=False)


def _paligemma() -> tuple[Any, Any]:
    from transformers import PaliGemmaProcessor
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    tokenizer = _tokenizer((PAD, END, "<image>", "<bos>"), END, ())
    tokenizer.bos_token = "<bos>"
    images = SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE})
    images.image_seq_length = (SIDE // PATCH) ** 2
    processor = PaliGemmaProcessor(images, tokenizer)  # adds tokens
    config = AutoConfig.for_model(
        "paligemma",
        text_config=_text(tokenizer, WIDTH, LAYERS, model_type="gemma", head_dim=WIDTH // 4),
        vision_config={**_siglip(), "projection_dim": WIDTH},
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        projection_dim=WIDTH,
        hidden_size=WIDTH,
    )
    return config, processor


def _gemma3() -> tuple[Any, Any]:
    from transformers import Gemma3Processor, PreTrainedTokenizerFast
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil

    marks = {"image": "<image_soft_token>", "boi": "<start_of_image>", "eoi": "<end_of_image>"}
    tokens = (PAD, END, "<|im_start|>", *marks.values())
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(tokens, END, ()).backend_tokenizer,
        pad_token=PAD,
        eos_token=END,
        padding_side="left",
        extra_special_tokens={f"{name}_token": mark for name, mark in marks.items()},
    )
    config = AutoConfig.for_model(
        "gemma3",
        text_config=_text(
            tokenizer,
            WIDTH,
            LAYERS,
            model_type="gemma3_text",
            head_dim=WIDTH // 4,
            query_pre_attn_scalar=WIDTH // 4,
        ),
        vision_config=_siglip(),
        mm_tokens_per_image=16,
        **{f"{name}_token_index": tokenizer.convert_tokens_to_ids(mark) for name, mark in marks.items()},
    )
    processor = Gemma3Processor(
        Gemma3ImageProcessorPil(size={"height": SIDE, "width": SIDE}),
        tokenizer,
        image_seq_length=16,
        chat_template=_TURNS.format(image="<start_of_image>", end=END),
    )
    return config, processor


def _aya_vision() -> tuple[Any, Any]:
    from transformers import AyaVisionProcessor
    from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil

    marks = (
        "<|IMG_PATCH|>",
        "<|START_OF_IMG|>",
        "<|END_OF_IMG|>",
        "<|IMG_LINE_BREAK|>",
        "TILE",
        "TILE_GLOBAL",
    )
    tokenizer = _tokenizer((PAD, END, "<|im_start|>", "<image>", *marks), END, ())
    config = AutoConfig.for_model(
        "aya_vision",
        text_config=_text(tokenizer, WIDTH, LAYERS, model_type="cohere2", logit_scale=0.25),
        vision_config=_siglip(),
        downsample_factor=2,
        adapter_layer_norm_eps=1e-6,
        vision_feature_layer=-1,
        image_token_index=tokenizer.convert_tokens_to_ids("<|IMG_PATCH|>"),
    )
    processor = AyaVisionProcessor(
        GotOcr2ImageProcessorPil(size={"height": SIDE, "width": SIDE}, crop_to_patches=False),
        tokenizer,
        patch_size=PATCH,
        img_size=SIDE,
        downsample_factor=2,
        chat_template=_TURNS.format(image="<image>", end=END),
    )
    return config, processor


UNNAMED: dict[str, Callable[[], tuple[Any, Any]]] = {
    "paligemma": _paligemma,
    "gemma3": _gemma3,
    "aya_vision": _aya_vision,
}


def build_unnamed(directory: Path, kind: str) -> Path:
    config, processor = UNNAMED[kind]()
    model = AutoModelForImageTextToText.from_config(config)
    model.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    model.save_pretrained(directory)
    processor.save_pretrained(directory)
    return directory
