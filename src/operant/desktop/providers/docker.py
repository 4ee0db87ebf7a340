"""Desktops in Docker containers, over the engine's API: one container for each desktop, or for several.

The image is ours (``docker/Dockerfile``) and serves desktops, or it is another whose guest speaks OSWorld's protocol.
Containers bear a label with their owner; those whose owner is gone are removed at the next start.
"""

from __future__ import annotations

import io
import json
import secrets
import tarfile
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import Field, model_validator

from operant.config.desktop import DesktopConfig
from operant.desktop.providers.guests import PORTS, Guest, Protocol, free_port
from operant.desktop.providers.machines import (
    MachineConfig,
    MachineProvider,
    ProvidedMachine,
    is_orphan,
    owner_label,
)
from operant.errors import DesktopStartError, MissingDependency, ProviderUnavailable, UnknownImage
from operant.extras import install_extra

if TYPE_CHECKING:
    from docker import DockerClient

__all__ = ["DockerProvider", "DockerSettings"]

LABEL = "operant.owner"
SETTINGS_FILE = "operant-desktop.yaml"
ENGINE_S = 60  # for one call of the engine
#: Desktops build sandboxes of their own inside the container; Docker's usual profiles forbid that (docs/service.md).
SECURITY = ("seccomp=unconfined", "apparmor=unconfined")
#: Places of the host, which a container does not have.
NOT_PASSED_ON = {"home", "read_only"}
T = TypeVar("T")


class DockerSettings(MachineConfig):
    """Section ``docker``."""

    image: str = "operant"
    """The image; it is not pulled."""
    protocol: Protocol = "operant"
    """What the guest speaks: operant (our image) or osworld (an image with OSWorld's server)."""
    desktops_each: int = Field(1, ge=1)
    """Desktops of one container; more than one only with the protocol operant."""
    engine: str | None = None
    """Address of the engine, such as unix:///run/docker.sock or tcp://host:2376; left out, DOCKER_HOST or the usual one."""
    network: Literal["bridge", "host"] = "bridge"
    """bridge publishes the guest's port on this machine's loopback; host shares its network."""
    command: tuple[str, ...] | None = None
    """What runs in it; left out, ``desktop serve`` with the protocol operant, and the image's own command otherwise."""
    entrypoint: tuple[str, ...] | None = None
    """In place of the image's entry point."""
    port: int | None = Field(None, ge=1, le=65535)
    """Port of the guest; left out, 8765 with the protocol operant and 5000 with osworld."""
    memory_mb: int | None = Field(None, ge=64)
    """Memory of a container."""
    cpus: float | None = Field(None, gt=0)
    """Processors of a container."""
    shm_mb: int = Field(1024, ge=16)
    """Size of /dev/shm."""
    volumes: tuple[str, ...] = ()
    """HOST:CONTAINER or HOST:CONTAINER:ro, such as a disk for an image that runs a virtual machine."""
    devices: tuple[str, ...] = ()
    """Devices to hand in, such as /dev/kvm."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables of the container."""
    user: str | None = None
    """The user that it runs as, in place of the image's."""
    init: bool = True
    """Whether Docker's own init collects processes that ended."""
    privileged: bool = False
    """Whether the container may do everything. Desktops do not need it."""

    @model_validator(mode="after")
    def _one_desktop(self) -> DockerSettings:
        if self.desktops_each > 1 and self.protocol == "osworld":
            raise ValueError("desktops_each: a guest of the protocol osworld has one desktop")
        return self


class DockerProvider(MachineProvider[DockerSettings]):
    """Starts containers of one image."""

    name: ClassVar[str] = "docker"
    settings_type = DockerSettings

    def __init__(self, settings: DockerSettings) -> None:
        super().__init__(settings)
        self._engine: DockerClient | None = None
        self._engine_lock = threading.Lock()

    @property
    def desktops_each(self) -> int:
        return self.settings.desktops_each

    def check(self, config: DesktopConfig) -> None:
        """The engine answers, and has the image."""
        from docker.errors import ImageNotFound

        engine, image = self._client(), self.settings.image
        try:
            _asked("look for the image", lambda: engine.images.get(image))
        except ImageNotFound as error:
            raise UnknownImage(
                f"the Docker engine has no image {image!r}",
                hint="build it: docker build -f docker/Dockerfile -t operant . ; or docker pull it",
            ) from error

    def boot(self, config: DesktopConfig) -> ProvidedMachine:
        return _Container.run(self._client(), self.settings, config)

    def sweep(self) -> int:
        from docker.errors import NotFound

        removed = 0
        found = _asked(
            "list containers",
            lambda: self._client().api.containers(all=True, filters={"label": LABEL}),
        )
        for one in found:
            if is_orphan(one["Labels"].get(LABEL, "")):
                try:
                    self._client().api.remove_container(one["Id"], force=True, v=True)
                    removed += 1
                except NotFound:
                    continue
        return removed

    def close(self) -> None:
        super().close()
        with self._engine_lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _client(self) -> DockerClient:
        with self._engine_lock:
            if self._engine is None:
                self._engine = _connect(self.settings.engine)
            return self._engine


