"""One file of tensors, read and written: every way in which a file can be no checkpoint is one line for people.

Only tensors and plain values are read (``weights_only=True``): a file that was tampered with can hold wrong numbers, but
can't run code. Knows nothing of what a checkpoint holds.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from operant.atomic_files import is_full_disk, replacing, write_problem
from operant.errors import CheckpointError, NoCheckpoint, NoSpaceLeft

__all__ = ["read_tensors", "save_problem", "write_tensors"]

ZIP, PICKLE = b"PK\x03\x04", b"\x80"  # what files of torch.save begin with, the new ones and the old
REASON = 120  # characters of PyTorch's own words


def read_tensors(path: str | Path, *, hint: str = "name a .pt file that training wrote") -> Any:
    """What ``torch.save`` wrote, on the CPU; otherwise ``CheckpointError``, whatever is wrong with the file."""
    path = Path(path)
    head = _head(path, hint)
    if not head:
        raise CheckpointError(f"{path} is empty, not a checkpoint", hint=hint)
    zipped = head.startswith(ZIP)
    if not zipped and not head.startswith(PICKLE):
        raise CheckpointError(f"{path} is not a checkpoint: PyTorch did not write it", hint=hint)
    if zipped and not _has_tensors(path, hint):
        raise CheckpointError(f"{path} is a zip file of something else, not a checkpoint", hint=hint)
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file may fail in any way
        if "weights_only" in str(error) and "GLOBAL" in str(error):
            raise CheckpointError(
                f"{path} holds more than numbers and was not loaded: it could run code",
                hint="load only files that training wrote",
            ) from error
        reason = (str(error) or type(error).__name__).splitlines()[0][:REASON]
        raise CheckpointError(f"{path} is damaged: {reason}", hint=hint) from error


def _head(path: Path, hint: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(len(ZIP))
    except FileNotFoundError as error:
        raise NoCheckpoint(f"there is no checkpoint {path}", hint=hint) from error
    except IsADirectoryError as error:
        raise NoCheckpoint(f"{path} is a directory, not a checkpoint", hint=hint) from error
    except OSError as error:
        raise CheckpointError(f"{path} can't be read: {error.strerror or error}", hint=hint) from error


def _has_tensors(path: Path, hint: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith("/data.pkl") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:  # the list of contents is at the end
        raise CheckpointError(f"{path} is damaged: it is cut short", hint=hint) from error


def write_tensors(path: Path, content: Mapping[str, Any]) -> Path:
    """Write it as a whole or not at all: after a failure the file that was there before is still there."""
    try:
        with replacing(path) as temporary, open(temporary, "wb") as file:
            torch.save(dict(content), file)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, RuntimeError) as error:
        raise save_problem(path, error) from error
    return path


def save_problem(path: Path, error: BaseException) -> CheckpointError:
    """Why a checkpoint was not written; ``NoSpaceLeft`` if the disk is full."""
    if is_full_disk(error):
        return NoSpaceLeft(
            write_problem(path, error),
            hint="make room there, then go on: checkpoints that were there before are whole",
        )
    return CheckpointError(write_problem(path, error))
