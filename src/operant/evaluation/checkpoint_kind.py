"""Which agent a checkpoint is of. Goes by what is there: nothing is loaded, and nothing is guessed from names.

A hierarchical checkpoint is one file. A vision-language one is a directory: a model or an adapter, the checkpoint
around it, or the run, of which the newest checkpoint is meant.
"""

from __future__ import annotations

from pathlib import Path

from operant.errors import NoCheckpoint

__all__ = ["agent_of_checkpoint"]

MODELS = ("config.json", "adapter_config.json")  # what a model's or an adapter's directory holds
KINDS = (
    "a .pt file of operant train, a run's directory, a version_N directory of operant train vlm, or a directory"
    " with a model or an adapter"
)


def agent_of_checkpoint(path: Path) -> str:
    """The agent's name, as ``--agent`` takes it."""
    from operant.learn.checkpoint import newest_checkpoint
    from operant.learn.vlm.checkpoint import MODEL, STATE, newest

    if not path.exists():
        raise NoCheckpoint(f"there is no checkpoint {path}", hint=KINDS)
    if path.is_file():
        if path.name == STATE and (path.parent / MODEL).is_dir():  # the learner's half of a checkpoint
            return f"vlm:{path.parent / MODEL}"
        return f"hierarchical:{path}"
    if any((path / name).is_file() for name in MODELS):
        return f"vlm:{path}"
    for directory in (path, path / "checkpoints"):
        found = directory if (directory / STATE).is_file() else newest(directory)
        if found is not None:
            return f"vlm:{found / MODEL}"
        files = list(directory.glob("*.pt"))
        if files:
            return f"hierarchical:{files[0] if len(files) == 1 else newest_checkpoint(directory)}"
    raise NoCheckpoint(f"{path} holds no checkpoint", hint=KINDS)
