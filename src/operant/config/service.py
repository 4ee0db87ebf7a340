"""Settings of the service: where it listens, whom it lets in, how much it does at once.

Every plain field can be set by an environment variable ``OPERANT_<FIELD>`` or a line of ``.env``; a few also by the
names that people expect (``DEVICE``, ``LOG_LEVEL``, ``TRAINING_ENABLED``). A YAML file (``--config``, ``OPERANT_CONFIG``)
holds any of them, ``desktop`` included. Flags win over the environment, and that over the file.
"""

from __future__ import annotations

import ipaddress
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from operant.config.desktop import DesktopConfig
from operant.config.places import data_dir, place
from operant.config.provider import ProviderSettings
from operant.config.settings import PREFIX, check_level, read_environment

__all__ = ["ServiceConfig", "is_loopback"]


class ServiceConfig(ProviderSettings):
    """One service on one machine."""

    variables: ClassVar[Mapping[str, str]] = {
        "DEVICE": "device",
        "LOG_LEVEL": "log_level",
        "LOG_FORMAT": "log_format",
        "TRAINING_ENABLED": "training_enabled",
        "API_TOKEN": "token",
    }
    host: str = "127.0.0.1"
    """Address to listen on; any but this machine's own needs a token."""
    port: int = Field(8000, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    token: SecretStr | None = None
    """What clients must show as a bearer token; at least 16 characters."""
    cors_origins: tuple[str, ...] = ()
    """Other origins whose pages may call the API; none by default."""
    trusted_hosts: tuple[str, ...] = ()
    """Further names under which this service is reached when it has no token."""

    data_dir: Path = Field(default_factory=data_dir)
    """Where episodes and training runs are kept: OPERANT_DATA_DIR, or operant in the user's data directory."""
    results_dir: Path = Field(default_factory=lambda: place("results"))
    """Where ``operant eval`` leaves its results: results in the data directory, unless said."""
    checkpoints_dir: Path = Field(default_factory=lambda: place("checkpoints"))
    """Where models are looked for, besides the training runs: checkpoints in the data directory, unless said."""

    suite: str | None = None
    """Tasks beside those of the installed suites: module:TEMPLATES, a file of tasks, or several, separated by commas.
    Clients may name installed suites and these, and no others."""

    agent: str = "hierarchical"
    """The agent that answers first: a name of ``operant.agents``, ``anthropic:MODEL`` and the like, a YAML file, or
    module:factory. Unless one is chosen, ``random`` stands in where PyTorch is not installed."""
    agents: tuple[str, ...] = ()
    """Further agents that requests may choose, beside the installed ones; requests can name no others."""
    checkpoint_agent: str = "hierarchical"
    """The agent that checkpoints belong to."""

    device: str | None = None
    """Where networks calculate: cpu, cuda, cuda:1, mps or auto; left out, the agent's own choice."""

    prices: Path | None = None
    """A table of what models cost, over the vendors' list prices."""

    desktops: int = Field(2, ge=1, le=256)
    """Sandboxed desktops kept ready."""
    osworld_desktops: int = Field(0, ge=0, le=256)
    """More desktops, for clients of OSWorld: its guest protocol, one port each."""
    osworld_port: int = Field(5000, ge=0, le=65535)
    """Port of the first of them; 0 takes free ones, also for Chrome (9222) and VLC (8080)."""
    desktop: DesktopConfig = DesktopConfig(profile="full")
    """What each of them is like; full unless said otherwise."""
    session_ttl_s: float = Field(600.0, gt=0, le=86_400)
    """Seconds after its last use that a session is ended."""
    lease_timeout_s: float = Field(10.0, ge=0, le=600)
    """Seconds that a request waits for a free desktop."""
    act_timeout_s: float = Field(60.0, gt=0, le=3600)
    """Seconds that an agent has for one action."""
    queued_attempts: int = Field(64, ge=0)
    """Tasks that may wait for a desktop."""

    max_body_bytes: int = Field(16 << 20, ge=1024)
    """Largest request body."""
    max_pixels: int = Field(8_294_400, ge=64)
    """Largest picture: 3840x2160 by default."""
    requests_per_s: float = Field(200.0, gt=0)
    """Requests a second from one client, on the average."""
    request_burst: int = Field(400, ge=1)
    """Requests that one client may send at once."""

    batch_size: int = Field(16, ge=1, le=1024)
    """Questions that are answered together."""
    batch_wait_ms: float = Field(2.0, ge=0, le=1000)
    """How long the first question of a batch waits for others."""
    inference_threads: int = Field(1, ge=1, le=256)
    """Cores that a network uses; on small machines desktops and requests need the others."""
    queued_questions: int = Field(256, ge=1)
    """Questions that may wait."""

    training_enabled: bool = True
    """Whether training may be started through the service."""
    training_command: tuple[str, ...] = (sys.executable, "-m", "operant.train")
    """The program that trains; the service adds its flags."""

    allow_live: bool = False
    """Whether the screen of this machine itself may be operated."""
    auto_approve: bool = False
    """Whether actions on that screen are done without asking each time."""
    approval_timeout_s: float = Field(60.0, gt=0, le=3600)
    """Seconds within which an action on that screen must be approved."""

    dashboard: bool = True
    """Whether the dashboard is served at ``/``."""
    log_format: Literal["auto", "human", "json"] = "auto"
    """How log lines look; ``auto`` is human on a terminal."""
    log_level: str = "INFO"
    """Least level that is logged; DEBUG also shows each request."""

    @model_validator(mode="before")
    @classmethod
    def _one_place(cls, given: Any) -> Any:
        """All that is kept lies in the data directory, unless it is said otherwise."""
        if isinstance(given, Mapping) and given.get("data_dir"):
            below = Path(given["data_dir"])
            return {"results_dir": below / "results", "checkpoints_dir": below / "checkpoints", **given}
        return given

    @field_validator("log_level")
    @classmethod
    def _known(cls, level: str) -> str:
        return check_level(level)

    @field_validator("desktop", mode="before")
    @classmethod
    def _full(cls, desktop: Any) -> Any:
        return {"profile": "full", **desktop} if isinstance(desktop, Mapping) else desktop

    @field_validator("token")
    @classmethod
    def _long_enough(cls, token: SecretStr | None) -> SecretStr | None:
        if token is None or not token.get_secret_value():
            return None
        if len(token.get_secret_value()) < 16:
            raise ValueError("a token has at least 16 characters")
        return token

    @field_validator("training_command", mode="before")
    @classmethod
    def _words(cls, command: Any) -> Any:
        return tuple(shlex.split(command)) if isinstance(command, str) else command

    @field_validator("cors_origins", "trusted_hosts", "agents", mode="before")
    @classmethod
    def _listed(cls, names: Any) -> Any:
        return (
            tuple(part.strip() for part in names.split(",") if part.strip())
            if isinstance(names, str)
            else names
        )

    @model_validator(mode="after")
    def _closed_to_strangers(self) -> ServiceConfig:
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"listening on {self.host} lets others in: set a token (OPERANT_TOKEN, at least 16 characters)"
            )
        return self

    @property
    def episodes_dir(self) -> Path:
        return self.data_dir / "episodes"

    @property
    def runs_dir(self) -> Path:
        return self.data_dir / "runs"

    @classmethod
    def load(
        cls, file: Path | None = None, *, environ: Mapping[str, str] | None = None, **more: Any
    ) -> ServiceConfig:
        """As all settings are; the file may be named by OPERANT_CONFIG."""
        named = read_environment(environ).get(f"{PREFIX}CONFIG")
        return super().load(file or (Path(named) if named else None), environ=environ, **more)

    @classmethod
    def _from_variables(cls, environ: Mapping[str, str]) -> dict[str, Any]:
        """Every plain field also has a variable ``OPERANT_<FIELD>``, which comes before the name that people expect."""
        own = {
            name: value
            for variable, value in environ.items()
            if variable.startswith(PREFIX)
            and (name := variable.removeprefix(PREFIX).lower()) in cls.model_fields
        }
        return super()._from_variables(environ) | own


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
