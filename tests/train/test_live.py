"""Watching a run: what it writes for viewers, and the film."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from operant.envs.vector import DesktopVectorEnv
from operant.pictures.film import Film
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train import live, run
from operant.train.live import LIVE, STATE, WATCHED, LiveView, Wall, next_film, picture_name
from operant.types import Action, Point

from .conftest import Settings


def test_a_run_that_is_watched_shows_its_desktops_and_is_filmed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "FRAME_S", 0.02)
    monkeypatch.setattr(live, "FILM_S", 0.05)
    config = settings(run={"visualize": True})
    place = config.run.log_dir / LIVE
    seen: dict[str, bytes] = {}

    class Visited(LiveView):
        """A viewer looks after each update."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.update = self.visit

        def visit(self, report: Any) -> None:
            self.wall.update(report)
            (place / WATCHED).touch()
            (place / STATE).unlink(missing_ok=True)
            end = time.monotonic() + 10
            while not (place / STATE).exists() and time.monotonic() < end:
                time.sleep(0.01)
            seen.update({path.name: path.read_bytes() for path in place.glob("*.j*[gn]")})

    monkeypatch.setattr(run, "LiveView", Visited)
    run.train(config, tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory)
    state = json.loads(seen[STATE])
    assert state["status"]["step"] == 32
    assert [desktop["index"] for desktop in state["desktops"]] == [0, 1]
    assert all(desktop["task"].startswith("fake/") for desktop in state["desktops"])
    picture = Image.open(io.BytesIO(seen[picture_name(0)]))
    assert (picture.format, picture.size) == ("JPEG", (480, 300))
    with av.open(str(config.run.log_dir / "training.mp4")) as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height) == (960, 348)
        assert sum(1 for _ in film.decode(stream)) >= 1
    assert not place.exists(), "a run that is over leaves no live pictures"


def test_a_run_that_is_not_watched_draws_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(Wall, "watch", lambda self, index, action: drawn.append(index))
    run.train(settings(), tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory)
    assert not drawn


def test_the_action_is_drawn_where_it_is_done() -> None:
    env = DesktopVectorEnv(
        1, tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory, action_mode="canonical", spares=1
    )
    try:
        env.reset(seed=0)
        wall = Wall(env)
        assert wall.whole() is None
        assert wall.picture(0) is None
        wall.watch(0, Action.click(Point(0.5, 0.25)))
        written = wall.picture(0)
    finally:
        env.close()
    assert written is not None
    picture = Image.open(io.BytesIO(written)).convert("RGB")
    near = np.asarray(picture)[65:85, 230:250].astype(int)
    red = (near[..., 0] > 180) & (near[..., 1] < 110) & (near[..., 2] < 120)
    assert red.sum() > 5


def test_films_of_a_resumed_run_stand_side_by_side(tmp_path: Path) -> None:
    for name in ("training.mp4", "training-2.mp4", "training-3.mp4"):
        film = Film(next_film(tmp_path))
        film.add(Image.new("RGB", (65, 33), (200, 10, 10)), 100)
        film.close()
        assert film.path == tmp_path / name
        assert film.path.stat().st_size > 0
    assert len(list(tmp_path.iterdir())) == 3
