"""Frames, trees and observations on disk: nothing is lost, little is stored, and damage is named."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operant.errors import ResultsError
from operant.rollout.frames import KEY_EVERY, FrameEncoder, decode_frame
from operant.rollout.observations import BEGINNING, SIGNATURE, ObservationFile, ObservationWriter
from operant.rollout.trees import TreeDecoder, TreeEncoder
from operant.types import Action, Node, Observation, PastAction, Point, Window

HEAD = {"instruction": "Press OK", "max_steps": 9}


def button(name: str, *states: str, children: tuple[Node, ...] = ()) -> Node:
    return Node("push button", name, frozenset(states), (1, 2, 30, 40), children=children)


def same(one: Observation, other: Observation) -> bool:
    return np.array_equal(one.screen, other.screen) and all(
        getattr(one, field.name) == getattr(other, field.name)
        for field in fields(Observation)
        if field.name != "screen"
    )


def episode(length: int = 40, size: tuple[int, int] = (100, 70)) -> list[Observation]:
    """Observations of an episode in which a little changes at each step."""
    random = np.random.default_rng(0)
    screen = random.integers(0, 255, (size[1], size[0], 3)).astype(np.uint8)
    tree = Node("frame", "Window", frozenset(), None, children=tuple(button(f"b{n}") for n in range(30)))
    history: tuple[PastAction, ...] = ()
    found = []
    for step in range(length):
        found.append(
            Observation(
                screen, "Press OK", step, 9, Point(0.25, step / length),
                last_action=history[-1].action if history else None, history=history,
                held_keys=("shift",) if step % 3 else (), held_buttons=("left",) if step % 4 else (),
                windows=(Window(7, f"Title {step} \ud800", "x.X", None, 1, 2, 3, 4, True, maximized=True),),
                tree=None if step == 5 else tree, error="no" if step == 6 else None,
            )
        )  # fmt: skip
        screen = screen.copy()
        screen[step, step : step + 9] = step
        children = list(tree.children)
        children[step % 30] = button(f"b{step}", "focused")
        tree = replace(tree, children=tuple(children))
        history = (*history, PastAction(Action.click(Point(0.1, 1 / 3)), "OK", changed=step % 2 == 0))
    return found


def write(path: Path, observations: list[Observation]) -> Path:
    writer = ObservationWriter(path)
    for one in observations:
        writer.add(one)
    writer.close()
    return path


def test_observations_read_back_as_they_were(tmp_path: Path) -> None:
    wanted = episode()
    file = ObservationFile(write(tmp_path / "o", wanted))
    assert len(file) == len(wanted)
    found = list(file.read(HEAD))
    assert all(same(one, other) for one, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize(
    "order", [[39, 0, 17, 16, 15, 33, 33, 34, 2], list(range(40)), list(range(39, -1, -1))]
)
def test_single_frames_are_read_in_any_order(tmp_path: Path, order: list[int]) -> None:
    wanted = episode()
    file = ObservationFile(write(tmp_path / "o", wanted))
    for number in order:
        np.testing.assert_array_equal(file.frame(number), wanted[number].screen)
    with pytest.raises(ResultsError, match="no observation 40"):
        file.frame(40)


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 70), height=st.integers(1, 70), frames=st.integers(2, 2 * KEY_EVERY), seed=st.integers(0, 999)
)  # fmt: skip
def test_frames_of_any_size_survive(width: int, height: int, frames: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    frame = random.integers(0, 255, (height, width, 3)).astype(np.uint8)
    encoder, last = FrameEncoder(), None
    for _ in range(frames):
        last = decode_frame(encoder.encode(frame), last)
        np.testing.assert_array_equal(last, frame)
        frame = frame.copy()
        for _ in range(random.integers(0, 4)):
            frame[random.integers(height), random.integers(width)] ^= 1


def test_a_screen_whose_size_changes_is_stored_whole() -> None:
    encoder = FrameEncoder()
    encoder.encode(np.zeros((20, 20, 3), np.uint8))
    coded = encoder.encode(np.zeros((20, 21, 3), np.uint8))
    assert coded.key
    assert decode_frame(coded, None).shape == (20, 21, 3)


def test_what_did_not_change_takes_no_room() -> None:
    frames, trees = FrameEncoder(), TreeEncoder()
    noise = np.random.default_rng(0).integers(0, 255, (800, 1280, 3)).astype(np.uint8)
    tree = Node("frame", "W", frozenset(), None, children=(button("a"), button("b", children=(button("c"),))))
    frames.encode(noise)
    assert trees.encode(tree)[0]
    assert frames.encode(noise.copy()).data == b""
    assert trees.encode(replace(tree)) == ([], 3)
    changed = noise.copy()
    changed[400:410, 300:320] = 0
    assert len(frames.encode(changed).data) < 4 * 16 * 16 * 3
    new, _ = trees.encode(replace(tree, children=(button("a", "focused"), tree.children[1])))
    assert len(new) == 2  # the button, and the frame that holds it


def test_trees_keep_every_field() -> None:
    full = Node(
        "entry", "n\ud800", frozenset({"focused", "editable"}), (-5, 0, 1, 2), "", 0.5, "d", (), "http://x"
    )
    empty = Node("", "", frozenset(), None, None, None, "", (full, full, button("x")))
    encoder, decoder = TreeEncoder(), TreeDecoder()
    for tree in (empty, full, None, empty):
        assert decoder.decode(*encoder.encode(tree)) == tree


@pytest.mark.parametrize("cut", [1, 100, 600])
def test_a_last_record_that_was_cut_off_is_left_out(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / "o", episode(4))
    path.write_bytes(path.read_bytes()[:-cut])
    assert 0 < len(ObservationFile(path)) < 4
    assert all(same(*both) for both in zip(ObservationFile(path).read(HEAD), episode(4), strict=False))


def test_a_file_that_was_only_begun_has_no_observations(tmp_path: Path) -> None:
    for size in (0, 3, len(SIGNATURE), len(SIGNATURE) + BEGINNING - 1):
        path = tmp_path / str(size)
        path.write_bytes(write(tmp_path / "o", episode(1)).read_bytes()[:size])
        assert len(ObservationFile(path)) == 0


@pytest.mark.parametrize("at", [16, 18, 20, 25, 5_000, -1])
def test_damage_names_the_file_and_the_observation(tmp_path: Path, at: int) -> None:
    """In the width, the height, the flags, the checksum, the frame and the rest."""
    path = write(tmp_path / "o", episode(1))
    data = bytearray(path.read_bytes())
    data[at] ^= 255
    path.write_bytes(data)
    with pytest.raises(ResultsError, match="observation 0") as caught:
        list(ObservationFile(path).read(HEAD))
    assert str(path) in caught.value.message
    with pytest.raises(ResultsError, match="observation 0"):
        ObservationFile(path).frame(0)


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    for content in (b"nothing of ours", SIGNATURE[:-1] + b"\x63" + b"rest"):
        (tmp_path / "o").write_bytes(content)
        with pytest.raises(ResultsError, match="holds no observations of version 1") as caught:
            ObservationFile(tmp_path / "o")
        assert "newer version" in str(caught.value.hint)
    with pytest.raises(ResultsError, match="can't be read"):
        ObservationFile(tmp_path / "absent")
