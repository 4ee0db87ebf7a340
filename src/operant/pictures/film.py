"""Moving pictures: mp4 files that grow picture by picture, and episodes as mp4 and GIF with each action drawn."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from operant.actions.describe import describe
from operant.errors import ResultsError
from operant.pictures.drawing import draw_action, draw_caption
from operant.types import ActionKind, Outcome, Point, Size

__all__ = ["Film", "Filmed", "episode_pictures", "write_gif", "write_mp4"]

ACTION_MS, LAST_MS = 700, 2000  # how long a picture stays
# Without frames that refer to later ones, since the file's length is taken from the last that was written.
CODEC = {"preset": "veryfast", "crf": "23", "bf": "0"}
END_MS = 40  # before a picture's time is over
LONGEST_CALL = 90  # characters of a call, and of what it answered


class Filmed(Protocol):
    """What is needed of a stored episode."""

    @property
    def header(self) -> Mapping[str, Any]: ...

    @property
    def steps(self) -> Sequence[Any]: ...

    @property
    def outcome(self) -> Outcome | None: ...

    @property
    def why(self) -> str: ...

    @property
    def turns(self) -> int: ...

    @property
    def usage(self) -> Any: ...

    def frame(self, number: int) -> npt.NDArray[np.uint8]: ...

    def seen_before(self, number: int) -> int: ...


class Film:
    """An mp4 file (H.264) of pictures of one size. The file appears when it is complete."""

    def __init__(self, path: Path, **codec: str) -> None:
        self.path = path
        self.pictures = 0
        self._codec = {**CODEC, **codec}
        self._unfinished = path.with_name(path.name + ".new")
        self._container: Any = None
        self._stream: Any = None
        self._at_ms = 0

    def add(self, picture: Image.Image, hold_ms: int) -> None:
        """Show a picture for that long."""
        import av

        pixels = np.asarray(picture.convert("RGB"))
        pixels = pixels[: pixels.shape[0] // 2 * 2, : pixels.shape[1] // 2 * 2]  # the format wants even sides
        if self._container is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._container = av.open(str(self._unfinished), "w", format="mp4")
            stream = self._stream = self._container.add_stream("libx264", rate=25, options=self._codec)
            stream.height, stream.width = pixels.shape[:2]
            stream.pix_fmt = "yuv420p"
            stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        # A second frame at the end of each picture's time, since a frame's own length is not kept.
        for moment in (self._at_ms, self._at_ms + hold_ms - END_MS):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
            frame.pts, frame.time_base = moment, Fraction(1, 1000)
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        self._at_ms += hold_ms
        self.pictures += 1

    def close(self) -> None:
        if self._container is None:
            return
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()
        self._container = None
        os.replace(self._unfinished, self.path)


def episode_pictures(episode: Filmed) -> Iterator[tuple[Image.Image, int]]:
    """(picture, milliseconds): each screen with the action that follows, the last one with the outcome."""
    states = [episode.header.get("first_state", {}), *(step.state for step in episode.steps)]
    for step in episode.steps:
        before = episode.seen_before(step.number)
        pointer = states[before].get("pointer")
        screen = Image.fromarray(episode.frame(before))
        drawn = draw_action(screen, step.action, Point(*pointer) if pointer else None)
        said = f"invalid: {step.invalid}" if step.invalid else _said(step, Size(*screen.size))
        turn = f"turn {step.turn}, " if step.turn and step.turn != step.number else ""
        who = f"{step.who}: " if step.who else ""
        caption = f"{turn}{step.number}. {who}{said}"
        yield draw_caption(drawn, caption, warning=step.invalid is not None), ACTION_MS
    outcome = episode.outcome.value.replace("_", " ") if episode.outcome else "cut short"
    screen = Image.fromarray(episode.frame(len(episode.steps)))
    used = "" if episode.usage is None else f"{episode.turns} turns, {episode.usage} · "
    said = f"{outcome}: {used}{episode.why}"[:200]
    yield draw_caption(screen, said, warning=episode.outcome is not Outcome.SUCCESS), LAST_MS


def _said(step: Any, screen: Size) -> str:
    """The action, and of a call what it answered: it is not to be seen on the screen."""
    if step.action is None or step.action.kind is not ActionKind.CALL:
        return describe(step.action, screen)
    answer = " ".join(str(step.info.get("result", "")).split())
    return describe(step.action, longest=LONGEST_CALL) + (f"  ->  {answer[:LONGEST_CALL]}" if answer else "")


def write_mp4(episode: Filmed, path: Path) -> None:
    """As large as the screen."""
    film = Film(path)
    for picture, hold_ms in episode_pictures(episode):
        film.add(picture, hold_ms)
    film.close()


def write_gif(episode: Filmed, path: Path, *, width: int = 800) -> int:
    """An animated GIF of that width; returns the number of pictures."""
    shown, held = [], []
    for picture, hold_ms in episode_pictures(episode):
        height = max(1, round(picture.height * width / picture.width))
        shown.append(picture.resize((width, height), Image.Resampling.LANCZOS))
        held.append(hold_ms)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shown[0].save(
            path, "GIF", save_all=True, append_images=shown[1:], duration=held, loop=0, optimize=True
        )
    except OSError as error:
        raise ResultsError(f"{path} can't be written: {error}") from error
    return len(shown)
