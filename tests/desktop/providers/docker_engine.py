"""A Docker engine of our own, and an image without anything: its containers see this machine's programs, read-only.

No image can be pulled in tests, and building ours takes minutes. ``docs/deploy.md`` says how that one was tried.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

IMAGE = "operant-of-this-machine"
ROOT = Path(__file__).parents[3]
LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
#: What containers see of this machine.
SHOWN = ("/usr", "/etc", "/opt", sys.prefix, sys.base_prefix, str(ROOT))


@contextmanager
def engine() -> Iterator[str]:
    """The address of an engine: the machine's own where it answers, or one that is started for the test."""
    if shutil.which("dockerd") is None:
        pytest.skip("this machine has no dockerd (Debian: docker.io)")
    if os.geteuid() != 0:
        pytest.skip("dockerd is started by root only")
    with tempfile.TemporaryDirectory(prefix="operant-dockerd-") as name:
        address = f"unix://{name}/sock"
        command = ["dockerd", "--iptables=false", "--bridge=none", "-H", address]
        for flag in ("data-root", "exec-root"):
            command += [f"--{flag}", f"{name}/{flag}"]
        command += ["--pidfile", f"{name}/pid", "--storage-driver", "vfs"]
        log = Path(name) / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        try:
            _wait(address, process, log)
            _import_image(address)
            yield address
        finally:
            process.terminate()
            process.wait(30)
            # The engine leaves its network namespace mounted.
            subprocess.run(
                ["umount", "-l", f"{name}/exec-root/netns/default"], check=False, capture_output=True
            )


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    import docker
    from docker.errors import DockerException

    deadline = time.monotonic() + 60
    while True:
        try:
            client = docker.DockerClient(address)
            client.ping()
            client.close()
            return
        except DockerException:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"dockerd does not start:\n{log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)


def _import_image(address: str) -> None:
    import docker

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in _folders():
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name in ("tmp", "data") else 0o755
            archive.addfile(entry)
        for name in LINKS:
            if os.path.islink(f"/{name}"):
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, os.readlink(f"/{name}")
                archive.addfile(link)
    client = docker.DockerClient(address)
    client.api.import_image_from_data(packed.getvalue(), repository=IMAGE, tag="latest")
    client.close()


def _folders() -> list[str]:
    wanted = ("proc", "sys", "dev", "run", "tmp", "data", "var/cache", "var/tmp", *SHOWN)
    paths = [Path("/") / name for name in wanted]
    parents = {parent for path in paths for parent in (path, *path.parents)} - {Path("/")}
    return sorted(str(path).lstrip("/") for path in parents)


def settings(address: str, **more: Any) -> dict[str, Any]:
    """The section ``docker`` for that image."""
    shown = dict.fromkeys(path for path in SHOWN if os.path.isdir(path))
    return {
        "engine": address,
        "image": IMAGE,
        "network": "host",
        "init": False,  # it would be put into /usr, which is read-only
        "entrypoint": [sys.executable, "-m", "operant"],
        "command": ["desktop", "serve"],
        "volumes": [f"{path}:{path}:ro" for path in shown],
        "environment": {
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": "/data",
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
        },
        "boot_timeout_s": 60,
        **more,
    }
