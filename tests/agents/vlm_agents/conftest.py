"""Tiny models, built once for all tests of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.wrapper import VLMWrapper
from operant.testing.tiny_vlm import build_tiny_vlm
from operant.types import Size


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("tiny-vlms")

    def directory(family: str = "qwen2_vl") -> Path:
        found = root / family
        return found if found.exists() else build_tiny_vlm(found, family)

    return directory


def screen(seed: int = 0, width: int = 160, height: int = 100) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)


def question(vlm: VLMWrapper, seed: int = 0, images: int = 1, text: str = "Press Save.") -> Prompt:
    from operant.agents.vlm.prompt import as_shown

    size = vlm.shown(Size(160, 100))
    pictures = tuple(as_shown(screen(seed + index), size) for index in range(images))
    content = [*({"type": "image"} for _ in pictures), {"type": "text", "text": text}]
    return Prompt(({"role": "user", "content": content},), pictures)
