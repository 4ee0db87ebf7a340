"""Checks of what providers beside the sandbox need: KVM, a Docker engine, vmrun, AWS credentials. None is required."""

from __future__ import annotations

from collections.abc import Iterator

from operant.doctor.check import Check, CheckStatus
from operant.doctor.machine import Machine

__all__ = ["check_places"]

KVM = "/dev/kvm"
DOCKER_SOCKET = "/var/run/docker.sock"
AWS_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE")


def check_places(machine: Machine) -> Iterator[Check]:
    """One row for each."""
    yield _kvm(machine)
    yield _docker(machine)
    yield _vmrun(machine)
    yield _aws(machine)


def _row(
    name: str, found: str | None, lack: str, fix: str, status: CheckStatus = CheckStatus.MISSING
) -> Check:
    if found is not None:
        return Check(name, CheckStatus.OK, found, required=False)
    return Check(name, status, lack, fix, required=False)


def _kvm(machine: Machine) -> Check:
    fix = "enable virtualisation in the firmware, or nested virtualisation of the cloud machine"
    if not machine.exists(KVM):
        return _row("kvm", None, f"no {KVM}; virtual machines of the provider vm are emulated, and slow", fix)
    if not machine.run(["test", "-w", KVM]).ok:
        fix = "add this user to the group kvm, and log in again"
        return _row("kvm", None, f"{KVM} is not writable; for the provider vm", fix, CheckStatus.WARN)
    return _row("kvm", f"{KVM} can be used", "", "")


def _docker(machine: Machine) -> Check:
    program = machine.which("docker")
    fix = "install Docker (Debian: docker.io), start dockerd, and join the group docker"
    if program is None:
        lack = "not found; for the provider docker"
        if machine.exists(DOCKER_SOCKET):
            return _row("docker", f"{DOCKER_SOCKET}; the command is not installed", "", "")
        return _row("docker", None, lack, fix)
    answer = machine.run([program, "version", "--format", "{{.Server.Version}}"])
    if answer.ok:
        return _row("docker", f"an engine answers: {answer.output}", "", "")
    said = answer.output.strip().rpartition("\n")[2] or "it says nothing"
    return _row("docker", None, f"no engine answers: {said}", fix, CheckStatus.WARN)


def _vmrun(machine: Machine) -> Check:
    fix = "install VMware Workstation or Fusion; machines of QEMU (.qcow2) need none"
    return _row("vmrun", machine.which("vmrun"), "not found; for .vmx machines of the provider vm", fix)


def _aws(machine: Machine) -> Check:
    variable = next((name for name in AWS_VARIABLES if machine.environ(name)), None)
    home = machine.environ("HOME") or "/root"
    file = machine.environ("AWS_SHARED_CREDENTIALS_FILE") or f"{home}/.aws/credentials"
    found = variable or (file if machine.exists(file) else None)
    fix = "aws configure, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    return _row("aws credentials", found, "none found; for the provider aws", fix)
