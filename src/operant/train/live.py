"""Watching a run: what each desktop shows and what the agent is about to do, as files in the log directory, and a film.

A run writes ``live/state.json`` and ``live/desktop-N.jpg`` while ``live/watched`` is fresh: the viewer of the run (the
dashboard's training page, ``operant train --visualize``) touches that file. Otherwise nothing is drawn, so a run that is
not watched pays nothing.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from loguru import logger
from PIL import Image

from operant.actions.describe import describe
from operant.errors import OperantError
from operant.pictures.drawing import draw_action, draw_caption
from operant.pictures.film import Film
from operant.types import Action, Point, Size

if TYPE_CHECKING:
    from operant.envs.vector import DesktopVectorEnv
    from operant.learn.progress import RunStatus, UpdateReport

__all__ = ["LIVE", "STATE", "WATCHED", "LiveView", "Wall", "next_film", "picture_name"]

LIVE, STATE, WATCHED = "live", "state.json", "watched"

FRAME_S = 0.25  # between two frames of one desktop
WATCHED_S = 5.0  # how long a run counts as watched after the last look
FILM_S = 2.0  # between two pictures of the film
HOLD_MS = 100  # how long each of them is shown
TILE = 480  # width of a desktop on the wall


class _Tile:
    """What one desktop showed last, and what was done then."""

    def __init__(
        self,
        frame: npt.NDArray[np.uint8],
        action: Action | None,
        pointer: Point,
        task: str,
        instruction: str,
        step: int,
        most: int,
    ) -> None:
        self.frame, self.action, self.pointer = frame, action, pointer
        self.task, self.instruction, self.step, self.most = task, instruction, step, most

    def draw(self) -> Image.Image:
        whole = Size(self.frame.shape[1], self.frame.shape[0])
        small = (TILE, round(TILE * whole.height / whole.width))
        # Made small first: drawing on it is then a hundredth of the work.
        screen = Image.fromarray(self.frame).resize(small, Image.Resampling.BILINEAR, reducing_gap=1.0)
        if self.action is None:
            return screen
        return draw_caption(draw_action(screen, self.action, self.pointer), describe(self.action, whole))


class Wall:
    """The last frame of every desktop and how the run goes. Written by the run, drawn for viewers and the film."""

    def __init__(self, env: DesktopVectorEnv) -> None:
        self.env = env
        self._lock = threading.Lock()
        self._tiles: dict[int, _Tile] = {}
        self._seen: dict[int, float] = {}
        self._status: dict[str, Any] = {}

    def watch(self, index: int, action: Any) -> None:
        """An environment is about to do this."""
        now = time.monotonic()
        if now - self._seen.get(index, -1.0) < FRAME_S:
            return
        self._seen[index] = now
        shown = self.env.observations[index]
        tile = _Tile(
            np.array(shown.screen),
            self._decoded(action, shown.instruction),
            shown.pointer,
            self.env.current_tasks[index].id,
            shown.instruction,
            shown.step,
            shown.max_steps,
        )
        with self._lock:
            self._tiles[index] = tile

    def _decoded(self, action: Any, instruction: str) -> Action | None:
        try:
            return (
                action if isinstance(action, Action) else self.env.coding.actions.decode(action, instruction)
            )
        except OperantError:
            return None

    def update(self, report: UpdateReport) -> None:
        """An update is over."""
        with self._lock:
            self._status |= {
                "update": report.update, "updates": report.updates, "step": report.step, "total": report.total,
                "fps": report.fps, "seconds": report.seconds, "success": report.success_rate,
                "return": report.mean_reward, "episodes": report.episodes, "discarded": report.discarded,
                "skipped": report.skipped, "stage": report.stage, "kl": report.learned.kl,
                "left_s": (report.total - report.step) / report.fps if report.fps > 0 else None,
                "tasks": dict(report.tasks), "kinds": dict(report.kinds),
            }  # fmt: skip

    def status(self, status: RunStatus) -> None:
        """How far it is, in the middle of a rollout."""
        with self._lock:
            self._status |= {
                "phase": status.phase, "step": status.step, "total": status.total, "update": status.update,
                "fps": status.fps, "seconds": status.seconds, "success": status.success_rate,
                "episodes": status.episodes, "discarded": status.discarded, "left_s": status.left_s,
            }  # fmt: skip

    def state(self) -> bytes:
        """Everything but the pictures, as JSON."""
        with self._lock:
            tiles = [
                {
                    "index": index,
                    "task": tile.task,
                    "instruction": tile.instruction,
                    "step": tile.step,
                    "max_steps": tile.most,
                }
                for index, tile in sorted(self._tiles.items())
            ]
            content = {"status": self._status, "desktops": tiles}
        return json.dumps(content).encode()

    def picture(self, index: int) -> bytes | None:
        """One desktop as JPEG."""
        with self._lock:
            tile = self._tiles.get(index)
        if tile is None:
            return None
        written = io.BytesIO()
        tile.draw().save(written, "JPEG", quality=80)
        return written.getvalue()

    def whole(self) -> Image.Image | None:
        """All desktops side by side, with a line that says how it goes."""
        with self._lock:
            tiles = [tile for _, tile in sorted(self._tiles.items())]
            status = dict(self._status)
        if not tiles:
            return None
        pictures = [tile.draw() for tile in tiles]
        columns = int(np.ceil(np.sqrt(self.env.num_envs)))
        rows = int(np.ceil(self.env.num_envs / columns))
        width, height = pictures[0].size
        wall = Image.new("RGB", (columns * width, rows * height + 48), (16, 19, 26))
        for place, picture in enumerate(pictures):
            wall.paste(picture, (place % columns * width, place // columns * height))
        return draw_caption(wall, _caption(status))


def _caption(status: dict[str, Any]) -> str:
    parts = [f"step {status['step']}/{status['total']}"] if status else ["starting"]
    if status.get("success") is not None:
        parts.append(f"success {status['success']:.0%}")
    if status.get("return") is not None:
        parts.append(f"return {status['return']:.2f}")
    if status.get("fps"):
        parts.append(f"{status['fps']:.0f} steps/s")
    return "   ".join([*parts, str(status.get("stage") or "")])


class LiveView:
    """Writes the wall for viewers, and films it if asked to, for as long as the run lasts."""

    def __init__(self, env: DesktopVectorEnv, log_dir: Path, *, film: bool = False) -> None:
        self.wall = Wall(env)
        self.film = Film(next_film(log_dir), preset="ultrafast", crf="26", threads="1") if film else None
        self.update, self.status = self.wall.update, self.wall.status
        self._directory = log_dir / LIVE
        self._over = threading.Event()
        self._writing = threading.Thread(target=self._write, name="operant-live", daemon=True)

    def watch(self, index: int, action: Any) -> None:
        """An environment is about to do this."""
        if self.film is not None or self.watched:
            self.wall.watch(index, action)

    @property
    def watched(self) -> bool:
        """Whether a viewer has looked within the last seconds."""
        try:
            return time.time() - (self._directory / WATCHED).stat().st_mtime < WATCHED_S
        except OSError:
            return False

    def __enter__(self) -> LiveView:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._writing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._writing.join(timeout=30)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _write(self) -> None:
        filmed, over = 0.0, False
        try:
            while not over:
                over = self._over.wait(FRAME_S)
                if self.watched:
                    self._publish()
                now = time.monotonic()
                if self.film is not None and (over or now - filmed >= FILM_S):
                    filmed = now
                    picture = self.wall.whole()
                    if picture is not None:
                        self.film.add(picture, HOLD_MS)
        except OSError as error:
            logger.warning("the run can no longer be watched: {}", error)
        finally:
            if self.film is not None:
                self.film.close()

    def _publish(self) -> None:
        for index in range(self.wall.env.num_envs):
            picture = self.wall.picture(index)
            if picture is not None:
                self._replace(picture_name(index), picture)
        self._replace(STATE, self.wall.state())

    def _replace(self, name: str, content: bytes) -> None:
        unfinished = self._directory / f"{name}.new"
        unfinished.write_bytes(content)
        os.replace(unfinished, self._directory / name)


def picture_name(index: int) -> str:
    return f"desktop-{index}.jpg"


def next_film(directory: Path) -> Path:
    """``training.mp4``, or with a number if a run that is resumed was filmed before."""
    path, number = directory / "training.mp4", 2
    while path.exists():
        path, number = directory / f"training-{number}.mp4", number + 1
    return path
