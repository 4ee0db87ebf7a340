"""Tiny vision-language models for tests: see ``operant.agents.vlm.tiny``, which training also starts from."""

from __future__ import annotations

from operant.agents.vlm.tiny import TINY_FAMILIES, build_tiny_vlm

__all__ = ["TINY_FAMILIES", "build_tiny_vlm"]
