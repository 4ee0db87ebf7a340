"""Low-rank adapters by PEFT: put on, save, load, merge. Knows nothing of what they are trained for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peft

from operant.agents.vlm.families import Family
from operant.config.vlm import LoraSettings
from operant.errors import ModelError

__all__ = ["add_adapter", "load_adapter", "merged"]


def add_adapter(model: Any, settings: LoraSettings, family: Family, *, four_bits: bool = False) -> Any:
    """The model with fresh adapters; only these are trained. They change nothing until they are."""
    targets = settings.target_modules or family.lora_targets
    config = peft.LoraConfig(
        r=settings.r,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=targets if isinstance(targets, str) else list(targets),
        task_type="CAUSAL_LM",
    )
    if four_bits:
        model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    try:
        return peft.get_peft_model(model, config)
    except ValueError as error:
        raise ModelError(
            f"adapters can't be put on {targets!r}: {str(error).partition(chr(10))[0]:.200}",
            hint=f"leave target_modules out to use what suits {family.name}",
        ) from error


def load_adapter(model: Any, directory: Path, *, trainable: bool) -> Any:
    """The model with adapters that were saved."""
    try:
        return peft.PeftModel.from_pretrained(model, str(directory), is_trainable=trainable)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"the adapter {directory} can't be loaded: {str(error).partition(chr(10))[0]:.200}",
            hint="was it made for this model?",
        ) from error


def merged(model: Any) -> Any:
    """A plain model with the adapters' effect in its own weights."""
    return model.merge_and_unload() if isinstance(model, peft.PeftModel) else model
