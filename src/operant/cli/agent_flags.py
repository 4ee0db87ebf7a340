"""Flags about paid agents that several verbs share: what their models cost, and how much they may use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["MaxCost", "MaxTokens", "PriceFile"]

MaxCost = Annotated[
    float | None,
    typer.Option(min=0.0, help="US dollars of this call after which no further episode begins."),
]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Tokens of this call after which no further episode begins.")
]
PriceFile = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="YAML file with what models cost: MODEL: {input: 2, cached: 0.2, output: 10}, US dollars a million tokens.",
        show_default="the vendors' list prices",
    ),
]
