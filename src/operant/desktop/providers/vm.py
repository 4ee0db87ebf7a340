"""Desktops in virtual machines, by the machine's file: VMware's ``.vmx`` through vmrun, QEMU's ``.qcow2`` through QMP.

The guest, Linux or Windows, speaks OSWorld's protocol or ours. The file itself is never written by QEMU: each machine
works on a layer of its own. A ``.vmx`` is reverted to a snapshot that its owner has made.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from operant.config.desktop import DesktopConfig
from operant.desktop.launch import owner_mark
from operant.desktop.providers.machines import MachineConfig, MachineProvider, ProvidedMachine
from operant.desktop.reaper import owner_lives
from operant.errors import ProviderUnavailable, UnknownImage

__all__ = ["VmProvider", "VmSettings"]

PREFIX = "operant-vm-"


class VmSettings(MachineConfig):
    """Section ``vm``."""

    path: Path
    """The file of the machine, X.vmx or X.qcow2; ``--path-to-vm`` says it as well."""
    snapshot: str | None = None
    """The snapshot from which desktops start. A .vmx needs one (init_state unless said); of a .qcow2 the newest state is
    used unless said."""
    guest: Literal["linux", "windows"] = "linux"
    """What runs in it: Windows has no drivers for virtio, and wants the local time."""
    port: int | None = Field(None, ge=1, le=65535)
    """Port of the guest; left out, 5000 with the protocol osworld and 8765 with operant."""
    token_variable: str = "OPERANT_TOKEN"
    """Environment variable with the guest's token, with the protocol operant."""
    memory_mb: int = Field(4096, ge=64)
    """QEMU: memory of a machine."""
    cpus: int = Field(4, ge=1)
    """QEMU: processors of a machine."""
    kvm: Literal["auto", "on", "off"] = "auto"
    """QEMU: whether the processor's virtualisation is used; without it machines are many times slower."""
    arguments: tuple[str, ...] = ()
    """QEMU: further arguments."""
    vmrun: str = "vmrun"
    """VMware: the program."""
    vmware: Literal["ws", "fusion", "player"] = "ws"
    """VMware: which product runs the machine."""

    @model_validator(mode="before")
    @classmethod
    def _one_machine(cls, values: Any) -> Any:
        """A .vmx is one machine; layers of a .qcow2 are as many as are asked for."""
        if isinstance(values, dict) and str(values.get("path", "")).endswith(".vmx"):
            if values.get("desktops") not in (None, 1):
                raise ValueError("desktops: a .vmx is one machine, with one desktop")
            return {**values, "desktops": 1}
        return values

    @field_validator("path")
    @classmethod
    def _known_kind(cls, path: Path) -> Path:
        if path.suffix not in (".vmx", ".qcow2"):
            raise ValueError("a virtual machine is a file X.vmx or X.qcow2")
        return path


class VmProvider(MachineProvider[VmSettings]):
    """Starts machines of one file."""

    name: ClassVar[str] = "vm"
    settings_type = VmSettings

    @property
    def is_vmware(self) -> bool:
        return self.settings.path.suffix == ".vmx"

    def check(self, config: DesktopConfig) -> None:
        """The file, its snapshot and the programs are there."""
        said = self.settings
        if not said.path.is_file():
            raise UnknownImage(f"there is no virtual machine {said.path}")
        if self.is_vmware:
            from operant.desktop.providers.vmware import check

            check(said)
        else:
            from operant.desktop.providers.qemu import check

            check(said)

    def boot(self, config: DesktopConfig) -> ProvidedMachine:
        directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{owner_mark()}-"))
        try:
            if self.is_vmware:
                from operant.desktop.providers.vmware import VmwareMachine

                return VmwareMachine(self.settings, directory)
            from operant.desktop.providers.qemu import QemuMachine

            return QemuMachine(self.settings, directory)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise

    def sweep(self) -> int:
        """Machines whose owner is gone: found by their directories."""
        removed = 0
        for directory in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
            if owner_lives(directory.name[len(PREFIX) :].partition("-")[0]):
                continue
            if (directory / "vmx").is_file():
                from operant.desktop.providers.vmware import stop_orphan

                try:
                    stop_orphan(self.settings, (directory / "vmx").read_text(encoding="utf-8"))
                except ProviderUnavailable:
                    continue
            else:
                from operant.desktop.providers.qemu import stop_orphan as stop

                stop(directory)
            shutil.rmtree(directory, ignore_errors=True)
            removed += 1
        return removed
