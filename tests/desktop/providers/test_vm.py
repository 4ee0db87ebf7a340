"""Virtual machines: files, snapshots and programs that are missing are named, and no end leaves a machine running."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.providers.places import SMALL, VmwarePlace, provider_of, vmware

from operant.desktop.launch import owner_mark
from operant.desktop.providers.qmp import QMP
from operant.desktop.providers.vm import PREFIX, VmProvider, VmSettings
from operant.errors import (
    ConfigError,
    DesktopDied,
    DesktopError,
    DesktopStartError,
    ProviderUnavailable,
    UnknownImage,
)

needs_qemu = pytest.mark.skipif(
    shutil.which("qemu-system-x86_64") is None or shutil.which("qemu-img") is None,
    reason="this machine has no QEMU (Debian: qemu-system-x86, qemu-utils)",
)


def directories() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"{PREFIX}{owner_mark()}-*"))


def test_a_file_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"X\.vmx or X\.qcow2"):
        VmSettings.build(path="machine.iso")


def test_a_vmx_is_one_machine() -> None:
    with pytest.raises(ConfigError, match=r"a \.vmx is one machine"):
        VmSettings.build(path="machine.vmx", desktops=2)
    assert VmSettings.build(path="machine.vmx").desktops == 1


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownImage, match=r"no virtual machine .*none\.qcow2"):
        VmProvider(VmSettings(path=tmp_path / "none.qcow2")).check(SMALL)


def test_without_vmrun_nothing_starts(tmp_path: Path) -> None:
    machine = tmp_path / "x.vmx"
    machine.touch()
    with pytest.raises(ProviderUnavailable, match="no-such-vmrun is not installed"):
        VmProvider(VmSettings(path=machine, vmrun="no-such-vmrun")).check(SMALL)


def test_a_snapshot_of_vmware_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with vmware(tmp_path, snapshot="nowhere") as place:
        with pytest.raises(UnknownImage, match="no snapshot 'nowhere'") as caught:
            place.provider.check(SMALL)
        assert "init_state" in (caught.value.hint or "")


def test_a_reset_reverts_to_the_snapshot(tmp_path: Path) -> None:
    with vmware(tmp_path) as place, place.provider.start(SMALL) as desktop:
        assert isinstance(place, VmwarePlace)
        desktop.reset()
        desktop.check()
        assert json.loads(place.state.read_text())["reverts"] == 2
        said = (tmp_path / "state.json.log").read_text()
        machine = tmp_path / "Ubuntu.vmx"
        assert f"revertToSnapshot {machine} init_state\nstart {machine} nogui\n" in said


def test_a_machine_that_another_uses_is_left_alone(tmp_path: Path) -> None:
    with vmware(tmp_path) as place:
        assert isinstance(place, VmwarePlace)
        state = json.loads(place.state.read_text())
        place.state.write_text(json.dumps({**state, "running": True}))
        with pytest.raises(DesktopStartError, match="runs already"):
            place.provider.start(SMALL)
        assert json.loads(place.state.read_text())["running"]
        assert directories() == []


def test_a_machine_of_a_killed_owner_is_stopped(tmp_path: Path) -> None:
    with vmware(tmp_path) as place:
        assert isinstance(place, VmwarePlace)
        state = json.loads(place.state.read_text())
        place.state.write_text(json.dumps({**state, "running": True}))
        left = Path(tempfile.mkdtemp(prefix=f"{PREFIX}999999.1-"))
        (left / "vmx").write_text(state["vmx"])
        assert place.provider.sweep() == 1
        assert not json.loads(place.state.read_text())["running"]
        assert not left.exists()


# QEMU, without any system in the machine.


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "empty.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(path), "16M"], check=True)
    return path


def empty(disk: Path, directory: Path, **more: Any) -> Any:
    settings = {"memory_mb": 64, "cpus": 1, "kvm": "off", "boot_timeout_s": 2, **more}
    return provider_of("vm", directory, path=str(disk), **settings)


@needs_qemu
def test_a_snapshot_of_qemu_that_does_not_exist_is_named(disk: Path, tmp_path: Path) -> None:
    subprocess.run(["qemu-img", "snapshot", "-c", "clean", str(disk)], check=True)
    with empty(disk, tmp_path, snapshot="nowhere") as provider:
        with pytest.raises(UnknownImage, match="no snapshot 'nowhere'") as caught:
            provider.check(SMALL)
        assert caught.value.hint == "its snapshots: clean"
    with empty(disk, tmp_path, snapshot="clean") as provider:
        provider.check(SMALL)


@needs_qemu
def test_a_file_that_is_no_disk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.qcow2"
    path.write_text("not a disk")
    with empty(path, tmp_path) as provider, pytest.raises(UnknownImage, match="qemu-img"):
        provider.start(SMALL)
    assert directories() == []


@needs_qemu
def test_a_guest_that_never_answers_costs_its_machine(disk: Path, tmp_path: Path) -> None:
    with (
        empty(disk, tmp_path) as provider,
        pytest.raises(DesktopStartError, match=r"the guest of empty\.qcow2 in QEMU did not answer"),
    ):
        provider.start(SMALL)
    assert directories() == []


@needs_qemu
def test_arguments_that_qemu_refuses_are_told(disk: Path, tmp_path: Path) -> None:
    with (
        empty(disk, tmp_path, arguments=["-no-such-argument"]) as provider,
        pytest.raises((DesktopStartError, DesktopDied), match="no-such-argument"),
    ):
        provider.start(SMALL)
    assert directories() == []


@needs_qemu
def test_a_machine_is_saved_and_reverted(disk: Path, tmp_path: Path) -> None:
    from operant.desktop.providers.qemu import QemuMachine

    settings = VmSettings(path=disk, memory_mb=64, cpus=1, kvm="off")
    directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{owner_mark()}-"))
    machine = QemuMachine(settings, directory)
    try:
        assert machine.ended() is None
        machine.booted()
        assert machine.revert()
        assert isinstance(machine._qmp, QMP)
        assert machine._qmp.call("query-status")["status"] == "running"
        with pytest.raises(DesktopError, match="no such"):
            machine._qmp.monitor("no such command")
    finally:
        machine.destroy()
    assert machine.ended() is not None
    assert directories() == []
    with pytest.raises(DesktopDied):
        machine.revert()


@needs_qemu
def test_machines_of_a_killed_owner_are_ended(disk: Path, tmp_path: Path) -> None:
    left = Path(tempfile.mkdtemp(prefix=f"{PREFIX}999999.1-"))
    orphan = subprocess.Popen(
        [
            "qemu-system-x86_64",
            "-m",
            "64",
            "-display",
            "none",
            "-S",
            "-qmp",
            f"unix:{left}/qmp,server=on,wait=off",
        ]
    )
    (left / "pid").write_text(str(orphan.pid))
    with empty(disk, tmp_path) as provider:
        assert provider.sweep() == 1
    assert orphan.wait(10) == -9
    assert not left.exists()
