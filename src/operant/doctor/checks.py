"""Every prerequisite of Operant as one small check: what it found, and the command that fixes it.

A check asks a ``Machine`` and never changes anything. Required checks are those without which no
sandboxed desktop starts; the rest say what else would work.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from operant.doctor.machine import Machine

__all__ = ["Check", "CheckStatus", "can_run", "examine"]

MB = 1 << 20
GB = 1 << 30


class CheckStatus(str, Enum):
    """Found, not found, or found but poor."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Check:
    """One prerequisite. ``fix`` is a command to type, or a sentence where no command does it."""

    name: str
    status: CheckStatus
    detail: str
    fix: str | None = None
    required: bool = True


def examine(machine: Machine) -> list[Check]:
    """All checks, most basic first."""
    checks = [_linux(machine), _python(machine)]
    if machine.system == "linux":
        checks += _programs(machine)
        checks += [_desktop_python(machine), _namespaces(machine)]
        checks += [_shared_memory(machine), _temporary(machine), _open_files(machine)]
        checks += _applications(machine)
        checks += [_display(machine)]
    checks += _packages(machine)
    checks += [_gpu(machine)]
    checks += _extras(machine)
    return checks


def can_run(checks: Iterable[Check]) -> bool:
    """Whether the main job can run: no required thing is missing."""
    return not any(check.required and check.status is CheckStatus.MISSING for check in checks)


# The machine itself.


def _linux(machine: Machine) -> Check:
    if machine.system == "linux":
        return Check("linux", CheckStatus.OK, "sandboxed desktops can be built")
    return Check(
        "linux",
        CheckStatus.MISSING,
        f"sandboxed desktops need Linux namespaces; this is {machine.system}",
        "run Operant on Linux or in a Linux virtual machine; here only the live screen can be used",
    )


def _python(machine: Machine) -> Check:
    version = ".".join(map(str, machine.python))
    if machine.python >= (3, 10):
        return Check("python", CheckStatus.OK, f"{version} at {machine.executable}")
    fix = "make clean && make venv PYTHON=/path/to/python3.10-or-newer"
    return Check("python", CheckStatus.MISSING, f"{version}; 3.10 or newer is needed", fix)


# Programs that every desktop is made of: name, where else than on PATH, Debian package, what for.
_PARTS: Sequence[tuple[str, Sequence[str], str, str]] = (
    ("bwrap", (), "bubblewrap", "builds the sandbox"),
    ("Xvfb", (), "xvfb", "is the display"),
    ("xkbcomp", (), "x11-xkb-utils", "compiles the display's keyboard"),
    ("openbox", (), "openbox", "manages the windows"),
    ("dbus-daemon", (), "dbus", "carries accessibility"),
    (
        "at-spi2-registryd",
        ("/usr/libexec/at-spi2-registryd", "/usr/lib/at-spi2-core/at-spi2-registryd"),
        "at-spi2-core",
        "serves accessibility trees",
    ),
    ("xclip", (), "xclip", "reads and writes the clipboard"),
)

_APPLICATIONS = ("mousepad", "galculator", "xterm", "pcmanfm", "lxpanel", "mate-calc")


def _programs(machine: Machine) -> Iterator[Check]:
    for name, places, package, purpose in _PARTS:
        found = machine.which(name) or next((place for place in places if machine.exists(place)), None)
        if found:
            yield Check(name, CheckStatus.OK, found)
        else:
            yield Check(name, CheckStatus.MISSING, f"not found; it {purpose}", _install(machine, package))


def _applications(machine: Machine) -> Iterator[Check]:
    for name in _APPLICATIONS:
        found = machine.which(name)
        if found:
            yield Check(name, CheckStatus.OK, found, required=False)
        else:
            user = "full desktops" if name == "lxpanel" else "only tasks that use it"
            detail = f"not found; {user} need it"
            yield Check(name, CheckStatus.MISSING, detail, _install(machine, name), required=False)


