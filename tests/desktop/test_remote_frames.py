"""Frames on the wire: nothing is lost, little is sent, and nothing that is received is believed unchecked."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operant.desktop.remote.frames import FrameReceiver, FrameSender
from operant.desktop.remote.wire import failure_from, failure_to, pack, plain, read, unpack
from operant.errors import DesktopTimeout, RemoteDesktopError, UnknownApplication
from operant.types import Node, RunResult, Size, Window

SIZE = Size(40, 30)


def noise(seed: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (30, 40, 3), dtype=np.uint8)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 29), st.integers(0, 12), st.booleans()), max_size=8)
)
def test_every_frame_arrives_as_it_was(changes: list[tuple[int, int, int, bool]]) -> None:
    sender, receiver, screen = FrameSender(), FrameReceiver(SIZE), noise(0)
    for x, y, side, lost in changes:
        screen = screen.copy()
        screen[y : y + side, x : x + side] ^= 0x5A
        form = unpack(pack(sender.write(screen, receiver.known)))
        if lost:  # the answer never came: the next one must not build on it
            continue
        assert np.array_equal(receiver.read(form), screen)


def test_only_what_has_changed_is_sent() -> None:
    sender, receiver = FrameSender(), FrameReceiver(Size(1280, 800))
    screen = np.full((800, 1280, 3), 90, np.uint8)
    screen[200:400, 300:700] = np.random.default_rng(1).integers(0, 256, (200, 400, 3), dtype=np.uint8)
    whole = sender.write(screen[:, :, ::-1][:, :, ::-1], receiver.known)
    receiver.read(whole)
    after = screen.copy()
    after[210:230, 310:350] = 7
    form = sender.write(after, receiver.known)
    assert form["box"] == [310, 210, 40, 20]
    assert len(form["data"]) < 200 < len(whole["data"])
    assert np.array_equal(receiver.read(form), after)
    nothing = sender.write(after, receiver.known)
    assert (nothing["box"], nothing["data"]) == ([0, 0, 0, 0], b"")
    assert np.array_equal(receiver.read(nothing), after)


def _whole(**changes: Any) -> dict[str, Any]:
    return {**FrameSender().write(noise(1)), **changes}


@pytest.mark.parametrize(
    "form",
    [
        None,
        [],
        {},
        _whole(size=[41, 30]),
        _whole(size="40x30"),
        _whole(number="1"),
        _whole(data="text"),
        _whole(data=b"not deflated"),
        _whole(data=zlib.compress(b"short")),
        _whole(data=zlib.compress(bytes(40 * 30 * 3 + 1))),
        _whole(data=zlib.compress(bytes(1 << 24))),
        _whole(data=FrameSender().write(noise(1))["data"][:-2]),
        _whole(box=[0, 0, 41, 30]),
        _whole(box=[-1, 0, 40, 30]),
        _whole(box=[0, 0, 40]),
        _whole(box=[0.0, 0, 40, 30]),
        _whole(box=[0, 0, 2, 2], data=zlib.compress(bytes(12))),
        _whole(base=7),
    ],
)
def test_a_frame_that_cannot_be_is_refused(form: Any) -> None:
    with pytest.raises(RemoteDesktopError):
        FrameReceiver(SIZE).read(form)


def test_types_survive_the_wire() -> None:
    leaf = Node("text", "Straße", frozenset({"focused", "showing"}), (1, 2, 3, 4), text="a\nb", value=2.5)
    tree = Node("frame", "", frozenset(), None, children=(leaf, leaf), url="http://x")
    window = Window(7, "title", "Class", None, 1, 2, 3, 4, focused=True, maximized=True)
    result = RunResult(-9, b"\xff\x00", b"", truncated=True)
    for value, kind in ((tree, Node), (window, Window), (result, RunResult), ([window], list[Window])):
        assert read(unpack(pack({"value": plain(value, kind)}))["value"], kind) == value


@pytest.mark.parametrize(
    "value", [None, 3, {"role": "x"}, {"role": 1, "name": "", "states": [], "box": None}]
)
def test_values_of_another_shape_are_refused(value: Any) -> None:
    with pytest.raises(RemoteDesktopError, match="no Node"):
        read(value, Node)


def test_failures_come_back_as_they_were() -> None:
    for error in (
        UnknownApplication("no program", hint="install it"),
        DesktopTimeout("slow"),
        FileNotFoundError(2, "No such file"),
        PermissionError(13, "Permission denied"),
        OSError("odd"),
    ):
        back = failure_from(unpack(pack(failure_to(error))))  # type: ignore[arg-type]
        assert type(back) is type(error)
        assert getattr(back, "hint", None) == getattr(error, "hint", None)


@pytest.mark.parametrize("form", [None, {}, {"kind": "system"}, {"kind": "Any"}, {"kind": 3, "message": 4}])
def test_failures_that_nobody_knows_are_still_failures(form: Any) -> None:
    assert type(failure_from(form)) is RemoteDesktopError
