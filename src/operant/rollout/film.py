"""Moving pictures of an episode, with each action drawn on the screen that it was done to: mp4 and GIF."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from operant.errors import ResultsError
from operant.rollout.describe import describe
from operant.rollout.draw import draw_action, draw_caption
from operant.rollout.episode import Episode
from operant.types import Outcome, Point, Size

__all__ = ["pictures", "write_gif", "write_mp4"]

ACTION_MS, LAST_MS = 700, 2000  # how long a picture stays
# Without frames that refer to later ones, since the file's length is taken from the last that was written.
CODEC = {"preset": "veryfast", "crf": "23", "bf": "0"}


def pictures(episode: Episode) -> Iterator[tuple[Image.Image, int]]:
    """(picture, milliseconds): each screen with the action that follows, the last one with the outcome."""
    state = episode.header.get("first_state", {})
    for step in episode.steps:
        pointer = state.get("pointer")
        screen = Image.fromarray(episode.frame(step.number - 1))
        drawn = draw_action(screen, step.action, Point(*pointer) if pointer else None)
        said = f"invalid: {step.invalid}" if step.invalid else describe(step.action, Size(*screen.size))
        yield draw_caption(drawn, f"{step.number}. {said}", warning=step.invalid is not None), ACTION_MS
        state = step.state
    outcome = episode.outcome.value.replace("_", " ") if episode.outcome else "cut short"
    screen = Image.fromarray(episode.frame(len(episode.steps)))
    yield (
        draw_caption(
            screen, f"{outcome}: {episode.why}"[:200], warning=episode.outcome is not Outcome.SUCCESS
        ),
        LAST_MS,
    )


def write_mp4(episode: Episode, path: Path) -> None:
    """H.264, as large as the screen. The file appears when it is complete."""
    import av

    temporary = path.with_name(path.name + ".new")
    with av.open(str(temporary), "w", format="mp4") as container:
        stream: Any = None
        at_ms = 0
        for picture, hold_ms in pictures(episode):
            pixels = np.asarray(picture)
            pixels = pixels[
                : pixels.shape[0] // 2 * 2, : pixels.shape[1] // 2 * 2
            ]  # the format wants even sides
            if stream is None:
                stream = container.add_stream("libx264", rate=25, options=CODEC)
                stream.height, stream.width = pixels.shape[:2]
                stream.pix_fmt = "yuv420p"
                stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
            # A second frame at the end of each picture's time, since a frame's own length is not kept.
            for moment in (at_ms, at_ms + hold_ms - 40):
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
                frame.pts, frame.time_base = moment, Fraction(1, 1000)
                for packet in stream.encode(frame):
                    container.mux(packet)
            at_ms += hold_ms
        for packet in stream.encode():
            container.mux(packet)
    os.replace(temporary, path)


def write_gif(episode: Episode, path: Path, *, width: int = 800) -> int:
    """An animated GIF of that width; returns the number of pictures."""
    shown, held = [], []
    for picture, hold_ms in pictures(episode):
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
