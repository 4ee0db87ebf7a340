"""Vision-language models of a few hundred thousand to a few million parameters, made on the spot, without network or GPU.

Each is a real model of its family with random weights, a tokenizer trained here on the words of actions (and of
tasks, if they are given), and the family's own processor, saved in the layout that the HuggingFace loaders read.
For tests, for trying a training set-up before the large model is at hand, and as the start of a small agent that
is trained from scratch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from operant.errors import ModelError

__all__ = ["TINY_FAMILIES", "build_tiny_vlm"]

VOCABULARY = 640
KEYS = ("enter", "tab", "esc", "ctrl s", "ctrl c", "+", "-", "*", "/")
PHRASE_COUNT = 50  # how often the tokenizer is shown each phrase
#: Random weights this wide learn from scratch; the usual 0.02 hardly lets the picture through.
SPREAD = 0.08
PAD, END = "<|endoftext|>", "<|im_end|>"
QWEN_TOKENS = (
    *(PAD, "<|im_start|>", END, "<|vision_start|>", "<|vision_end|>"),
    *("<|image_pad|>", "<|video_pad|>"),
)
TILES = tuple(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7))
IDEFICS_TOKENS = (
    *(PAD, "<|im_start|>", "<end_of_utterance>", "<fake_token_around_image>"),
    *("<image>", "<global-img>", *TILES),
)
IDEFICS2_TOKENS = (PAD, "<|im_start|>", "<end_of_utterance>", "<fake_token_around_image>", "<image>")
LLAVA_TOKENS = (PAD, "<|im_start|>", END, "<image>")

_TURNS = (
    "{{% for message in messages %}}<|im_start|>{{{{ message['role'] }}}}\n"
    "{{% for part in message['content'] %}}{{% if part['type'] == 'image' %}}{image}"
    "{{% else %}}{{{{ part['text'] }}}}{{% endif %}}{{% endfor %}}{end}\n{{% endfor %}}"
    "{{% if add_generation_prompt %}}<|im_start|>assistant\n{{% endif %}}"
)


def build_tiny_vlm(
    directory: Path | str,
    family: str = "qwen2_vl",
    *,
    seed: int = 0,
    width: int = 64,
    layers: int = 2,
    phrases: Sequence[str] = (),
) -> Path:
    """Make a model with its processor in ``directory``; ``family`` is a key of ``TINY_FAMILIES``.

    ``phrases`` are words that it will read often: its tokenizer finds them short.
    """
    import torch
    from transformers import AutoModelForImageTextToText

    from operant.agents.vlm.loading import check_torchvision

    check_torchvision()
    if family not in TINY_FAMILIES:
        raise ModelError(
            f"there is no tiny model of family {family!r}", hint=f"families: {', '.join(TINY_FAMILIES)}"
        )
    directory = Path(directory)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config, processor = TINY_FAMILIES[family](width, layers, phrases)
        model = AutoModelForImageTextToText.from_config(config)
        model.generation_config.pad_token_id = processor.tokenizer.pad_token_id
        model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
        model.save_pretrained(directory)
    processor.save_pretrained(directory)
    return directory


# Tokenizers.


def _tokenizer(special: tuple[str, ...], end: str, phrases: Sequence[str]) -> Any:
    """Bytes, merged where the words of actions repeat; each digit is a token, so that numbers are alike."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_sentences(phrases), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=end,
        additional_special_tokens=[token for token in special if token not in (PAD, end)],
        padding_side="left",
    )


def _sentences(phrases: Sequence[str]) -> Iterator[str]:
    """What the tokenizer should find short: answers in every format, and how tasks are worded."""
    for phrase in phrases:
        yield from [phrase] * PHRASE_COUNT
    draw = random.Random(0)
    words = ("Press", "Click", "Type", "Open", "the button", "the field", "Save", "Cancel", "Enter", "name")
    for _ in range(400):
        x, y = draw.randrange(1000), draw.randrange(1000)
        word = draw.choice(words)
        yield f"Action: click(start_box='({x},{y})')"
        yield f"Action: type(content='{word}')"
        yield f"Action: hotkey(key='{draw.choice(KEYS)}')"
        yield f'{{"kind": "click", "point": [0.{x}, 0.{y}]}}'
        yield f'{{"kind": "type", "text": "{word}"}}'
        yield f"pyautogui.click({x}, {y})"
        yield f"Agent.click([{x}, {y}])"
        yield f"Task: {word} {draw.choice(words)}.\nDone so far:\n"
        yield "Action: finished()" if x % 2 else '{"kind": "done"}'


