"""``operant bench mcp|chat``: measurements with a client or a model server outside of this process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from operant.cli.bench_output import Json, Out, deliver, plain_table, progress_on_stderr

__all__ = ["chat", "mcp"]


def mcp(
    runs: Annotated[int, typer.Option(min=1, help="How often to start client and server.")] = 5,
    clicks: Annotated[int, typer.Option(min=1, help="Clicks in each run.")] = 20,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Time of an MCP client to its first screenshot, and of a click with its screenshot."""
    from operant.bench.mcp_latency import measure_mcp
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        result = {**provenance(), **measure_mcp(progress, runs=runs, clicks=clicks)}
    deliver(result, as_json, out, plain_table)


def chat(
    url: Annotated[str, typer.Option(help="An OpenAI-compatible server.")] = "http://127.0.0.1:8011/v1",
    model: Annotated[str, typer.Option(help="What the server calls its model.")] = "smollm2",
    episodes: Annotated[int, typer.Option(min=1, help="Of easy tasks of core.")] = 50,
    minutes: Annotated[float, typer.Option(min=0.1, help="Stop then; the same command goes on.")] = 240.0,
    result_dir: Annotated[Path, typer.Option(help="Where episodes go.")] = Path("results-chat"),
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Play episodes with a small language model behind a server: outcomes, how they end, invalid steps."""
    from operant.bench.chat_episodes import measure_chat_server
    from operant.bench.record import provenance

    found = measure_chat_server(url, model, episodes=episodes, minutes=minutes, result_dir=result_dir)
    deliver({**provenance(), **found}, as_json, out, plain_table)
