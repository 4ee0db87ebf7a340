"""Starting a supervisor: the walls of the sandbox (bubblewrap's arguments) and the process behind them.

A desktop leaves nothing on the machine. Its files live in memory inside its mount namespace, its sockets
there too, and the owner reaches both only through descriptors that the supervisor hands out.
"""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import IO, Any

from operant.calls.catalog import code_place, packed_code
from operant.config.desktop import DesktopConfig
from operant.desktop.osworld.machine_image import MACHINE, machine_files, machine_links
from operant.desktop.toolkits import toolkit_environment, toolkit_home, toolkit_system
from operant.errors import DesktopStartError, MissingProgram, SandboxUnavailable

__all__ = ["REQUIRED_PROGRAMS", "Supervised", "call_runner_argv", "start_supervisor", "supervisor_settings"]

REQUIRED_PROGRAMS = {
    "Xvfb": "xvfb",
    "openbox": "openbox",
    "dbus-daemon": "dbus",
    "xclip": "xclip",
    "xkbcomp": "x11-xkb-utils",
}
NOBODY = 65534  # what root becomes: a limit on processes does not bind root, and nothing here needs it
INSIDE_UID = 1000
MARK = "OPERANT_DESKTOP_OF"  # in the environment of every supervisor, with its owner's pid and start time
NAMESPACE_MARK = "OPERANT_DESKTOP_NAMESPACE"  # beside it: the pid namespace in which that pid counts
BARE_PREFIX = "operant-bare-"
_INSIDE = "/operant/code"
_PUBLIC = "/run/operant"
_CALLS = f"{_PUBLIC}/calls.zip"
_LAUNCHER = f"{_PUBLIC}/devtools_launcher.py"
_ALONE = ("-E", "-s", "-S", "-B")  # a Python that no variable, site or directory of a user changes


class Supervised:
    """A running supervisor process and our end of its control socket."""

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, errors: IO[bytes], base: str | None
    ) -> None:
        self.process = process
        self.control = control
        self._errors = errors
        self._base = base

    @property
    def bus_address(self) -> str:
        """Where the programs of every episode find their bus."""
        return f"unix:path={self._base}/run/bus" if self._base else "unix:path=/run/user/1000/bus"

    def said(self) -> str:
        """What it printed on its error output: why it did not start."""
        self._errors.seek(0)
        return " ".join(self._errors.read(4000).decode("utf-8", "replace").split())[-600:]

    def stop(self, patience_s: float = 5.0) -> None:
        """Let go of it and wait until it, and so everything inside, is gone."""
        self.control.close()
        try:
            self.process.wait(patience_s if self._base else 0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._errors.close()
        if self._base:
            shutil.rmtree(self._base, ignore_errors=True)


# The kernel ties "die with your parent" to the thread that forked, so one thread that lives as long as
# the process forks them all.
_forker = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="operant-forker")


def start_supervisor(config: DesktopConfig, functions: Mapping[str, bytes] | None = None) -> Supervised:
    """Start one, or say what this machine lacks. ``functions``: see ``packed_code``."""
    check_machine(config)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    owner = os.pidfd_open(os.getpid())
    errors = tempfile.TemporaryFile(prefix="operant-")  # noqa: SIM115 - lives as long as the desktop
    base = None if config.isolated else tempfile.mkdtemp(prefix=f"{BARE_PREFIX}{owner_mark()}-")
    handed: list[int] = [theirs.fileno(), owner]
    try:
        if base is None:
            argv = [
                *sandbox_argv(config, handed, functions),
                python_inside()[0],
                *_ALONE,
                f"{_INSIDE}/supervisor.py",
            ]
        else:
            argv = [
                sys.executable,
                *_ALONE,
                str(resources.files("operant.desktop.inside") / "supervisor.py"),
            ]
        argv += [str(theirs.fileno()), str(owner), *([base] if base else [])]
        as_nobody: dict[str, Any] = {}
        if base is None and os.getuid() == 0:
            as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

        def fork() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=handed,
                env={"PATH": os.environ.get("PATH", os.defpath), **owner_marks()},
                cwd="/",
                start_new_session=True,
                **as_nobody,
            )

        process = _forker.submit(fork).result()
    except BaseException as error:
        ours.close()
        errors.close()
        if base is not None:
            shutil.rmtree(base, ignore_errors=True)
        if isinstance(error, RuntimeError):  # the forker is gone
            raise DesktopStartError("no desktop is started while Python shuts down") from error
        raise
    finally:
        theirs.close()
        for fd in handed[1:]:
            os.close(fd)
    return Supervised(process, ours, errors, base)


