"""Sounds: is it the same recording, whatever its file format?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.tasks.criteria.question import Refuted

__all__ = ["METRICS"]

RATE = 16_000
FRAME = 2048  # samples: 128 ms
BANDS = 32
LOWEST_HZ, HIGHEST_HZ = 60.0, 7_000.0
SILENCE_DB = -80.0
LONGEST_S = 3600
LENGTH_TOLERANCE = 0.05  # encoders pad the ends
MOST_SHIFT = 2  # frames by which an encoder may delay
Options = Mapping[str, Any]
Features = npt.NDArray[np.float64]


def _samples(path: Path) -> npt.NDArray[np.float32]:
    """The sound in mono, from -1 to 1."""
    import av

    parts, count = [], 0
    try:
        with av.open(str(path)) as container:
            resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
            for frame in container.decode(audio=0):
                for part in resampler.resample(frame):
                    parts.append(part.to_ndarray().reshape(-1))
                    count += parts[-1].size
                if count > LONGEST_S * RATE:
                    raise Refuted(f"{path.name} is too long")
    except (av.FFmpegError, IndexError) as error:
        raise ValueError(f"{path.name} is no sound: {error}") from error
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def _features(samples: npt.NDArray[np.float32]) -> Features:
    """How loud each band is in each frame, in decibels above silence."""
    count = max(1, -(-samples.size // FRAME))
    frames = np.zeros(count * FRAME)
    frames[: samples.size] = samples
    power = np.abs(np.fft.rfft(frames.reshape(count, FRAME) * np.hanning(FRAME))) ** 2
    edges = np.geomspace(LOWEST_HZ, HIGHEST_HZ, BANDS + 1) * FRAME / RATE
    starts = np.unique(edges.astype(int))
    bands = np.add.reduceat(power, starts[:-1], axis=1)
    loudest = max(float(bands.max()), 1e-12)
    levels = 10 * np.log10(np.maximum(bands / loudest, 10 ** (SILENCE_DB / 10)))
    return np.asarray(levels - SILENCE_DB, dtype=np.float64)


def _compare(result: Path, expected: Path, options: Options) -> float:
    """The mean cosine of what is heard at the same time; a recording of another length is another one."""
    one, other = _samples(result), _samples(expected)
    longest = max(one.size, other.size)
    if not longest:
        return 1.0
    if abs(one.size - other.size) > max(LENGTH_TOLERANCE * longest, FRAME * MOST_SHIFT):
        raise Refuted(f"it lasts {one.size / RATE:.1f} s instead of {other.size / RATE:.1f} s")
    found, wanted = _features(one), _features(other)
    return max(_cosine(found, wanted, shift) for shift in range(-MOST_SHIFT, MOST_SHIFT + 1))


def _cosine(found: Features, wanted: Features, shift: int) -> float:
    found, wanted = found[max(0, shift) :], wanted[max(0, -shift) :]
    length = min(len(found), len(wanted))
    if not length:
        return 0.0
    found, wanted = found[:length], wanted[:length]
    sizes = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
    silent = (found.max(axis=1) == 0) & (wanted.max(axis=1) == 0)
    cosines = np.where(silent, 1.0, (found * wanted).sum(axis=1) / np.maximum(sizes, 1e-12))
    return float(cosines.mean())


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {"compare_audios": _compare}
