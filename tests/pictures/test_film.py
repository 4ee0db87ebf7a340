"""Actions in words, drawn on screens, and as moving pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from operant.actions.describe import describe
from operant.agents.oracle import OracleAgent
from operant.envs.task_environment import TaskEnvironment
from operant.pictures.drawing import draw_action, draw_caption
from operant.pictures.film import write_gif, write_mp4
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter, read_episode
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

SCREEN = Size(1280, 800)
CENTRE = Point(0.5, 0.5)
ACTIONS = {
    "double-click at (640, 400)": Action.click(CENTRE, clicks=2),
    "ctrl+right click": Action.click(button=Button.RIGHT, modifiers=("ctrl",)),
    "move to (640, 400)": Action.move(CENTRE),
    "press the left button": Action(ActionKind.MOUSE_DOWN),
    "release the left button at (640, 400)": Action(ActionKind.MOUSE_UP, point=CENTRE),
    "drag from (0, 0) to (640, 400)": Action.drag(Point(0, 0), CENTRE),
    "drag to (640, 400)": Action.drag(CENTRE),
    "scroll down 3 at (640, 400)": Action.scroll(CENTRE, dy=3.0),
    "scroll up 200 and right 10 pixels": Action.scroll(dy=-200.0, dx=10.0, unit=ScrollUnit.PIXEL),
    "scroll by nothing": Action.scroll(),
    "press ctrl+s": Action.key("ctrl", "s"),
    "hold a for 2 s": Action(ActionKind.HOLD, keys=("a",), duration=2.0),
    'type "a⏎b"': Action.type("a\nb"),
    "wait": Action.wait(),
    "wait 2.5 s": Action.wait(2.5),
    "screenshot": Action(ActionKind.SCREENSHOT),
    "call save('x', to='y')": Action(ActionKind.CALL, function="save", args=("x",), kwargs=(("to", "y"),)),
    "done": Action.done(),
    'fail "why"': Action.fail("why"),
    'answer "42"': Action(ActionKind.ANSWER, text="42"),
}


@pytest.mark.parametrize("said", ACTIONS)
def test_actions_in_words(said: str) -> None:
    assert describe(ACTIONS[said], SCREEN) == said


def test_long_texts_are_cut_and_places_need_no_screen() -> None:
    assert len(describe(Action.type("x" * 1000), SCREEN)) < 80
    assert describe(Action.click(CENTRE)) == "click at (50.0%, 50.0%)"
    assert describe(None) == "no action"


@pytest.mark.parametrize("action", [*ACTIONS.values(), None], ids=str)
@pytest.mark.parametrize("size", [(1280, 800), (64, 64), (3, 2)])
def test_every_action_can_be_drawn_on_any_screen(action: Action | None, size: tuple[int, int]) -> None:
    screen = Image.new("RGB", size, (90, 120, 150))
    drawn = draw_caption(draw_action(screen, action, Point(0.2, 0.2)), describe(action), warning=True)
    assert drawn.size == size
    assert screen.getcolors() == [(size[0] * size[1], (90, 120, 150))], "the screen itself stays as it was"


def test_a_ring_is_drawn_where_the_click_was() -> None:
    before = np.full((800, 1280, 3), 120, np.uint8)
    after = np.asarray(draw_action(Image.fromarray(before), Action.click(Point.from_pixel(300, 200, SCREEN))))
    rows, columns = np.nonzero((before != after).any(axis=2))
    assert abs(rows.mean() - 200) < 2
    assert abs(columns.mean() - 300) < 2
    assert np.ptp(rows) < 60


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("film") / "a"
    desktop: Any = FakeDesktop()
    run_episode(
        OracleAgent(),
        TaskEnvironment(desktop),
        FAKE_TEMPLATES[2].instance(0),
        EpisodeWriter(directory, {"agent": "oracle"}, video=True),
    )
    return directory


def test_a_gif_has_a_picture_for_each_action_and_the_end(played: Path, tmp_path: Path) -> None:
    episode = read_episode(played)
    assert write_gif(episode, tmp_path / "new/a.gif", width=320) == len(episode.steps) + 1
    with Image.open(tmp_path / "new/a.gif") as image:
        assert image.size == (320, 200)
        assert getattr(image, "n_frames", 1) == len(episode.steps) + 1


def test_the_recording_is_a_playable_mp4(played: Path) -> None:
    import av

    episode = read_episode(played)
    with av.open(str(played / "recording.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 1280, 800)
        frames = list(container.decode(stream))
        assert container.duration is not None
        seconds = container.duration / av.time_base
    assert len(frames) == 2 * (len(episode.steps) + 1)
    assert seconds == pytest.approx(0.7 * len(episode.steps) + 2, abs=0.3)


def test_an_odd_screen_makes_a_film_too(tmp_path: Path) -> None:
    from operant.config.desktop import DesktopConfig

    desktop: Any = FakeDesktop(DesktopConfig.build(width=641, height=481))
    writer = EpisodeWriter(tmp_path / "a", {"agent": "oracle"})
    run_episode(OracleAgent(), TaskEnvironment(desktop), FAKE_TEMPLATES[3].instance(0), writer)
    write_mp4(read_episode(tmp_path / "a"), tmp_path / "a.mp4")
    assert (tmp_path / "a.mp4").stat().st_size > 1000
