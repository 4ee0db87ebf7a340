"""Process 1 of one episode: everything that an agent's programs can see or touch lives and dies with it.

Forked from the supervisor into fresh pid, mount and network namespaces, with an empty HOME, /tmp and
/dev/shm in memory. When the supervisor kills it, the kernel ends every process below it, however they
hid (daemons, new sessions, fork loops), and the mounts vanish with the last of them. Speaks to the owner
over its own control socket; knows nothing of the display beyond its name.
"""

from __future__ import annotations

import errno
import os
import resource
import select
import signal
import socket
import stat
import time
from collections.abc import Callable
from typing import Any

import kernel
import seccomp
import wire
from bus_locator import BusLocator
from programs import Programs

BUS_READY_S = 5.0
CHORE_S = 0.5
MOST_BROWSERS = 16
CONNECT_S = 5.0
DIAL_S = 1.0  # a program that is too busy to take a connection holds up everything else meanwhile
PART_STARTS = 4  # how often a part of the shell is started in one episode before it counts as broken


class EpisodeLayout:
    """Where an episode keeps what: fixed places in a sandbox, one temporary directory without isolation."""

    def __init__(self, base: str | None) -> None:
        self.isolated = base is None
        self.home = base + "/home" if base else "/home/user"
        self.run = base + "/run" if base else "/run/user/1000"

    def environment(self, display: str, extra: dict[str, str]) -> dict[str, str]:
        bus = "unix:path=" + self.run + "/bus"
        return {
            "HOME": self.home,
            "USER": "user",
            "LOGNAME": "user",
            "SHELL": "/bin/sh",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
            "LANG": "C.UTF-8",
            "DISPLAY": display,
            "XDG_RUNTIME_DIR": self.run,
            "XDG_SESSION_TYPE": "x11",
            "XDG_CURRENT_DESKTOP": "Openbox",
            "DBUS_SESSION_BUS_ADDRESS": bus,
            # One bus serves both as session bus and as accessibility bus: a process fewer per desktop. Programs find
            # it by the property AT_SPI_BUS of the root window and by the service org.a11y.Bus (bus_locator.py), not
            # by AT_SPI_BUS_ADDRESS: with that variable Qt 6.4 connects before it listens, and shows no widgets.
            "LIBGL_ALWAYS_SOFTWARE": "1",
            # The settings of toolkits, and the user's own.
            **extra,
        }


