"""Machines that speak OSWorld's guest protocol and run already, by their addresses.

One that ``operant desktop serve --protocol osworld`` serves is leased. Any other is used by one desktop at a time.
"""

from __future__ import annotations

import secrets
import threading
from urllib.parse import urlsplit

from loguru import logger
from pydantic import Field

from operant.config.desktop import DesktopConfig
from operant.config.provider import PlaceConfig
from operant.config.settings import read_variable
from operant.desktop.osworld.client import OsworldDesktop
from operant.desktop.osworld.connection import GuestConnection
from operant.desktop.protocol import Desktop
from operant.desktop.providers.base import Provider
from operant.errors import DesktopTimeout, OperantError, PoolExhausted, RemoteDesktopError

__all__ = ["OsworldProvider", "OsworldSettings", "connect"]

CHECK_S = 10.0


class OsworldSettings(PlaceConfig):
    """Section ``osworld``."""

    urls: tuple[str, ...] = Field(min_length=1)
    """Addresses of machines, such as http://10.0.0.7:5000; of a server of ours, one of its ports is enough."""
    token_variable: str = "OPERANT_TOKEN"
    """Environment variable with the token of servers of ours."""
    timeout_s: float = Field(30.0, gt=0)
    """Seconds for one call, beyond what the call itself may take."""


def connect(
    url: str, config: DesktopConfig, *, token: str | None = None, timeout_s: float = 30.0
) -> OsworldDesktop:
    """The desktop of a machine that runs; leased if its server knows leases. An error leaves nothing behind."""
    name = secrets.token_urlsafe(16)
    line = GuestConnection(url, token)
    try:
        answer = line.post("/operant/lease", timeout_s + config.start_timeout_s, json={"lease": name})
        if answer.status == 404 or answer.status == 405:
            return OsworldDesktop(url, config, token=token, timeout_s=timeout_s)
        if answer.status != 200:
            raise RemoteDesktopError(f"{line.url}: {answer.message()}")
        port = answer.fields().get("server_port")
        if not isinstance(port, int) or not 0 < port < 65536:
            answer.stranger("without the port of a machine")
    finally:
        line.close()
    place = urlsplit(line.url)
    host = f"[{place.hostname}]" if ":" in (place.hostname or "") else place.hostname
    try:
        return OsworldDesktop(
            f"{place.scheme}://{host}:{port}", config, token=token, timeout_s=timeout_s, lease=name
        )
    except OperantError:
        _give_back(url, token, name, timeout_s)
        raise


def _give_back(url: str, token: str | None, name: str, timeout_s: float) -> None:
    line = GuestConnection(url, token)
    try:
        line.delete(f"/operant/lease/{name}", timeout_s)
    except OperantError as error:
        logger.warning("a lease could not be given back: {}", error.message)
    finally:
        line.close()


class OsworldProvider(Provider[OsworldSettings]):
    """Uses the machines in turn; one that does not answer is passed over."""

    name = "osworld"
    settings_type = OsworldSettings

    def __init__(self, settings: OsworldSettings) -> None:
        super().__init__(settings)
        self.token = read_variable(settings.token_variable)
        self._starting = threading.Lock()
        self._used: dict[str, OsworldDesktop] = {}

    def check(self, config: DesktopConfig) -> None:
        """Ask every machine at once; it is an error if none answers."""
        failure: OperantError | None = None
        for url in self.settings.urls:
            line = GuestConnection(url, self.token)
            try:
                # A server of ours is asked about itself: a picture would count as using the machine.
                if line.get("/operant/about", CHECK_S).status != 200:
                    line.get("/screenshot", CHECK_S).frame()
                return
            except (RemoteDesktopError, DesktopTimeout) as error:
                logger.warning("{}", error.message)
                failure = error
            finally:
                line.close()
        assert failure is not None
        raise failure

    def start(self, config: DesktopConfig) -> Desktop:
        failure: OperantError | None = None
        with self._starting:
            for url in self.settings.urls:
                if url in self._used and not self._used[url].closed:
                    continue
                try:
                    desktop = connect(url, config, token=self.token, timeout_s=self.settings.timeout_s)
                except (RemoteDesktopError, DesktopTimeout) as error:
                    failure = error  # down, slow or full: the others may do
                    continue
                if desktop.lease is None:  # of leases the server keeps count itself
                    self._used[url] = desktop
                return desktop
        raise failure or PoolExhausted(
            "every machine is in use", hint="name more of them in urls, or play fewer episodes at once"
        )
