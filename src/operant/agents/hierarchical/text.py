"""Who reads the instruction: a transformer trained from scratch, or a pretrained one that the user has."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from operant.agents.hierarchical.config import EncoderConfig
from operant.agents.trainable import Tensors
from operant.errors import ConfigError, MissingDependency

__all__ = ["make_reader", "transformer_layer"]


def transformer_layer(config: EncoderConfig) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(
        config.width,
        config.heads,
        3 * config.width,
        config.dropout,
        F.gelu,
        batch_first=True,
        norm_first=True,
    )


class Reader(nn.Module):
    """As small as BERT-tiny, over the same words that the manager can copy."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.randn(config.instruction_tokens, config.width) * 0.2)
        self.layers = nn.ModuleList(transformer_layer(config) for _ in range(config.text_layers))

    def forward(self, tokens: Tensor, there: Tensor, seen: Tensors) -> Tensor:
        tokens = tokens + self.position[: tokens.shape[1]]
        hidden = ~(there | _first(there))  # a sequence without any token would be all NaN
        for layer in self.layers:
            tokens = layer(tokens, src_key_padding_mask=hidden)
        return tokens


class PretrainedReader(nn.Module):
    """Adds what a pretrained transformer makes of the instruction; each word is the mean of its pieces."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingDependency(
                f"encoder.text: {config.text} needs transformers", hint="pip install 'operant[vlm]'"
            ) from error
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(config.text)
            self.body: Any = AutoModel.from_pretrained(config.text)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"encoder.text: {config.text!r} can't be loaded: {str(error).splitlines()[0]}",
                hint="a directory that save_pretrained wrote, a hub name, or 'scratch'",
            ) from error
        if not self.tokenizer.is_fast:
            raise ConfigError(f"encoder.text: the tokenizer of {config.text!r} knows no offsets")
        self.join = nn.Linear(self.body.config.hidden_size, config.width)
        self.reader = Reader(config)

    def forward(self, tokens: Tensor, there: Tensor, seen: Tensors) -> Tensor:
        ends = seen["token_span"][:, : tokens.shape[1]].long()
        stop = torch.where(there, ends[..., 1], 0).amax(1)
        texts = [
            bytes(row[: int(end)]).decode("utf-8", "replace")
            for row, end in zip(seen["source"].cpu().numpy(), stop, strict=True)
        ]
        coded = self.tokenizer(
            texts, return_offsets_mapping=True, padding=True, truncation=True, return_tensors="pt"
        ).to(tokens.device)
        offsets = coded.pop("offset_mapping")
        pieces = self.body(**coded).last_hidden_state
        begin, end = ends[..., None, 0], ends[..., None, 1]
        # Offsets count characters and spans count bytes; they agree for ASCII, and nearly so elsewhere.
        overlap = (offsets[:, None, :, 0] < end) & (offsets[:, None, :, 1] > begin)
        share = overlap.to(pieces.dtype)
        meaning = (share @ pieces) / share.sum(-1, keepdim=True).clamp(min=1.0)
        read: Tensor = self.reader(tokens + self.join(meaning), there, seen)
        return read


def _first(there: Tensor) -> Tensor:
    first = torch.zeros_like(there)
    first[:, 0] = True
    return first


def make_reader(config: EncoderConfig) -> nn.Module:
    return Reader(config) if config.text == "scratch" else PretrainedReader(config)