class SandboxEpisode(Programs):
    def __init__(
        self, control: socket.socket, layout: EpisodeLayout, environment: dict[str, str], bus: list[str]
    ) -> None:
        super().__init__(control, environment)
        self.layout = layout
        self.parts: dict[int, list[str]] = {}  # running parts of the shell (panel, icons) by pid
        self.starts: dict[str, int] = {}  # how often each part has been started
        # dbus-daemon says on this pipe when it listens; the first program that may need it waits.
        self.others: dict[int, Callable[[], None]] = {}  # more descriptors to read from, and what then to do
        self.bus_ready, said = os.pipe()
        os.set_inheritable(said, True)
        self.start([*bus, "--print-address=" + str(said)], [])
        os.close(said)
        self.browsers: list[int] = []  # our ends of the pipes to browsers' DevTools, the newest last
        self.registering = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self.registering.bind(layout.run + "/devtools")
        self.registering.setblocking(False)

    def wait_for_bus(self) -> None:
        if self.bus_ready < 0:
            return
        ready = select.poll()
        ready.register(self.bus_ready, select.POLLIN)
        address = os.read(self.bus_ready, 4096) if ready.poll(BUS_READY_S * 1000) else b""
        if not address:
            raise OSError(errno.ECONNREFUSED, "the session bus did not start")
        os.close(self.bus_ready)
        self.bus_ready = -1
        self.locate_bus()

    def locate_bus(self) -> None:
        locator = BusLocator(self.layout.run + "/bus")
        place = locator.fileno()

        def serve_locator() -> None:
            if not locator.serve():
                del self.others[place]

        self.others[place] = serve_locator

    def spawn(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        self.wait_for_bus()
        return super().spawn(message, fds)

    def shell(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Start the parts of a full desktop, after writing their settings to HOME."""
        fill_home(self.layout.home, message["home"], fds[0])
        self.wait_for_bus()
        for argv in message["parts"]:
            self.start_part(argv)
        return {}

    def start_part(self, argv: list[str]) -> None:
        self.starts[argv[0]] = self.starts.get(argv[0], 0) + 1
        self.parts[self.start(argv, [])] = argv

    def ended(self, pid: int, name: str, code: int) -> None:
        """A part of the shell that ends is started again, a few times."""
        super().ended(pid, name, code)
        argv = self.parts.pop(pid, None)
        if argv is not None and self.starts[argv[0]] < PART_STARTS:
            self.start_part(argv)

    def shell_parts(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """The parts of the shell that run, and how often each was started."""
        return {"running": sorted(argv[0] for argv in self.parts.values()), "starts": self.starts}

    def path(self, text: str) -> str:
        """Relative paths start at HOME. Whatever links they go through end inside this namespace."""
        return os.path.join(self.layout.home, text)

    def open(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        path = self.path(message["path"])
        if message["write"]:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        else:
            flags = os.O_RDONLY
        # Not blocking, so that opening a FIFO can't hang us.
        fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, message.get("mode", 0o644))
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.EISDIR, "not a regular file", path)
        return {}, fd

    def scratch(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """A file without a name, for what a program prints."""
        return {}, os.open(self.layout.run, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)

    def list_directory(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        found = []
        with os.scandir(self.path(message["path"])) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                found.append([entry.name, info.st_mode, info.st_size, info.st_mtime])
                if len(found) >= message["limit"]:
                    break
        return {"entries": sorted(found)}

    def stat(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        info = os.stat(self.path(message["path"]), follow_symlinks=message.get("follow", True))
        return {"mode": info.st_mode, "size": info.st_size, "mtime": info.st_mtime}

    def connect(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """A connection to a socket of this episode, for the owner to talk over."""
        self.wait_for_bus()
        name = message["path"]
        return {}, connect(name if name.startswith("/") else os.path.join(self.layout.run, name))

    def register_browser(self) -> None:
        """A browser that starts (``devtools_launcher``) hands over its end of a pipe; nothing is given back."""
        try:
            _said, fds = wire.receive_packet(self.registering)
        except (OSError, wire.Closed):
            return
        self.browsers = self.living_browsers()
        for fd in fds:
            if len(self.browsers) < MOST_BROWSERS and stat.S_ISSOCK(os.fstat(fd).st_mode):
                self.browsers.append(fd)
            else:
                os.close(fd)

    def living_browsers(self) -> list[int]:
        poll = select.poll()
        for fd in self.browsers:
            poll.register(fd, select.POLLRDHUP)
        gone = {fd for fd, _event in poll.poll(0)}
        for fd in gone:
            os.close(fd)
        return [fd for fd in self.browsers if fd not in gone]

    def devtools(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """The pipe to the browser that started last and still runs, for the owner to talk over."""
        self.browsers = self.living_browsers()
        if not self.browsers:
            raise OSError(errno.ENOTCONN, "no browser runs that can be asked")
        return {}, os.dup(self.browsers[-1])

    def dial(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """A connection to a TCP port that a program of this episode listens on."""
        return {}, connect(("127.0.0.1", message["port"]), socket.AF_INET, DIAL_S)

    def processes(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        found = []
        for pid in self.pids():
            try:
                with open("/proc/%d/stat" % pid, encoding="utf-8", errors="surrogateescape") as file:
                    name, _, rest = file.read().partition("(")[2].rpartition(")")
                with open("/proc/%d/cmdline" % pid, encoding="utf-8", errors="surrogateescape") as file:
                    command = file.read(65536).split("\0")[:-1]
            except (FileNotFoundError, ProcessLookupError):
                continue
            state, parent = rest.split()[:2]
            if state != "Z":
                found.append([pid, int(parent), name, command])
        return {"processes": found}

    def pids(self) -> list[int]:
        pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        if self.layout.isolated:
            return pids[1:]
        return descendants(os.getpid())

    OPERATIONS = frozenset(
        {
            "spawn",
            "signal",
            "open",
            "scratch",
            "list_directory",
            "stat",
            "connect",
            "dial",
            "processes",
            "shell",
            "shell_parts",
            "devtools",
        }
    )


def connect(
    address: str | tuple[str, int],
    family: socket.AddressFamily = socket.AF_UNIX,
    seconds: float = CONNECT_S,
) -> int:
    sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        sock.settimeout(seconds)
        sock.connect(address)
        sock.settimeout(None)
    except OSError:
        sock.close()
        raise
    return sock.detach()


def descendants(root: int) -> list[int]:
    """Every living process below ``root``, by the parent that each names."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/" + name + "/stat") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found, last = {root}, 0
    while len(found) != last:
        last = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return sorted(found - {root})


def enclose(limits: dict[str, int]) -> None:
    """Fresh memory-backed places over everything writable; the rest of the tree stays read-only."""
    kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    disk = "size=%dm,nr_inodes=%d" % (limits["disk_mb"], limits["files"])
    safe = kernel.NO_SUID | kernel.NO_DEV
    kernel.mount("tmpfs", "/mnt", "tmpfs", safe, disk + ",mode=1777")
    os.mkdir("/mnt/.X11-unix")
    kernel.mount("/tmp/.X11-unix", "/mnt/.X11-unix", None, kernel.BIND)
    kernel.mount(None, "/mnt/.X11-unix", None, kernel.BIND | kernel.REMOUNT | kernel.READ_ONLY | safe)
    kernel.mount("/mnt", "/tmp", None, kernel.MOVE)
    for place in ("/home/user", "/run/user/1000", "/dev/shm"):
        kernel.mount("tmpfs", place, "tmpfs", safe, disk + ",mode=0700")
    os.mkdir("/tmp/.var-tmp", 0o1777)
    kernel.mount("/tmp/.var-tmp", "/var/tmp", None, kernel.BIND)
    # The supervisor's own directory (framebuffer, logs) is not the agent's business.
    kernel.mount("tmpfs", "/operant", "tmpfs", safe | kernel.READ_ONLY, "size=4k,mode=0555")
    kernel.mount("proc", "/proc", "proc", safe)
    # A user namespace of its own would give a program back every capability over what it then mounts.
    kernel.forbid_user_namespaces()


def limit(limits: dict[str, int]) -> None:
    megabyte = 1 << 20
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, limits["memory_mb"] * megabyte),
        (resource.RLIMIT_FSIZE, limits["file_mb"] * megabyte),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, 4096),
    ):
        hard = resource.getrlimit(kind)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))


