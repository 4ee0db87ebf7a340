"""Everything that was observed in an episode, in one file that only grows.

The file is a signature and one record for each observation: the first look, then what each step led to. A record is
a header, a checksum, the frame (``frames``) and the rest as JSON (``trees`` for the tree), both compressed. A writer
that is killed leaves whole records and at most one that is cut off, which readers leave out.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import zstandard

from operant.actions.json_actions import from_json, to_json
from operant.errors import InvalidAction, ResultsError
from operant.rollout.frames import CodedFrame, FrameEncoder, decode_frame
from operant.rollout.trees import TreeDecoder, TreeEncoder
from operant.types import Observation, PastAction, Point, Window

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["ObservationFile", "ObservationWriter"]

SIGNATURE = b"OPERANT\x01"  # ends with the version of the file's layout
HEADER = struct.Struct("<IIHHB")  # bytes of the frame and of the rest, width, height, flags
CHECKSUM = struct.Struct("<I")  # of the header, the frame and the rest; stands after the header
BEGINNING = HEADER.size + CHECKSUM.size
KEY_FRAME = 1
LEVEL = 9  # of what is not a frame: little, and mostly text
LARGEST_STATE = 256 << 20  # bytes; what says that it is larger is damaged


class ObservationWriter:
    """Appends observations to a file. Not safe for threads."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 - closed by ``close``
        self._file.write(SIGNATURE)
        self._frames = FrameEncoder()
        self._trees = TreeEncoder()
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._history: tuple[PastAction, ...] = ()

    def add(self, observation: Observation) -> None:
        frame = self._frames.encode(observation.screen)
        state = json.dumps(self._state(observation), separators=(",", ":")).encode()
        rest = self._compressor.compress(state)
        flags = KEY_FRAME if frame.key else 0
        header = HEADER.pack(len(frame.data), len(rest), frame.width, frame.height, flags)
        checksum = CHECKSUM.pack(zlib.crc32(rest, zlib.crc32(frame.data, zlib.crc32(header))))
        self._file.write(b"".join((header, checksum, frame.data, rest)))
        self._file.flush()

    def close(self, *, sync: bool = False) -> None:
        if sync and not self._file.closed:
            os.fsync(self._file.fileno())
        self._file.close()

    def _state(self, observation: Observation) -> dict[str, Any]:
        """Plain values; what is empty is left out."""
        kept = _common_length(self._history, observation.history)
        new = observation.history[kept:]
        self._history = observation.history
        subtrees, root = self._trees.encode(observation.tree)
        form = {
            "step": observation.step,
            "pointer": [observation.pointer.x, observation.pointer.y],
            "kept": kept,
            "new": [[to_json(one.action), one.target, one.changed] for one in new],
            "held_keys": list(observation.held_keys),
            "held_buttons": list(observation.held_buttons),
            "windows": [_window_fields(window) for window in observation.windows],
            "subtrees": subtrees,
            "root": root,
            "error": observation.error,
        }
        return {name: value for name, value in form.items() if value not in (None, [])}


class _Record(NamedTuple):
    frame: CodedFrame
    state: bytes


