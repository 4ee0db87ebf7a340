"""A tiny machine for QEMU: a Linux kernel, busybox, and nothing on its disk but an empty file system's worth of zeros.

Its guest passes every connection on to a server of ours on the host, so that the way is real: host, QEMU, guest, back.
Needs qemu-system-x86, a Debian cloud kernel and busybox-static; ``VM_PARTS`` names a directory where they are unpacked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MODULES = (
    "virtio/virtio_ring.ko",
    "virtio/virtio.ko",
    "virtio/virtio_pci_legacy_dev.ko",
    "virtio/virtio_pci_modern_dev.ko",
    "virtio/virtio_pci.ko",
    "core/failover.ko",
    "net/net_failover.ko",
    "net/virtio_net.ko",
)
INIT = """#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
for one in {modules}; do /bin/busybox insmod /modules/$one || true; done
/bin/busybox ifconfig lo 127.0.0.1
/bin/busybox ifconfig eth0 10.0.2.15 netmask 255.255.255.0
while true; do /bin/busybox nc -ll -p 8765 -e /pass; done
"""
PASS = "#!/bin/busybox sh\nexec /bin/busybox nc 10.0.2.2 {port}\n"


def parts() -> tuple[Path, Path, Path]:
    """Kernel, its modules, busybox; the test is skipped where one is missing."""
    root = Path(os.environ.get("VM_PARTS", "/"))
    if shutil.which("qemu-system-x86_64") is None or shutil.which("qemu-img") is None:
        pytest.skip("this machine has no QEMU (Debian: qemu-system-x86, qemu-utils)")
    kernel = next(iter(sorted(root.glob("boot/vmlinuz-*cloud*"))), None)
    busybox = next(
        (path for path in (root / "bin/busybox", root / "usr/bin/busybox") if path.is_file()), None
    )
    if kernel is None or busybox is None:
        pytest.skip("no cloud kernel and busybox-static to make a guest of; VM_PARTS names where they are")
    version = kernel.name.removeprefix("vmlinuz-")
    return kernel, root / "lib/modules" / version / "kernel", busybox


def make(directory: Path, port: int) -> tuple[Path, list[str]]:
    """The disk, and the arguments with which QEMU boots the guest."""
    kernel, modules, busybox = parts()
    tree = directory / "tree"
    for name in ("bin", "proc", "modules"):
        (tree / name).mkdir(parents=True)
    shutil.copy(busybox, tree / "bin/busybox")
    names = []
    for module in MODULES:
        found = next(modules.rglob(module), None)
        if found is not None:
            shutil.copy(found, tree / "modules")
            names.append(found.name)
    for name, text in (("init", INIT.format(modules=" ".join(names))), ("pass", PASS.format(port=port))):
        (tree / name).write_text(text)
        (tree / name).chmod(0o755)
    listed = "\0".join(str(path.relative_to(tree)) for path in tree.rglob("*"))
    archive = directory / "initramfs"
    with archive.open("wb") as out:
        subprocess.run(
            [str(busybox), "cpio", "-o", "-H", "newc", "-0"],
            cwd=tree,
            input=listed.encode() + b"\0",
            stdout=out,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    disk = directory / "tiny.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(disk), "16M"], check=True)
    console = ["-serial", f"file:{directory}/console"]
    boot = ["-kernel", str(kernel), "-initrd", str(archive), "-append", "console=ttyS0 panic=-1 quiet"]
    return disk, [*boot, *console]
