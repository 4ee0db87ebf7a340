"""What can be known before a desktop starts: checkpoints to begin with, and none to overwrite."""

from __future__ import annotations

from pathlib import Path

from operant.errors import ConfigError

__all__ = ["DEFAULT_AGENT", "check_new_run", "first_weights"]

#: The name of the agent that comes with Operant, where a checkpoint is asked for.
DEFAULT_AGENT = "default"


def first_weights(name: str | Path | None) -> Path | None:
    """The checkpoint that a run begins with: a file, or ``default``, the agent that comes with Operant."""
    if name is None:
        return None
    if str(name) == DEFAULT_AGENT:
        from operant.agents.hierarchical.agent import DEFAULT

        return DEFAULT
    return Path(name)


def check_new_run(save_dir: Path) -> None:
    """That no checkpoints of another run lie there, to be mixed with ours."""
    if save_dir.is_dir() and any(save_dir.glob("*.pt")):
        raise ConfigError(
            f"{save_dir} holds the checkpoints of another run",
            hint="go on with it by --resume, or choose another --save-dir",
        )
