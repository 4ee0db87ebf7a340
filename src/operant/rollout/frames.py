"""Screens as lossless differences: a frame is stored whole, or as the tiles that differ from the frame before it.

Every ``KEY_EVERY``-th frame is whole, so that one frame is read without all those before it. Compressed with zstd.
Knows arrays and bytes, no files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import zstandard

from operant.errors import ResultsError

if TYPE_CHECKING:
    import numpy.typing as npt

    Frame = npt.NDArray[np.uint8]

__all__ = ["KEY_EVERY", "CodedFrame", "FrameEncoder", "decode_frame"]

TILE = 16  # pixels; 32 needs 10 % more bytes on screens of the core suite
KEY_EVERY = 16
LEVEL = 3  # level 9 saves 8 % of the bytes and takes three times as long


class CodedFrame(NamedTuple):
    """A frame as it is stored."""

    width: int
    height: int
    key: bool
    """Whole; otherwise the frame before is needed."""
    data: bytes


class FrameEncoder:
    """Encodes the frames of one episode in order. A frame must not change after it was given."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._last: Frame | None = None
        self._since_key = 0

    def encode(self, frame: Frame) -> CodedFrame:
        height, width = frame.shape[:2]
        last = self._last
        self._last = frame
        if last is None or last.shape != frame.shape or self._since_key >= KEY_EVERY - 1:
            self._since_key = 0
            return CodedFrame(
                width, height, True, self._compressor.compress(np.ascontiguousarray(frame).data)
            )
        self._since_key += 1
        changed = changed_tiles(last, frame)
        if not changed.any():
            return CodedFrame(width, height, False, b"")
        payload = np.packbits(changed).tobytes() + _tiles(frame)[changed].tobytes()
        return CodedFrame(width, height, False, self._compressor.compress(payload))


def decode_frame(coded: CodedFrame, last: Frame | None) -> Frame:
    """The frame; ``last`` is the frame before it. ``ResultsError`` if the bytes are no such frame."""
    width, height = coded.width, coded.height
    if not coded.key and (last is None or last.shape != (height, width, 3)):
        raise ResultsError("a difference without the frame before it")
    if last is not None and not coded.key and not coded.data:
        return last
    down, across = _count(height), _count(width)
    most = (down * across + 7) // 8 + down * across * TILE * TILE * 3
    try:
        raw = zstandard.ZstdDecompressor().decompress(coded.data, max_output_size=most)
    except zstandard.ZstdError as error:
        raise ResultsError(f"a frame can't be decompressed: {error}") from error
    if coded.key:
        if len(raw) != height * width * 3:
            raise ResultsError(f"a frame of {len(raw)} bytes instead of {height * width * 3}")
        return np.frombuffer(raw, np.uint8).reshape(height, width, 3)
    assert last is not None
    bitmap = (down * across + 7) // 8
    changed = np.unpackbits(np.frombuffer(raw[:bitmap], np.uint8), count=down * across).astype(bool)
    tiles = np.frombuffer(raw, np.uint8, offset=bitmap)
    if tiles.size != int(changed.sum()) * TILE * TILE * 3:
        raise ResultsError("a frame with another number of tiles than it says")
    padded = _padded(last)
    if padded is last:
        padded = last.copy()
    _tiles(padded)[changed.reshape(down, across)] = tiles.reshape(-1, TILE, TILE, 3)
    frame = np.ascontiguousarray(padded[:height, :width])
    frame.flags.writeable = False
    return frame


def changed_tiles(one: Frame, other: Frame) -> npt.NDArray[np.bool_]:
    """(rows, columns) of tiles: whether any pixel differs."""
    height, width = one.shape[:2]
    one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
    down, across = _count(height), _count(width)
    if width % TILE == 0:
        # A tile's row is 48 bytes, six words of eight: compared at once.
        words = one.reshape(height, -1).view(np.uint64) != other.reshape(height, -1).view(np.uint64)
    else:
        words = one.reshape(height, -1) != other.reshape(height, -1)
        words = np.pad(words, ((0, 0), (0, (across * TILE - width) * 3)))
    rows = np.flatnonzero(words.any(axis=1))
    found = np.zeros((down, across), bool)
    if len(rows):
        columns = words[rows].reshape(len(rows), across, -1).any(axis=2)
        places = rows // TILE
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        found[places[starts]] = np.logical_or.reduceat(columns, starts, axis=0)
    return found


def _tiles(frame: Frame) -> Frame:
    """(rows, columns, TILE, TILE, 3): a view if the frame is whole tiles, otherwise of a padded copy."""
    padded = _padded(frame)
    height, width = padded.shape[:2]
    return padded.reshape(height // TILE, TILE, width // TILE, TILE, 3).swapaxes(1, 2)


def _padded(frame: Frame) -> Frame:
    height, width = frame.shape[:2]
    below, right = -height % TILE, -width % TILE
    return np.pad(frame, ((0, below), (0, right), (0, 0))) if below or right else frame


def _count(pixels: int) -> int:
    return -(-pixels // TILE)
