"""Providers that start machines: containers, cloud instances, virtual machines. Each machine has one desktop or several.

A subclass says how a machine is booted; this module keeps the machines, waits for their guests, gives desktops out and
destroys a machine when its last desktop is closed. Machines bear the mark of their owner, so that ``sweep`` of a later
run finds those whose owner was killed.
"""

from __future__ import annotations

import contextlib
import os
import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from loguru import logger
from pydantic import Field

from operant.config.desktop import DesktopConfig, Profile
from operant.config.provider import PlaceConfig
from operant.desktop.launch import owner_mark, process_namespace
from operant.desktop.protocol import Capability, Desktop
from operant.desktop.providers.base import Provider
from operant.desktop.providers.guests import Guest, Protocol, wait_for_guest
from operant.desktop.reaper import owner_lives
from operant.errors import DesktopClosed, OperantError

__all__ = [
    "MachineConfig",
    "MachineDesktop",
    "MachineProvider",
    "ProvidedMachine",
    "is_orphan",
    "owner_label",
]

MACHINE_ID = Path("/etc/machine-id")


class MachineConfig(PlaceConfig):
    """What the settings of providers that start machines have."""

    protocol: Protocol = "osworld"
    """What the guest speaks: operant (``operant desktop serve``) or osworld (the server of OSWorld's images)."""
    boot_timeout_s: float = Field(300.0, gt=0)
    """Seconds from the start of a machine until its guest answers."""
    call_timeout_s: float = Field(30.0, gt=0)
    """Seconds for one call of the guest, beyond what the call itself may take."""
    revert: bool = False
    """Whether a reset always reverts the machine. Otherwise it does so only where the guest can't reset its desktop."""


class ProvidedMachine(ABC):
    """A machine that was started for us."""

    name: str
    """For people: container 3f2a, instance i-0123, X.vmx."""
    guest: Guest

    @abstractmethod
    def ended(self) -> str | None:
        """Why it runs no more; None while it runs."""

    def revert(self) -> bool:
        """Back to the state in which its guest first answered; False if only another machine gives that."""
        return False

    def booted(self) -> None:
        """Its guest has answered for the first time."""
        return

    @abstractmethod
    def destroy(self) -> None:
        """End it and remove all that belongs to it."""


C = TypeVar("C", bound=MachineConfig)


class MachineProvider(Provider[C]):
    """Starts machines when desktops are asked for, and destroys them when these are closed."""

    def __init__(self, settings: C) -> None:
        super().__init__(settings)
        self._hosts: list[_Host] = []
        self._lock = threading.Lock()
        self._closed = False

    @property
    def start_s(self) -> float:
        return self.settings.boot_timeout_s + 60.0

    @property
    def desktops_each(self) -> int:
        """How many desktops one machine has."""
        return 1

    @abstractmethod
    def boot(self, config: DesktopConfig) -> ProvidedMachine:
        """Start a machine and return at once. What fails leaves nothing behind."""

    def start(self, config: DesktopConfig) -> Desktop:
        return MachineDesktop(self, config)  # it passes the protocol on

    def close(self) -> None:
        """Destroy every machine that is still there."""
        with self._lock:
            self._closed = True
            hosts, self._hosts = self._hosts, []
        for host in hosts:
            host.destroy()

    # Places on machines.

    def take(self, config: DesktopConfig) -> _Host:
        """A place on a machine whose guest answers: on one that has room, or on a new one."""
        with self._lock:
            if self._closed:
                raise DesktopClosed(f"the provider {self.name} is closed")
            host = next((one for one in self._hosts if one.has_room(self.desktops_each, config)), None)
            if host is not None:
                host.used += 1
                new = False
            else:
                host, new = _Host(config), True
                self._hosts.append(host)
        try:
            if new:
                self._bring_up(host)
            host.machine.result()
        except BaseException:
            self.give_back(host)
            raise
        return host

    def _bring_up(self, host: _Host) -> None:
        try:
            machine = self.boot(host.config)
            try:
                wait_for_guest(machine.guest, machine.name, self.settings.boot_timeout_s, machine.ended)
                machine.booted()
            except BaseException:
                machine.destroy()
                raise
        except BaseException as error:
            host.broken = True
            host.machine.set_exception(error)
            raise
        host.machine.set_result(machine)
        with self._lock:
            kept = host in self._hosts
        if not kept:  # closed meanwhile
            host.destroy()

    def give_back(self, host: _Host) -> None:
        """A desktop of its is closed; the last one takes the machine along."""
        host.notice()
        with self._lock:
            host.used -= 1
            if host.used > 0:
                return
            if host in self._hosts:
                self._hosts.remove(host)
        host.destroy()