# One function a family: its configuration and its processor, for a width, a number of layers and phrases.

SIDE, PATCH = 64, 8  # of the pictures that those with a fixed size see

Maker = Callable[[int, int, Sequence[str]], tuple[Any, Any]]


def _ids(tokenizer: Any, **tokens: str) -> dict[str, int]:
    return {f"{name}_token_id": tokenizer.convert_tokens_to_ids(token) for name, token in tokens.items()}


def _text(tokenizer: Any, width: int, layers: int, **more: Any) -> dict[str, Any]:
    return {
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 4096,
        "initializer_range": SPREAD,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        **more,
    }


def _qwen(
    name: str, eye: Callable[[int, int], dict[str, Any]], patch: int, *, head_dim: bool = False
) -> Maker:
    def make(width: int, layers: int, phrases: Sequence[str]) -> tuple[Any, Any]:
        import transformers
        from transformers import AutoConfig
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

        from operant.agents.vlm.loading import image_only

        tokenizer = _tokenizer(QWEN_TOKENS, END, phrases)
        quarter = width // 4 // 2  # rotary frequencies of a head, shared out over time, height and width
        rope = {
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "mrope_section": [quarter - 2 * (quarter * 3 // 8), quarter * 3 // 8, quarter * 3 // 8],
        }
        heads = {"head_dim": width // 4} if head_dim else {}  # others derive it
        config = AutoConfig.for_model(
            name,
            text_config=_text(tokenizer, width, layers, rope_parameters=rope, **heads),
            vision_config={"depth": 2, "initializer_range": SPREAD, **eye(width, patch)},
            **_ids(
                tokenizer,
                image="<|image_pad|>",
                video="<|video_pad|>",
                vision_start="<|vision_start|>",
                vision_end="<|vision_end|>",
            ),
        )
        images = Qwen2VLImageProcessorPil(
            patch_size=patch,
            merge_size=2,
            temporal_patch_size=2,
            size={"shortest_edge": (2 * patch) ** 2, "longest_edge": 1_003_520},
        )
        classes = {
            "qwen2_vl": "Qwen2VLProcessor",
            "qwen2_5_vl": "Qwen2_5_VLProcessor",
            "qwen3_vl": "Qwen3VLProcessor",
        }
        template = _TURNS.format(image="<|vision_start|><|image_pad|><|vision_end|>", end=END)
        processor = image_only(getattr(transformers, classes[name]))(
            images, tokenizer, chat_template=template
        )
        return config, processor

    return make


def _qwen2_eye(width: int, patch: int) -> dict[str, Any]:
    return {
        "embed_dim": width,
        "hidden_size": width,
        "num_heads": 4,
        "mlp_ratio": 2,
        "patch_size": patch,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }


def _newer_eye(width: int, patch: int) -> dict[str, Any]:
    return {
        "hidden_size": width,
        "out_hidden_size": width,
        "intermediate_size": 2 * width,
        "num_heads": 4,
        "patch_size": patch,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }


def _qwen25_eye(width: int, patch: int) -> dict[str, Any]:
    return {**_newer_eye(width, patch), "window_size": 8 * patch, "fullatt_block_indexes": [1]}


def _qwen3_eye(width: int, patch: int) -> dict[str, Any]:
    return {**_newer_eye(width, patch), "num_position_embeddings": 256, "deepstack_visual_indexes": [0]}


def _eye(width: int, **more: Any) -> dict[str, Any]:
    """A vision transformer for pictures of a fixed size."""
    return {
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": SIDE,
        "patch_size": PATCH,
        "initializer_range": SPREAD,
        **more,
    }


def _idefics(name: str) -> Maker:
    def make(width: int, layers: int, phrases: Sequence[str]) -> tuple[Any, Any]:
        from transformers import AutoConfig, Idefics3Processor
        from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

        scale = 2
        tokenizer = _tokenizer(IDEFICS_TOKENS, "<end_of_utterance>", phrases)
        config = AutoConfig.for_model(
            name,
            text_config=_text(tokenizer, width, layers, model_type="llama", head_dim=width // 4),
            vision_config=_eye(width),
            scale_factor=scale,
            pad_token_id=tokenizer.pad_token_id,
            **_ids(tokenizer, image="<image>"),
        )
        images = Idefics3ImageProcessorPil(
            size={"longest_edge": 2 * SIDE}, max_image_size={"longest_edge": SIDE}, do_image_splitting=True
        )
        processor = Idefics3Processor(
            images,
            tokenizer,
            image_seq_len=(SIDE // PATCH) ** 2 // scale**2,
            chat_template=_TURNS.format(image="<image>", end="<end_of_utterance>"),
        )
        return config, processor

    return make


def _idefics2(width: int, layers: int, phrases: Sequence[str]) -> tuple[Any, Any]:
    from transformers import AutoConfig, Idefics2Processor
    from transformers.models.idefics2.image_processing_pil_idefics2 import Idefics2ImageProcessorPil

    latents = 16
    tokenizer = _tokenizer(IDEFICS2_TOKENS, "<end_of_utterance>", phrases)
    config = AutoConfig.for_model(
        "idefics2",
        text_config=_text(tokenizer, width, layers, model_type="mistral", head_dim=width // 4),
        vision_config=_eye(width),
        perceiver_config={
            "hidden_size": width,
            "resampler_n_latents": latents,
            "resampler_depth": 1,
            "resampler_n_heads": 4,
            "resampler_head_dim": width // 4,
            "num_key_value_heads": 2,
            "initializer_range": SPREAD,
        },
        **_ids(tokenizer, image="<image>"),
    )
    images = Idefics2ImageProcessorPil(
        size={"shortest_edge": SIDE // 2, "longest_edge": SIDE}, do_image_splitting=False
    )
    processor = Idefics2Processor(
        images,
        tokenizer,
        image_seq_len=latents,
        chat_template=_TURNS.format(image="<image>", end="<end_of_utterance>"),
    )
    return config, processor


def _llava(width: int, layers: int, phrases: Sequence[str]) -> tuple[Any, Any]:
    from transformers import AutoConfig, LlavaProcessor
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    tokenizer = _tokenizer(LLAVA_TOKENS, END, phrases)
    config = AutoConfig.for_model(
        "llava",
        text_config=_text(tokenizer, width, layers, model_type="llama", head_dim=width // 4),
        vision_config=_eye(width, model_type="clip_vision_model", projection_dim=width),
        vision_feature_layer=-1,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=(SIDE // PATCH) ** 2,
    )
    images = CLIPImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    processor = LlavaProcessor(
        images,
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_TURNS.format(image="<image>", end=END),
    )
    return config, processor


def _llava_onevision(width: int, layers: int, phrases: Sequence[str]) -> tuple[Any, Any]:
    """Stands for models of no named family: its processor cuts tiles and has a video part."""
    from transformers import AutoConfig, LlavaOnevisionProcessor
    from transformers.models.llava_onevision.image_processing_pil_llava_onevision import (
        LlavaOnevisionImageProcessorPil,
    )

    from operant.agents.vlm.loading import image_only

    tokenizer = _tokenizer((*LLAVA_TOKENS, "<video>"), END, phrases)
    tiles = [[SIDE, SIDE], [SIDE, 2 * SIDE], [2 * SIDE, SIDE]]
    config = AutoConfig.for_model(
        "llava_onevision",
        text_config=_text(tokenizer, width, layers, model_type="qwen2"),
        vision_config=_eye(width, model_type="siglip_vision_model", vision_use_head=False),
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        image_grid_pinpoints=tiles,
        **_ids(tokenizer, image="<image>", video="<video>"),
    )
    processor = image_only(LlavaOnevisionProcessor)(
        LlavaOnevisionImageProcessorPil(size={"height": SIDE, "width": SIDE}, image_grid_pinpoints=tiles),
        tokenizer,
        num_image_tokens=(SIDE // PATCH) ** 2,
        vision_feature_select_strategy="full",
        chat_template=_TURNS.format(image="<image>", end=END),
    )
    return config, processor


TINY_FAMILIES: dict[str, Maker] = {
    "qwen2_vl": _qwen("qwen2_vl", _qwen2_eye, 14),
    "qwen2_5_vl": _qwen("qwen2_5_vl", _qwen25_eye, 14),
    "qwen3_vl": _qwen("qwen3_vl", _qwen3_eye, 16, head_dim=True),
    "smolvlm": _idefics("smolvlm"),
    "idefics3": _idefics("idefics3"),
    "idefics2": _idefics2,
    "llava": _llava,
    "generic": _llava_onevision,
}
