"""One VMware machine through vmrun: start, snapshot, revert, the guest's address, stop."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from operant.config.settings import read_variable
from operant.desktop.providers.guests import PORTS, Guest
from operant.desktop.providers.machines import ProvidedMachine
from operant.errors import DesktopStartError, DesktopTimeout, ProviderUnavailable, UnknownImage

if TYPE_CHECKING:
    from operant.desktop.providers.vm import VmSettings

__all__ = ["VmwareMachine", "check", "stop_orphan"]

SNAPSHOT = "init_state"
CALL_S = 60.0


def check(said: VmSettings) -> None:
    """vmrun is there, and the machine has the snapshot and is not in use."""
    if shutil.which(said.vmrun) is None:
        raise ProviderUnavailable(
            f"{said.vmrun} is not installed, and {said.path} is a machine of VMware",
            hint="install VMware Workstation or Fusion, or give a .qcow2",
        )
    wanted, found = _snapshot(said), snapshots(said)
    if wanted not in found:
        raise UnknownImage(
            f"{said.path} has no snapshot {wanted!r}",
            hint=f"its snapshots: {', '.join(found) or 'none'}; make one: {said.vmrun} snapshot {said.path} {wanted}",
        )


def snapshots(said: VmSettings) -> list[str]:
    """The first line is a count, then one name on each."""
    return [line.strip() for line in vmrun(said, "listSnapshots").splitlines()[1:] if line.strip()]


def running(said: VmSettings) -> bool:
    listed = vmrun(said, "list", machine=None).splitlines()[1:]
    return str(said.path.resolve()) in {str(Path(line.strip()).resolve()) for line in listed if line.strip()}


def vmrun(
    said: VmSettings, command: str, *more: str, machine: Path | str | None = "", timeout_s: float = CALL_S
) -> str:
    """What vmrun prints; what it refuses is a ``DesktopStartError``."""
    where = [] if machine is None else [str(said.path.resolve())]
    words = [said.vmrun, "-T", said.vmware, command, *where, *more]
    try:
        ended = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except FileNotFoundError as error:
        raise ProviderUnavailable(f"{said.vmrun} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise DesktopTimeout(f"vmrun {command} did not end within {timeout_s:g} s") from error
    if ended.returncode:
        said_by = " ".join((ended.stdout + " " + ended.stderr).split())
        raise DesktopStartError(f"vmrun {command} {said.path}: {said_by or f'code {ended.returncode}'}")
    return ended.stdout


def stop_orphan(said: VmSettings, vmx: str) -> None:
    """Stop a machine that an owner which is gone has left running."""
    other = said.model_copy(update={"path": Path(vmx)})
    if running(other):
        vmrun(other, "stop", "hard")


class VmwareMachine(ProvidedMachine):
    def __init__(self, said: VmSettings, directory: Path) -> None:
        self._said, self._directory = said, directory
        self.name = str(said.path)
        if running(said):
            raise DesktopStartError(
                f"{said.path} runs already, and not for this process",
                hint=f"{said.vmrun} stop {said.path}, or copy the machine",
            )
        (directory / "vmx").write_text(str(said.path.resolve()), encoding="utf-8")
        try:
            self._begin()
        except BaseException:
            self.destroy()
            raise

    def _begin(self) -> None:
        said = self._said
        vmrun(said, "revertToSnapshot", _snapshot(said), timeout_s=said.boot_timeout_s)
        vmrun(said, "start", "nogui", timeout_s=said.boot_timeout_s)
        address = vmrun(said, "getGuestIPAddress", "-wait", timeout_s=said.boot_timeout_s).strip()
        token = read_variable(said.token_variable) if said.protocol == "operant" else None
        host = f"[{address}]" if ":" in address else address
        self.guest = Guest(
            f"http://{host}:{said.port or PORTS[said.protocol]}", said.protocol, token, said.call_timeout_s
        )

    def ended(self) -> str | None:
        return None if running(self._said) else "it does not run"

    def revert(self) -> bool:
        self._begin()
        return True

    def destroy(self) -> None:
        try:
            if running(self._said):
                vmrun(self._said, "stop", "hard")
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)


def _snapshot(said: VmSettings) -> str:
    return said.snapshot or SNAPSHOT
