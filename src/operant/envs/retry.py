"""How often what the machine spoiled is tried again. One policy for environments, players and the service."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RetryPolicy"]


@dataclass(frozen=True)
class RetryPolicy:
    """Counts tries of one job or task. Which failures are the machine's: ``operant.errors.is_infra_error``."""

    tries: int = 3
    """In all, the first included."""
    pause_s: float = 1.0
    """Wait so long after no desktop could be had; asking at once brings none."""
    in_a_row: int = 12
    """Failures without a success in between, over all tasks, after which a source of endless tasks gives up."""

    def again(self, failures: int) -> bool:
        """Whether another try follows after so many that failed."""
        return failures < self.tries
