"""The filter of system calls as the kernel would run it, for both machines; ``test_isolation`` tries the real one."""

from __future__ import annotations

import errno

import pytest

from operant.desktop.inside import seccomp

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
#: By the kernel's headers: read, fork-like clone, execve, exit_group, openat, futex, poll or ppoll, memfd_create,
#: ptrace, personality, kcmp, seccomp, rseq, landlock_create_ruleset, memfd_secret, mknodat.
NEEDED = {
    "x86_64": [0, 59, 231, 257, 202, 7, 319, 101, 135, 312, 317, 334, 444, 447, 259],
    "aarch64": [63, 221, 94, 56, 98, 73, 279, 117, 92, 272, 277, 293, 444, 447, 33],
}
ARCHITECTURES = {"x86_64": X86_64, "aarch64": AARCH64}


def decide(machine: str, number: int, argument: int = 0, architecture: int | None = None) -> int:
    """What the program returns for a call."""
    data = {0: number, 4: ARCHITECTURES[machine] if architecture is None else architecture, 16: argument}
    steps, at, held = seccomp.program(machine), 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x20:
            held = data[value] & 0xFFFFFFFF
        elif code == 0x06:
            return value
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += if_true if holds else if_false
        assert at < len(steps), "it runs past its end"


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_exactly_what_is_listed_is_refused(machine: str) -> None:
    column = list(ARCHITECTURES).index(machine)
    listed = {numbers[column] for numbers in seccomp.REFUSED.values()} - {None}
    assert len(listed) > 30
    special = {call[column] for call in (seccomp.CLONE, seccomp.UNSHARE, seccomp.SOCKET, seccomp.CLONE3)}
    for number in range(600):
        if number not in special:
            assert decide(machine, number) == (ERRNO | errno.EPERM if number in listed else ALLOW), number
    assert not listed & set(NEEDED[machine])


@pytest.mark.parametrize(("machine", "clone", "unshare"), [("x86_64", 56, 272), ("aarch64", 220, 97)])
def test_no_flag_makes_a_namespace(machine: str, clone: int, unshare: int) -> None:
    threads, fork, vfork = 0x003D0F00, 0x01200011, 0x00004111
    for flags in (threads, fork, vfork, 17):
        assert decide(machine, clone, flags) == ALLOW
    files, system = 0x400, 0x200
    assert decide(machine, unshare, files | system) == ALLOW
    assert decide(machine, unshare, 0x80) == ERRNO | errno.EPERM
    for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert decide(machine, clone, bit | 17) == ERRNO | errno.EPERM
        assert decide(machine, unshare, bit | files) == ERRNO | errno.EPERM
    assert decide(machine, 435) == ERRNO | errno.ENOSYS  # clone3


@pytest.mark.parametrize(("machine", "socket"), [("x86_64", 41), ("aarch64", 198)])
def test_sockets_are_those_of_the_network_namespace(machine: str, socket: int) -> None:
    allowed = {family for family in range(64) if decide(machine, socket, family) == ALLOW}
    assert allowed == {1, 2, 10, 16}
    assert decide(machine, socket, 40) == ERRNO | errno.EAFNOSUPPORT


def test_other_architectures_are_refused() -> None:
    for machine in ARCHITECTURES:
        for other in {0x40000003, 0x40000028, X86_64, AARCH64} - {ARCHITECTURES[machine]}:
            assert decide(machine, 0, architecture=other) == KILL
    assert decide("x86_64", 0x40000000 | 1) == ERRNO | errno.ENOSYS
    assert decide("x86_64", 0xFFFFFFFF) == ERRNO | errno.ENOSYS
    with pytest.raises(OSError, match="no filter"):
        seccomp.program("vax")
