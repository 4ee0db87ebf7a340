"""Settings of vision-language agents: the model, how it is asked, how it answers and how tokens are drawn.

Plain values; nothing here imports a model library. What a training run adds is in ``vlm_training``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from operant.config.base import Config

__all__ = [
    "AnswerFormat",
    "LoraSettings",
    "ModelSettings",
    "PromptSettings",
    "SamplingSettings",
    "ServerSettings",
]

#: The dialects in plain text; a test compares them with ``operant.actions.registry``, which this layer can't import.
AnswerFormat = Literal[
    "json",
    "qwen2_5_vl",
    "qwen3_vl",
    "qwen3_5",
    "ui_tars",
    "ui_tars_1_5",
    "ui_tars_doubao",
    "ui_tars_2",
    "ui_tars_2_omni",
    "glm_4_5v",
    "kimi",
    "computer_rl",
    "computer_rl_visual",
    "pyautogui",
]


class LoraSettings(Config):
    """Low-rank adapters."""

    r: int = Field(default=16, ge=1)
    """Rank of the adapters."""
    lora_alpha: float = Field(default=32.0, gt=0)
    """Scale of the adapters, divided by their rank."""
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout in the adapters; above 0, the learner and the actors see different policies."""
    target_modules: str | tuple[str, ...] | None = None
    """Names of layers, or one pattern for their full names; the family's own choice if left out."""


class ModelSettings(Config):
    """Which model, and how it is loaded."""

    name: str
    """A directory with a model or with an adapter, or a name that the HuggingFace hub knows."""
    family: str = ""
    """Its ``model_type``, for dry runs, which put a tiny model of the same family in its place."""
    use_lora: bool = True
    """Train adapters and leave the model as it is; false trains all of it."""
    lora: LoraSettings = LoraSettings()
    """The adapters."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Type of the weights; auto is what the model was saved in."""
    load_in_4bit: bool = False
    """Quantise the frozen weights to 4 bits; needs bitsandbytes."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: slower, with much less memory."""
    max_pixels: int = Field(default=1_003_520, ge=256)
    """Screens are shown to the model with at most so many pixels."""
    device: str = "auto"
    """cpu, cuda, cuda:1 ...; auto takes a GPU if there is one."""

    @model_validator(mode="after")
    def _check(self) -> ModelSettings:
        if self.load_in_4bit and not self.use_lora:
            raise ValueError("4-bit weights can't be trained: set use_lora")
        return self


class PromptSettings(Config):
    """What the model is told."""

    action_format: AnswerFormat = "json"
    """The words in which it answers."""
    history: int = Field(default=1, ge=0, le=32)
    """Earlier screens that are shown with the answers that were given to them."""
    earlier_actions: int = Field(default=20, ge=0)
    """Actions before those that are listed as text."""
    system: str | None = None
    """Instead of the built-in explanation of the format; empty for none."""
    show_progress: bool = True
    """Tell the number of the step and why the last action was refused."""
    list_functions: bool = True
    """List the functions that can be called, where calls are allowed. A model that is trained on demonstrations of a few
    functions needs no list, which is some thousand tokens long."""


class SamplingSettings(Config):
    """How tokens are drawn. Top-p and top-k are left out: they would make stored log-probabilities wrong."""

    temperature: float = Field(default=1.0, ge=0)
    """0 always takes the most likely token."""
    max_new_tokens: int = Field(default=128, ge=1)
    """Length of an answer."""
    eval_temperature: float = Field(default=0.0, ge=0)
    """Instead of ``temperature`` in evaluation."""


class ServerSettings(Config):
    """A model behind an OpenAI-compatible server: vLLM, SGLang or another."""

    url: str
    """Up to and with ``/v1``."""
    model: str
    """The name under which the server offers it."""
    family: str
    """Its ``model_type``, such as qwen2_5_vl: decides how it counts coordinates and sees screens."""
    api_key_variable: str = "OPENAI_API_KEY"
    """Environment variable with the server's key; a server without keys needs none."""
    patch: int = Field(default=28, ge=1)
    """Screens are sent in whole patches of so many pixels (Qwen2-VL and 2.5: 28, Qwen3-VL: 32)."""
    side: int = Field(default=336, ge=16)
    """Side of the square that LLaVA sees."""
    max_pixels: int = Field(default=1_003_520, ge=256)
    """Screens are sent with at most so many pixels."""
    timeout_s: float = Field(default=120.0, gt=0)
    """Seconds for one answer."""
    retries: int = Field(default=2, ge=0)
    """Further tries after an error that may pass."""
    constrained: bool = False
    """Ask the server to let nothing but a JSON object through; for the format json, and for evaluation only:
    log-probabilities are then those of a policy that the learner does not know."""

    @model_validator(mode="after")
    def _check(self) -> ServerSettings:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError("url begins with http:// or https://")
        return self
