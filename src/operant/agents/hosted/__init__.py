"""Agents behind the APIs of vendors, and of any server that speaks one of them (extra ``hosted``).

Names: ``anthropic:MODEL``, ``openai:MODEL``, ``gemini:MODEL``, ``chat:MODEL``, or a YAML file with
``HostedSettings``. Keys come from the environment only.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from operant.agents.hosted.agent import HostedAgent
from operant.agents.hosted.base import Dialogue
from operant.config.hosted import HostedSettings
from operant.config.prices import PriceTable, find_prices
from operant.config.settings import read_environment, read_yaml
from operant.errors import ConfigError, MissingDependency

__all__ = [
    "VENDORS",
    "HostedAgent",
    "anthropic_agent",
    "chat_agent",
    "from_file",
    "gemini_agent",
    "make",
    "openai_agent",
]

#: vendor -> the module and the class of its adapter
VENDORS: dict[str, tuple[str, str]] = {
    "anthropic": ("operant.agents.hosted.anthropic", "AnthropicDialogue"),
    "openai": ("operant.agents.hosted.openai", "OpenAIDialogue"),
    "gemini": ("operant.agents.hosted.gemini", "GeminiDialogue"),
    "chat": ("operant.agents.hosted.chat", "ChatDialogue"),
}


def make(
    settings: HostedSettings, prices: PriceTable | None = None, *, key: str | None = None
) -> HostedAgent:
    """The agent; a key that is missing is an error now, before any desktop starts.

    ``prices`` is the user's table; ``key`` is for servers of tests, in place of the environment's.
    """
    module, name = VENDORS[settings.vendor]
    try:
        adapter: type[Dialogue] = getattr(import_module(module), name)
    except ImportError as error:
        raise MissingDependency(
            f"agents of {settings.vendor} need a package: {error.name}", hint="pip install 'operant[hosted]'"
        ) from error
    given = read_environment()
    if key is None:
        key = next((given[variable] for variable in adapter.key_variables if variable in given), "")
    if not key and adapter.needs_key:
        raise ConfigError(
            f"{settings.vendor}:{settings.model} needs a key",
            hint=f"set the environment variable {adapter.key_variables[0]}",
        )
    elsewhere = settings.base_url is not None or any(variable in given for variable in adapter.url_variables)
    paid = settings.prices or find_prices(settings.vendor, settings.model, prices, elsewhere=elsewhere)
    return HostedAgent(settings, adapter(settings, key.strip()), paid)


def from_file(path: str, *, prices: PriceTable | None = None) -> HostedAgent:
    """The agent of a YAML file. One with a key in it is refused."""
    for name in read_yaml(Path(path)):
        if "key" in str(name).lower() or "token" in str(name).lower().replace("max_tokens", ""):
            raise ConfigError(
                f"{path}: keys do not belong into files", hint="set the vendor's environment variable"
            )
    return make(HostedSettings.load(Path(path), environ={}), prices)


def _named(vendor: str, model: str, prices: PriceTable | None) -> HostedAgent:
    if not model:
        raise ConfigError(f"the agent {vendor} needs a model", hint=f"{vendor}:MODEL, or a YAML file")
    if os.path.isfile(model) and model.endswith((".yaml", ".yml")):
        return from_file(model, prices=prices)
    return make(HostedSettings.build(vendor=vendor, model=model), prices)


def anthropic_agent(model: str = "", *, prices: PriceTable | None = None) -> HostedAgent:
    """``anthropic:MODEL``"""
    return _named("anthropic", model, prices)


def openai_agent(model: str = "", *, prices: PriceTable | None = None) -> HostedAgent:
    """``openai:MODEL``"""
    return _named("openai", model, prices)


def gemini_agent(model: str = "", *, prices: PriceTable | None = None) -> HostedAgent:
    """``gemini:MODEL``"""
    return _named("gemini", model, prices)


def chat_agent(model: str = "", *, prices: PriceTable | None = None) -> HostedAgent:
    """``chat:MODEL``"""
    return _named("chat", model, prices)
