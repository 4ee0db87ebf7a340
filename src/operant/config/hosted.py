"""Settings of agents behind a vendor's API. Keys are no settings: they come from the environment only."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from operant.config.prices import Prices
from operant.config.settings import Settings

__all__ = ["Coordinates", "HostedSettings", "Observed", "VendorName"]

VendorName = Literal["anthropic", "openai", "gemini", "chat"]
Observed = Literal["screenshot", "a11y_tree", "screenshot_a11y_tree", "som"]
Coordinates = Literal["pixels", "thousandths", "up_to_999", "fractions"]


class HostedSettings(Settings):
    """Which model of which vendor, and how it is asked."""

    vendor: VendorName
    """Whose protocol: anthropic (Messages), openai (Responses), gemini (generateContent) or chat (Chat Completions)."""
    model: str = Field(min_length=1, max_length=200)
    """The vendor's name of the model."""
    base_url: str | None = None
    """Another server that speaks the protocol; else the vendor's variable, such as OPENAI_BASE_URL."""
    dialect: str | None = None
    """How it says actions, instead of the best for the model: docs/llm_agents.md lists them. chat: json unless given."""
    coordinates: Coordinates | None = None
    """chat: what its coordinates count, for dialects that leave it open (json, function_tools and others)."""
    observation: Observed | None = None
    """What it is shown: the picture (unless its dialect reads widgets), the widgets as text, both, or numbered marks."""
    max_widgets: int = Field(default=300, ge=1, le=1000)
    """Widgets that are told as text; fewer for models with a short context. The first ones stay."""
    history: int = Field(default=3, ge=1, le=50)
    """Earlier screenshots that are kept when old ones are removed."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How much the model thinks, for models that take it."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """For models that take it."""
    max_tokens: int = Field(default=4096, ge=16, le=64_000)
    """Length of one reply, thinking included."""
    timeout_s: float = Field(default=55.0, gt=0)
    """Seconds for one turn with its retries. Keep it below --action-timeout."""
    prices: Prices | None = None
    """What tokens cost, over --prices and the vendor's list; in none of these, the cost is unknown."""
    max_retries: int = Field(default=4, ge=0, le=20)
    """Further requests after a rate limit, an overload or a lost connection."""

    @model_validator(mode="after")
    def _check(self) -> HostedSettings:
        if self.base_url is not None:
            if not self.base_url.startswith(("http://", "https://")):
                raise ValueError("base_url begins with http:// or https://")
            if "@" in self.base_url.split("/")[2]:
                raise ValueError("base_url must not hold a user or a password")
        return self
