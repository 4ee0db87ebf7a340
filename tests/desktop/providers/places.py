"""Places for the contract of providers: each makes its provider, lets a machine of it die, and lists what is left."""

from __future__ import annotations

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import yaml
from tests.desktop.remote_servers import DesktopServer

from operant.config.desktop import DesktopConfig
from operant.desktop.protocol import Desktop
from operant.desktop.providers import make_provider
from operant.desktop.providers.base import Provider
from operant.service.desktops.app import guard_settings
from operant.service.desktops.osworld_machines import machine_config
from operant.service.desktops.osworld_server import OSWorldServer

__all__ = ["PLACES", "SMALL", "Place", "provider_of"]

SMALL = DesktopConfig(width=640, height=480)
BARE = DesktopConfig(width=640, height=480, profile="bare")


class Place(ABC):
    """One place that the contract runs on."""

    config: DesktopConfig = SMALL

    def __init__(self, provider: Provider[Any]) -> None:
        self.provider = provider

    @abstractmethod
    def kill(self, desktop: Desktop) -> None:
        """Let it die as it would by itself: out of memory, a power cut, a spot instance that is taken away."""

    @abstractmethod
    def leftovers(self) -> list[str]:
        """Containers, instances, processes and leases that are still there."""


def provider_of(name: str, directory: Path, **settings: Any) -> Provider[Any]:
    """A provider with these settings, read from a file as users write it."""
    file = directory / f"{name}.yaml"
    file.write_text(yaml.safe_dump({name: settings}))
    return make_provider([name], file)


# Desktops of this machine.


class SandboxPlace(Place):
    def kill(self, desktop: Desktop) -> None:
        os.kill(desktop._supervised.process.pid, signal.SIGKILL)  # type: ignore[attr-defined]

    def leftovers(self) -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                stat = (entry / "stat").read_text(errors="replace")
            except OSError:
                continue
            name, _, rest = stat.partition("(")[2].rpartition(")")
            if name == "bwrap" and rest.split()[:2] == ["S", str(os.getpid())]:
                found.append(entry.name)
        return found


@contextmanager
def sandbox(directory: Path) -> Iterator[Place]:
    with make_provider(["sandbox"]) as provider:
        yield SandboxPlace(provider)


# Desktops that a server of ours lends.


class RemotePlace(Place):
    def __init__(self, provider: Provider[Any], server: DesktopServer) -> None:
        super().__init__(provider)
        self.server = server

    def kill(self, desktop: Desktop) -> None:
        """The desktop fails on the other machine; the server lives on."""
        guest = self.server.host._guests[desktop.id]  # type: ignore[attr-defined]
        guest.lease.desktop.close()

    def leftovers(self) -> list[str]:
        status = self.server.host.pool.status()
        return ["a lease"] * status.leased


@contextmanager
def remote(directory: Path) -> Iterator[Place]:
    with (
        DesktopServer(3, SMALL) as server,
        provider_of("remote", directory, urls=[server.url]) as provider,
    ):
        yield RemotePlace(provider, server)


# Machines that speak OSWorld's protocol.


class OsworldPlace(Place):
    def __init__(self, provider: Provider[Any], server: OSWorldServer) -> None:
        super().__init__(provider)
        self.server = server

    def kill(self, desktop: Desktop) -> None:
        """The machine dies, and its lease ends with it; the server lives on."""
        machine = self.server.machines.at(int(desktop.url.rpartition(":")[2]))  # type: ignore[attr-defined]
        machine.guest.desktop.close()
        self.server.machines.release(str(machine.holder))

    def leftovers(self) -> list[str]:
        return [one.holder for one in self.server.machines.machines if one.holder is not None]


@contextmanager
def osworld(directory: Path) -> Iterator[Place]:
    guard = guard_settings("127.0.0.1", 0, None)
    with (
        OSWorldServer(3, guard, machine_config(BARE), chromium_port=0, vlc_port=0) as server,
        provider_of(
            "osworld", directory, urls=[f"http://{server.addresses()[0].rsplit(':', 3)[0]}"]
        ) as provider,
    ):
        yield OsworldPlace(provider, server)


PLACES: dict[str, Callable[[Path], AbstractContextManager[Place]]] = {
    "sandbox": sandbox,
    "remote": remote,
    "osworld": osworld,
}
