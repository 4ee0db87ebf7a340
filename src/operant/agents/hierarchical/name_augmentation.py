"""Name augmentation: a task on ``quiet-harbor.txt`` is a task on any other file.

Words that only few episodes of a task have are its names. In a share of the lessons they are all swapped for other
ones, on the screen and in the instruction alike, so that the policy learns where a word stands, not which it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from operant.agents.trainable import Arrays

__all__ = ["NameAugmentation"]

WORDS = ("seen.token_words", "seen.token_near", "seen.row_words")


class NameAugmentation:
    """Swaps names in batches. ``share`` of the lessons are changed; a name is in at most ``rare`` of a task's episodes."""

    def __init__(self, vocabulary: int, *, share: float = 0.5, rare: float = 0.12, least: int = 8) -> None:
        self.vocabulary = vocabulary
        self.share = share
        self.rare = rare
        self.least = least
        """Episodes of a task before anything in it is taken for a name."""
        self._seen: dict[str, npt.NDArray[np.int32]] = {}
        self._episodes: dict[str, int] = {}

    def note(self, task: str, arrays: Arrays) -> None:
        """Count the words of an episode."""
        present = np.zeros(self.vocabulary, bool)
        for name in WORDS:
            present[arrays[name].ravel()] = True
        self._seen.setdefault(task, np.zeros(self.vocabulary, np.int32))[present] += 1
        self._episodes[task] = self._episodes.get(task, 0) + 1

    def names(self, task: str) -> npt.NDArray[np.int64]:
        """The words of a task that are its names."""
        episodes = self._episodes.get(task, 0)
        if episodes < self.least:
            return np.zeros(0, np.int64)
        counts = self._seen[task]
        return np.flatnonzero((counts > 0) & (counts <= self.rare * episodes))

    def apply(self, tasks: Sequence[str], batch: Arrays, random: np.random.Generator) -> None:
        """Swap the names of some rows of a batch, in place."""
        chosen = np.flatnonzero(random.random(len(tasks)) < self.share)
        for row in chosen.tolist():
            names = self.names(tasks[row])
            if len(names):
                other = np.arange(self.vocabulary, dtype=np.int16)
                other[names] = random.integers(1, self.vocabulary, len(names))
                for part in WORDS:
                    batch[part][row] = other[batch[part][row]]