def _desktop_python(machine: Machine) -> Check:
    """The supervisor runs on a Python that the sandbox can see, which a user's own often is not."""
    name = "desktop python"
    script = "import sys; print(*sys.version_info[:2], sep='.'); sys.exit(sys.version_info < (3, 9))"
    tried = []
    for python in dict.fromkeys(("/usr/bin/python3", machine.which("python3") or "/usr/bin/python3")):
        answer = machine.run([python, "-I", "-c", script], as_desktop=True)
        if answer.ok:
            return Check(name, CheckStatus.OK, f"{answer.output} at {python}")
        tried.append(f"{python}: {_last_line(answer.output) or 'failed'}")
    detail = "no Python 3.9 or newer for the supervisor inside a desktop (" + "; ".join(tried) + ")"
    return Check(name, CheckStatus.MISSING, detail, _install(machine, "python3"))


_SANDBOX_PROBE = (
    *("--unshare-all", "--die-with-parent", "--new-session"),
    *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
    *("--", "/bin/true"),
)

# Kernel switches that forbid user namespaces: file, the value that does, the command that allows them.
_SWITCHES = (
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)

_CONTAINER_FIX = (
    "restart the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    " --security-opt systempaths=unconfined"
)


def _namespaces(machine: Machine) -> Check:
    name = "user namespaces"
    bwrap = machine.which("bwrap")
    if bwrap is None:
        return Check(name, CheckStatus.WARN, "not tried: bwrap is missing", _install(machine, "bubblewrap"))
    answer = machine.run([bwrap, *_SANDBOX_PROBE], as_desktop=True)
    if answer.ok:
        return Check(name, CheckStatus.OK, "a sandbox was built and left")
    said = _last_line(answer.output) or f"bwrap ended with code {answer.code}"
    for path, forbidding, command in _SWITCHES:
        if machine.read(path) == forbidding:
            return Check(name, CheckStatus.MISSING, said, _as_root(machine, command))
    # A container that hides parts of /proc keeps every process in it from mounting its own.
    if _in_container(machine) or "mount proc" in said:
        return Check(name, CheckStatus.MISSING, said, _CONTAINER_FIX)
    fix = "ask who runs this machine to allow user namespaces; inside a chroot there are none at all"
    return Check(name, CheckStatus.MISSING, said, fix)


def _shared_memory(machine: Machine) -> Check:
    name, path = "shared memory", "/dev/shm"
    if not machine.exists(path):
        command = f"mkdir -p {path} && {_as_root(machine, f'mount -t tmpfs -o mode=1777 tmpfs {path}')}"
        return Check(name, CheckStatus.MISSING, f"{path} does not exist", _as_root(machine, command))
    if not machine.writable(path):
        return Check(
            name, CheckStatus.MISSING, f"{path} is not writable", _as_root(machine, f"chmod 1777 {path}")
        )
    free = machine.free(path)
    detail = f"{_size(free)} free in {path}"
    if free >= 256 * MB:
        return Check(name, CheckStatus.OK, detail)
    fix = _as_root(machine, f"mount -o remount,size=1G {path}")
    if _in_container(machine):
        fix = "restart the container with --shm-size=1g"
    return Check(name, CheckStatus.WARN, f"{detail}; many desktops want 256 MB or more", fix)


def _temporary(machine: Machine) -> Check:
    name, path = "temporary files", machine.temporary
    if not machine.writable(path):
        return Check(
            name, CheckStatus.MISSING, f"{path} is not writable", "export TMPDIR=/a/writable/directory"
        )
    free = machine.free(path)
    detail, fix = f"{_size(free)} free in {path}", "export TMPDIR=/a/directory/with/more/room"
    if free < 100 * MB:
        return Check(name, CheckStatus.MISSING, f"{detail}; 100 MB is the least", fix)
    if free < GB:
        return Check(name, CheckStatus.WARN, f"{detail}; 1 GB or more is better", fix)
    return Check(name, CheckStatus.OK, detail)


def _open_files(machine: Machine) -> Check:
    limit = machine.open_files
    if limit >= 1024:
        return Check("open files", CheckStatus.OK, f"a process may open {limit}")
    return Check("open files", CheckStatus.WARN, f"a process may open only {limit}", "ulimit -n 4096")


