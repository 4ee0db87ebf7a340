"""The model that writes functions and the tasks that it writes them for, by what a user types."""

from __future__ import annotations

from pathlib import Path

from operant.agents.hosted import HostedAgent
from operant.agents.registry import agent_factory
from operant.config.prices import PriceTable
from operant.errors import ConfigError
from operant.tasks.loaders import load_tasks

__all__ = ["example_tasks", "text_model"]

MOST_BYTES = 1 << 20
HINT = "chat:MODEL asks any server with Chat Completions, a local one too (OPENAI_BASE_URL)"


def text_model(name: str, prices: Path | None = None, *, bounded: bool = False) -> HostedAgent:
    """The agent of that name, as a model that answers plain text. With ``bounded`` its price has to be known."""
    table = PriceTable.read(prices) if prices is not None else None
    agent = agent_factory(name, prices=table)()
    if not isinstance(agent, HostedAgent) or not agent.converses:
        agent.close()
        raise ConfigError(f"{name} is not asked for plain text", hint=HINT)
    if bounded and agent.unpriced:
        agent.close()
        raise ConfigError(
            f"the price of {agent.unpriced} is not known, so its cost can't be bounded",
            hint="give --prices, or bound it by --max-tokens alone",
        )
    return agent


def example_tasks(file: Path) -> list[str]:
    """The instructions of a file of tasks, or the lines of a text file; # begins a comment."""
    if file.suffix in (".yaml", ".yml", ".json"):
        return list(dict.fromkeys(task.instruction for task in load_tasks(file)))
    text = file.read_bytes()[:MOST_BYTES].decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines()]
    found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise ConfigError(f"{file} names no task", hint="write one task a line")
    return found
