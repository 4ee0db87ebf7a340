"""A service over fake desktops, in this process: milliseconds a test."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

import uvicorn
from starlette.testclient import TestClient

from operant.config.service import ServiceConfig
from operant.service.app import create_app
from operant.service.runtime import Runtime
from operant.testing import FAKE_TEMPLATES, FakeDesktop

Serve = Callable[..., TestClient]


def wait_for(satisfied: Callable[[], Any], timeout_s: float = 30.0, what: str = "the condition") -> Any:
    """What the function returns as soon as that is true."""
    deadline = time.monotonic() + timeout_s
    while not (found := satisfied()):
        assert time.monotonic() < deadline, f"waited {timeout_s:g} s for {what}; last: {found!r}"
        time.sleep(0.01)
    return found


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Makes clients of services with other settings; waits until each is ready."""
    with serving(tmp_path) as make:
        yield make


@pytest.fixture(scope="module")
def module_serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """The same, for tests of a module that share a service."""
    with serving(tmp_path_factory.mktemp("service")) as make:
        yield make


@contextlib.contextmanager
def serving(tmp_path: Path) -> Iterator[Serve]:
    clients: list[TestClient] = []

    def make(
        *,
        desktops: Any = FakeDesktop.factory,
        count: int = 2,
        predictors: Any = None,
        open_live: Any = None,
        wait: bool = True,
        headers: dict[str, str] | None = None,
        **settings: Any,
    ) -> TestClient:
        config = ServiceConfig(
            data_dir=tmp_path / "data",
            results_dir=tmp_path / "results",
            checkpoints_dir=tmp_path / "checkpoints",
            desktops=count,
            **{"dashboard": False, "lease_timeout_s": 0.3, "agent": "random", **settings},
        )
        runtime = Runtime(
            config,
            desktops=desktops,
            templates=FAKE_TEMPLATES,
            predictors=predictors,
            open_live=open_live,
        )
        client = TestClient(create_app(config, runtime), headers=headers)
        client.__enter__()
        clients.append(client)
        client.runtime = runtime  # type: ignore[attr-defined]
        if wait:
            wait_for(lambda: runtime.ready)
        return client

    try:
        yield make
    finally:
        for client in clients:
            client.__exit__(None, None, None)


@pytest.fixture
def listening() -> Iterator[Callable[[TestClient], str]]:
    """Serves a client's application on a real port as well; returns its address, such as 127.0.0.1:4711."""
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def listen(client: TestClient) -> str:
        server = uvicorn.Server(uvicorn.Config(client.app, port=0, lifespan="off", log_config=None))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        wait_for(lambda: server.started)
        return f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"

    yield listen
    for server, thread in running:
        server.should_exit = server.force_exit = True
        thread.join(10.0)
        assert not thread.is_alive(), "the server did not shut down within 10 s"


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve()
