"""What every provider must do: start, act, observe, files, reset, die, be replaced, leave nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.providers.places import PLACES, Place

from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Capability, Desktop
from operant.errors import OperantError
from operant.types import Action, Point

pytestmark = pytest.mark.x11
Eventually = Callable[..., Any]
SLOW = {"docker": pytest.mark.slow, "qemu": pytest.mark.slow}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=SLOW.get(name, ())) for name in PLACES])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    directory: Path = tmp_path_factory.mktemp(request.param)
    with PLACES[request.param](directory) as made:
        yield made


@pytest.fixture(scope="module")
def kept(place: Place) -> Iterator[Desktop]:
    """A desktop that the tests which break nothing share."""
    with place.provider.start(place.config) as desktop:
        yield desktop


@pytest.fixture
def desktop(kept: Desktop) -> Desktop:
    kept.reset()
    return kept


@pytest.fixture
def room(place: Place, kept: Desktop) -> None:
    """For another desktop than the one that is shared."""
    if place.one_machine:
        kept.close()


def test_it_starts_with_a_picture_of_its_size(place: Place, desktop: Desktop) -> None:
    place.provider.check(place.config)
    desktop.check()
    frame = desktop.frame()
    assert frame.dtype == np.uint8
    assert frame.shape == (desktop.size.height, desktop.size.width, 3)
    assert not desktop.closed


def test_it_acts_and_shows_what_came_of_it(desktop: Desktop) -> None:
    desktop.perform(Action.move(Point(0.25, 0.5)))
    width, height = desktop.size
    assert desktop.pointer() == pytest.approx((0.25 * width, 0.5 * height), abs=1)
    if Capability.PROGRAMS in desktop.capabilities:
        before = desktop.frame().copy()
        desktop.launch("galculator")
        desktop.perform(Action.type("12+30"))
        assert not np.array_equal(before, desktop.frame())


def test_it_keeps_files(desktop: Desktop) -> None:
    content = bytes(range(256)) * 17
    desktop.files.write("kept/some file.bin", content)
    assert desktop.files.read("kept/some file.bin") == content
    with pytest.raises(FileNotFoundError):
        desktop.files.read("kept/none")


def test_a_reset_takes_everything_away(desktop: Desktop) -> None:
    desktop.files.write("traces.txt", "of the last episode")
    desktop.reset()
    assert not desktop.files.exists("traces.txt")
    desktop.check()
    assert desktop.frame().any()


def test_one_that_dies_says_so_and_another_takes_its_place(place: Place, room: None) -> None:
    desktop = place.provider.start(place.config)
    try:
        desktop.check()
        place.kill(desktop)
        with pytest.raises(OperantError):
            desktop.check()
    finally:
        desktop.close()
    assert desktop.closed
    with place.provider.start(place.config) as other:
        other.check()


@pytest.mark.timeout(240)
def test_a_pool_replaces_one_that_died(place: Place, room: None) -> None:
    with DesktopPool(1, place.config, factory=place.provider.start) as pool:
        with pool.lease(timeout_s=120) as first:
            place.kill(first)
        with pool.lease(timeout_s=120) as second:
            second.check()
            assert second.frame().any()
        assert pool.status().replaced == (0 if place.reset_replaces else 1)


def test_it_leaves_nothing(place: Place, room: None, eventually: Eventually) -> None:
    before = len(place.leftovers())
    desktops = [place.provider.start(place.config) for _ in range(1 if place.one_machine else 2)]
    assert len(place.leftovers()) > before, "this place does not see what is there"
    closers = [threading.Thread(target=one.close) for one in desktops]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join(60)
    for one in desktops:
        one.close()  # twice does no harm
    eventually(lambda: len(place.leftovers()) == before, timeout=30)


def test_nothing_at_all_is_left_in_the_end(place: Place, kept: Desktop, eventually: Eventually) -> None:
    """The last one: it ends the desktop that the others shared."""
    kept.close()
    eventually(lambda: place.leftovers() == [], timeout=30)