def _display(machine: Machine) -> Check:
    name = "live screen"
    display = machine.environ("DISPLAY")
    if not display:
        detail = "DISPLAY is not set; sandboxed desktops bring their own"
        return Check(name, CheckStatus.MISSING, detail, required=False)
    number = display.rpartition(":")[2].partition(".")[0]
    if display.startswith(":") and not machine.exists(f"/tmp/.X11-unix/X{number}"):
        detail = f"DISPLAY is {display}, but no X server listens there"
        return Check(name, CheckStatus.WARN, detail, "unset DISPLAY", required=False)
    return Check(name, CheckStatus.OK, f"DISPLAY is {display}", required=False)


# Python packages: the metadata of the installed Operant says which.


def _packages(machine: Machine) -> Iterator[Check]:
    requirements = machine.requirements()
    if not requirements:
        detail = "Operant runs from its source, not installed: its packages can't be checked"
        fix = f"{shlex.quote(machine.executable)} -m pip install -e . -c requirements/constraints.txt"
        yield Check("packages", CheckStatus.WARN, detail, fix)
    for name, found, problem in _required(machine, requirements, extra=""):
        if problem is None:
            yield Check(name, CheckStatus.OK, found)
        else:
            yield Check(name, CheckStatus.MISSING, problem, _pip(machine, "."))


def _extras(machine: Machine) -> Iterator[Check]:
    for extra in ("vlm", "cluster"):
        wanted = list(_required(machine, machine.requirements(), extra=extra))
        if not wanted:
            continue
        problems = [f"{name} {problem}" for name, _, problem in wanted if problem is not None]
        if problems:
            fix = _pip(machine, f".[{extra}]")
            yield Check(f"extra {extra}", CheckStatus.MISSING, "; ".join(problems), fix, required=False)
        else:
            found = ", ".join(f"{name} {version}" for name, version, _ in wanted)
            yield Check(f"extra {extra}", CheckStatus.OK, found, required=False)


def _required(
    machine: Machine, requirements: Sequence[str], *, extra: str
) -> Iterator[tuple[str, str, str | None]]:
    """(name, installed version, problem) of what Operant itself or one of its extras requires."""
    from packaging.requirements import Requirement

    for line in requirements:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None:
            applies = not extra
        else:
            applies = marker.evaluate({"extra": extra})
            if extra and marker.evaluate({"extra": ""}):
                applies = False
        if not applies:
            continue
        version = machine.package(requirement.name)
        if version is None:
            yield requirement.name, "", "is not installed"
        elif not requirement.specifier.contains(version, prereleases=True):
            yield requirement.name, version, f"{version} is installed, {requirement.specifier} is needed"
        else:
            yield requirement.name, version, None


def _gpu(machine: Machine) -> Check:
    torch = machine.package("torch")
    smi = machine.which("nvidia-smi")
    cards = []
    if smi:
        answer = machine.run([smi, "--query-gpu=name", "--format=csv,noheader"])
        cards = answer.output.splitlines() if answer.ok else []
    if not cards:
        detail = "no NVIDIA GPU found; networks run on the CPU"
        return Check("gpu", CheckStatus.MISSING, detail, required=False)
    detail = ", ".join(cards)
    if torch is not None and torch.endswith("+cpu"):
        fix = "make venv TORCH=torch TORCH_INDEX=<the CUDA index of pytorch.org for your driver>"
        detail += f"; but torch {torch} can't use it"
        return Check("gpu", CheckStatus.WARN, detail, fix, required=False)
    return Check("gpu", CheckStatus.OK, detail, required=False)


# Words and commands.


def _install(machine: Machine, package: str) -> str:
    if machine.which("apt-get"):
        return _as_root(machine, f"apt-get install -y {package}")
    return f"install what Debian calls {package} with this system's package manager"


def _pip(machine: Machine, target: str) -> str:
    python = shlex.quote(machine.executable)
    return f"{python} -m pip install -e {shlex.quote(target)} -c requirements/constraints.txt"


def _as_root(machine: Machine, command: str) -> str:
    return command if machine.is_root else f"sudo {command}"


def _in_container(machine: Machine) -> bool:
    return machine.exists("/.dockerenv") or machine.exists("/run/.containerenv")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _size(size: int) -> str:
    return f"{size / GB:.1f} GB" if size >= GB else f"{size / MB:.0f} MB"