def fill_home(home: str, entries: list[list[Any]], contents: int) -> None:
    """Write a template: directories (size -1) and files, whose bytes follow one another in ``contents``.

    A file that is there already stays: the user's template is written before that of the shell.
    """
    offset = 0
    for path, mode, size in entries:
        target = os.path.join(home, path)
        if size < 0:
            os.makedirs(target, mode, exist_ok=True)
            continue
        if os.path.lexists(target):
            offset += size
            continue
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        left = size
        while left:
            copied = os.sendfile(fd, contents, offset, left)
            offset, left = offset + copied, left - copied
        os.close(fd)


def serve(
    programs: Programs,
    operations: frozenset[str],
    wake: int,
    others: dict[int, Callable[[], None]],
    chore: Callable[[], None] | None = None,
) -> None:
    """Answer requests until the owner's end closes. ``others`` maps more descriptors to what they trigger.

    ``others`` may change meanwhile. ``chore`` is done every so often, however busy the owner keeps us.
    """
    due = time.monotonic() + CHORE_S
    poll = select.poll()
    watched: set[int] = set()
    while True:
        wanted = {programs.control.fileno(), wake, *others}
        for fd in watched - wanted:
            poll.unregister(fd)
        for fd in wanted - watched:
            poll.register(fd, select.POLLIN)
        watched = wanted
        ready = poll.poll(CHORE_S * 1000 if chore else None)
        if chore and time.monotonic() >= due:
            chore()
            due = time.monotonic() + CHORE_S
        for fd, _event in ready:
            if fd == wake:
                os.read(wake, 512)
                programs.reap()
            elif fd in others:
                others[fd]()
            elif fd == programs.control.fileno():
                message, fds = wire.receive(programs.control)
                answer(programs, operations, message, fds)


def answer(programs: Programs, operations: frozenset[str], message: dict[str, Any], fds: list[int]) -> None:
    reply: dict[str, Any]
    given: list[int] = []
    try:
        if message["op"] not in operations:
            raise OSError(errno.ENOSYS, "no such operation", message["op"])
        result = getattr(programs, message["op"])(message, fds)
        reply, *given = result if isinstance(result, tuple) else (result,)
    except OSError as error:
        reply = {"errno": error.errno or errno.EIO, "error": str(error)}
    except (KeyError, TypeError, ValueError) as error:
        # A malformed request is the owner's mistake; it must not end the desktop.
        reply = {"errno": errno.EINVAL, "error": "%s: %s" % (type(error).__name__, error)}
    reply["id"] = message["id"]
    wire.send(programs.control, reply, tuple(given))
    for fd in (*fds, *given):
        os.close(fd)


def wake_on_child_end() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def run(
    control: socket.socket, layout: EpisodeLayout, settings: dict[str, Any], display: str, home: int
) -> None:
    """Be process 1 of an episode; returns when the owner has let go of it."""
    kernel.hide_from_tracers()
    if layout.isolated:
        if not settings["network"]:
            kernel.loopback_up()
        enclose(settings["limits"])
    else:
        kernel.adopt_orphans()
        for place in (layout.home, layout.run):
            os.makedirs(place, 0o700)
    limit(settings["limits"])
    os.umask(0o022)
    os.chdir("/")
    fill_home(layout.home, settings["home"], home)
    if layout.isolated:
        seccomp.install()
    environment = layout.environment(display, settings["environment"])
    os.environ["PATH"] = environment["PATH"]  # where programs are looked for: also /usr/games, /usr/local/bin
    bus = ["dbus-daemon", "--config-file=" + settings["bus_config"], "--nofork", "--nopidfile", "--nosyslog"]
    wake = wake_on_child_end()
    episode = SandboxEpisode(control, layout, environment, bus)
    wire.send(control, {"event": "ready"})
    episode.others[episode.registering.fileno()] = episode.register_browser
    serve(episode, SandboxEpisode.OPERATIONS, wake, episode.others)
