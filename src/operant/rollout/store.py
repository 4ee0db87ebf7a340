"""Episodes on disk: the one form in which experience is kept, written step by step.

An episode is a directory. ``observations.bin`` holds everything that was observed (``observations``), ``traj.jsonl``
has a line for each step, with the action, what the agent said and what learning wants back (such as what the oracle
would have done, or token ids with log-probabilities), and ``episode.json`` says what was played and how it ended.

A killed writer leaves a readable episode. While an episode runs there is ``episode.partial.json`` in place of
``episode.json``; a step's line is appended only after what it led to is complete. The last act is to rename
``episode.json`` into place: where it is, the episode ended; where it is not, it was cut short.

With ``pictures`` each screen is a PNG too, for browsers and OSWorld's tools (32 kB and 25 ms a screen of 1280x800, in
a thread beside the episode). A screen that did not change is a hard link to the last one. Nothing here reads them
again, except in episodes of format 1, which had no observations.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from operant.actions import render
from operant.actions.json_actions import from_json, to_json
from operant.agents.base import Usage
from operant.atomic_files import write_atomically, write_problem
from operant.errors import InvalidAction, NoResults, ResultsError
from operant.pictures.png import png_bytes
from operant.rollout import layout
from operant.rollout.commit import commit
from operant.rollout.episode import Episode, EpisodeResult, Step
from operant.rollout.observations import ObservationWriter
from operant.types import Action, ActionKind, Observation, Outcome, Size

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from operant.tasks.task import Task

__all__ = ["EpisodeWriter", "find_episodes", "read_episode"]

FORMAT = 2
READABLE = (1, FORMAT)
WAITING_FRAMES = 8  # at most so many screens (4 MB each) wait to be compressed


# Writing.


class EpisodeWriter:
    """Keeps one episode in one directory; what another attempt left there is removed first.

    ``about`` is added to the header: who the agent is, under which settings. ``pictures`` are PNGs of the screens,
    ``video`` is a film of them. Implements ``loop.Recorder``.
    """

    def __init__(
        self, directory: Path, about: Mapping[str, Any], *, video: bool = False, pictures: bool = True
    ) -> None:
        self.directory = directory
        self.video = video
        self.pictures = pictures
        self._header: dict[str, Any] = {"format": FORMAT, "id": uuid.uuid4().hex, **about}
        self._steps: list[Step] = []
        self._size = Size(1, 1)
        self._jobs: queue.Queue[tuple[Observation, Path | None, Step | None] | None] = queue.Queue(
            WAITING_FRAMES
        )
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None

    def begin(self, task: Task) -> None:
        self._header |= {
            "task": task.id,
            "instruction": task.instruction,
            "difficulty": task.difficulty.value,
            "apps": list(task.apps),
            "skill": task.skill,
            "family": task.family,
            "unseen": task.unseen,
            "seed": task.seed,
            "split": task.split,
            "parameters": task.parameters,
            "max_steps": task.max_steps,
            "commit": commit(),
            "started": _now().isoformat(),
        }
        with self._writing():
            self.directory.mkdir(parents=True, exist_ok=True)
            _clear(self.directory)
            write_atomically(self.directory / layout.PARTIAL, _dump(self._header))
            (self.directory / layout.TRAJECTORY).touch()
        self._thread = threading.Thread(target=self._work, name="operant-episode-writer", daemon=True)
        self._thread.start()

    def look(self, observation: Observation) -> None:
        height, width = observation.screen.shape[:2]
        self._size = Size(width, height)
        picture = self._picture(0, layout.timestamp(_now()))
        self._header |= {"screen": [width, height], "first_state": _pointer(observation)}
        if picture is not None:
            self._header["first_screenshot"] = picture.name
        self._put(observation, picture, None)

    def step(self, step: Step, observation: Observation) -> None:
        stamp = layout.timestamp(_now())
        picture = self._picture(step.number, stamp)
        step = replace(step, timestamp=stamp, screenshot=picture)
        self._steps.append(step)
        self._put(observation, picture, step)

    def end(self, result: EpisodeResult) -> None:
        self._drain()
        self._header |= {
            "outcome": result.outcome.value,
            "reward": result.reward,
            "why": result.why,
            "steps": result.steps,
            "invalid_steps": result.invalid_steps,
            "waits": result.waits,
            "turns": result.turns,
            "looks": result.looks,
            "calls": result.calls,
            "gui_actions": result.gui_actions,
            "end": result.end,
            **({} if result.usage is None else {"usage": asdict(result.usage)}),
            "actions": [None if step.action is None else to_json(step.action) for step in self._steps],
            "finished": _now().isoformat(),
            "seconds": {"agent": result.agent_s, "desktop": result.desktop_s, "total": result.total_s},
        }
        with self._writing():
            if self.video and self._steps:
                from operant.pictures.film import write_mp4

                episode = Episode(self.directory, self._header, tuple(self._steps), None)
                write_mp4(episode, self.directory / layout.RECORDING)
            if result.outcome.is_experience:
                # Without it OSWorld's tools take the task as not done yet: right after an infra error.
                write_atomically(self.directory / layout.RESULT, f"{result.reward}\n")
            write_atomically(self.directory / layout.EPISODE, _dump(self._header), sync=True)
            (self.directory / layout.PARTIAL).unlink(missing_ok=True)

    def abandon(self) -> None:
        with contextlib.suppress(ResultsError):
            self._drain()

    def remove(self) -> None:
        """Delete what was written, the mark that it ended first."""
        with self._writing():
            _clear(self.directory)
            self.directory.rmdir()

    def _picture(self, number: int, stamp: str) -> Path | None:
        return self.directory / layout.screenshot_name(number, stamp) if self.pictures else None

    # The thread that compresses.

    def _put(self, observation: Observation, picture: Path | None, step: Step | None) -> None:
        if self._failure is not None:
            raise self._problem(self._failure) from self._failure
        self._jobs.put((observation, picture, step))

    def _drain(self) -> None:
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
        if self._failure is not None:
            raise self._problem(self._failure) from self._failure

    def _work(self) -> None:
        try:
            self._write_all()
        except Exception as error:  # noqa: BLE001 - raised in the thread that plays
            self._failure = error
            while self._jobs.get() is not None:
                pass  # the episode must not wait for room in the queue

    def _write_all(self) -> None:
        observations = ObservationWriter(self.directory / layout.OBSERVATIONS)
        pictures = _Pictures()
        try:
            with open(self.directory / layout.TRAJECTORY, "a", encoding="utf-8") as trajectory:
                while (job := self._jobs.get()) is not None:
                    observation, picture, step = job
                    observations.add(observation)
                    if picture is not None:
                        pictures.add(observation.screen, picture)
                    if step is None:
                        write_atomically(self.directory / layout.PARTIAL, _dump(self._header))
                    else:
                        trajectory.write(json.dumps(_line(step, self._size), default=_plain) + "\n")
                        trajectory.flush()
            observations.close(sync=True)
        finally:
            observations.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._problem(error) from error

    def _problem(self, error: Exception) -> ResultsError:
        return ResultsError(
            write_problem(self.directory, error),
            hint="make room there, or choose another directory; episodes that are there are whole",
        )


class _Pictures:
    """Writes screens as PNGs, equal ones as links."""

    def __init__(self) -> None:
        self._last: tuple[npt.NDArray[np.uint8], Path] | None = None

    def add(self, screen: npt.NDArray[np.uint8], path: Path) -> None:
        import numpy as np

        if self._last is not None and np.array_equal(screen, self._last[0]):
            _link(self._last[1], path)
        else:
            _write_png(screen, path)
            self._last = screen, path


def _write_png(screen: npt.NDArray[np.uint8], path: Path) -> None:
    path.write_bytes(png_bytes(screen))


def _link(existing: Path, path: Path) -> None:
    try:
        os.link(existing, path)
    except OSError:  # a file system without hard links
        path.write_bytes(existing.read_bytes())


def _clear(directory: Path) -> None:
    # The mark that says "ended" goes first.
    for name in (
        layout.EPISODE, layout.RESULT, layout.TRAJECTORY, layout.PARTIAL, layout.OBSERVATIONS, layout.RECORDING,
    ):  # fmt: skip
        (directory / name).unlink(missing_ok=True)
    for screenshot in directory.glob("step_*.png"):
        screenshot.unlink()


def _line(step: Step, size: Size) -> dict[str, Any]:
    """A line of ``traj.jsonl``: OSWorld's fields, and ours under one key."""
    return {
        "step_num": step.number,
        "action_timestamp": step.timestamp,
        "action": _in_their_words(step.action, size),
        "response": step.response,
        "reward": step.reward,
        "done": step.done,
        "info": dict(step.info),
        "screenshot_file": step.screenshot.name if step.screenshot else None,
        "operant": {
            "action": None if step.action is None else to_json(step.action),
            "invalid": step.invalid,
            "agent_ms": round(step.agent_ms, 3),
            "desktop_ms": round(step.desktop_ms, 3),
            "state": step.state,
            "record": step.record,
            "turn": step.turn,
            **({"actor": step.actor} if step.actor else {}),
            **({} if step.usage is None else {"usage": asdict(step.usage)}),
        },
    }


