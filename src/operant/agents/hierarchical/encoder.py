"""The triple-modal encoder: screen, instruction and state become one sequence in which everything sees everything.

The instruction is read by a small transformer of its own. Each thing on the screen that shares words with it
is given what those words mean in their sentence (``match``), and each word what it was found on, so that the
instruction steers where the screen is looked at; then a joint transformer lets all of them talk.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.features import ROW_FEATURES
from operant.agents.hierarchical.meta_actions import GRID
from operant.agents.hierarchical.perception import NEAR, SEGMENTS
from operant.agents.hierarchical.progress import FARTHEST, MARKS
from operant.agents.hierarchical.text import make_reader, transformer_layer
from operant.agents.hierarchical.vision import CELL, LOOKS, make_vision
from operant.agents.hierarchical.words import ROLES
from operant.agents.trainable import Tensors
from operant.envs.observations import FIELDS

__all__ = ["Encoded", "Encoder"]


@dataclass(frozen=True)
class Encoded:
    """What is known of a batch of observations."""

    summary: Tensor
    """(batch, width)"""
    tokens: Tensor
    """(batch, tokens, width), cut to the longest of the batch"""
    rows: Tensor
    """(batch, rows, width), cut likewise"""
    cells: Tensor
    """(batch, cells, CELL)"""
    token_there: Tensor
    token_index: Tensor
    """Which of the perceived tokens they are."""
    row_target: Tensor
    """Which rows can be acted on."""


class Encoder(nn.Module):
    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        encoder = config.encoder
        width = encoder.width
        self.config = encoder
        self.gradient_checkpointing = False
        self.words = nn.EmbeddingBag(encoder.vocabulary, width, mode="sum", padding_idx=0)
        self.reader = make_reader(encoder)
        self.near = nn.Linear(len(NEAR) * width, width)
        self.distance = nn.ModuleList(nn.Embedding(2 * FARTHEST + 2, width) for _ in range(2))
        self.letters = nn.Linear(width, width)
        self.marks = nn.Linear(len(MARKS), width)
        self.token_segment = nn.Embedding(SEGMENTS, width)
        self.row_segment = nn.Embedding(SEGMENTS, width)
        self.role = nn.Embedding(ROLES, width)
        self.features = nn.Sequential(nn.Linear(ROW_FEATURES, width), nn.GELU(), nn.Linear(width, width))
        self.row_norm = nn.LayerNorm(width)
        self.meaning = nn.Linear(width, width)
        self.place = nn.Linear(width, width)
        self.beside = nn.Linear(width, width)
        self.shown = nn.Linear(width, width)
        self.state = nn.Sequential(nn.Linear(len(FIELDS), width), nn.GELU(), nn.Linear(width, width))
        self.vision = make_vision(encoder.vision, width, encoder.vision_weights)
        self.look = nn.Linear(width, width)
        self.look_place = nn.Parameter(torch.randn(LOOKS[0] * LOOKS[1], width) * 0.02)
        self.joint = nn.ModuleList(transformer_layer(encoder) for _ in range(encoder.joint_layers))
        self.norm = nn.LayerNorm(width)
        self.steer = nn.Linear(width, 2 * CELL)
        # Nothing on an empty part of the screen says where it is.
        self.column = nn.Parameter(torch.zeros(GRID[0], CELL))
        self.line = nn.Parameter(torch.zeros(GRID[1], CELL))
        nn.init.normal_(self.words.weight, std=0.5)

    def forward(self, seen: Tensors) -> Encoded:
        tokens, token_there, kept, rows, row_segment = self._things(seen)
        row_there = row_segment > 0
        screen = seen["screen"].permute(0, 3, 1, 2).to(self.look.weight.dtype) / 255.0
        again = self.gradient_checkpointing and self.training
        cells, deep = checkpoint(self.vision, screen, use_reentrant=False) if again else self.vision(screen)
        looks = F.adaptive_avg_pool2d(deep, (LOOKS[1], LOOKS[0])).flatten(2).transpose(1, 2)
        looks = self.look(looks) + self.look_place
        state = self.state(seen["state"].to(looks.dtype))[:, None]
        together = torch.cat([state, looks, tokens, rows], 1)
        there = torch.cat([torch.ones_like(looks[..., 0], dtype=torch.bool), token_there, row_there], 1)
        there = torch.cat([torch.ones_like(there[:, :1]), there], 1)
        for layer in self.joint:
            if again:
                together = checkpoint(layer, together, None, ~there, use_reentrant=False)
            else:
                together = layer(together, src_key_padding_mask=~there)
        together = self.norm(together)
        first = 1 + looks.shape[1]
        middle = first + tokens.shape[1]
        summary = together[:, 0]
        scale, shift = self.steer(summary).chunk(2, -1)
        places = (self.line[:, None] + self.column).flatten(0, 1)
        cells = (cells.flatten(2).transpose(1, 2) + places) * (1 + scale[:, None]) + shift[:, None]
        return Encoded(
            summary,
            together[:, first:middle],
            together[:, middle:],
            F.gelu(cells),
            token_there,
            kept,
            row_segment == 1,
        )

    def _things(self, seen: Tensors) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Tokens and rows before they meet the screen. Both are cut to what the batch really holds."""
        most = self.config.instruction_tokens
        segment = seen["token_segment"].long()
        kept = _kept(segment, most)
        token_there = segment[:, kept] > 0
        tokens = self._words(seen["token_words"][:, kept])
        tokens = tokens + self.near(self._words(seen["token_near"][:, kept]).flatten(2))
        for place, table in enumerate(self.distance):
            tokens = tokens + table(seen["token_distance"][:, kept, place].long())
        tokens = tokens + self.letters(self._words(seen["token_letters"][:, kept]))
        tokens = tokens + self.marks(seen["token_marks"][:, kept].to(tokens.dtype))
        tokens = tokens + self.token_segment(segment[:, kept])
        instruction = int((kept < most).sum())
        read = self.reader(tokens[:, :instruction], token_there[:, :instruction], seen)
        tokens = torch.cat([read, tokens[:, instruction:]], 1)

        row_segment = seen["row_segment"].long()
        count = int((row_segment > 0).any(0).sum()) or 1
        row_segment = row_segment[:, :count]
        rows = self._words(seen["row_words"][:, :count].flatten(2))
        rows = (
            self.row_norm(rows)
            + self.role(seen["row_role"][:, :count].long())
            + self.row_segment(row_segment)
            + self.features(seen["row_features"][:, :count].to(rows.dtype))
        )
        match = seen["match"][:, :count, kept[:instruction]].to(rows.dtype)
        down = match / match.sum(2, keepdim=True).clamp(min=1.0)
        up = match / match.sum(1, keepdim=True).clamp(min=1.0)
        found = self.place(up.transpose(1, 2) @ rows)
        rows = rows + self.meaning(down @ tokens[:, :instruction])
        rows = rows + self.beside(_rows_of(rows, seen["row_left"][:, :count].long()))
        shown = _rows_of(rows, seen["token_row"][:, kept[instruction:]].long())
        tokens = tokens + torch.cat([found, self.shown(shown)], 1)
        return tokens, token_there, kept, rows, row_segment

    def _words(self, hashes: Tensor) -> Tensor:
        """(..., hashes) -> (..., width): the sum over the hashes of a thing's words."""
        flat = hashes.reshape(-1, hashes.shape[-1]).long()
        total: Tensor = self.words(flat)
        return total.reshape(*hashes.shape[:-1], self.config.width)


def _kept(segment: Tensor, instruction: int) -> Tensor:
    """Which tokens any of the batch has; of the instruction and of what is shown at least one each."""
    used = (segment > 0).any(0)
    first = max(1, int(used[:instruction].sum()))
    second = int(used[instruction:].sum())
    device = segment.device
    return torch.cat(
        [torch.arange(first, device=device), torch.arange(instruction, instruction + second, device=device)]
    )


def _rows_of(rows: Tensor, which: Tensor) -> Tensor:
    """The rows that are named by their number, counted from 1; 0 is none."""
    padded = torch.cat([torch.zeros_like(rows[:, :1]), rows], 1)
    index = which.clamp(max=rows.shape[1])[..., None].expand(-1, -1, rows.shape[2])
    return padded.gather(1, index)
