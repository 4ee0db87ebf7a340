"""A model counts in the picture that it is shown: what it points at there is hit on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions import frames
from operant.actions.frames import Frame, Limits
from operant.errors import InvalidAction
from operant.types import Size

from .strategies import quick

SCREENS = st.builds(Size, st.integers(800, 3840), st.integers(600, 2160))
ALL_LIMITS: dict[str, Limits] = {
    name: value for name, value in vars(frames).items() if isinstance(value, Limits) and name.isupper()
}


@pytest.mark.parametrize(
    ("limits", "screen", "shown"),
    [
        (frames.ANTHROPIC, Size(1280, 800), Size(1280, 800)),
        (frames.ANTHROPIC_OLDER, Size(1280, 800), Size(1280, 800)),
        (frames.ANTHROPIC, Size(1920, 1080), Size(1920, 1080)),
        (frames.ANTHROPIC, Size(3840, 2160), Size(2576, 1449)),
        (frames.ANTHROPIC_OLDER, Size(1920, 1080), Size(1456, 819)),
        (frames.ANTHROPIC_MANY_PICTURES, Size(3840, 2160), Size(2000, 1125)),
        (frames.OPENAI, Size(3840, 2160), Size(3840, 2160)),
        (frames.OPENAI_SMALL, Size(2560, 1440), Size(1600, 900)),
        (frames.QWEN2_5_VL, Size(1920, 1080), Size(1932, 1092)),
        (frames.QWEN3_VL, Size(1920, 1080), Size(1920, 1088)),
        (frames.UI_TARS, Size(1280, 800), Size(1288, 812)),
        (frames.COMPUTER_RL, Size(1920, 1080), Size(1280, 720)),
        (frames.UNLIMITED, Size(3840, 2160), Size(3840, 2160)),
    ],
)
def test_what_a_model_is_shown(limits: Limits, screen: Size, shown: Size) -> None:
    assert limits.fit(screen) == shown


@quick
@given(SCREENS, st.sampled_from(sorted(ALL_LIMITS)))
def test_pictures_keep_to_the_limits(screen: Size, name: str) -> None:
    limits = ALL_LIMITS[name]
    shown = limits.fit(screen)
    if isinstance(limits, frames.SameShape):
        assert limits.holds(shown)
        assert shown.width <= screen.width
        # The shape is kept to within a pixel, and no larger picture of that shape would do.
        assert abs(shown.width * screen.height / screen.width - shown.height) <= 1.5
        assert shown == screen or not limits.holds(Size(shown.width + 4, shown.height + 4))
    if isinstance(limits, frames.WholePatches):
        assert shown.width % limits.patch == shown.height % limits.patch == 0
        assert limits.least <= shown.width * shown.height <= limits.most


def test_small_and_narrow_screens() -> None:
    assert frames.UI_TARS.fit(Size(40, 30)) == Size(336, 252)
    with pytest.raises(InvalidAction, match="too narrow"):
        frames.QWEN2_5_VL.fit(Size(5000, 20))


@quick
@given(SCREENS, st.data())
def test_a_pixel_of_the_screen_is_found_again(screen: Size, data: st.DataObject) -> None:
    shown = frames.ANTHROPIC_OLDER.fit(screen)
    frame = Frame(screen, shown)
    x, y = (data.draw(st.integers(0, side - 1)) for side in shown)
    assert frame.to_shown(*frame.to_screen(x, y)) == (x, y)
