"""Desktops that stand for OSWorld's machines: one port each, lent to clients that ask for one, mended when they break.

Clients of the original protocol know a machine by its port and nothing else. Those that know our extension lease a
machine, reset it, and give it back. Knows nothing of HTTP.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.desktop.osworld.guest import GuestMachine
from operant.desktop.osworld.machine_image import MACHINE_SETTINGS, MACHINE_VARIABLES
from operant.desktop.pool import DesktopPool, Lease
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import DesktopError, OperantError, PoolExhausted, SessionBusy, UnknownSession

__all__ = ["MachinePorts", "OSWorldMachine", "OSWorldMachines", "machine_config"]

FOREVER_S = 10 * 365 * 86400.0
START_S = 120.0


def machine_config(config: DesktopConfig) -> DesktopConfig:
    """A desktop that is like one of OSWorld's machines where nothing else was asked for."""
    environment = {**MACHINE_VARIABLES, **config.environment}
    usual = {**MACHINE_SETTINGS, "profile": "full"}
    return config.with_defaults(usual).model_copy(update={"environment": environment})


@dataclass(frozen=True, slots=True)
class MachinePorts:
    """Where a machine is reached: its guest server, and the ports of Chrome and VLC inside it."""

    server: int
    chromium: int
    vlc: int


class OSWorldMachine:
    """One desktop behind one port; another desktop takes its place if it breaks."""

    def __init__(self, pool: DesktopPool, ports: MachinePorts) -> None:
        self.ports = ports
        self.holder: str | None = None
        self.used_at = -FOREVER_S
        self.clean = True
        self._pool = pool
        self._lock = threading.RLock()
        self._guest: GuestMachine | None = None
        self._lease: Lease | None = None

    @property
    def guest(self) -> GuestMachine:
        """The machine as it is; starts one where there is none."""
        with self._lock:
            if self._guest is None:
                self._lease = self._pool.lease(timeout_s=START_S, ttl_s=FOREVER_S)
                self._guest = GuestMachine(self._lease.desktop)
                self._guest.prepare()
                self.clean = True
            return self._guest

    @contextlib.contextmanager
    def use(self) -> Iterator[GuestMachine]:
        """The machine for one call. A desktop that fails under it is replaced before the next."""
        self.used_at = time.monotonic()
        guest = self.guest
        self.clean = False
        try:
            yield guest
        except DesktopError as error:
            self._mend(guest, error)
            raise
        finally:
            self.used_at = time.monotonic()

    def _mend(self, guest: GuestMachine, error: DesktopError) -> None:
        with self._lock:
            if guest is not self._guest:
                return  # another call saw it first
            try:
                guest.desktop.check()
            except OperantError:
                logger.warning("the desktop behind port {} is replaced: {}", self.ports.server, error.message)
                self._drop()

    def reset(self) -> None:
        with self._lock:
            try:
                self.guest.reset()
            except DesktopError as error:
                logger.warning("the desktop behind port {} is replaced: {}", self.ports.server, error.message)
                self._drop()
                self.guest.prepare()
            self.clean = True

    def _drop(self) -> None:
        guest, lease = self._guest, self._lease
        self._guest = self._lease = None
        if guest is not None:
            guest.drop_recording()
        if lease is not None:
            lease.release()

    def close(self) -> None:
        with self._lock:
            if self._guest is not None:
                self._guest.drop_recording()

    def idle_s(self) -> float:
        return time.monotonic() - self.used_at


class OSWorldMachines:
    """All machines of one server. Safe for threads."""

    def __init__(
        self,
        ports: Sequence[MachinePorts],
        config: DesktopConfig,
        *,
        idle_s: float = 300.0,
        factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
    ) -> None:
        self.idle_s = idle_s
        self.config = config
        self.pool = DesktopPool(len(ports), config, ttl_s=FOREVER_S, factory=factory)
        self.machines = [OSWorldMachine(self.pool, one) for one in ports]
        self._by_port = {machine.ports.server: machine for machine in self.machines}
        self._lock = threading.Lock()

    def at(self, port: int) -> OSWorldMachine:
        """The machine of a port."""
        try:
            return self._by_port[port]
        except KeyError:
            raise UnknownSession(f"there is no machine at port {port}") from None

    def lease(self, name: str | None = None) -> OSWorldMachine:
        """A machine in its initial state, for the client of that name alone; asking again gives the same one."""
        name = name or secrets.token_urlsafe(16)
        with self._lock:
            held = next((one for one in self.machines if one.holder == name), None)
            if held is not None:
                return held
            free = [one for one in self.machines if one.holder is None or one.idle_s() > self.idle_s]
            free = [one for one in free if one.clean or one.idle_s() > self.idle_s]
            if not free:
                raise PoolExhausted(
                    f"all {len(self.machines)} machines are in use",
                    hint=f"give one back, or wait: one that is unused for {self.idle_s:g} s is free again",
                )
            machine = min(free, key=lambda one: not one.clean)
            machine.holder, machine.used_at = name, time.monotonic()
        try:
            if not machine.clean:
                machine.reset()
        except BaseException:
            machine.holder = None
            raise
        machine.used_at = time.monotonic()
        return machine

    def release(self, name: str) -> None:
        """Reset the machine and let others have it. Releasing twice does no harm."""
        with self._lock:
            machine = next((one for one in self.machines if one.holder == name), None)
        if machine is None:
            return
        try:
            machine.reset()
        finally:
            with self._lock:
                if machine.holder == name:
                    machine.holder, machine.used_at = None, time.monotonic() - self.idle_s

    def reset(self, machine: OSWorldMachine, name: str | None) -> None:
        """Reset one machine; one that is leased only for its holder."""
        if name is not None and machine.holder != name:
            raise UnknownSession("this lease of the machine has ended", hint="lease one: POST /operant/lease")
        if machine.holder is not None and name is None:
            raise SessionBusy("another client has leased this machine", hint="lease one: POST /operant/lease")
        machine.reset()

    def describe(self, machine: OSWorldMachine) -> dict[str, Any]:
        return {
            "server_port": machine.ports.server,
            "chromium_port": machine.ports.chromium,
            "vlc_port": machine.ports.vlc,
            "leased": machine.holder is not None,
        }

    def close(self) -> None:
        for machine in self.machines:
            machine.close()
        self.pool.close()
