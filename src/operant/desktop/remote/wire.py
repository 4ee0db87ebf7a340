"""What client and server say to each other: MessagePack of plain values, checked before anything uses them.

Nothing on the wire can run code. Values of Operant's types are written field by field and read back by their
annotations; failures are written by name and come back as the same class, or as ``RemoteDesktopError``.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgpack
from pydantic import TypeAdapter, ValidationError

from operant import errors
from operant.errors import OperantError, RemoteDesktopError

__all__ = ["PROTOCOL", "failure_from", "failure_to", "pack", "plain", "read", "unpack"]

#: Both halves name it; another number is another protocol.
PROTOCOL = 1
T = TypeVar("T")
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
#: What files and programs of a desktop raise besides our own.
_SYSTEM: tuple[type[OSError], ...] = (
    FileNotFoundError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
    OSError,
)


def pack(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value, default=_listed)
    return packed


def _listed(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} can't be sent")


def unpack(data: bytes) -> dict[str, Any]:
    """A message; anything else than a map with names for keys is an error."""
    try:
        found = msgpack.unpackb(data)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise RemoteDesktopError(f"a message that can't be read: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise RemoteDesktopError(f"a message that is no map but {type(found).__name__}")
    return found


def plain(value: Any, kind: Any) -> Any:
    """A value of one of Operant's types, as ``pack`` takes it."""
    return _adapter(kind).dump_python(value)


def read(value: Any, kind: type[T] | Any) -> T:
    """The opposite: checked against the type's annotations."""
    try:
        found: T = _adapter(kind).validate_python(value)
    except (ValidationError, OperantError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.message
        name = getattr(kind, "__name__", str(kind))
        raise RemoteDesktopError(f"an answer that is no {name}: {why}") from error
    return found


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


# Failures.


def failure_to(error: OperantError | OSError) -> dict[str, Any]:
    if isinstance(error, OperantError):
        return {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
    kind = next(kind for kind in _SYSTEM if isinstance(error, kind))
    return {"kind": kind.__name__, "message": error.strerror or str(error), "errno": error.errno}


def failure_from(form: Any) -> OperantError | OSError:
    """The failure as it was raised on the other side."""
    if not isinstance(form, dict):
        return RemoteDesktopError("the remote desktop failed and did not say how")
    name, message, hint = (form.get(key) for key in ("kind", "message", "hint"))
    for system in _SYSTEM:
        if system.__name__ == name:
            number = form.get("errno")
            return system(number, str(message)) if isinstance(number, int) else system(str(message))
    kind = getattr(errors, name, None) if isinstance(name, str) else None
    if not (isinstance(kind, type) and issubclass(kind, OperantError)):
        return RemoteDesktopError(f"the remote desktop failed: {name}: {message}")
    return kind(str(message), hint=None if hint is None else str(hint))
