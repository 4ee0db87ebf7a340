"""Runs OSWorld's protocol: the ports of the machines, the forwarded ports of their browsers and players, the server."""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.config.service import ServiceConfig, is_loopback
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import NotSupported
from operant.service.desktops.osworld import create_osworld_app
from operant.service.desktops.osworld_machines import MachinePorts, OSWorldMachine, OSWorldMachines
from operant.service.desktops.port_forwarding import forwarded
from operant.service.listening import IDLE_LINE_S, http_server, listen
from operant.service.logs import set_up_logging

__all__ = ["OSWorldServer", "serve_osworld"]

LOOPBACK = "127.0.0.1"
#: MachinePorts inside a machine: Chrome's debugging protocol, which set-ups forward from 1337, and VLC's HTTP interface.
CHROMIUM_INSIDE, VLC_INSIDE = (9222, 1337), (8080,)
VNC_PORT = 8006  # named in addresses of upstream's providers; nothing listens there


class OSWorldServer:
    """OSWorldMachines on consecutive ports; port 0 takes free ones. Listens when it is made; ``run`` serves."""

    def __init__(
        self,
        count: int,
        guard: ServiceConfig,
        config: DesktopConfig,
        *,
        chromium_port: int = 9222,
        vlc_port: int = 8080,
        idle_s: float = 300.0,
        factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
    ) -> None:
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self._servers = self._listen(stack, guard.host, guard.port, count, "--port")
            # Their protocols know no token: only this machine may use them.
            near = guard.host if is_loopback(guard.host) else LOOPBACK
            self._browsers = self._listen(stack, near, chromium_port, count, "--chromium-port")
            self._players = self._listen(stack, near, vlc_port, count, "--vlc-port")
            found = [
                MachinePorts(*(one.getsockname()[1] for one in three))
                for three in zip(self._servers, self._browsers, self._players, strict=True)
            ]
            self.machines = OSWorldMachines(found, config, idle_s=idle_s, factory=factory)
            self._stack = stack.pop_all()
        self.host = guard.host
        app = create_osworld_app(self.machines, guard, begin=self._forward)
        self._uvicorn = http_server(app, timeout_keep_alive=IDLE_LINE_S)
        self._thread: threading.Thread | None = None

    @staticmethod
    def _listen(
        stack: contextlib.ExitStack, host: str, port: int, count: int, flag: str
    ) -> list[socket.socket]:
        found = []
        for number in range(count):
            found.append(stack.enter_context(listen(host, port + number if port else 0, flag)))
        return found

    @contextlib.asynccontextmanager
    async def _forward(self) -> AsyncIterator[None]:
        lines: list[tuple[socket.socket, Callable[[], socket.socket]]] = []
        for machine, browser, player in zip(
            self.machines.machines, self._browsers, self._players, strict=True
        ):
            lines.append((browser, functools.partial(_dial, machine, CHROMIUM_INSIDE)))
            lines.append((player, functools.partial(_dial, machine, VLC_INSIDE)))
        async with forwarded(lines):
            yield

    def addresses(self) -> list[str]:
        """One for each machine, as upstream's providers write them: host:server:chromium:vnc:vlc."""
        return [
            f"{self.host}:{one.ports.server}:{one.ports.chromium}:{VNC_PORT}:{one.ports.vlc}"
            for one in self.machines.machines
        ]

    def announce(self, token: Any) -> None:
        for number, address in enumerate(self.addresses(), 1):
            logger.info(
                "machine {} of {} at {}{}",
                number,
                self.machines.config.size,
                address,
                "" if token else " (this machine only: no token)",
            )

    def run(self) -> None:
        """Serve until it is told to stop; every desktop is closed then."""
        try:
            self._uvicorn.run(sockets=self._servers)
        finally:
            self.machines.close()
            self._stack.close()

    def start(self) -> None:
        """Serve beside something else, until ``stop``."""
        self._thread = threading.Thread(target=self.run, name="operant-osworld", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self.machines.close()
        self._stack.close()

    def __enter__(self) -> OSWorldServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _dial(machine: OSWorldMachine, ports: tuple[int, ...]) -> socket.socket:
    """The first of these ports inside the machine on which a program listens."""
    desktop = machine.guest.desktop
    if not isinstance(desktop, SandboxDesktop):
        raise NotSupported(f"ports of a {type(desktop).__name__} are not forwarded")
    for port in ports:
        with contextlib.suppress(ConnectionRefusedError):
            return desktop.dial(port)
    raise ConnectionRefusedError(f"nothing listens on {ports} inside the desktop")


def serve_osworld(
    count: int, guard: ServiceConfig, config: DesktopConfig, *, level: str = "INFO", **more: Any
) -> None:
    """Returns when it was told to stop and every desktop is closed."""
    set_up_logging(guard.log_format, level)
    server = OSWorldServer(count, guard, config, **more)
    server.announce(guard.token)
    server.run()
