"""What tokens cost: a user's table of prices over the vendors' list prices that are shipped (``prices.yaml``).

A price that is in neither is unknown; it is never guessed. Knows nothing of agents or of how tokens are counted.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from operant.config.base import Config
from operant.config.settings import read_yaml
from operant.errors import ConfigError

__all__ = ["PriceTable", "Prices", "find_prices"]

MILLION = 1_000_000
#: A dated snapshot costs what its model costs: -20251101, -2026-09-29.
_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class Prices(Config):
    """US dollars for a million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    """Input that the server had not read before."""
    cached: float = Field(ge=0, allow_inf_nan=False)
    """Input that it had."""
    output: float = Field(ge=0, allow_inf_nan=False)
    """What the model wrote, thinking included."""
    written: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Input that the server keeps for the next request, where that costs more than input."""
    source: str = ""
    """Where the prices were read, and when."""

    def cost(
        self, *, input_tokens: int, cached_tokens: int, written_tokens: int, output_tokens: int
    ) -> float:
        """US dollars. Cached and written tokens are parts of the input."""
        fresh = input_tokens - cached_tokens - written_tokens
        written = self.input if self.written is None else self.written
        dollars = (
            fresh * self.input
            + cached_tokens * self.cached
            + written_tokens * written
            + output_tokens * self.output
        )
        return dollars / MILLION


@dataclass(frozen=True)
class PriceTable:
    """Prices by the name of the model, by ``vendor:model``, or by a pattern of either, such as ``chat:*``."""

    prices: Mapping[str, Prices] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> PriceTable:
        """A user's table: a YAML file with a line for each model."""
        return cls._of(read_yaml(file), str(file))

    @classmethod
    @cache
    def shipped(cls) -> PriceTable:
        """The vendors' list prices. Each names the page and the day that it was read."""
        place = importlib.resources.files("operant.config") / "prices.yaml"
        return cls._of(yaml.safe_load(place.read_text(encoding="utf-8")), "prices.yaml")

    @classmethod
    def _of(cls, given: Mapping[Any, Any], where: str) -> PriceTable:
        found: dict[str, Prices] = {}
        for name, one in given.items():
            if not isinstance(one, dict) or not isinstance(name, str):
                raise ConfigError(
                    f"{where}: {name} has no prices",
                    hint="write a line for each model, such as my-model: {input: 2, cached: 0.2, output: 10}",
                )
            try:
                found[name] = Prices.build(**{str(key): value for key, value in one.items()})
            except ConfigError as error:
                raise ConfigError(f"{where}: {name}: {error.message}", hint=error.hint) from error
        return cls(found)

    def find(self, vendor: str, model: str) -> Prices | None:
        """The prices of a model: an exact name first, then the longest pattern; None if it has none."""
        undated = _DATE.sub("", model)
        names = [f"{vendor}:{model}", model, f"{vendor}:{undated}", undated]
        for name in names:
            if name in self.prices:
                return self.prices[name]
        patterns = [one for one in self.prices if any(fnmatchcase(name, one) for name in names)]
        return self.prices[max(patterns, key=len)] if patterns else None


def find_prices(
    vendor: str, model: str, table: PriceTable | None = None, *, elsewhere: bool = False
) -> Prices | None:
    """What a model costs: by the user's table, else by the vendor's list; None if that is not known.

    ``elsewhere`` says that another server than the vendor's answers; the list says nothing about that one.
    """
    found = table.find(vendor, model) if table is not None else None
    if found is None and not elsewhere:
        found = PriceTable.shipped().find(vendor, model)
    return found
