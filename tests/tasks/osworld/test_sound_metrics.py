from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

RATE = 44_100


def sound(path: Path, seed: int, seconds: float = 3.0, codec: str = "pcm_s16le") -> Path:
    """A melody of random notes."""
    notes = np.random.default_rng(seed).choice(np.arange(200, 2000, 37), int(seconds * 4))
    times = np.arange(RATE // 4) / RATE
    wave = np.concatenate(
        [np.sin(2 * np.pi * note * times) + 0.4 * np.sin(6 * np.pi * note * times) for note in notes]
    )
    samples = (wave / 2 * 20_000).astype(np.int16).reshape(1, -1)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=RATE, layout="mono")
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=RATE, frame_size=1024)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = RATE
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return path


def test_the_same_recording_in_another_format_is_the_same(tmp_path: Path, score) -> None:
    gold = sound(tmp_path / "gold.wav", 1)
    assert score("compare_audios", gold, gold) == pytest.approx(1)
    assert score("compare_audios", sound(tmp_path / "coded.mp3", 1, codec="mp3"), gold) > 0.9


def test_another_recording_is_not(tmp_path: Path, score) -> None:
    gold = sound(tmp_path / "gold.wav", 1)
    assert score("compare_audios", sound(tmp_path / "other.wav", 2), gold) < 0.8
    assert score("compare_audios", sound(tmp_path / "longer.wav", 1, seconds=4.0), gold) == 0
    (tmp_path / "broken.mp3").write_bytes(b"no sound" * 100)
    with pytest.raises(ValueError, match="no sound"):
        score("compare_audios", tmp_path / "broken.mp3", gold)
