"""One interface over HuggingFace's image-text-to-text models: ask, generate, judge, save.

``judge`` computes, with gradients, the log-probabilities that ``generate`` drew with: same prompt tokens, same
temperature, same suppressed tokens. Not safe for threads: backends take turns. Knows nothing of desktops.
"""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from operant.agents.vlm.families import FAMILIES, Family
from operant.agents.vlm.loading import load_model
from operant.agents.vlm.prompt import Prompt, as_picture, as_shown
from operant.agents.vlm.sampling import Drawing, policy_log_probs, suppressed_tokens
from operant.agents.vlm.trajectory import Generation
from operant.config.vlm import LoraSettings, ModelSettings, PromptSettings, SamplingSettings
from operant.errors import ModelError
from operant.types import Size

__all__ = ["JudgedTokens", "VLMWrapper"]

ABOUT = "operant.json"
IGNORED = -100  # a label that is not learned
PROBE_TOKENS = 6
PROBE_TOLERANCE = {torch.float32: 0.02}  # of a log-probability; coarser types round more
COARSE_TOLERANCE = 0.3


@dataclass(frozen=True)
class JudgedTokens:
    """What the model thinks of answers. All (answers, tokens), padded on the right, except ``state``."""

    log_probs: Tensor
    entropy: Tensor
    mask: Tensor
    state: Tensor
    """(answers, width): the hidden state after each prompt, before its answer: what a critic looks at."""


