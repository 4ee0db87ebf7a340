"""How help names the directory in which everything is kept unless a flag says otherwise; ``config.places`` finds it."""

from __future__ import annotations

__all__ = ["DATA_DIR"]

DATA_DIR = "$OPERANT_DATA_DIR"
