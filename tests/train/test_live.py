"""Watching a run: the page, its pictures, and the film."""

from __future__ import annotations

import io
import json
import urllib.error
import urllib.request
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from operant.envs.vector import DesktopVectorEnv
from operant.errors import ConfigError
from operant.pictures.film import Film
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train import live, run
from operant.train.live import LiveView, Wall, next_film
from operant.train.live_page import LivePage
from operant.types import Action, Point

from .conftest import Settings


def get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=10) as answer:
        content: bytes = answer.read()
    return content


def test_a_run_can_be_watched_and_is_filmed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "FRAME_S", 0.0)
    monkeypatch.setattr(live, "FILM_S", 0.05)
    seen: dict[str, bytes] = {}

    class Visited(LiveView):
        """Somebody looks at the page after each update."""

        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[arg-type]
            self.update = self.visit  # type: ignore[method-assign]

        def visit(self, report: object) -> None:
            self.wall.update(report)  # type: ignore[arg-type]
            for path in ("", "state", "desktop/0", "desktop/1"):
                seen[path] = get(self.address + path)
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(self.address + "desktop/7")
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(self.address + "../../secret")

    monkeypatch.setattr(live, "LiveView", Visited)
    config = settings(run={"visualize": True})
    told: list[str] = []
    run.train(config, tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory, tell=told.append)
    assert told[0].startswith("watch it at http://127.0.0.1:")
    assert b"<title>Operant: training</title>" in seen[""]
    state = json.loads(seen["state"])
    assert state["status"]["step"] == 32
    assert [point["step"] for point in state["curves"]] == [16, 32]
    assert [desktop["index"] for desktop in state["desktops"]] == [0, 1]
    assert all(desktop["task"].startswith("fake/") for desktop in state["desktops"])
    picture = Image.open(io.BytesIO(seen["desktop/0"]))
    assert (picture.format, picture.size) == ("JPEG", (480, 300))
    with av.open(str(config.run.log_dir / "training.mp4")) as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height) == (960, 348)
        assert sum(1 for _ in film.decode(stream)) >= 1
    with pytest.raises(OSError, match="refused"):
        get(told[0].removeprefix("watch it at "))


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


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    class Nothing:
        def state(self) -> bytes:
            return b"{}"

        def picture(self, index: int) -> bytes | None:
            return None

    first = LivePage(Nothing())
    try:
        with pytest.raises(ConfigError, match="can't be used"):
            LivePage(Nothing(), int(first.address.rstrip("/").rpartition(":")[2]))
    finally:
        first.close()
