"""Files of the desktop's home directory, and its clipboard."""

from __future__ import annotations

import base64
import binascii
import posixpath

from pydantic import Field

from operant.apps.view import HOME
from operant.desktop.programs import FileInfo
from operant.errors import InvalidAction, InvalidPath
from operant.mcp.session import DesktopSession
from operant.mcp.tools.base import Arguments, Tool, ToolReply

__all__ = ["TOOLS"]

MOST_READ = 1 << 20
MOST_WRITTEN = 8 << 20
MOST_ENTRIES = 500
LONGEST_CLIPBOARD = 100_000
PATH = Field(min_length=1, max_length=1000, description=f"Relative to the home directory ({HOME}).")


class _Path(Arguments):
    path: str = PATH


class _Folder(Arguments):
    path: str = Field(".", max_length=1000, description=f"Relative to the home directory ({HOME}).")


class _Read(_Path):
    as_base64: bool = Field(False, description="Base64 even if it is text.")
    offset: int = Field(0, ge=0, le=1 << 30, description="Bytes to skip.")


class _Write(_Path):
    text: str | None = Field(None, max_length=MOST_WRITTEN, description="What the file then holds.")
    base64: str | None = Field(
        None, max_length=MOST_WRITTEN * 4 // 3 + 4, description="The same for other than text."
    )


class _Nothing(Arguments):
    pass


class _Text(Arguments):
    text: str = Field(max_length=LONGEST_CLIPBOARD, description="What is then on the clipboard.")


def _inside(path: str) -> str:
    """The path below HOME; one that leads out of it is refused."""
    whole = posixpath.normpath(posixpath.join(HOME, path.replace("~/", "", 1) if path[:2] == "~/" else path))
    if "\0" in path or not (whole == HOME or whole.startswith(HOME + "/")):
        raise InvalidPath(f"{path[:120]!r} is not in the home directory", hint=f"files are below {HOME}")
    return whole


def list_files(session: DesktopSession, a: _Folder) -> ToolReply:
    with session.using() as desktop:
        found = desktop.files.list(_inside(a.path), MOST_ENTRIES + 1)
    lines = [_entry(one) for one in found[:MOST_ENTRIES]]
    lines += ["... and more"] if len(found) > MOST_ENTRIES else []
    return ToolReply("\n".join(lines) or "empty")


def _entry(one: FileInfo) -> str:
    return f"{one.name}/" if one.is_dir else f"{one.name}  {one.size} bytes"


def read_file(session: DesktopSession, a: _Read) -> ToolReply:
    path = _inside(a.path)
    with session.using() as desktop:
        data = desktop.files.read(path, a.offset + MOST_READ + 1)[a.offset :]
    data, cut = data[:MOST_READ], len(data) > MOST_READ
    more = f"\n... cut; go on with offset {a.offset + MOST_READ}" if cut else ""
    try:
        if a.as_base64:
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "base64 was asked for")
        return ToolReply(data.decode("utf-8") + more)
    except UnicodeDecodeError:
        return ToolReply(f"base64, {len(data)} bytes:\n{base64.b64encode(data).decode()}{more}")


def write_file(session: DesktopSession, a: _Write) -> ToolReply:
    path = _inside(a.path)
    if (a.text is None) == (a.base64 is None):
        raise InvalidAction("write_file takes either text or base64", hint="give one of them")
    try:
        data = base64.b64decode(a.base64, validate=True) if a.base64 is not None else (a.text or "").encode()
    except (binascii.Error, ValueError) as error:
        raise InvalidAction(f"that is not base64: {str(error)[:80]}") from error
    session.call("write_file", {"path": path, "bytes": len(data)}, lambda d: d.files.write(path, data))
    return ToolReply(f"{session.progress()}: wrote {len(data)} bytes to {path}.")


def read_clipboard(session: DesktopSession, a: _Nothing) -> ToolReply:
    with session.using() as desktop:
        held = desktop.clipboard.get()
    return ToolReply("The clipboard is empty." if held is None else held[:LONGEST_CLIPBOARD])


def write_clipboard(session: DesktopSession, a: _Text) -> ToolReply:
    session.call("write_clipboard", {"characters": len(a.text)}, lambda d: d.clipboard.set(a.text))
    return ToolReply(f"{session.progress()}: {len(a.text)} characters are on the clipboard.")


TOOLS = (
    Tool("list_files", "List a folder of the desktop's home directory.", _Folder, list_files, read_only=True),
    Tool(
        "read_file",
        "Read a file of the desktop's home directory: text, or base64 for anything else; 1 MB at a time.",
        _Read,
        read_file,
        read_only=True,
    ),
    Tool("write_file", "Make or replace a file in the desktop's home directory.", _Write, write_file),
    Tool("read_clipboard", "What is copied.", _Nothing, read_clipboard, read_only=True),
    Tool("write_clipboard", "Put text on the clipboard.", _Text, write_clipboard),
)
