"""Settings of a desktop: its screen, what it may use, and when a step is over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from operant.config.base import Config
from operant.types import ActionMode, Monitor, Size

__all__ = ["PROFILES", "SURE_MS", "DesktopConfig", "LimitsConfig", "MonitorConfig", "Profile", "SettleConfig"]

LARGEST_SCREEN = 16384
STILL_LIMIT_MS = 2000.0  # how long a screen that must be still is watched at most
SURE_MS = 100  # how long a screen that is shown to a model or a person has been still
SURE_TIMER_MS = 650.0  # programs that wake within so long are waited for where a screen must be still
SURE_BUSY_MS = 1000.0  # and so long at most
Profile = Literal["bare", "full"]
#: What a desktop shows before any program is started: a window manager only, or also panel, menu and icons.
PROFILES: tuple[Profile, ...] = get_args(Profile)
PROXY_SCHEMES = ("http", "https", "socks5")
_SIZE = re.compile(r"(\d+)x(\d+)")
_REGION = re.compile(r"(\d+)x(\d+)(?:\+(\d+)\+(\d+))?")


class SettleConfig(Config):
    """When a step is over. All in milliseconds."""

    first_change_ms: float = Field(6.0, gt=0)
    """How long to wait for the first change before asking whether any program is busy."""
    quiet_ms: float = Field(5.0, gt=0)
    """How long the screen must be still."""
    busy_ms: float = Field(400.0, ge=0)
    """How long a busy program behind a still screen is waited for."""
    cap_ms: float = Field(2000.0, gt=0)
    """How long a step may take at most, however much the screen moves."""
    paint_ms: float = Field(45.0, ge=0)
    """How long after a change a program that sleeps until its next paint is waited for; 0 is faster, and now and then
    a paint behind."""
    timer_ms: float = Field(0.0, ge=0)
    """A program that has set a timer of at most so long since the desktop was last at rest counts as busy."""
    wait_ms: float = Field(500.0, ge=0)
    """How long a wait action without a duration waits for something to change."""
    after_typing_ms: float = Field(150.0, ge=0)
    """How long the next key or click waits for a timer that typed text has set: entries with completion swallow what
    comes sooner."""
    between_clicks_ms: float = Field(120.0, ge=0)
    """Pause between two clicks on one spot, so that they are not taken for a double click."""

    def still(self, still_ms: float) -> SettleConfig:
        """These settings for a screen that must have been still for so long, within ``STILL_LIMIT_MS``."""
        if not still_ms:
            return self
        return self.model_copy(
            update={
                "first_change_ms": max(still_ms, self.first_change_ms),
                "quiet_ms": max(still_ms, self.quiet_ms),
                "busy_ms": max(SURE_BUSY_MS, self.busy_ms),
                "cap_ms": STILL_LIMIT_MS,
                "timer_ms": SURE_TIMER_MS,
            }
        )


class LimitsConfig(Config):
    """What the programs of one desktop may use."""

    memory_mb: int = Field(2048, ge=64)
    """Memory of all programs together, and data of any one of them."""
    processes: int = Field(256, ge=16)
    """Processes and threads alive at once."""
    file_mb: int = Field(512, ge=1)
    """Size of any one file."""
    disk_mb: int = Field(512, ge=8)
    """Size of HOME, and of /tmp; both live in memory."""
    files: int = Field(100_000, ge=100)
    """Number of files in HOME, and in /tmp."""


class MonitorConfig(Config):
    """A region of the screen that applications take for a monitor."""

    x: int = Field(ge=0)
    """Left edge in pixels."""
    y: int = Field(ge=0)
    """Top edge in pixels."""
    width: int = Field(ge=64)
    """Width in pixels."""
    height: int = Field(ge=64)
    """Height in pixels."""


def _name(key: str) -> str:
    if not key or "=" in key or "\0" in key:
        raise ValueError("not a name of an environment variable")
    return key


def _size(text: Any) -> tuple[int, int]:
    found = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise ValueError("a size is written WIDTHxHEIGHT, such as 1920x1080")
    return int(found[1]), int(found[2])


def _monitors(given: Any) -> Any:
    """``1920x1080,1920x1080``, or a list of such: side by side unless ``+X+Y`` says where, as xrandr writes it."""
    if isinstance(given, str):
        given = [part.strip() for part in given.split(",") if part.strip()]
    if not isinstance(given, (list, tuple)):
        return given
    monitors: list[Any] = []
    right = 0
    for one in given:
        if isinstance(one, str):
            found = _REGION.fullmatch(one.strip())
            if found is None:
                raise ValueError(f"monitors: {one!r} is not written WIDTHxHEIGHT or WIDTHxHEIGHT+X+Y")
            width, height, x, y = (None if part is None else int(part) for part in found.groups())
            one = {"x": right if x is None else x, "y": y or 0, "width": width, "height": height}
        if isinstance(one, dict) and all(isinstance(one.get(side), int) for side in ("x", "width")):
            right = one["x"] + one["width"]
        monitors.append(one)
    return monitors


def _reach(monitors: Any, place: str, length: str) -> int | None:
    """How far regions reach, where all of them are well formed."""
    try:
        return int(max(one[place] + one[length] for one in monitors))
    except (TypeError, KeyError, ValueError):
        return None


class DesktopConfig(Config):
    """One desktop. The defaults are what the benchmarks and the suites use.

    ``size: 1920x1080`` is short for width and height; without either, a screen is as large as its monitors.
    """

    width: int = Field(1280, ge=64, le=LARGEST_SCREEN)
    """Width of the screen in pixels."""
    height: int = Field(800, ge=64, le=LARGEST_SCREEN)
    """Height of the screen in pixels."""
    monitors: tuple[MonitorConfig, ...] = ()
    """Regions that act as monitors; none means one monitor over the whole screen."""
    profile: Profile = "bare"
    """`bare` has a window manager only; `full` has application menu, task bar, icons of HOME and run dialog as well."""
    network: bool = False
    """Whether programs reach the machine's network; otherwise they have a loopback of their own."""
    proxy: str | None = None
    """Proxy for programs and browsers, such as http://10.0.0.1:3128; needs ``network``."""
    no_proxy: tuple[str, ...] = ("localhost", "127.0.0.1", "::1")
    """Hosts that are reached without it."""
    actions: ActionMode = "gui"
    """What agents may do: `gui` uses pointer and keyboard, `api` calls functions of applications, `both` does either."""
    functions: Literal["focused", "all"] = "focused"
    """Functions that agents are told of: those of the focused application, windows, files and clipboard, or all."""
    opengl: bool = False
    """Whether the display offers OpenGL (GLX): 50 MB and 40 ms more a desktop."""
    home: Path | None = None
    """A directory whose files every episode finds in its HOME, beside the built-in settings."""
    environment: dict[Annotated[str, AfterValidator(_name)], str] = Field(default_factory=dict)
    """More environment variables for the programs."""
    read_only: tuple[Path, ...] = ()
    """More directories of this machine to show, read-only, at the same place."""
    limits: LimitsConfig = LimitsConfig()
    """What the programs may use."""
    settle: SettleConfig = SettleConfig()
    """When a step is over."""
    isolated: bool = True
    """Whether programs are sandboxed. Without it they run as you, with your files and your network."""
    start_timeout_s: float = Field(30.0, gt=0)
    """How long a desktop may take to come up."""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        values = dict(values)
        if values.get("monitors"):
            values["monitors"] = monitors = _monitors(values["monitors"])
            if not values.keys() & {"size", "width", "height"}:
                reach = _reach(monitors, "x", "width"), _reach(monitors, "y", "height")
                if None not in reach:
                    values["width"], values["height"] = reach
        if "size" in values:
            if values.keys() & {"width", "height"}:
                raise ValueError("size is short for width and height: give one or the other")
            values["width"], values["height"] = _size(values.pop("size"))
        return values

    @field_validator("proxy")
    @classmethod
    def _an_address(cls, proxy: str | None) -> str | None:
        if not proxy:
            return None
        parts = urlsplit(proxy)
        if parts.scheme not in PROXY_SCHEMES or not parts.hostname:
            raise ValueError(
                f"a proxy is written SCHEME://HOST:PORT, SCHEME one of {', '.join(PROXY_SCHEMES)}"
            )
        return proxy

    @field_validator("no_proxy", mode="before")
    @classmethod
    def _listed(cls, hosts: Any) -> Any:
        return (
            tuple(part.strip() for part in hosts.split(",") if part.strip())
            if isinstance(hosts, str)
            else hosts
        )

    @field_validator("home")
    @classmethod
    def _home_exists(cls, home: Path | None) -> Path | None:
        if home is not None and not home.is_dir():
            raise ValueError("not a directory")
        return home

    @model_validator(mode="after")
    def _monitors_fit(self) -> DesktopConfig:
        for index, monitor in enumerate(self.monitors):
            if monitor.x + monitor.width > self.width or monitor.y + monitor.height > self.height:
                raise ValueError(f"monitor {index} reaches beyond the {self.size} screen")
        return self

    @model_validator(mode="after")
    def _proxy_is_reached(self) -> DesktopConfig:
        if self.proxy and not self.network:
            raise ValueError("a proxy needs the network: set network: true")
        return self

    @property
    def size(self) -> Size:
        return Size(self.width, self.height)

    @property
    def chosen_profile(self) -> Profile | None:
        """The profile that was chosen; without one, every task says on which it begins."""
        return self.profile if "profile" in self.model_fields_set else None

    def with_defaults(self, settings: Mapping[str, Any]) -> DesktopConfig:
        """The same with these settings, where nothing was chosen; a screen is chosen by its size or by its monitors."""
        chosen = set(self.model_fields_set)
        if chosen & {"width", "height", "monitors"}:
            chosen |= {"width", "height"}
        return self.model_copy(update={name: value for name, value in settings.items() if name not in chosen})

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables of the programs; those that are set by hand win over the proxy's."""
        if not self.proxy:
            return dict(self.environment)
        hosts = ",".join(self.no_proxy)
        said = {
            "http_proxy": self.proxy,
            "https_proxy": self.proxy,
            "all_proxy": self.proxy,
            "no_proxy": hosts,
        }
        # Half of the programs read the one spelling and half the other.
        return said | {name.upper(): value for name, value in said.items()} | self.environment

    @property
    def regions(self) -> tuple[Monitor, ...]:
        """The monitors as the rest of the system knows them: always at least one."""
        if not self.monitors:
            return (Monitor(0, 0, self.width, self.height),)
        return tuple(Monitor(m.x, m.y, m.width, m.height) for m in self.monitors)
