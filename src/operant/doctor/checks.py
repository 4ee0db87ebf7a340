"""Every prerequisite of Operant as one small check: what it found, and the command that fixes it.

A check asks a ``Machine`` and never changes anything. Required checks are those without which no
sandboxed desktop starts; the rest say what else would work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from operant.doctor.check import Check, CheckStatus
from operant.doctor.fixes import as_root, install_package
from operant.doctor.machine import Machine
from operant.doctor.packages import check_packages
from operant.doctor.places import check_places

__all__ = ["can_run", "examine"]

MB = 1 << 20
GB = 1 << 30


def examine(machine: Machine) -> list[Check]:
    """All checks, most basic first."""
    checks = [_linux(machine), _python(machine)]
    if machine.system == "linux":
        checks += _programs(machine)
        checks += [_desktop_python(machine), _namespaces(machine)]
        checks += [_shared_memory(machine), _temporary(machine), _open_files(machine)]
        checks += _applications(machine)
        checks += [_display(machine), *check_places(machine)]
    checks += check_packages(machine)
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
    fix = "install Operant with a newer Python"
    if machine.checkout:
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

# What suites need beside that: program, Debian package, who needs it. Tests compare it with the suites.
APPLICATIONS: Sequence[tuple[str, str, str]] = (
    ("lxpanel", "lxpanel", "full desktops"),
    ("mate-calc", "mate-calc", "full desktops and the suite launch"),
    ("pcmanfm", "pcmanfm", "full desktops and the suites core and launch"),
    ("mousepad", "mousepad", "the demo and the suites core and launch"),
    ("galculator", "galculator", "the suites clicks, core and launch"),
    ("xterm", "xterm", "the suites clicks, core and launch"),
    ("chromium", "chromium", "the suites core, data_entry and launch"),
    ("atril", "atril", "the suites core and launch"),
    ("pdftotext", "poppler-utils", "criteria that read PDF files, in the suite core"),
    ("viewnior", "viewnior", "the suites core and launch"),
    ("ristretto", "ristretto", "the suite launch"),
    ("xarchiver", "xarchiver", "the suites core and launch"),
    ("zip", "zip", "xarchiver, to pack"),
    ("unzip", "unzip", "xarchiver, to unpack"),
    ("lxappearance", "lxappearance", "the suites core and launch"),
    ("soffice", "libreoffice-gtk3", "the suite office"),
    ("localc", "libreoffice-calc", "the suite office"),
    ("lowriter", "libreoffice-writer", "the suite office"),
    ("loimpress", "libreoffice-impress", "the suite office"),
)


def _programs(machine: Machine) -> Iterator[Check]:
    for name, places, package, purpose in _PARTS:
        found = machine.which(name) or next((place for place in places if machine.exists(place)), None)
        if found:
            yield Check(name, CheckStatus.OK, found)
        else:
            yield Check(
                name, CheckStatus.MISSING, f"not found; it {purpose}", install_package(machine, package)
            )


def _applications(machine: Machine) -> Iterator[Check]:
    for name, package, user in APPLICATIONS:
        found = machine.which(name)
        if found:
            yield Check(name, CheckStatus.OK, found, required=False)
        else:
            detail = f"not found; for {user}"
            yield Check(name, CheckStatus.MISSING, detail, install_package(machine, package), required=False)


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
    return Check(name, CheckStatus.MISSING, detail, install_package(machine, "python3"))


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
        return Check(
            name, CheckStatus.WARN, "not tried: bwrap is missing", install_package(machine, "bubblewrap")
        )
    answer = machine.run([bwrap, *_SANDBOX_PROBE], as_desktop=True)
    if answer.ok:
        return Check(name, CheckStatus.OK, "a sandbox was built and left")
    said = _last_line(answer.output) or f"bwrap ended with code {answer.code}"
    for path, forbidding, command in _SWITCHES:
        if machine.read(path) == forbidding:
            return Check(name, CheckStatus.MISSING, said, as_root(machine, command))
    # A container that hides parts of /proc keeps every process in it from mounting its own.
    if _in_container(machine) or "mount proc" in said:
        return Check(name, CheckStatus.MISSING, said, _CONTAINER_FIX)
    fix = "ask who runs this machine to allow user namespaces; inside a chroot there are none at all"
    return Check(name, CheckStatus.MISSING, said, fix)


def _shared_memory(machine: Machine) -> Check:
    name, path = "shared memory", "/dev/shm"
    if not machine.exists(path):
        steps = (f"mkdir -p {path}", f"mount -t tmpfs -o mode=1777 tmpfs {path}")
        return Check(name, CheckStatus.MISSING, f"{path} does not exist", as_root(machine, *steps))
    if not machine.writable(path):
        return Check(
            name, CheckStatus.MISSING, f"{path} is not writable", as_root(machine, f"chmod 1777 {path}")
        )
    free = machine.free(path)
    detail = f"{_size(free)} free in {path}"
    if free >= 256 * MB:
        return Check(name, CheckStatus.OK, detail)
    fix: str = as_root(machine, f"mount -o remount,size=1G {path}")
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


def _in_container(machine: Machine) -> bool:
    return machine.exists("/.dockerenv") or machine.exists("/run/.containerenv")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _size(size: int) -> str:
    return f"{size / GB:.1f} GB" if size >= GB else f"{size / MB:.0f} MB"