class VLMWrapper:
    """A model with its processor. The first argument is a directory, an adapter's directory or a hub name.

    >>> vlm = VLMWrapper("Qwen/Qwen2-VL-2B-Instruct", use_lora=True)  # doctest: +SKIP
    >>> vlm.predict_action(screenshot, "Click login")  # doctest: +SKIP

    Screenshots are PIL pictures or arrays (height, width, 3). A sentence is asked as it is; agents
    (``VLMAgent``) say besides in which words to answer.
    """

    def __init__(
        self,
        model_name: str | Path | ModelSettings,
        use_lora: bool = False,
        lora_config: LoraSettings | Mapping[str, Any] | None = None,
        *,
        prompt: PromptSettings | None = None,
        sampling: SamplingSettings | None = None,
        trainable: bool = True,
        **settings: Any,
    ) -> None:
        if not isinstance(model_name, ModelSettings):
            given = lora_config or {}
            lora = given if isinstance(given, LoraSettings) else LoraSettings.build(**given)
            named = ModelSettings.build(name=str(model_name), use_lora=use_lora, lora=lora, **settings)
        else:
            named = model_name
        self.settings: ModelSettings = named
        self.prompt = prompt or PromptSettings()
        self.sampling = sampling or SamplingSettings()
        self.turn = threading.RLock()
        """Held while computing: a backend that answers actors, or a trainer that makes an update."""
        loaded = load_model(self.settings)
        self.family: Family = loaded.family
        self.processor: Any = loaded.processor
        self.model: Any = loaded.model
        self._adapt(loaded.adapter, trainable)
        config = self.model.generation_config
        ends = config.eos_token_id if config.eos_token_id is not None else self.tokenizer.eos_token_id
        self.ends: list[int] = [ends] if isinstance(ends, int) else list(ends)
        width = int(self._plain.get_output_embeddings().weight.shape[0])
        self.suppressed = suppressed_tokens(self.tokenizer, width, self.ends).to(self.device)
        self._slices = "logits_to_keep" in inspect.signature(self._plain.forward).parameters
        self._probed = self.family in FAMILIES  # those are held to it by tests

    def _adapt(self, adapter: Path | None, trainable: bool) -> None:
        from operant.agents.vlm.lora import add_adapter, load_adapter

        if adapter is not None:
            self.model = load_adapter(self.model, adapter, trainable=trainable)
        elif self.settings.use_lora:
            self.model = add_adapter(
                self.model, self.settings.lora, self.family, four_bits=self.settings.load_in_4bit
            )
        if self.settings.gradient_checkpointing:
            self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            self.model.enable_input_require_grads()

    # What it is.

    @property
    def tokenizer(self) -> Any:
        return self.processor.tokenizer

    @property
    def device(self) -> torch.device:
        return next(iter(self.model.parameters())).device  # type: ignore[no-any-return]

    @property
    def width(self) -> int:
        """Of hidden states."""
        return int(self._plain.get_input_embeddings().weight.shape[1])

    @property
    def adapted(self) -> bool:
        """It has adapters, and these are what is trained."""
        return self._plain is not self.model

    @property
    def _plain(self) -> Any:
        return self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model

    def trainable(self) -> dict[str, nn.Parameter]:
        """What learning changes: the adapters, or everything."""
        return {name: value for name, value in self.model.named_parameters() if value.requires_grad}

    def shown(self, screen: Size) -> Size:
        """The size at which the model sees a screen of that size."""
        return self.family.shown(screen, self.processor.image_processor, self.settings.max_pixels)

    # Asking.

    def predict_action(self, screenshot: Any, prompt: str) -> str:
        """The answer to one screenshot and one sentence, without sampling."""
        greedy = SamplingSettings(temperature=0.0, max_new_tokens=self.sampling.max_new_tokens)
        return self.generate([self._ask(screenshot, prompt)], greedy)[0].text

    def _ask(self, screenshot: Any, text: str) -> Prompt:
        screen = as_picture(screenshot)
        height, width = screen.shape[:2]
        return Prompt.of(as_shown(screen, self.shown(Size(width, height))), text)

    @torch.inference_mode()
    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: SamplingSettings | None = None,
        *,
        seeds: Sequence[int] | None = None,
        version: int = 0,
    ) -> list[Generation]:
        """Answers to a batch of prompts; the same prompt and seed give the same answer."""
        sampling = sampling or self.sampling
        seeds = list(range(len(prompts))) if seeds is None else seeds
        inputs = self.encode(prompts)
        drawing = Drawing(sampling.temperature, self.suppressed, seeds)
        self.model.eval()
        with _caching(self._plain):
            sequences = self.model.generate(
                **inputs,
                max_new_tokens=sampling.max_new_tokens,
                do_sample=False,
                logits_processor=[drawing],
                eos_token_id=self.ends,
                pad_token_id=self.tokenizer.pad_token_id,
            )
        drawn = sequences[:, inputs["input_ids"].shape[1] :].tolist()
        log_probs = torch.stack(drawing.log_probs, dim=1).tolist()
        return [self._answer(*row, version) for row in zip(drawn, log_probs, strict=True)]

    def _answer(self, tokens: list[int], log_probs: list[float], version: int) -> Generation:
        length = next((index + 1 for index, token in enumerate(tokens) if token in self.ends), len(tokens))
        ids = tokens[:length]
        return Generation(
            text=self.tokenizer.decode(ids, skip_special_tokens=True),
            token_ids=tuple(ids),
            log_probs=tuple(log_probs[:length]),
            versions=(version,) * length,
            finished=ids[-1] in self.ends,
        )

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, Tensor]:
        """The prompts as the model takes them, padded on the left."""
        try:
            inputs = self.processor(
                text=[self._written(prompt) for prompt in prompts],
                images=[[Image.fromarray(image) for image in prompt.images] for prompt in prompts],
                return_tensors="pt",
                padding=True,
                padding_side="left",
            )
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            raise ModelError(
                f"the processor of {self.family.name} refuses the prompt: {str(error).partition(chr(10))[0]:.200}"
            ) from error
        dtype = self._plain.dtype
        return {
            name: value.to(self.device, dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
            if isinstance(value, Tensor) and name != "labels"
        }

    def _written(self, prompt: Prompt) -> str:
        """A prompt as text, by the model's template; plainly, one turn a line, for models that have none."""
        if self.processor.chat_template or getattr(self.tokenizer, "chat_template", None):
            text: str = self.processor.apply_chat_template(list(prompt.messages), add_generation_prompt=True)
            return text
        mark = getattr(self.processor, "image_token", "")
        turns = [
            "".join(mark if part["type"] == "image" else part["text"] for part in message["content"])
            for message in prompt.messages
        ]
        return "\n".join(turns) + "\n"

    # Judging.

    def judge(
        self,
        prompts: Sequence[Prompt],
        answers: Sequence[Sequence[int]],
        *,
        temperature: float | None = None,
    ) -> JudgedTokens:
        """How likely each token of each answer is now, given those before it. Gradients flow."""
        if not self._probed:
            self._probe(prompts[0])
        inputs = self.encode(prompts)
        tokens, mask = self._padded(answers)
        self._extend(inputs, tokens, mask)
        self.model.train(self.settings.gradient_checkpointing)
        hidden, logits = self._compute(inputs, tokens.shape[1] + 1)
        logits = logits[:, :-1]
        temperature = self.sampling.temperature if temperature is None else temperature
        log_probs = policy_log_probs(logits, temperature, self.suppressed)
        return JudgedTokens(
            log_probs=log_probs.gather(2, tokens[:, :, None])[:, :, 0].masked_fill(~mask, 0.0),
            entropy=_entropy(log_probs).masked_fill(~mask, 0.0),
            mask=mask,
            state=hidden[:, 0],
        )

    def _compute(self, inputs: dict[str, Tensor], count: int) -> tuple[Tensor, Tensor]:
        """Hidden states and logits of the last so many tokens, by the model's own forward pass."""
        seen: list[Tensor] = []
        head = self._plain.get_output_embeddings()
        hook = head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
        try:
            sliced = {"logits_to_keep": count} if self._slices else {}
            logits = self._plain(**inputs, use_cache=False, **sliced).logits
        finally:
            hook.remove()
        return seen[-1][:, -count:], logits[:, -count:]

    @torch.no_grad()
    def _probe(self, prompt: Prompt) -> None:
        """Of a family that was not tested: an answer has to be as likely afterwards as when it was drawn."""
        self._probed = True
        (drawn,) = self.generate(
            [prompt], SamplingSettings(temperature=1.0, max_new_tokens=PROBE_TOKENS), seeds=[0]
        )
        judged = self.judge([prompt], [drawn.token_ids], temperature=1.0).log_probs[0].tolist()
        off = max(abs(one - other) for one, other in zip(drawn.log_probs, judged, strict=True))
        if not off <= PROBE_TOLERANCE.get(self._plain.dtype, COARSE_TOLERANCE):
            raise ModelError(
                f"a model of kind {self.family.name} can't be trained: it judges its own answer otherwise than "
                f"it drew it (a log-probability is off by {off:.2f})",
                hint="it can be evaluated; for training, choose a family of docs/vlm.md",
            )

    def forward(
        self,
        images: Sequence[Any],
        prompts: Sequence[str | Prompt],
        labels: Sequence[Sequence[int] | str] | None = None,
    ) -> dict[str, Tensor]:
        """``{"loss": ...}`` of answers (token ids, or text for demonstrations); ``{"logits"}`` without labels.

        ``images`` are screenshots, one for each prompt; prompts that bring their pictures need none.
        """
        if labels is not None and len(labels) != len(prompts):
            raise ModelError(f"there are {len(prompts)} prompts and {len(labels)} labels")
        asked = [self._prompt(index, images, prompt) for index, prompt in enumerate(prompts)]
        if labels is None:
            return {"logits": self._compute(self.encode(asked), 1)[1]}
        judged = self.judge(asked, [self.tokens(label) for label in labels], temperature=1.0)
        return {"loss": -judged.log_probs.sum() / judged.mask.sum(), "log_probs": judged.log_probs}

    def _prompt(self, index: int, images: Sequence[Any], prompt: str | Prompt) -> Prompt:
        if isinstance(prompt, Prompt):
            return prompt
        if index >= len(images):
            raise ModelError(f"there are {len(images)} images, and prompt {index + 1} needs one")
        return self._ask(images[index], prompt)

    def tokens(self, answer: Sequence[int] | str) -> list[int]:
        """The tokens of a demonstration's text, with the one that ends it; ids are taken as they are, but -100."""
        if not isinstance(answer, str):
            return [int(token) for token in answer if int(token) != IGNORED]
        return [*self.tokenizer.encode(answer, add_special_tokens=False), self.ends[0]]

    def _padded(self, answers: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        if not answers or not all(answers):
            raise ModelError("an answer without a single token can't be judged")
        longest = max(len(answer) for answer in answers)
        tokens = torch.full((len(answers), longest), self.ends[0], dtype=torch.long)
        mask = torch.zeros_like(tokens, dtype=torch.bool)
        for row, answer in enumerate(answers):
            tokens[row, : len(answer)] = torch.tensor(list(answer))
            mask[row, : len(answer)] = True
        return tokens.to(self.device), mask.to(self.device)

    def _extend(self, inputs: dict[str, Tensor], tokens: Tensor, mask: Tensor) -> None:
        """Append answers to encoded prompts."""
        inputs["input_ids"] = torch.cat([inputs["input_ids"], tokens], dim=1)
        inputs["attention_mask"] = torch.cat([inputs["attention_mask"], mask.long()], dim=1)
        for name in ("mm_token_type_ids", "token_type_ids"):
            if name in inputs:
                # Where types mark pictures, text is 0. Where they mark no picture, they tell answers from prompts.
                answer = 0 if inputs[name].any() else 1
                inputs[name] = torch.cat([inputs[name], torch.full_like(tokens, answer)], dim=1)

    # Keeping.

    def save(self, directory: Path | str) -> Path:
        """The adapters, or the whole model, with the settings that say how it is to be asked."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(directory)
        if not self.adapted:
            self.processor.save_pretrained(directory)
        self.save_about(directory)
        return directory

    def save_merged(self, directory: Path | str) -> Path:
        """A plain model that needs no adapters any more. The wrapper itself stays as it is."""
        import copy

        from operant.agents.vlm.lora import merged

        directory = Path(directory)
        merged(copy.deepcopy(self.model)).save_pretrained(directory)
        self.processor.save_pretrained(directory)
        self.save_about(directory)
        return directory

    def save_about(self, directory: Path) -> None:
        """How the model is prompted, for those who load it from there."""
        about = {
            "model": {"max_pixels": self.settings.max_pixels},
            "prompt": self.prompt.model_dump(),
            "sampling": self.sampling.model_dump(),
        }
        (directory / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


class _caching:  # noqa: N801 - reads as a phrase
    """Gradient checkpointing turns the cache of keys and values off; generation wants it on."""

    def __init__(self, model: Any) -> None:
        self._config = model.config
        self._before = getattr(model.config, "use_cache", True)

    def __enter__(self) -> None:
        self._config.use_cache = True

    def __exit__(self, *_: object) -> None:
        self._config.use_cache = self._before


def _entropy(log_probs: Tensor) -> Tensor:
    # 0 * -inf is not a number: suppressed tokens add nothing.
    return -(log_probs.exp() * log_probs.masked_fill(log_probs == float("-inf"), 0.0)).sum(dim=-1)
