"""Starting, signalling and reaping programs: what both the supervisor and an episode do.

A program gets its own session, the descriptors that came with the request, and an exit message when it
ends. Knows nothing of displays or mounts.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Mapping
from typing import Any

import wire

DEFAULTED = [signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD]


class Programs:
    def __init__(self, control: socket.socket, environment: Mapping[str, str]) -> None:
        self.control = control
        self.environment = dict(environment)
        self.children: dict[int, str] = {}

    def spawn(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Start ``argv`` with up to three descriptors as its stdin, stdout and stderr."""
        argv = message["argv"]
        pid = self.start(argv, fds, message.get("env", {}), message.get("cwd"))
        return {"pid": pid}

    def start(
        self, argv: list[str], fds: list[int], extra: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> int:
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        targets = [*fds, null, null, null][:3]
        # The sources lie above 2, so that no dup2 overwrites one that is still to come.
        actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate(targets)]
        here = os.getcwd()
        try:
            os.chdir(cwd or self.environment["HOME"])
            pid = os.posix_spawnp(
                argv[0],
                argv,
                {**self.environment, **(extra or {})},
                file_actions=actions,
                setsid=True,
                setsigdef=DEFAULTED,
                setsigmask=[],
            )
        finally:
            os.chdir(here)
            os.close(null)
        self.children[pid] = argv[0]
        return pid

    def signal(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Signal a process, or with ``group`` everything in its session's group."""
        pid, number = message["pid"], message["signal"]
        try:
            (os.killpg if message.get("group") else os.kill)(pid, number)
        except ProcessLookupError:
            pass
        return {}

    def reap(self) -> None:
        """Collect whatever has ended, adopted orphans included, and tell of the programs that we started."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            name = self.children.pop(pid, None)
            if name is not None:
                self.ended(pid, name, os.waitstatus_to_exitcode(status))

    def ended(self, pid: int, name: str, code: int) -> None:
        """A program that we started has ended: tell the owner."""
        wire.send(self.control, {"event": "exit", "pid": pid, "name": name, "code": code})
