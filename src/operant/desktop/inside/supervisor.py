"""Process 1 of a desktop: keeps the display and the window manager, and starts and ends episodes.

Runs in the desktop's outer namespaces, where no agent's program can see, trace or kill it; the agent's
programs live one level further in (``episode``). It ends, and the kernel ends everything with it, as soon
as its owner is gone: the control socket closes, or the owner's pidfd says so even when some forked child
of the owner still holds a copy of that socket.

Started as ``supervisor.py CONTROL OWNER [BASE]`` with two inherited descriptors; BASE is a temporary
directory and means "no isolation".
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
import signal
import socket
import sys
from typing import Any

import episode
import kernel
import wire
from activity import Activity
from programs import Programs

DISPLAY_READY_S = 20.0


class Supervisor(Programs):
    OPERATIONS = frozenset(
        {
            "configure",
            "restart_display",
            "x_connect",
            "begin_episode",
            "spawn",
            "signal",
            "busy",
            "rest",
            "usage",
        }
    )

    def __init__(self, control: socket.socket, base: str | None) -> None:
        self.private = base + "/operant" if base else "/operant"
        environment = {"HOME": self.private, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        if base:
            # Without walls a killed supervisor leaves orphans; by its mark they are known and ended later.
            environment["OPERANT_DESKTOP_OF"] = os.environ["OPERANT_DESKTOP_OF"]
        super().__init__(control, environment)
        self.layout = episode.EpisodeLayout(base)
        self.settings: dict[str, Any] = {}
        self.home = -1
        self.episode_pid = 0
        self.display_pids: set[int] = set()
        self.activity = Activity(self.pids)
        os.makedirs(self.private + "/fb", exist_ok=True)

    # The display and its window manager.

    def configure(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """The first request: the desktop's settings, and the files of its HOME as one descriptor."""
        self.settings = message["settings"]
        self.home = os.dup(fds[0])
        return self.start_display()

    def restart_display(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """End the episode and the display with all its state, and bring up a new one."""
        self.end_episode()
        # All of them: a child that the server started for a moment holds the socket that the next one needs.
        while True:
            left = self.pids()
            if not left:
                break
            for pid in left:
                end(pid)
            self.reap()
        self.display_pids.clear()
        for name in os.listdir(self.private + "/fb"):
            os.unlink(self.private + "/fb/" + name)
        return self.start_display()

    def start_display(self) -> tuple[dict[str, Any], int]:
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        # In a network namespace of its own the number is free. Beside other servers Xvfb picks one: abstract sockets
        # of X belong to the network.
        number = [":0"] if self.layout.isolated and not self.settings["network"] else []
        argv = [
            "Xvfb",
            *number,
            "-displayfd",
            str(writing),
            *self.settings["xvfb"],
            "-fbdir",
            self.private + "/fb",
        ]
        self.start_logged(argv)
        os.close(writing)
        said = b""
        while not said.endswith(b"\n"):
            ready = select.poll()
            ready.register(reading, select.POLLIN)
            chunk = os.read(reading, 16) if ready.poll(DISPLAY_READY_S * 1000) else b""
            if not chunk:
                os.close(reading)
                raise OSError(errno.ECONNREFUSED, "Xvfb did not start: " + self.log("Xvfb"))
            said += chunk
        os.close(reading)
        self.environment["DISPLAY"] = ":" + said.decode().strip()
        self.start_logged(["openbox", "--sm-disable", "--config-file", self.settings["openbox_config"]])
        framebuffer = os.open(self.private + "/fb/Xvfb_screen0", os.O_RDONLY | os.O_CLOEXEC)
        return {"display": self.environment["DISPLAY"]}, framebuffer

    def start_logged(self, argv: list[str]) -> None:
        path = self.private + "/" + argv[0] + ".log"
        log = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            pid = self.start(argv, [log, log, log])
            self.display_pids.add(pid)
            # What programs store in the server is theirs as well: it then refuses, and lives.
            allowed = self.settings["limits"]["memory_mb"] << 20
            resource.prlimit(pid, resource.RLIMIT_DATA, (allowed, allowed))
        finally:
            os.close(log)

    def log(self, name: str) -> str:
        with open(self.private + "/" + name + ".log", errors="replace") as file:
            return " ".join(file.read(4096).split())[-400:] or "it said nothing"

    def x_connect(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """A connection to the display, for the owner to talk over."""
        return {}, episode.connect("/tmp/.X11-unix/X" + self.environment["DISPLAY"][1:])

    # Episodes.

    def begin_episode(self, message: dict[str, Any], fds: list[int]) -> tuple[dict[str, Any], int]:
        """End the episode that runs, if any, and begin another; the answer carries its control socket."""
        self.end_episode()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = kernel.fork_into_pid_namespace() if self.layout.isolated else os.fork()
        if pid == 0:
            self.become_episode(ours, theirs)
        ours.close()
        self.episode_pid = pid
        return {}, theirs.detach()

    def become_episode(self, control: socket.socket, theirs: socket.socket) -> None:
        """In the forked child; never returns."""
        try:
            signal.set_wakeup_fd(-1)
            self.activity.forget()
            theirs.close()
            self.control.close()
            if self.layout.isolated:
                kernel.unshare(kernel.NEWNS | (0 if self.settings["network"] else kernel.NEWNET))
            else:
                kernel.die_with_parent(signal.SIGKILL)
            episode.run(control, self.layout, self.settings, self.environment["DISPLAY"], self.home)
        except wire.Closed:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever it is, the owner is told of it
            with contextlib.suppress(wire.Closed):
                wire.send(control, {"event": "failed", "error": "%s: %s" % (type(error).__name__, error)})
        finally:
            os._exit(0)

    def end_episode(self) -> None:
        """Return when nothing of the last episode runs or lies around any more."""
        if self.episode_pid:
            # Waiting for process 1 of a namespace is waiting for everything in it.
            end(self.episode_pid)
            self.episode_pid = 0
        if self.layout.isolated:
            leftovers = [pid for pid in self.children if pid not in self.display_pids]
        else:
            leftovers = [pid for pid in episode.descendants(os.getpid()) if pid not in self.display_pids]
        while leftovers:
            for pid in leftovers:
                end(pid)
            self.reap()
            leftovers = [pid for pid in episode.descendants(os.getpid()) if pid not in self.display_pids]
        if self.layout.isolated:
            kernel.remove_sysv_objects()
            for name in os.listdir(self.private + "/mqueue"):
                os.unlink(self.private + "/mqueue/" + name)
        else:
            remove_tree(self.layout.home)
            remove_tree(self.layout.run)

    # What the owner asks about the whole desktop.

    def pids(self) -> list[int]:
        """Every process of the desktop but this one."""
        if self.layout.isolated:
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        return episode.descendants(os.getpid())

    def busy(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Whether any program of the desktop runs or is about to.

        With ``due``, or is about to draw; with ``within_ms``, or has a timer of at most so long that it did not have
        when the desktop was last at rest.
        """
        activity, within_ms = self.activity, message["within_ms"]
        busy = activity.busy(surely=message["surely"]) or (message["due"] and activity.due())
        return {"busy": busy or (within_ms > 0 and activity.timers(within_ms))}

    def rest(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Take the timers that programs have now for those that they have at rest."""
        self.activity.rest()
        return {}

    def usage(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Memory by process, in kilobytes, with shared pages split among those who share them."""
        found = []
        for pid in (os.getpid(), *self.pids()):
            with contextlib.suppress(OSError):
                with open("/proc/%d/smaps_rollup" % pid) as file:
                    pss = [int(line.split()[1]) for line in file if line.startswith("Pss:")]
                with open("/proc/%d/comm" % pid) as file:
                    found.append([file.read().strip(), sum(pss)])
        return {"pss_kb": found}

    def enforce_memory(self) -> None:
        """End the largest process when all of them together hold more than the desktop may."""
        if not self.settings:
            return
        allowed = self.settings["limits"]["memory_mb"] << 20
        keep = {self.episode_pid, *self.display_pids}
        sizes = {}
        for pid in self.pids():
            if pid not in keep:
                with contextlib.suppress(OSError, ValueError), open("/proc/%d/status" % pid) as file:
                    # Shared memory too, which no limit of the kernel's binds: a process that maps it holds it.
                    kinds = ("RssAnon:", "RssShmem:", "VmSwap:")
                    held = [int(line.split()[1]) for line in file if line.startswith(kinds)]
                    sizes[pid] = sum(held) << 10
        if sum(sizes.values()) > allowed:
            largest = max(sizes, key=lambda pid: sizes[pid])
            with contextlib.suppress(ProcessLookupError):
                os.kill(largest, signal.SIGKILL)
            wire.send(self.control, {"event": "memory", "limit_mb": allowed >> 20})


def end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def remove_tree(place: str) -> None:
    """Like shutil.rmtree, but takes directories that were made read-only in its stride."""
    for root, directories, _files in os.walk(place):
        for name in directories:
            path = os.path.join(root, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    for root, directories, files in os.walk(place, topdown=False):
        for name in files:
            os.unlink(os.path.join(root, name))
        for name in directories:
            path = os.path.join(root, name)
            os.unlink(path) if os.path.islink(path) else os.rmdir(path)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(place)


def owner_gone() -> None:
    raise wire.Closed


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    owner = int(sys.argv[2])
    base = sys.argv[3] if len(sys.argv) > 3 else None
    for fd in (control.fileno(), owner):
        os.set_inheritable(fd, False)
    # Nothing inside may stop us by a signal; for process 1 the default means that it is dropped.
    signal.signal(signal.SIGINT, signal.SIG_IGN if base else signal.SIG_DFL)
    kernel.hide_from_tracers()
    wake = episode.wake_on_child_end()
    supervisor = Supervisor(control, base)
    if supervisor.layout.isolated:
        # Bubblewrap ends in a user namespace within the one that owns its mounts; these are ours to change.
        kernel.unshare(kernel.NEWNS | kernel.NEWIPC)
        os.makedirs("/operant/mqueue", exist_ok=True)
        kernel.mount("mqueue", "/operant/mqueue", "mqueue")
        os.makedirs("/tmp/.X11-unix", exist_ok=True)
        kernel.keep_capabilities_to_self()
    else:
        kernel.adopt_orphans()
    try:
        episode.serve(supervisor, Supervisor.OPERATIONS, wake, {owner: owner_gone}, supervisor.enforce_memory)
    except wire.Closed:
        if base:
            supervisor.end_episode()
            for pid in supervisor.display_pids:
                end(pid)
            remove_tree(base)


if __name__ == "__main__":
    main()
