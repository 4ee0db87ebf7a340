"""The manager: from what is known to a meta-action, head by head.

First what to do, then the parameters of that: where (a widget, window or cell of the map, and an offset within
it), which span of text, which key. Each later choice knows the earlier ones. The log-probability of a
meta-action is the sum over the heads that its kind uses, and only those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from operant.agents.hierarchical.choices import Choices
from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.encoder import Encoded
from operant.agents.hierarchical.features import RowFeature
from operant.agents.hierarchical.meta_actions import GRID, HELD, POINTING
from operant.agents.hierarchical.rows import TITLE, framed
from operant.agents.hierarchical.vision import CELL
from operant.agents.trainable import Tensors

__all__ = ["Manager"]

NEVER = -1e9
ENDS = frozenset({"done", "answer", "fail"})
#: What an agent that knows nothing thinks of ending: otherwise it would seldom see what comes of anything else;
RARELY = -3.0
#: of clicks, which are what most things want;
OFTEN = 0.5
#: and of things that are called what the instruction says.
NAMED = 2.0
PLACES = ("offset", "end_offset", "point", "end_point", "spot", "end_spot")


class Manager(nn.Module):
    points: Tensor
    """Which kinds need a place: 1 or 0."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        width, manager = config.encoder.width, config.manager
        self.kinds = manager.kinds
        liked = {**dict.fromkeys(ENDS, RARELY), "click": OFTEN}
        self.kind = _head(width, len(manager.kinds), [liked.get(kind, 0.0) for kind in manager.kinds])
        self.meaning = nn.Embedding(len(manager.kinds), width)
        self.pointing = (MapPointing if manager.pointing == "map" else GaussianPointing)(config)
        self.copying = Copying(width)
        self.key = _head(width, len(manager.keys))
        self.scroll = _head(2 * width, len(manager.scrolls))
        self.value = _head(width, 1)
        points = [kind in POINTING for kind in manager.kinds]
        self.register_buffer("points", torch.tensor(points, dtype=torch.float32), persistent=False)

    def forward(self, known: Encoded, seen: Tensors, choices: Choices) -> Choices:
        """Choose meta-actions, or judge the given ones."""
        kind = choices.index("kind", self.kind(known.summary))
        about = torch.cat([known.summary, self.meaning(kind)], -1)
        types, answers = self._is(kind, "type"), self._is(kind, "answer")
        points, keys, scrolls = self.points[kind], self._is(kind, "key"), self._is(kind, "scroll")
        # A head that no row of the batch uses is not evaluated: acting alone, that is most of them.
        if points.any():
            place = self.pointing(known, seen, about, points, self._is(kind, "drag"), choices)
            if scrolls.any():
                choices.index("scroll", self.scroll(torch.cat([known.summary, place], -1)), scrolls)
        else:
            choices.skip(kind, indices=("target", "end", "held"), pairs=PLACES)
        if not scrolls.any():
            choices.skip(kind, indices=("scroll",))
        if (types + answers).any():
            self.copying(known, seen, about, types + answers, types, choices)
        else:
            choices.skip(kind, indices=("first", "last", "enter"))
        if keys.any():
            choices.index("key", self.key(known.summary), keys)
        else:
            choices.skip(kind, indices=("key",))
        return choices

    def _is(self, kind: Tensor, name: str) -> Tensor:
        return (kind == (self.kinds.index(name) if name in self.kinds else -1)).float()


