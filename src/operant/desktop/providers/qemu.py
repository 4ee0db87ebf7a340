"""One QEMU machine: a layer over the file, the process, its QMP socket, and a snapshot to revert to."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from operant.config.settings import read_variable
from operant.desktop.launch import owner_marks
from operant.desktop.providers.guests import PORTS, Guest, free_port
from operant.desktop.providers.machines import ProvidedMachine
from operant.desktop.providers.qmp import QMP
from operant.errors import DesktopDied, DesktopError, DesktopStartError, ProviderUnavailable, UnknownImage

if TYPE_CHECKING:
    from operant.desktop.providers.vm import VmSettings

__all__ = ["QemuMachine", "check", "stop_orphan"]

PROGRAM, TOOL = "qemu-system-x86_64", "qemu-img"
KVM = "/dev/kvm"
TAG = "operant-start"
TOOL_S = 600.0
STOP_S = 10.0


def check(said: VmSettings) -> None:
    """QEMU is there, the file can be read by it, and has the snapshot."""
    for program, package in ((PROGRAM, "qemu-system-x86"), (TOOL, "qemu-utils")):
        if shutil.which(program) is None:
            raise ProviderUnavailable(f"{program} is not installed", hint=f"apt-get install {package}")
    if said.kvm == "on" and not os.access(KVM, os.R_OK | os.W_OK):
        raise ProviderUnavailable(f"kvm: on, and {KVM} can't be used", hint="kvm: auto does without it")
    if said.snapshot is not None and said.snapshot not in (found := snapshots(said.path)):
        raise UnknownImage(
            f"{said.path} has no snapshot {said.snapshot!r}",
            hint=f"its snapshots: {', '.join(found) or 'none'}",
        )


def snapshots(path: Path) -> list[str]:
    import json

    about = json.loads(_tool("info", "--output=json", "-U", str(path)))
    return [one["name"] for one in about.get("snapshots", [])]


def _tool(*words: str) -> str:
    ended = subprocess.run(
        [TOOL, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TOOL_S,
        check=False,
    )
    if ended.returncode:
        raise UnknownImage(f"{TOOL} {words[0]}: {ended.stderr.strip() or ended.returncode}")
    return ended.stdout


def stop_orphan(directory: Path) -> None:
    """End the QEMU of a directory whose owner is gone, if it is still that one."""
    try:
        pid = int((directory / "pid").read_text())
        if str(directory).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    except (OSError, ValueError):
        return


class QemuMachine(ProvidedMachine):
    def __init__(self, said: VmSettings, directory: Path) -> None:
        self._directory = directory
        self.name = f"{said.path.name} in QEMU"
        self._qmp: QMP | None = None
        self._process: subprocess.Popen[bytes] | None = None
        base, layer = said.path.resolve(), directory / "layer.qcow2"
        if said.snapshot is None:
            _tool("create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(base), str(layer))
        else:  # a layer can't stand on a snapshot inside a file
            _tool("convert", "-l", f"snapshot.name={said.snapshot}", "-O", "qcow2", str(base), str(layer))
        port = free_port()
        token = read_variable(said.token_variable) if said.protocol == "operant" else None
        self.guest = Guest(f"http://127.0.0.1:{port}", said.protocol, token, said.call_timeout_s)
        command = _command(said, layer, directory / "qmp", port)
        try:
            with (directory / "log").open("wb") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, **owner_marks()},
                    start_new_session=True,
                )
            (directory / "pid").write_text(str(self._process.pid))
            self._qmp = self._connect()
        except BaseException:
            self.destroy()
            raise

    def _connect(self) -> QMP:
        try:
            return QMP(self._directory / "qmp")
        except DesktopDied as error:
            raise DesktopStartError(f"{self.name} does not start: {self._said() or error.message}") from error

    def _said(self) -> str:
        with contextlib.suppress(OSError):
            return " ".join((self._directory / "log").read_text(errors="replace").split())[-500:]
        return ""

    def booted(self) -> None:
        """Keep memory and disk as they are now: going back to them takes seconds, and no boot."""
        assert self._qmp is not None
        self._qmp.monitor(f"savevm {TAG}")

    def revert(self) -> bool:
        assert self._qmp is not None
        try:
            self._qmp.monitor(f"loadvm {TAG}")
            self._qmp.call("cont")
        except DesktopError as error:
            raise DesktopDied(f"{self.name} can't be reverted: {error.message}") from error
        return True

    def ended(self) -> str | None:
        assert self._process is not None
        code = self._process.poll()
        return None if code is None else f"code {code}: {self._said() or 'it said nothing'}"

    def destroy(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(STOP_S)
        if self._qmp is not None:
            self._qmp.close()
        shutil.rmtree(self._directory, ignore_errors=True)


def _command(said: VmSettings, layer: Path, qmp: Path, port: int) -> list[str]:
    windows = said.guest == "windows"
    accelerated = said.kvm == "on" or (said.kvm == "auto" and os.access(KVM, os.R_OK | os.W_OK))
    forward = f"hostfwd=tcp:127.0.0.1:{port}-:{said.port or PORTS[said.protocol]}"
    return [
        PROGRAM,
        *(("-accel", "kvm") if accelerated else ("-accel", "tcg")),
        *("-m", str(said.memory_mb), "-smp", str(said.cpus)),
        *("-drive", f"file={layer},format=qcow2,if={'ide' if windows else 'virtio'}"),
        *("-netdev", f"user,id=net,{forward}"),
        *("-device", f"{'e1000' if windows else 'virtio-net-pci'},netdev=net"),
        *(("-rtc", "base=localtime") if windows else ()),
        *("-display", "none", "-device", "usb-ehci", "-device", "usb-tablet"),
        *("-qmp", f"unix:{qmp},server=on,wait=off"),
        *said.arguments,
    ]
