"""Training runs by name: started as processes, found again after a restart, stopped, asked how they are.

Everything that is known of a run lies in its directory; this object only reads it, so a service that comes
back knows as much as the one that went away. A process counts as the run's only if it also began when the run
says it did: pids are used again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loguru import logger

from operant.atomic_files import write_atomically
from operant.errors import NoTraining, RequestForbidden, ResultsError, TrainingBusy
from operant.service.logs import current_request_id
from operant.service.training.progress import Progress, is_reward_hack, read_progress
from operant.service.training.run_supervisor import EXIT, LOG

__all__ = ["Runs", "TrainingRun"]

RUN, FINAL = "run.json", "final_model.pt"
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
LAST_WORDS = 4000


@dataclass(frozen=True)
class TrainingRun:
    """A run as its directory tells it."""

    id: str
    directory: Path
    command: tuple[str, ...]
    options: Mapping[str, Any]
    started: float
    state: str
    """running, finished, stopped, failed or lost (its process went without a word)."""
    code: int | None = None
    ended: float | None = None
    request_id: str = ""
    pid: int | None = field(default=None, compare=False)

    @property
    def running(self) -> bool:
        return self.state == "running"

    def progress(self, most: int = 1000) -> Progress:
        return read_progress(self.directory, most)

    def failure(self) -> tuple[str | None, str | None]:
        """Why it failed, and what to do about it."""
        if self.state == "lost":
            return "its process is gone without a word: it was killed, or the machine was started anew", None
        if self.state != "failed":
            return None, None
        return _reason(self.last_words(), self.code)

    def reward_hack(self) -> bool:
        return is_reward_hack(self.progress())

    def checkpoints(self) -> list[str]:
        found = sorted(self.directory.glob("checkpoint_*.pt"), key=lambda path: path.stat().st_mtime)
        return [path.name for path in found] + ([FINAL] if (self.directory / FINAL).exists() else [])

    def last_words(self) -> str:
        """The end of what the training printed."""
        try:
            with open(self.directory / LOG, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_WORDS))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""


class Runs:
    """At most one at a time: training takes the whole machine."""

    def __init__(self, root: Path, command: Sequence[str], *, enabled: bool = True) -> None:
        self.enabled = enabled
        self._root = root
        self._command = tuple(command)
        self._lock = threading.Lock()
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def command(self, directory: Path, options: Mapping[str, Any]) -> tuple[str, ...]:
        """What would be run. Options become flags; nothing passes through a shell."""
        words = [*self._command]
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            if value is True:
                words.append(flag)
            elif isinstance(value, (list, tuple)):
                words += [flag, ",".join(map(str, value))]
            elif value is not None and value is not False:
                words += [flag, str(value)]
        return (*words, "--save-dir", str(directory), "--log-dir", str(directory))

    def start(self, options: Mapping[str, Any], name: str | None = None) -> TrainingRun:
        """Begin a run; ``TrainingBusy`` while another one is under way."""
        self._check_enabled()
        with self._lock:
            self._check_free()
            identity = name or f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:4]}"
            directory = self._root / identity
            if directory.exists():
                raise TrainingBusy(f"there is a run {identity} already", hint="choose another name")
            return self._spawn(identity, directory, options)

    def resume(self, run: TrainingRun, options: Mapping[str, Any]) -> TrainingRun:
        """Go on with a run that has ended, from its newest checkpoint, with other options where there are any."""
        self._check_enabled()
        with self._lock:
            self._check_free()
            if not run.checkpoints():
                raise NoTraining(
                    f"the run {run.id} has no checkpoint to go on from", hint="start another one"
                )
            (run.directory / EXIT).unlink(missing_ok=True)
            kept = {name: value for name, value in run.options.items() if name != "init_from"}
            return self._spawn(run.id, run.directory, {**kept, **options, "resume": True})

    def _check_free(self) -> None:
        current = self.current()
        if current is not None:
            raise TrainingBusy(
                f"the run {current.id} is under way", hint="POST /api/v1/training/stop ends it"
            )

    def _spawn(self, identity: str, directory: Path, options: Mapping[str, Any]) -> TrainingRun:
        command = self.command(directory, options)
        supervisor = [
            sys.executable,
            "-m",
            "operant.service.training.run_supervisor",
            str(directory),
            *command,
        ]
        form: dict[str, Any] = {
            "id": identity,
            "command": command,
            "options": dict(options),
            "started": time.time(),
            "request_id": current_request_id(),
        }
        try:
            directory.mkdir(parents=True, exist_ok=True)
            child = subprocess.Popen(
                supervisor,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # People read its log on the dashboard.
                env={**os.environ, "OPERANT_REQUEST_ID": current_request_id(), "LOG_FORMAT": "human"},
                start_new_session=True,  # Ctrl-C at the service is not meant for the training
            )
            form |= {"pid": child.pid, "pid_began": _began(child.pid)}
            write_atomically(directory / RUN, json.dumps(form, indent=1))
        except OSError as error:
            raise ResultsError(f"the run can't be started: {error}") from error
        self._children[identity] = child
        logger.bind(run=identity).info("training run {} has begun", identity)
        return self.find(identity)

    def stop(self, identity: str | None = None) -> TrainingRun:
        """Ask a run to write its last checkpoint and end; ``find`` tells when it has. Asked again, it hurries."""
        self._check_enabled()
        run = self.current() if identity is None else self.find(identity)
        if run is None or not run.running or run.pid is None:
            raise NoTraining("no training run is under way", hint="POST /api/v1/training/start begins one")
        with contextlib.suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGTERM)
        logger.bind(run=run.id).info("training run {} was asked to stop", run.id)
        return run

    def current(self) -> TrainingRun | None:
        """The run that is under way."""
        return next((run for run in self.list() if run.running), None)

    def find(self, identity: str) -> TrainingRun:
        if NAME.fullmatch(identity) and (run := self._read(self._root / identity)) is not None:
            return run
        raise NoTraining(f"there is no run {identity[:64]!r}", hint="GET /api/v1/training/runs lists them")

    def list(self) -> list[TrainingRun]:
        """The newest first."""
        paths = self._root.iterdir() if self._root.is_dir() else ()
        runs = [run for path in paths if (run := self._read(path)) is not None]
        return sorted(runs, key=lambda run: run.started, reverse=True)

    def _check_enabled(self) -> None:
        if not self.enabled:
            raise RequestForbidden(
                "training is switched off here", hint="start the service with TRAINING_ENABLED=true"
            )

    def _read(self, directory: Path) -> TrainingRun | None:
        try:
            form = json.loads((directory / RUN).read_text(encoding="utf-8"))
            pid, state, code, ended = form["pid"], "running", None, None
            self._reap(form["id"])
            ending = _read_json(directory / EXIT)
            if ending is not None:
                code, ended = ending["code"], ending["ended"]
                state = "stopped" if ending["stopped"] else "finished" if code == 0 else "failed"
            elif _began(pid) != form["pid_began"]:
                state = "lost"
            return TrainingRun(
                str(form["id"]),
                directory,
                tuple(form["command"]),
                form["options"],
                float(form["started"]),
                state,
                code,
                ended,
                str(form.get("request_id", "")),
                int(pid),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _reap(self, identity: str) -> None:
        child = self._children.get(identity)
        if child is not None and child.poll() is not None:
            self._children.pop(identity, None)


def _reason(said: str, code: int | None) -> tuple[str | None, str | None]:
    """The last error and its hint among what a training printed; otherwise its last line, or the signal that ended it."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for place in range(len(lines) - 1, -1, -1):
        if lines[place].startswith("error: "):
            after = lines[place + 1] if place + 1 < len(lines) else ""
            hint = after.removeprefix("hint: ") if after.startswith("hint: ") else None
            return lines[place].removeprefix("error: "), hint
    if code is not None and code < 0:
        return f"it was ended by {_signal_name(-code)}", "was there enough memory? the log is below"
    return (lines[-1] if lines else f"it ended with code {code} and said nothing"), None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _began(pid: int) -> int | None:
    """When a process began, in ticks since boot; None if there is none, or only its remains."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name in parentheses may hold anything; what follows the last one is regular.
    state, *rest = text.rpartition(")")[2].split()
    return None if state == "Z" else int(rest[18])
