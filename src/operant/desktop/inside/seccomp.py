"""The system calls that no program of a desktop needs, refused by the kernel itself.

A classic BPF program, put together by hand because a desktop has the standard library only. Everything is
allowed but what makes namespaces or mounts, reaches devices of the whole machine, or is known for holes in
the kernel rather than for its use on a desktop. Knows nothing of episodes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

#: What is refused: the numbers on x86_64 and on aarch64; None where there is no such call.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Mounts: the old calls and the new ones.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "setns": (308, 268),
    # Large parts of the kernel that desktop programs do without.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "lookup_dcookie": (212, 18),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # Key rings outlive an episode.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # The machine as a whole.
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142), "syslog": (103, 116),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "acct": (163, 89),
    "swapon": (167, 224), "swapoff": (168, 225), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "iopl": (172, None), "ioperm": (173, None),
}  # fmt: skip
#: Allowed by their first argument.
UNSHARE, CLONE, SOCKET, CLONE3, SECCOMP = (272, 97), (56, 220), (41, 198), (435, 435), (317, 277)
NEW_NAMESPACES = 0x7E020000  # mount, cgroup, UTS, IPC, user, pid and network
NEW_TIME_NAMESPACE = 0x80  # for clone these bits are a signal
FAMILIES = (
    1,
    2,
    10,
    16,
)  # local, IPv4, IPv6, netlink: the others reach past the network namespace (vsock) or into drivers
#: Machine -> which number counts, and how the kernel names its system calls.
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32 = 0x40000000  # the bit of the calls that 32-bit pointers go with

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # places in struct seccomp_data, little-endian
_SPECULATION_ALLOWED = (
    4  # otherwise older kernels slow every program down for a mitigation it did not ask for
)

Instruction = tuple[int, int, int, int]


def program(machine: str) -> list[Instruction]:
    """(code, steps if true, steps if false, value) of each instruction."""
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, "there is no filter of system calls for this machine", machine)
    column, architecture = MACHINES[machine]
    refuse, missing, family = (
        (_RETURN, 0, 0, _ERRNO | code) for code in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT)
    )
    allow, argument = (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT)
    steps: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),  # a program of another architecture: nothing that it asks for can be told
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, X32), missing]
    # Flags of clone3 lie in memory, where no filter can look; without it libraries take clone.
    steps += [(_EQUAL, 0, 1, CLONE3[column]), missing]
    for call, flags in ((CLONE, NEW_NAMESPACES), (UNSHARE, NEW_NAMESPACES | NEW_TIME_NAMESPACE)):
        steps += [(_EQUAL, 0, 4, call[column]), argument, (_ANY_OF, 0, 1, flags), refuse, allow]
    steps += [(_EQUAL, 0, 3 + len(FAMILIES), SOCKET[column]), argument]
    steps += [(_EQUAL, len(FAMILIES) - place, 0, known) for place, known in enumerate(FAMILIES)]
    steps += [family, allow]
    numbers = [numbers[column] for numbers in REFUSED.values()]
    listed = sorted(number for number in numbers if number is not None)
    steps += [(_EQUAL, len(listed) - place, 0, number) for place, number in enumerate(listed)]
    return [*steps, allow, refuse]


def install() -> None:
    """From now on, for this process and all that it starts. Needs ``no_new_privs``, which bubblewrap sets."""
    machine = os.uname().machine
    code = b"".join(struct.pack("=HBBI", *step) for step in program(machine))
    libc = ctypes.CDLL(None, use_errno=True)
    steps = ctypes.create_string_buffer(code, len(code))
    listed = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(steps)))
    number = ctypes.c_long(SECCOMP[MACHINES[machine][0]])
    for flags in (_SPECULATION_ALLOWED, 0):  # kernels before 4.17 know no such flag
        if libc.syscall(number, 1, flags, listed) == 0:
            return
    failed = ctypes.get_errno()
    raise OSError(failed, os.strerror(failed), "seccomp")
