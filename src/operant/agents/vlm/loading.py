"""From a directory (or a hub name) to a model with its processor, or to a sentence that says why not.

Knows how weights and processors are found and loaded; nothing of prompts, adapters' training or sampling.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from loguru import logger
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

from operant.agents.device import pick_device
from operant.agents.hub import hint_for
from operant.agents.vlm.families import FAMILIES, GENERIC, Family, family_of
from operant.config.vlm import ModelSettings
from operant.errors import ModelError, NoModel

transformers.utils.logging.disable_progress_bar()

__all__ = [
    "Loaded",
    "check_torchvision",
    "image_only",
    "is_adapter",
    "limit_threads",
    "load_model",
]

ADAPTER_CONFIG = "adapter_config.json"
VIDEO = "video_processor"


class Loaded:
    """A model, the processor that feeds it, and the family that both are of."""

    def __init__(self, model: Any, processor: Any, family: Family, base: str, adapter: Path | None) -> None:
        self.model = model
        self.processor = processor
        self.family = family
        self.base = base
        """Where the model itself is: differs from the name that was given if that was an adapter's."""
        self.adapter = adapter


def load_model(settings: ModelSettings) -> Loaded:
    """Load what the settings name; an adapter's directory names its model itself."""
    check_torchvision()
    base, adapter = _base_of(settings.name)
    family = _family(base)
    device = pick_device(settings.device)
    options: dict[str, Any] = {"dtype": settings.dtype}
    if settings.load_in_4bit:
        options |= {"quantization_config": _four_bits(), "device_map": {"": device}}
    try:
        model = transformers.AutoModelForImageTextToText.from_pretrained(base, **options)
        processor = _processor(base, family)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise ModelError(
            f"the model {base} can't be loaded: {_first_line(error)}", hint=hint_for(error)
        ) from error
    if not settings.load_in_4bit:
        model = model.to(device)
    return Loaded(model.eval(), processor, family, base, adapter)


@cache
def check_torchvision() -> None:
    """Nothing here uses it, but transformers does if it is there, and it may not fit the torch beside it."""
    if importlib.util.find_spec("torchvision") is None:
        return
    try:
        importlib.import_module("torchvision")
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError(
            f"torchvision is installed and does not fit torch {torch.__version__}: {_first_line(error)}",
            hint="pip uninstall torchvision, or install the one that was built for this torch",
        ) from error


def limit_threads(count: int) -> None:
    """CPU threads of torch, in this whole process."""
    torch.set_num_threads(count)


def is_adapter(directory: Path) -> bool:
    return (directory / ADAPTER_CONFIG).is_file()


def _base_of(name: str) -> tuple[str, Path | None]:
    directory = Path(name).expanduser()
    if not directory.exists():
        if name.count("/") == 1 and not name.startswith((".", "/", "~")):
            return name, None  # perhaps the hub knows it
        raise NoModel(f"there is no model directory {name}", hint="give a directory or a hub name")
    if is_adapter(directory):
        try:
            base = json.loads((directory / ADAPTER_CONFIG).read_text(encoding="utf-8"))
            found = str(base["base_model_name_or_path"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{directory / ADAPTER_CONFIG} does not name its model: {error}") from error
        return found, directory
    if not (directory / "config.json").is_file():
        raise NoModel(
            f"{name} holds no model", hint=f"a model has a config.json, an adapter an {ADAPTER_CONFIG}"
        )
    return str(directory), None


def _family(base: str) -> Family:
    try:
        config = transformers.AutoConfig.from_pretrained(base)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"the model {base} can't be loaded: {_first_line(error)}",
            hint=hint_for(error) or "without a network, download the model first and give its directory",
        ) from error
    kind = str(config.model_type)
    if any(kind in family.model_types for family in FAMILIES):
        return family_of(kind)
    if kind not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        raise ModelError(
            f"a model of kind {kind!r} does not answer pictures with text",
            hint="choose an image-text-to-text model, such as Qwen/Qwen2.5-VL-3B-Instruct",
        )
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"{base} is an encoder-decoder, which can't go on from a prompt",
            hint="choose a model that continues its prompt, such as Qwen/Qwen2.5-VL-3B-Instruct",
        )
    return _unnamed(kind)


@cache  # one warning a process
def _unnamed(kind: str) -> Family:
    logger.warning(
        "models of kind {} are not known by name: coordinates are taken as fractions of the screen, "
        "and adapters go on all linear layers; check a few answers before training",
        kind,
    )
    processor = PROCESSOR_MAPPING_NAMES.get(kind)
    return replace(GENERIC, name=kind, model_types=(kind,), still_processor=processor)


def _processor(base: str, family: Family) -> Any:
    if family.still_processor is None:
        return transformers.AutoProcessor.from_pretrained(base)
    return image_only(getattr(transformers, family.still_processor)).from_pretrained(base)


@cache
def image_only(processor: Any) -> Any:
    """A processor class without its video part, for which torchvision and more would have to be there."""
    if VIDEO not in processor.get_attributes():
        return processor

    class StillProcessor(processor):  # type: ignore[misc]
        @classmethod
        def get_attributes(cls) -> list[str]:
            return [name for name in super().get_attributes() if name != VIDEO]

        @classmethod
        def from_args_and_dict(cls, args: Any, processor_dict: dict[str, Any], **more: Any) -> Any:
            others = {name: value for name, value in processor_dict.items() if name != VIDEO}
            return super().from_args_and_dict(args, others, **more)

    StillProcessor.__name__ = processor.__name__  # what is saved names the family's own class
    return StillProcessor


def _four_bits() -> Any:
    if importlib.util.find_spec("bitsandbytes") is None:
        raise ModelError(
            "4-bit weights need bitsandbytes, which is not installed",
            hint="pip install bitsandbytes, or set model.load_in_4bit to false",
        )
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