class MapPointing(nn.Module):
    """A thing that is perceived or a cell of the coarse map, then an offset within."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        width = config.encoder.width
        self.rows = config.encoder.rows
        self.ask = _join(2 * width, width)
        self.ask_end = _join(3 * width, width)
        self.by_row, self.by_cell = nn.Linear(width, width), nn.Linear(width, CELL)
        self.named = nn.Parameter(torch.tensor(NAMED))
        self.cell = nn.Linear(CELL, width)
        self.held, self.holding = _head(3 * width, len(HELD)), nn.Embedding(len(HELD), 3 * width)
        self.offset, self.end_offset = _head(3 * width, 2), _head(3 * width, 2)
        self.log_std = nn.Parameter(torch.full((2,), -1.5))

    def forward(
        self, known: Encoded, seen: Tensors, about: Tensor, points: Tensor, drags: Tensor, choices: Choices
    ) -> Tensor:
        target = choices.index("target", self._logits(self.ask(about), known, seen), points)
        place = self._place(target, known)
        more = torch.cat([about, place], -1)
        offset = choices.pair("offset", _within(self.offset(more)), self.log_std, points)
        choices.skip(target, indices=("end", "held"), pairs=("end_offset", "end_point", "spot", "end_spot"))
        point = choices.actions["point"] = self._point(target, offset, seen)
        if drags.any():
            held = choices.index("held", self.held(more), drags)
            more = more + self.holding(held)
            end = choices.index("end", self._logits(self.ask_end(more), known, seen), drags)
            last = torch.cat([about, self._place(end, known)], -1)
            end_offset = choices.pair("end_offset", _within(self.end_offset(last)), self.log_std, drags)
            goal = self._point(end, end_offset, seen)
            choices.actions["end_point"] = self._hand(point, goal, held, target, seen)
        return place

    def _place(self, target: Tensor, known: Encoded) -> Tensor:
        """What is known of targets: (batch, width)."""
        cell: Tensor = self.cell(_at(known.cells, (target - self.rows).clamp(min=0)))
        row = _at(known.rows, target.clamp(max=known.rows.shape[1] - 1))
        return torch.where((target >= self.rows)[:, None], cell, row)

    def _logits(self, query: Tensor, known: Encoded, seen: Tensors) -> Tensor:
        scale = math.sqrt(query.shape[-1])
        rows = (known.rows @ self.by_row(query)[..., None])[..., 0] / scale
        spoken_of = seen["row_features"][:, : rows.shape[1], RowFeature.WORDS_IN_INSTRUCTION]
        rows = rows + self.named * spoken_of.to(rows.dtype)
        rows = F.pad(rows.masked_fill(~known.row_target, NEVER), (0, self.rows - rows.shape[1]), value=NEVER)
        cells = (known.cells @ self.by_cell(query)[..., None])[..., 0] / math.sqrt(CELL)
        # There are a thousand cells: without the handicap, exploration would never meet a widget. All weigh as one.
        handicap = math.log(cells.shape[1])
        return torch.cat([rows, cells - handicap], 1)

    def _point(self, target: Tensor, offset: Tensor, seen: Tensors) -> Tensor:
        """Targets and offsets within them as fractions of the screen."""
        cell = (target - self.rows).clamp(min=0)
        corner = torch.stack([cell % GRID[0], cell // GRID[0]], -1).float()
        point = (corner + offset) / torch.tensor(GRID, device=target.device, dtype=torch.float32)
        box = _at(seen["row_box"].float(), target.clamp(max=self.rows - 1))
        by_row = (box[:, :2] + offset * box[:, 2:]) / seen["size"].float().clamp(min=1.0)
        point = torch.where((target >= self.rows)[:, None], point, by_row)
        return point.clamp(0.0, 1.0 - 1e-6)

    def _hand(self, point: Tensor, goal: Tensor, held: Tensor, target: Tensor, seen: Tensors) -> Tensor:
        """Where the hand goes that brings what is held to its goal."""
        row = target.clamp(max=self.rows - 1)
        on_title = (target < self.rows) & (seen["row_role"].gather(1, row[:, None])[:, 0] == TITLE)
        # Just before its title comes the window itself.
        box = _at(seen["row_box"].float(), (row - 1).clamp(min=0))
        left, top, width, height = framed(*box.unbind(-1))
        x = left + width * ((held == 2) | (held == 4)).float()
        y = top + height * (held >= 3).float()
        corner = torch.stack([x, y], -1) / seen["size"].float().clamp(min=1.0)
        by_corner = (point + goal - corner).clamp(0.0, 1.0 - 1e-6)
        return torch.where((on_title & (held > 0))[:, None], by_corner, goal)


class GaussianPointing(nn.Module):
    """x and y at once, from a normal distribution each: the baseline that the map is compared with."""

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        width = config.encoder.width
        self.spot, self.end_spot = _head(2 * width, 2), _head(2 * width, 2)
        self.log_std = nn.Parameter(torch.full((2,), -1.2))
        self.rows = config.encoder.rows

    def forward(
        self, known: Encoded, seen: Tensors, about: Tensor, points: Tensor, drags: Tensor, choices: Choices
    ) -> Tensor:
        spot = choices.pair("spot", torch.sigmoid(self.spot(about)), self.log_std, points)
        end_spot = choices.pair("end_spot", torch.sigmoid(self.end_spot(about)), self.log_std, drags)
        choices.actions["point"] = spot.clamp(0.0, 1.0 - 1e-6)
        choices.actions["end_point"] = end_spot.clamp(0.0, 1.0 - 1e-6)
        middle = torch.full_like(spot, 0.5)
        cell = torch.full_like(choices.actions["kind"], self.rows)
        choices.skip(cell, indices=("held",))
        choices.actions |= {"target": cell, "offset": middle, "end": cell, "end_offset": middle}
        return torch.zeros_like(known.summary)


class Copying(nn.Module):
    """A span of the tokens by two pointers, and whether Enter follows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ask_first, self.ask_last = _join(2 * width, width), _join(3 * width, width)
        self.enter = _head(4 * width, 2)

    def forward(
        self, known: Encoded, seen: Tensors, about: Tensor, copies: Tensor, types: Tensor, choices: Choices
    ) -> None:
        tokens, scale = known.tokens, math.sqrt(known.tokens.shape[-1])
        logits = (tokens @ self.ask_first(about)[..., None])[..., 0] / scale
        first = choices.index(
            "first", logits.masked_fill(~known.token_there, NEVER), copies, known.token_index
        )
        start = torch.cat([about, _at(tokens, first)], -1)
        logits = (tokens @ self.ask_last(start)[..., None])[..., 0] / scale
        # A span of the instruction ends where it began or later; what is shown is copied word by word.
        order = torch.arange(tokens.shape[1], device=tokens.device)
        segment = seen["token_segment"][:, known.token_index].long()
        in_instruction = segment.gather(1, first[:, None]) == 1
        later = in_instruction & (segment == 1) & (order >= first[:, None])
        allowed = later | (order == first[:, None])
        last = choices.index("last", logits.masked_fill(~allowed, NEVER), copies, known.token_index)
        choices.index("enter", self.enter(torch.cat([start, _at(tokens, last)], -1)), types)


def _within(raw: Tensor) -> Tensor:
    """A place in a box, or a little beside it."""
    return 0.5 + 0.6 * torch.tanh(raw)


def _at(things: Tensor, index: Tensor) -> Tensor:
    return things.gather(1, index[:, None, None].expand(-1, 1, things.shape[-1]))[:, 0]


def _head(inputs: int, outputs: int, liked: Sequence[float] = ()) -> nn.Sequential:
    """``liked`` says what is thought of each output before anything is learned."""
    last = nn.Linear(128, outputs)
    nn.init.orthogonal_(last.weight, 0.01)
    last.bias.data = torch.tensor(liked or [0.0] * outputs)
    return nn.Sequential(nn.Linear(inputs, 128), nn.GELU(), last)


def _join(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, width))
