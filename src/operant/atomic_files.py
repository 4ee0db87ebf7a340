"""Files that are whole or not there: written beside their place, then moved. A failed write keeps the last good file.

Knows no formats. The caller chooses the type of the error and takes its text from ``write_problem``.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["is_full_disk", "replacing", "write_atomically", "write_problem"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields where to write a file or a directory; it takes the place of ``path`` when the block ends without an error.

    >>> with replacing(Path("weights.pt")) as temporary:  # doctest: +SKIP
    ...     torch.save(weights, temporary)
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    aside = path.with_name(f".{path.name}.{os.getpid()}.old")
    try:
        yield temporary
        if temporary.is_dir() and path.is_dir():
            os.replace(path, aside)  # a directory can't be replaced by another in one call
        os.replace(temporary, path)
    except BaseException:
        if aside.is_dir() and not path.exists():  # Ctrl-C between the two calls
            os.replace(aside, path)
        _remove(temporary)
        raise
    if aside.is_dir():
        _remove(aside)


def write_atomically(path: Path, content: str | bytes, *, sync: bool = False) -> None:
    """Replace a file's content. ``sync`` waits until the disk has it."""
    data = content.encode() if isinstance(content, str) else content
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        if sync:
            os.fsync(file.fileno())


def write_problem(path: Path, error: BaseException) -> str:
    """One line that says why a file was not written. A full disk is recognised behind the texts of other libraries."""
    if is_full_disk(error):
        return f"no space left on {path}"
    return f"{path} can't be written: {' '.join(str(error).split()) or type(error).__name__}"


def is_full_disk(error: BaseException | None) -> bool:
    """Whether there was no space left, or no quota."""
    # PyTorch raises its own error while it handles the OSError; safetensors has it as text only.
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if "No space left on device" in str(error) or "Disk quota exceeded" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