def _connect(address: str | None) -> DockerClient:
    try:
        from docker import DockerClient, from_env
        from docker.errors import DockerException
    except ImportError as error:  # a directory called docker in the current one is imported, too
        raise MissingDependency(
            "the provider docker needs the Python package docker, which is not installed",
            hint=install_extra("docker"),
        ) from error
    hint = "is dockerd running, and may you use it? see operant doctor; engine: names another address"
    try:
        engine = from_env(timeout=ENGINE_S) if address is None else DockerClient(address, timeout=ENGINE_S)
    except (DockerException, ValueError) as error:
        raise ProviderUnavailable(
            f"there is no Docker engine at {address or 'the usual address'}: {_reason(error)}", hint=hint
        ) from error
    try:
        engine.ping()
    except (DockerException, OSError) as error:
        where = engine.api.base_url
        engine.close()
        raise ProviderUnavailable(
            f"no Docker engine answers at {where}: {_reason(error)}", hint=hint
        ) from error
    return engine


def _reason(error: BaseException) -> str:
    """The innermost cause says what was wrong: no such socket, or no right to use it."""
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return str(error)


def _asked(what: str, call: Callable[[], T]) -> T:
    """Ask the engine; an engine that fails is a desktop that does not start, and may be asked again."""
    import requests
    from docker.errors import APIError, NotFound

    try:
        return call()
    except NotFound:
        raise
    except APIError as error:
        raise DesktopStartError(f"the Docker engine can't {what}: {error.explanation or error}") from error
    except (requests.RequestException, OSError) as error:
        raise DesktopStartError(f"the Docker engine does not answer: {error}") from error


class _Container(ProvidedMachine):
    def __init__(self, engine: DockerClient, id: str, guest: Guest) -> None:
        self._api = engine.api
        self.id = id
        self.name = f"container {id[:12]}"
        self.guest = guest

    @classmethod
    def run(cls, engine: DockerClient, settings: DockerSettings, config: DesktopConfig) -> _Container:
        api, said = engine.api, settings
        ours = said.protocol == "operant"
        token = secrets.token_urlsafe(24)
        port = said.port or PORTS[said.protocol]
        if said.network == "host":
            port = free_port()
        host_config: dict[str, Any] = api.create_host_config(
            network_mode=said.network,
            port_bindings={port: ("127.0.0.1", None)} if said.network == "bridge" else None,
            binds=list(said.volumes) or None,
            devices=list(said.devices) or None,
            mem_limit=None if said.memory_mb is None else f"{said.memory_mb}m",
            nano_cpus=None if said.cpus is None else int(said.cpus * 1e9),
            shm_size=f"{said.shm_mb}m",
            security_opt=list(SECURITY),
            privileged=said.privileged,
            init=said.init,
        )
        # "systempaths=unconfined" is what the command line makes these of.
        host_config |= {"MaskedPaths": [], "ReadonlyPaths": []}
        command = None if said.command is None else list(said.command)
        if command is None and ours:
            command = ["desktop", "serve"]
        if command is not None and ours:
            command += ["--host", "127.0.0.1" if said.network == "host" else "0.0.0.0"]
            command += ["--port", str(port), "--desktops", str(said.desktops_each)]
            command += ["--config", f"/{SETTINGS_FILE}"]
        created = _asked(
            "create a container",
            lambda: api.create_container(
                said.image,
                command,
                entrypoint=None if said.entrypoint is None else list(said.entrypoint),
                environment={**({"OPERANT_TOKEN": token} if ours else {}), **said.environment},
                user=said.user,
                ports=[port] if said.network == "bridge" else None,
                labels={LABEL: owner_label()},
                host_config=host_config,
            ),
        )
        id = created["Id"]
        try:
            if ours:
                _asked("copy settings", lambda: api.put_archive(id, "/", _settings_archive(config)))
            _asked("start the container", lambda: api.start(id))
            if said.network == "bridge":
                port = int(_asked("say the port", lambda: api.port(id, port))[0]["HostPort"])
            guest = Guest(
                f"http://127.0.0.1:{port}", said.protocol, token if ours else None, said.call_timeout_s
            )
            return cls(engine, id, guest)
        except BaseException:
            api.remove_container(id, force=True, v=True)
            raise

    def ended(self) -> str | None:
        from docker.errors import NotFound

        try:
            state = _asked("say how it is", lambda: self._api.inspect_container(self.id)["State"])
            if state["Running"]:
                return None
            said = _asked("show its log", lambda: self._api.logs(self.id, tail=5)).decode("utf-8", "replace")
        except NotFound:
            return "it was removed"
        except DesktopStartError as error:
            return error.message
        return f"exit code {state['ExitCode']}: {' '.join(said.split()) or 'it said nothing'}"

    def destroy(self) -> None:
        from docker.errors import NotFound

        try:
            _asked("remove the container", lambda: self._api.remove_container(self.id, force=True, v=True))
        except NotFound:
            return


def _settings_archive(config: DesktopConfig) -> bytes:
    """The desktop's settings as a file, for the server in the container."""
    section = config.model_dump(mode="json", exclude_unset=True, exclude=NOT_PASSED_ON)
    content = json.dumps({"desktop": section}).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo(SETTINGS_FILE)
        entry.size, entry.mode = len(content), 0o644
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
