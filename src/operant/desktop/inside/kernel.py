"""The few Linux calls that Python's standard library lacks: mounts, namespaces, capabilities, SysV clean-up."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from typing import Optional

NEWNS, NEWIPC, NEWPID, NEWNET = 0x00020000, 0x08000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEV, REMOUNT, BIND, MOVE, RECURSIVE, PRIVATE = 1, 2, 4, 32, 4096, 8192, 16384, 1 << 18

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_CAP_AMBIENT = (
    1,
    4,
    24,
    36,
    47,
)
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_IPC_RMID = 0
_CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)


def _bytes(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else text.encode()


def mount(
    source: Optional[str], target: str, kind: Optional[str], flags: int = 0, options: Optional[str] = None
) -> None:
    result = _libc.mount(_bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(options))
    _checked(result, "mount " + target)


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def fork_into_pid_namespace() -> int:
    """Like fork, but the child is process 1 of a pid namespace of its own. The caller must be process 1 too.

    Only children of a process that unshared are in the new namespace, and there is no way back, so a process
    in between does it and leaves; its child is then adopted by the caller.
    """
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        unshare(NEWPID)
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            os.close(writing)
            return 0
        os.write(writing, b"%d" % pid)
        os._exit(0)
    os.close(writing)
    said = os.read(reading, 16)
    os.close(reading)
    os.waitpid(between, 0)
    if not said:
        raise OSError(errno.EPERM, "no pid namespace could be made")
    return int(said)


def hide_from_tracers() -> None:
    """No program of the same user may attach to this process or look into its files."""
    _checked(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    _checked(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def die_with_parent(signal: int) -> None:
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl")


def keep_capabilities_to_self() -> None:
    """What this process starts from now on has no capability and can gain none."""
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break
    # Two words each of what is effective, permitted and inheritable; only the last are given up.
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    sets = (ctypes.c_uint32 * 6)()
    _checked(_libc.capget(header, sets), "capget")
    sets[2] = sets[5] = 0
    _checked(_libc.capset(header, sets), "capset")


def forbid_user_namespaces() -> None:
    """In the whole sandbox; needs a /proc that was mounted in it."""
    with open("/proc/sys/user/max_user_namespaces", "w") as setting:
        setting.write("0")


def loopback_up() -> None:
    SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack_from("16xH", fcntl.ioctl(sock, SIOCGIFFLAGS, request))[0]
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def remove_sysv_objects() -> None:
    """System V shared memory, semaphores and queues outlive their makers; these do not."""
    for kind, remove in (("shm", _libc.shmctl), ("sem", _libc.semctl), ("msg", _libc.msgctl)):
        with open("/proc/sysvipc/" + kind) as table:
            for line in table.readlines()[1:]:
                identifier = int(line.split()[1])
                if kind == "sem":
                    remove(identifier, 0, _IPC_RMID)
                else:
                    remove(identifier, _IPC_RMID, None)