def check_machine(config: DesktopConfig) -> None:
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable(
            f"desktops need Linux, and this is {sys.platform}",
            hint="run Operant in a Linux machine or container; the live screen (`local`) works here",
        )
    missing = [package for program, package in REQUIRED_PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        raise MissingProgram(
            f"desktops are made of programs that are not installed: {', '.join(missing)}",
            hint=f"sudo apt-get install -y {' '.join(missing)}   (or: operant doctor)",
        )
    if config.isolated and shutil.which("bwrap") is None:
        raise SandboxUnavailable(
            "bubblewrap is not installed",
            hint="sudo apt-get install -y bubblewrap; or, knowing that programs then run as you, isolated=False",
        )


def explain_start_failure(said: str) -> Exception:
    """Bubblewrap's words, and what to do about the common ones."""
    lowered = said.lower()
    if "bwrap:" in lowered and (
        "namespace" in lowered or "permission denied" in lowered or "not permitted" in lowered
    ):
        return SandboxUnavailable(
            f"this machine does not let bubblewrap make a sandbox: {said}",
            hint="allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu "
            "kernel.apparmor_restrict_unprivileged_userns=0), in a container see docs/sandbox.md; "
            "`operant doctor` checks it. isolated=False runs without walls",
        )
    return DesktopStartError(
        f"the supervisor did not start: {said or 'it said nothing'}", hint="operant doctor"
    )


def owner_mark() -> str:
    """This process, so that a successor can tell whether it still lives even if its pid was given out again."""
    return f"{os.getpid()}.{start_time(os.getpid())}"


def owner_marks() -> dict[str, str]:
    """What the processes of a desktop bear in their environment."""
    return {MARK: owner_mark(), NAMESPACE_MARK: process_namespace()}


def process_namespace() -> str:
    """The pid namespace of this process: a container's pids mean nothing outside it."""
    return str(os.stat("/proc/self/ns/pid").st_ino)


def start_time(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    return stat.rpartition(")")[2].split()[19]


def python_inside() -> tuple[str, Path | None]:
    """A Python that the sandbox can run, and the directory to show for it if it is not the system's."""
    system = Path("/usr/bin/python3")
    if system.exists():
        return str(system), None
    executable = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    return str(executable), Path(sys.base_prefix).resolve()


def sandbox_argv(
    config: DesktopConfig, handed: list[int], functions: Mapping[str, bytes] | None = None
) -> list[str]:
    """Bubblewrap's arguments. Files that it is to show go into memory and onto the list of descriptors."""

    def shown(content: bytes, path: str) -> list[str]:
        fd = os.memfd_create("operant-file")
        with os.fdopen(os.dup(fd), "wb") as file:
            file.write(content)
        os.lseek(fd, 0, os.SEEK_SET)
        handed.append(fd)
        return ["--ro-bind-data", str(fd), path]

    argv = ["bwrap", "--die-with-parent", "--as-pid-1", "--new-session", "--unshare-user", "--unshare-pid"]
    argv += [
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--uid",
        str(INSIDE_UID),
        "--gid",
        str(INSIDE_UID),
    ]
    argv += ["--hostname", "desktop", "--cap-add", "ALL", "--clearenv"]
    if not config.network:
        argv.append("--unshare-net")
    argv += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/", name)
        if path.is_symlink():
            argv += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            argv += ["--ro-bind", str(path), str(path)]
    argv += ["--ro-bind", "/etc", "/etc", "--ro-bind-try", "/opt", "/opt"]
    argv += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"]
    argv += ["--tmpfs", "/tmp", "--tmpfs", "/operant", "--tmpfs", "/var", "--dir", "/var/tmp"]
    argv += ["--ro-bind-try", "/var/cache/fontconfig", "/var/cache/fontconfig"]
    argv += ["--dir", "/home/user", "--dir", "/mnt", "--dir", "/run/user/1000"]
    if config.network:
        argv += ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
    passwd = (
        f"root:x:0:0::/nonexistent:/bin/false\nuser:x:{INSIDE_UID}:{INSIDE_UID}:User:/home/user:/bin/sh\n"
    )
    argv += shown(passwd.encode(), "/etc/passwd")
    argv += shown(f"root:x:0:\nuser:x:{INSIDE_UID}:\n".encode(), "/etc/group")
    if not config.network:
        argv += shown(b"127.0.0.1 localhost desktop\n", "/etc/hosts")
    argv += shown(b"0" * 31 + b"1\n", "/var/lib/dbus/machine-id")
    for name, more in toolkit_system().items():
        path = Path(name)
        if path.is_file():
            argv += shown(path.read_bytes() + more.encode(), str(path.resolve()))
    files = resources.files("operant.desktop.files")
    for name in ("bus.conf", "openbox.xml"):
        argv += shown((files / name).read_bytes(), f"{_PUBLIC}/{name}")
    for name, content in machine_files().items():
        argv += ["--perms", "0555", *shown(content, f"{MACHINE}/{name}")]
    for name, target in machine_links().items():
        argv += ["--symlink", target, f"{MACHINE}/{name}"]
    argv += shown(packed_code(functions), _CALLS)
    code = resources.files("operant.desktop.inside")
    argv += shown((code / "devtools_launcher.py").read_bytes(), _LAUNCHER)
    for name in (
        "supervisor.py",
        "activity.py",
        "bus_locator.py",
        "episode.py",
        "programs.py",
        "kernel.py",
        "seccomp.py",
        "wire.py",
    ):
        argv += shown((code / name).read_bytes(), f"{_INSIDE}/{name}")
    for shown_too in (*config.read_only, python_inside()[1]):
        if shown_too is not None:
            argv += ["--ro-bind", str(shown_too.resolve()), str(shown_too)]
    # Last, so that nothing can be written to the root of the tree either, nor to what else outlives an episode.
    argv += ["--remount-ro", "/var", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*argv, "--setenv", "PATH", "/usr/bin:/bin", "--"]


def call_runner_argv(config: DesktopConfig) -> list[str]:
    """The command inside a desktop that carries out calls."""
    if config.isolated:
        return [python_inside()[0], *_ALONE, _CALLS]
    return [sys.executable, *_ALONE, str(code_place())]


def supervisor_settings(config: DesktopConfig) -> tuple[dict[str, Any], int]:
    """What the supervisor is told, and a descriptor with the bytes of the files for HOME."""
    public = _PUBLIC if config.isolated else str(resources.files("operant.desktop.files"))
    entries, contents = pack_home(toolkit_home(), config.home)
    xvfb = [
        "-screen",
        "0",
        f"{config.width}x{config.height}x24",
        "-nolisten",
        "tcp",
        "-noreset",
        "-dpi",
        "96",
        "-s",
        "0",
    ]
    if not config.opengl:
        xvfb += ["-extension", "GLX"]
    settings = {
        "xvfb": xvfb,
        "openbox_config": f"{public}/openbox.xml",
        "bus_config": f"{public}/bus.conf",
        "network": config.network,
        "limits": config.limits.model_dump(),
        "environment": {
            **toolkit_environment(),
            **config.variables,
            **({} if config.isolated else owner_marks()),
        },
        "home": entries,
    }
    return settings, contents


def pack_home(texts: Mapping[str, str], *roots: Path | None) -> tuple[list[list[Any]], int]:
    """A HOME of texts by path and of the files below directories, the later in place of the earlier.

    Returns a list of [path, mode, size] and one memory file with all contents, in that order.
    """
    found: dict[str, str | Path | None] = {}
    for name, text in texts.items():
        found.update((str(parent), None) for parent in PurePosixPath(name).parents if parent.name)
        found[name] = text
    for root in roots:
        if root is not None:
            found.update((str(path.relative_to(root)), path) for path in sorted(root.rglob("*")))
    entries: list[list[Any]] = []
    contents = os.memfd_create("operant-home")
    with os.fdopen(os.dup(contents), "wb") as file:
        for name in sorted(found):
            source = found[name]
            if source is None or (isinstance(source, Path) and source.is_dir() and not source.is_symlink()):
                entries.append([name, 0o755, -1])
                continue
            if isinstance(source, Path) and not source.is_file():
                continue
            data = source.encode() if isinstance(source, str) else source.read_bytes()
            runs = isinstance(source, Path) and os.access(source, os.X_OK)
            file.write(data)
            entries.append([name, 0o755 if runs else 0o644, len(data)])
    return entries, contents
