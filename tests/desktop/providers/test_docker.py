"""Containers of a real engine: what is wrong is said before anything starts, and no end leaves a container behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("docker", reason="docker is an extra")

from tests.desktop.providers import docker_engine
from tests.desktop.providers.places import SMALL, provider_of

from operant.desktop.providers.docker import DockerProvider, DockerSettings
from operant.errors import ConfigError, DesktopDied, DesktopStartError, ProviderUnavailable, UnknownImage

Eventually = Callable[..., Any]


def test_an_engine_that_is_not_there_is_named(tmp_path: Path) -> None:
    provider = DockerProvider(DockerSettings(engine=f"unix://{tmp_path}/none.sock"))
    with pytest.raises(ProviderUnavailable, match=r"no Docker engine .*none\.sock") as caught:
        provider.check(SMALL)
    assert "dockerd" in (caught.value.hint or "")


def test_a_wrong_address_of_an_engine_is_named() -> None:
    with pytest.raises(ProviderUnavailable, match="no Docker engine at nonsense://x"):
        DockerProvider(DockerSettings(engine="nonsense://x")).check(SMALL)


def test_a_guest_of_osworld_has_one_desktop() -> None:
    with pytest.raises(ConfigError, match="a guest of the protocol osworld has one desktop"):
        DockerSettings.build(protocol="osworld", desktops_each=2)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with docker_engine.engine() as found:
        yield found


@pytest.fixture
def provider(address: str, tmp_path: Path) -> Iterator[Any]:
    with provider_of("docker", tmp_path, **docker_engine.settings(address, desktops_each=2)) as made:
        yield made


def containers(provider: Any) -> list[str]:
    return [one["Id"] for one in provider._client().api.containers(all=True)]


@pytest.mark.slow
@pytest.mark.x11
def test_an_image_that_does_not_exist_is_named(address: str) -> None:
    with pytest.raises(UnknownImage, match="no image 'nowhere'"):
        DockerProvider(DockerSettings(engine=address, image="nowhere")).check(SMALL)


@pytest.mark.slow
@pytest.mark.x11
def test_several_desktops_share_a_container(provider: Any) -> None:
    first, second = provider.start(SMALL), provider.start(SMALL)
    assert first.machine.id == second.machine.id
    third = provider.start(SMALL)
    assert third.machine.id != first.machine.id
    assert len(containers(provider)) == 2
    first.close()
    second.check()
    second.close()
    assert containers(provider) == [third.machine.id]
    third.close()
    assert containers(provider) == []


@pytest.mark.slow
@pytest.mark.x11
def test_a_container_that_ends_says_why(address: str, tmp_path: Path) -> None:
    settings = docker_engine.settings(address, command=["desktop", "surve"])
    with provider_of("docker", tmp_path, **settings) as provider:
        with pytest.raises(DesktopDied, match=r"ended before its guest answered.*surve"):
            provider.start(SMALL)
        assert containers(provider) == []


@pytest.mark.slow
@pytest.mark.x11
def test_a_guest_that_never_answers_is_given_up(address: str, tmp_path: Path) -> None:
    settings = docker_engine.settings(
        address, protocol="osworld", entrypoint=["/bin/sleep"], command=["60"], boot_timeout_s=1
    )
    with provider_of("docker", tmp_path, **settings) as provider:
        with pytest.raises(DesktopStartError, match=r"the guest of container \w+ did not answer at http"):
            provider.start(SMALL)
        assert containers(provider) == []


@pytest.mark.slow
@pytest.mark.x11
def test_containers_of_a_killed_owner_are_swept(
    provider: Any, address: str, tmp_path: Path, eventually: Eventually
) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text(yaml.safe_dump({"docker": docker_engine.settings(address)}))
    script = (
        "import sys, time, pathlib; from operant.config.desktop import DesktopConfig;"
        "from operant.desktop.providers import make_provider;"
        f"kept = make_provider(['docker'], pathlib.Path({str(file)!r}))"
        ".start(DesktopConfig(width=640, height=480)); print('up', flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "up\n"
    assert provider.sweep() == 0, "its owner lives"
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    assert len(containers(provider)) == 1
    assert provider.sweep() == 1
    assert containers(provider) == []


@pytest.mark.slow
@pytest.mark.x11
def test_an_interrupted_start_leaves_nothing(
    provider: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        assert len(containers(provider)) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("operant.desktop.providers.machines.wait_for_guest", interrupted)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        provider.start(SMALL)
    assert containers(provider) == []
    assert time.monotonic() - began < 60