def _in_their_words(action: Action | None, size: Size) -> Any:
    if action is None:
        return "WAIT"  # nothing was done; ``operant.invalid`` says why
    if action.kind in (ActionKind.ASK, ActionKind.ANSWER):
        return "DONE"
    try:
        return render(layout.ACTION_SPACE, action, size)
    except InvalidAction:  # the format has no words for it
        return to_json(action)


def _pointer(observation: Observation) -> dict[str, Any]:
    return {"pointer": [observation.pointer.x, observation.pointer.y]}


def _dump(header: Mapping[str, Any]) -> str:
    return json.dumps(header, indent=1, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """What JSON has no words for: numpy's numbers and arrays, sets; anything else as text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    return repr(value)


def _now() -> datetime:
    return datetime.now(timezone.utc)


# Reading.


def find_episodes(root: Path) -> list[Path]:
    """The directories of all episodes below, ended or cut short, in order of their names."""
    found = {path.parent for name in (layout.EPISODE, layout.PARTIAL) for path in root.rglob(name)}
    return sorted(found)


def read_episode(directory: Path) -> Episode:
    """An episode; one that was cut short has no outcome, and the steps that were written until then."""
    header = _read_header(directory)
    first = header.get("first_screenshot")
    return Episode(
        directory,
        header,
        tuple(_read_steps(directory)),
        directory / _base_name(first, directory) if first else None,
    )


def _read_header(directory: Path) -> dict[str, Any]:
    for name in (layout.EPISODE, layout.PARTIAL):
        path = directory / name
        try:
            header = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise ResultsError(f"{path} can't be read: {error}") from error
        if not isinstance(header, dict) or header.get("format") not in READABLE:
            raise ResultsError(
                f"{path} is not an episode of format {' or '.join(map(str, READABLE))}",
                hint="it is damaged, or was written by a newer version of Operant",
            )
        missing = {"task", "instruction", "agent", "difficulty", "apps", "seed", "split"} - set(header)
        if missing:
            raise ResultsError(f"{path} lacks {', '.join(sorted(missing))}")
        if "outcome" in header and header["outcome"] not in {outcome.value for outcome in Outcome}:
            raise ResultsError(f"{path}: {header['outcome']!r} is not an outcome")
        return header
    raise NoResults(
        f"{directory} holds no episode", hint=f"an episode is a directory with {layout.EPISODE} in it"
    )


def _read_steps(directory: Path) -> Iterator[Step]:
    path = directory / layout.TRAJECTORY
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error}") from error
    # What follows the last line's end was cut off, or is nothing.
    for index, line in enumerate(lines[:-1], 1):
        try:
            yield _read_step(json.loads(line), directory)
        except (ValueError, KeyError, TypeError, InvalidAction) as error:
            raise ResultsError(f"{path}, line {index}: {type(error).__name__}: {error}") from error


def _read_step(line: dict[str, Any], directory: Path) -> Step:
    ours, screenshot = line["operant"], line["screenshot_file"]
    return Step(
        number=int(line["step_num"]),
        action=None if ours["action"] is None else from_json(ours["action"]),
        response=str(line["response"]),
        reward=float(line["reward"]),
        done=bool(line["done"]),
        invalid=ours["invalid"],
        info=dict(line["info"]),
        agent_ms=float(ours["agent_ms"]),
        desktop_ms=float(ours["desktop_ms"]),
        state=dict(ours["state"]),
        record=dict(ours["record"]),
        timestamp=str(line["action_timestamp"]),
        screenshot=directory / _base_name(screenshot, directory) if screenshot else None,
        turn=int(ours.get("turn", 0)),
        actor=str(ours.get("actor", "")),
        usage=Usage.from_json(ours["usage"]) if "usage" in ours else None,
    )


def _base_name(name: object, directory: Path) -> str:
    """A file of the episode's own directory, whatever the episode says."""
    if not isinstance(name, str) or Path(name).name != name:
        raise ResultsError(f"{directory}: {name!r} is not the name of a screenshot")
    return name
