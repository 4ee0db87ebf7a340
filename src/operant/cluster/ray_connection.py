"""A Ray cluster to work on: one that is started here for this run alone, or one that is there already.

The one that is started here listens on the loopback only, under a token of its own, keeps its files in a private
directory, sends no usage statistics, and is gone when the run is.
"""

from __future__ import annotations

import importlib.util
import math
import os
import secrets
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from loguru import logger

from operant.config.cluster import ClusterSettings
from operant.errors import ClusterError, ConfigError, MissingDependency

__all__ = ["LOCAL", "check_address", "check_resources", "connected"]

LOCAL = "local"
START_TRIES = 2
REACH_S = 10.0
AUTO = "auto"
CLIENT = "ray://"
LONGEST_TEMPORARY = 40  # characters: sockets below it have names of at most 107 bytes
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}


def check_address(address: str) -> None:
    """An error if that can't be a cluster."""
    if address not in (LOCAL, AUTO) and not address.startswith(CLIENT):
        raise ConfigError(f"there is no cluster {address!r}", hint="local, auto, or ray://HOST:PORT")
    if importlib.util.find_spec("ray") is None:
        raise MissingDependency("Ray is not installed", hint="pip install 'operant[vlm,cluster]'")
    if address.startswith(CLIENT):
        _check_reachable(address)


def _check_reachable(address: str) -> None:
    """Ray's client would try for half a minute and say nothing meanwhile."""
    try:
        named = urlsplit(address)
        host, port = named.hostname, named.port
    except ValueError as error:
        raise ConfigError(f"{address} is no address: {error}", hint="write ray://HOST:PORT") from error
    if not host or port is None:
        raise ConfigError(f"{address} names no host and port", hint="write ray://HOST:PORT")
    try:
        socket.create_connection((host, port), timeout=REACH_S).close()
    except OSError as error:
        raise ClusterError(
            f"the cluster {address} can't be reached: {error.strerror or error}",
            hint="is it up? ray start --head serves clients at port 10001",
        ) from error


@contextmanager
def connected(address: str, settings: ClusterSettings) -> Iterator[None]:
    """Be connected to that cluster: ``local``, ``auto`` or ``ray://HOST:PORT``."""
    check_address(address)
    with _variables(QUIET):
        import ray

        if address != LOCAL and ray.is_initialized():  # the caller that connected disconnects, too
            yield
        elif address == LOCAL:
            if ray.is_initialized():
                raise ClusterError("this process is connected to a cluster already", hint="say auto")
            with _started(settings):
                yield
        else:
            with _joined(address):
                yield


@contextmanager
def _started(settings: ClusterSettings) -> Iterator[None]:
    import ray
    import torch

    _check("GPU", settings.gpus, torch.cuda.device_count())  # Ray would take seconds to say so
    place = None if len(tempfile.gettempdir()) <= LONGEST_TEMPORARY else "/tmp"
    with (
        tempfile.TemporaryDirectory(
            prefix="operant-ray-", dir=place, ignore_cleanup_errors=True
        ) as directory,
        _variables({"RAY_AUTH_TOKEN": _token()}),
    ):
        try:
            _init(
                # Processors are counted, not given: all processes share those that there are.
                num_cpus=max(os.cpu_count() or 1, math.ceil(settings.cpus)),
                object_store_memory=settings.object_store_mb << 20,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                _node_ip_address="127.0.0.1",
                _temp_dir=directory,
            )
        except Exception as error:
            ray.shutdown()
            first = str(error).strip().partition("\n")[0]
            raise ClusterError(f"Ray can't be started here: {first}") from error
        try:
            yield
        finally:
            ray.shutdown()


def _init(**options: Any) -> None:
    """Ray gives itself half a minute; on a machine that is very busy a second try often does."""
    import ray

    for _ in range(START_TRIES - 1):
        try:
            with _sigterm_kept():
                ray.init(**options)
            return
        except Exception as error:  # noqa: BLE001 - that is what Ray raises
            logger.debug("Ray did not start: {}", error)
            ray.shutdown()
    with _sigterm_kept():
        ray.init(**options)


@contextmanager
def _joined(address: str) -> Iterator[None]:
    import ray

    try:
        with _sigterm_kept():
            ray.init(address, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ClusterError(
            f"the cluster {address} can't be reached: {first}", hint="is it up? ray status"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _sigterm_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself and would end the process at once; a driver that is asked to end saves first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_resources(settings: ClusterSettings) -> None:
    """An error if the cluster does not have what the run asks for: it would wait for ever."""
    import ray

    has = ray.cluster_resources()
    _check("GPU", settings.gpus, has.get("GPU", 0.0))
    _check("CPU", settings.cpus, has.get("CPU", 0.0))


def _check(kind: str, wanted: float, there: float) -> None:
    if wanted > there:
        raise ConfigError(
            f"this run asks for {wanted:g} {kind}s and there are {there:g}",
            hint=f"lower cluster.*_{kind.lower()}s, or use a larger cluster",
        )


@cache
def _token() -> str:
    """No other user of this machine may use our cluster. One for the whole process: Ray reads it once."""
    return secrets.token_hex(32)


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables that are set meanwhile; those that the user set stay."""
    ours = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