@dataclass(eq=False)
class _Host:
    """A machine that is booting or up, and how many desktops of its are in use."""

    config: DesktopConfig
    used: int = 1
    broken: bool = False
    machine: Future[ProvidedMachine] = field(default_factory=Future)

    def has_room(self, places: int, config: DesktopConfig) -> bool:
        return not self.broken and self.used < places and self.config == config

    def notice(self) -> None:
        """Give out no further desktops of a machine that has ended."""
        if self.machine.done() and self.machine.exception() is None and self.machine.result().ended():
            self.broken = True

    def destroy(self) -> None:
        """A machine that can't be destroyed is left to the next sweep; nothing that closes may fail."""
        self.broken = True
        if not self.machine.done() or self.machine.exception() is not None:
            return
        machine = self.machine.result()
        try:
            machine.destroy()
        except (OperantError, OSError) as error:
            logger.error("{} could not be removed: {}", machine.name, error)


class MachineDesktop:
    """A desktop of a machine of ours: the guest's, except that a reset may revert the machine and closing destroys it."""

    def __init__(self, provider: MachineProvider[Any], config: DesktopConfig) -> None:
        self._provider = provider
        self._config = config
        self._lock = threading.RLock()
        self.closed = False
        self._host = provider.take(config)
        try:
            self._inner = self._connect()
        except BaseException:
            provider.give_back(self._host)
            raise

    def _connect(self) -> Desktop:
        try:
            return self.machine.guest.connect(self._config)
        except BaseException:
            self._host.broken = True  # whatever it is, the next desktop is better off elsewhere
            raise

    @property
    def machine(self) -> ProvidedMachine:
        return self._host.machine.result()

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._inner.capabilities | {Capability.RESET}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # not made yet
            raise AttributeError(name)
        return getattr(self._inner, name)

    def reset(self, profile: Profile | None = None) -> None:
        """Back to the start: by the guest where it can, otherwise by the machine."""
        with self._lock:
            if self.closed:
                raise DesktopClosed("the desktop is closed")
            if Capability.RESET in self._inner.capabilities and not self._provider.settings.revert:
                self._inner.reset(profile)
                return
            self._inner.close()
            machine, settings = self.machine, self._provider.settings
            if self._host.used == 1 and machine.revert():
                wait_for_guest(machine.guest, machine.name, settings.boot_timeout_s, machine.ended)
            else:
                self._host.broken = True  # others may still use it, and new ones are not to
                self._provider.give_back(self._host)
                self.closed = True  # until there is another
                self._host = self._provider.take(self._config)
                self.closed = False
            self._inner = self._connect()

    def close(self) -> None:
        """Hang up and give the machine back. Closing twice does no harm."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            with contextlib.suppress(OperantError, OSError):
                self._inner.close()
            self._provider.give_back(self._host)

    def __enter__(self) -> MachineDesktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Whose a machine is.


def owner_label() -> str:
    """This process, for labels and tags: the machine, its pid namespace, the pid and when it began."""
    return f"{_this_machine()}/{process_namespace()}/{owner_mark()}"


def is_orphan(label: str) -> bool:
    """Whether the process that a label names ran on this machine and is gone. Of other machines nothing is known."""
    machine, _, rest = label.partition("/")
    namespace, _, mark = rest.partition("/")
    return machine == _this_machine() and namespace == process_namespace() and not owner_lives(mark)


def _this_machine() -> str:
    try:
        return MACHINE_ID.read_text(encoding="ascii").strip()[:32] or os.uname().nodename
    except OSError:
        return os.uname().nodename
