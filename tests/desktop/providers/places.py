"""Places for the contract of providers: each makes its provider, lets a machine of it die, and lists what is left."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.desktop.providers import docker_engine, tiny_machine
from tests.desktop.remote_servers import DesktopServer

from operant.config.desktop import DesktopConfig
from operant.desktop.launch import owner_mark
from operant.desktop.protocol import Desktop
from operant.desktop.providers import make_provider
from operant.desktop.providers.base import Provider
from operant.desktop.providers.vm import PREFIX
from operant.service.desktops.app import guard_settings
from operant.service.desktops.osworld_machines import machine_config
from operant.service.desktops.osworld_server import OSWorldServer

__all__ = ["PLACES", "SMALL", "Place", "provider_of"]

SMALL = DesktopConfig(width=640, height=480)
BARE = DesktopConfig(width=640, height=480, profile="bare")


class Place(ABC):
    """One place that the contract runs on."""

    config: DesktopConfig = SMALL
    reset_replaces = False
    """Whether a reset gives another machine, so that one which died is well after it."""
    one_machine = False
    """Whether there can be only one desktop at a time."""

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


# Containers of a real engine.


class DockerPlace(Place):
    def kill(self, desktop: Desktop) -> None:
        self.provider._client().api.kill(desktop.machine.id)  # type: ignore[attr-defined]

    def leftovers(self) -> list[str]:
        return [one["Id"] for one in self.provider._client().api.containers(all=True)]  # type: ignore[attr-defined]


@contextmanager
def docker(directory: Path) -> Iterator[Place]:
    with (
        docker_engine.engine() as address,
        provider_of("docker", directory, **docker_engine.settings(address)) as provider,
    ):
        yield DockerPlace(provider)


# Instances of an EC2 that moto plays; their guest is a server of ours on the loopback.

AMI = "ami-12c6146b"  # one that moto knows
AWS_VARIABLES = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
}


class AwsPlace(Place):
    reset_replaces = True

    def __init__(self, provider: Provider[Any], server: DesktopServer) -> None:
        super().__init__(provider)
        self.server = server

    def kill(self, desktop: Desktop) -> None:
        """A spot instance that is taken away."""
        machine = desktop.machine  # type: ignore[attr-defined]
        machine._client.terminate_instances(InstanceIds=[machine.id])
        self.server.host._guests[desktop.id].lease.desktop.close()  # type: ignore[attr-defined]

    def leftovers(self) -> list[str]:
        return instances(self.provider)


def instances(provider: Any) -> list[str]:
    pages = provider._client().describe_instances()["Reservations"]
    found = [one for group in pages for one in group["Instances"]]
    return [one["InstanceId"] for one in found if one["State"]["Name"] not in ("terminated", "shutting-down")]


@contextmanager
def aws(directory: Path) -> Iterator[Place]:
    from moto import mock_aws

    with (
        pytest.MonkeyPatch.context() as patch,
        DesktopServer(4, SMALL, lease_wait_s=10.0) as server,
        mock_aws(),
    ):
        for name, value in AWS_VARIABLES.items():
            patch.setenv(name, value)
        settings = {
            "image": AMI,
            "protocol": "operant",
            "url": server.url,
            "price_per_hour": 0.2,
            "max_cost": 10.0,
            "revert": True,
        }
        with provider_of("aws", directory, **settings) as provider:
            yield AwsPlace(provider, server)


# Virtual machines: VMware by a stand-in for vmrun, QEMU by itself with a tiny guest. Both pass calls on to a server of ours.


class VmwarePlace(AwsPlace):
    """One machine, which a reset starts anew."""

    one_machine = True

    def __init__(self, provider: Provider[Any], server: DesktopServer, state: Path) -> None:
        super().__init__(provider, server)
        self.state = state

    def kill(self, desktop: Desktop) -> None:
        """The power fails."""
        self.state.write_text(json.dumps({**json.loads(self.state.read_text()), "running": False}))
        self.server.host._guests[desktop.id].lease.desktop.close()  # type: ignore[attr-defined]

    def leftovers(self) -> list[str]:
        mine = Path(tempfile.gettempdir()).glob(f"{PREFIX}{owner_mark()}-*")
        running = json.loads(self.state.read_text())["running"]
        return [*map(str, mine), *(["a running machine"] if running else [])]


@contextmanager
def vmware(directory: Path, **more: Any) -> Iterator[Place]:
    machine, state = directory / "Ubuntu.vmx", directory / "state.json"
    machine.write_text("config.version = 8")
    known = {"vmx": str(machine), "running": False, "snapshots": ["init_state"], "reverts": 0}
    state.write_text(json.dumps({**known, "address": "127.0.0.1"}))
    with (
        pytest.MonkeyPatch.context() as patch,
        DesktopServer(4, SMALL, lease_wait_s=10.0) as server,
    ):
        patch.setenv("VMRUN_STATE", str(state))
        settings = {
            "path": str(machine),
            "vmrun": str(Path(__file__).with_name("vmrun_stand_in.py")),
            "protocol": "operant",
            "port": server.port,
            "revert": True,
            **more,
        }
        with provider_of("vm", directory, **settings) as provider:
            yield VmwarePlace(provider, server, state)


class QemuPlace(Place):
    def kill(self, desktop: Desktop) -> None:
        process = desktop.machine._process  # type: ignore[attr-defined]
        process.kill()
        process.wait()

    def leftovers(self) -> list[str]:
        return [str(path) for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}{owner_mark()}-*")]


@contextmanager
def qemu(directory: Path) -> Iterator[Place]:
    with DesktopServer(4, SMALL, lease_wait_s=10.0, idle_s=30.0) as server:
        disk, arguments = tiny_machine.make(directory, server.port)
        settings = {
            "path": str(disk),
            "protocol": "operant",
            "memory_mb": 128,
            "cpus": 1,
            "kvm": "off",  # a virtual machine inside a virtual machine may not start at all
            "arguments": arguments,
            "boot_timeout_s": 90,
        }
        with provider_of("vm", directory, **settings) as provider:
            yield QemuPlace(provider)


PLACES: dict[str, Callable[[Path], AbstractContextManager[Place]]] = {
    "sandbox": sandbox,
    "remote": remote,
    "osworld": osworld,
    "docker": docker,
    "aws": aws,
    "vmware": vmware,
    "qemu": qemu,
}