class ObservationFile:
    """The observations of an episode, to be read one by one or all in order.

    Damage is a ``ResultsError`` that names the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._data = memoryview(path.read_bytes())
        except OSError as error:
            raise ResultsError(f"{path} can't be read: {error}") from error
        if bytes(self._data[: len(SIGNATURE)]) != SIGNATURE[: len(self._data)]:
            raise ResultsError(
                f"{path} holds no observations of version {SIGNATURE[-1]}",
                hint="it is damaged, or was written by a newer version of Operant",
            )
        self._starts = list(self._find_records())
        self._decoded: tuple[int, npt.NDArray[np.uint8]] | None = None

    def __len__(self) -> int:
        return len(self._starts)

    def frame(self, number: int) -> npt.NDArray[np.uint8]:
        """One screen; reads back to the last whole frame, or goes on from the frame that was read last."""
        if not 0 <= number < len(self._starts):
            raise ResultsError(f"{self.path} has no observation {number}, only {len(self._starts)}")
        done, frame = self._decoded or (-1, None)
        first = number
        while first > 0 and first != done and not self._is_key(first):
            first -= 1
        if first == done:
            first += 1
        else:
            frame = None
        for at in range(first, number + 1):
            frame = self._decode(at, frame)
        assert frame is not None
        self._decoded = number, frame
        return frame

    def read(self, header: Mapping[str, Any]) -> Iterator[Observation]:
        """All of them in order; ``header`` is that of the episode."""
        trees = TreeDecoder()
        history: tuple[PastAction, ...] = ()
        frame: npt.NDArray[np.uint8] | None = None
        instruction, most = str(header["instruction"]), int(header["max_steps"])
        for number in range(len(self)):
            frame = self._decode(number, frame)
            try:
                state = json.loads(_decompress(self._record(number).state))
                new = [
                    PastAction(from_json(action), target, changed)
                    for action, target, changed in state.get("new", ())
                ]
                history = (*history[: state.get("kept", 0)], *new)
                yield Observation(
                    screen=frame,
                    instruction=instruction,
                    step=int(state["step"]),
                    max_steps=most,
                    pointer=Point(*state["pointer"]),
                    last_action=history[-1].action if history else None,
                    history=history,
                    held_keys=tuple(state.get("held_keys", ())),
                    held_buttons=tuple(state.get("held_buttons", ())),
                    windows=tuple(Window(*fields) for fields in state.get("windows", ())),
                    tree=trees.decode(state.get("subtrees", ()), state.get("root")),
                    error=state.get("error"),
                )
            except (ValueError, KeyError, TypeError, IndexError, InvalidAction, zstandard.ZstdError) as error:
                raise ResultsError(
                    f"{self.path}, observation {number}: {type(error).__name__}: {error}"
                ) from error

    def _find_records(self) -> Iterator[int]:
        at, end = len(SIGNATURE), len(self._data)
        while at + BEGINNING <= end:
            frame, state, *_ = HEADER.unpack_from(self._data, at)
            following = at + BEGINNING + frame + state
            if following > end:
                return  # cut off
            yield at
            at = following

    def _is_key(self, number: int) -> bool:
        return bool(HEADER.unpack_from(self._data, self._starts[number])[-1] & KEY_FRAME)

    def _record(self, number: int) -> _Record:
        at = self._starts[number]
        frame, state, width, height, flags = HEADER.unpack_from(self._data, at)
        (checksum,) = CHECKSUM.unpack_from(self._data, at + HEADER.size)
        data = self._data[at + BEGINNING : at + BEGINNING + frame + state]
        if zlib.crc32(data, zlib.crc32(self._data[at : at + HEADER.size])) != checksum:
            raise ResultsError(f"{self.path}: observation {number} is damaged: its checksum is wrong")
        coded = CodedFrame(width, height, bool(flags & KEY_FRAME), bytes(data[:frame]))
        return _Record(coded, bytes(data[frame:]))

    def _decode(self, number: int, last: npt.NDArray[np.uint8] | None) -> npt.NDArray[np.uint8]:
        try:
            return decode_frame(self._record(number).frame, last)
        except ResultsError as error:
            if str(self.path) in error.message:
                raise
            raise ResultsError(f"{self.path}, observation {number}: {error.message}") from error


def _decompress(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=LARGEST_STATE)


def _window_fields(window: Window) -> list[Any]:
    return [
        window.id, window.title, window.wm_class, window.pid, window.x, window.y, window.width, window.height,
        window.focused, window.minimized, window.maximized,
    ]  # fmt: skip


def _common_length(one: tuple[PastAction, ...], other: tuple[PastAction, ...]) -> int:
    """How many entries at the beginning are the same."""
    length = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine is not theirs and mine != theirs:
            break
        length += 1
    return length
