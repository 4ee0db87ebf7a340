"""What a client may ask of a desktop, by name, with arguments that are checked before the desktop sees them.

To add a call: one function below, and one in ``operant.desktop.remote.client``. A function's keyword arguments
are the call's; what it returns is plain, or a frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, ValidationError, validate_call

from operant.actions.json_actions import from_json
from operant.config.desktop import Profile
from operant.desktop.programs import FileInfo
from operant.desktop.protocol import Desktop
from operant.desktop.remote.wire import plain
from operant.errors import ConfigError, InvalidAction, InvalidPath
from operant.types import Caret, Node, Process, RunResult, Window

__all__ = ["CALLS", "make_call"]

Seconds = Annotated[float, Field(ge=0, le=3600)]
Bytes = Annotated[int, Field(ge=0, le=64 << 20)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Pixel = Annotated[int, Field(ge=-32768, le=32767)]
Path = Annotated[str, Field(max_length=4096)]
Words = Annotated[list[str], Field(min_length=1, max_length=4096)]
Variables = dict[str, str] | None
Call = Callable[..., Any]

CALLS: dict[str, Call] = {}


def call(function: Call) -> Call:
    """List a function under its name, with its arguments checked."""
    CALLS[function.__name__] = validate_call(function)
    return function


def make_call(desktop: Desktop, name: str, arguments: dict[str, Any]) -> Any:
    """What the desktop says; a call that can't be made is an error that says why."""
    if name not in CALLS:
        raise ConfigError(f"a desktop has no call {name[:40]!r}")
    try:
        return CALLS[name](desktop, **arguments)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or name
        raise InvalidAction(f"{name}: {place}: {first['msg']}") from error


# Coming and going, seeing and doing.


@call
def reset(desktop: Any, *, profile: Profile | None = None) -> None:
    desktop.reset(profile)


@call
def use_profile(desktop: Any, *, profile: Profile) -> None:
    desktop.use_profile(profile)


@call
def check(desktop: Any) -> None:
    desktop.check()


@call
def frame(desktop: Any) -> Any:
    return desktop.frame()


@call
def perform(desktop: Any, *, action: dict[str, Any]) -> Any:
    return desktop.perform(from_json(action))


@call
def settle(desktop: Any, *, still_ms: Annotated[float, Field(ge=0, le=60_000)] = 0.0) -> None:
    desktop.settle(still_ms)


@call
def pointer(desktop: Any) -> Any:
    return list(desktop.pointer())


@call
def windows(desktop: Any) -> Any:
    return plain(desktop.windows(), list[Window])


@call
def caret(desktop: Any) -> Any:
    return plain(desktop.caret(), Caret | None)


@call
def place_window(desktop: Any, *, window: Window, x: Pixel, y: Pixel, width: Pixel, height: Pixel) -> None:
    desktop.place_window(window, x, y, width, height)


@call
def activate_window(desktop: Any, *, window: Window) -> None:
    desktop.activate_window(window)


@call
def close_window(desktop: Any, *, window: Window) -> None:
    desktop.close_window(window)


@call
def accessibility(
    desktop: Any,
    *,
    scope: str = "focused",
    app: str | None = None,
    seconds: Seconds = 2.0,
    limit: Count = 5000,
    lines: bool = False,
) -> Any:
    tree = desktop.accessibility(scope, app=app, timeout_s=seconds, limit=limit, lines=lines)
    return plain(tree, Node)


@call
def clipboard_get(desktop: Any, *, selection: str = "clipboard") -> Any:
    return desktop.clipboard.get(_selection(selection))


@call
def clipboard_set(desktop: Any, *, text: str, selection: str = "clipboard") -> None:
    desktop.clipboard.set(text, _selection(selection))


def _selection(name: str) -> str:
    if name not in ("clipboard", "primary", "secondary"):
        raise InvalidAction(
            f"{name[:40]!r} is no selection", hint="selections: clipboard, primary, secondary"
        )
    return name


# Programs and files.


@call
def processes(desktop: Any) -> Any:
    return plain(desktop.processes(), list[Process])


@call
def run(
    desktop: Any,
    *,
    command: Words,
    seconds: Seconds = 30.0,
    limit: Bytes = 1 << 20,
    stdin: bytes | None = None,
    env: Variables = None,
    cwd: Path | None = None,
) -> Any:
    result = desktop.run(command, timeout_s=seconds, limit=limit, stdin=stdin, env=env, cwd=cwd)
    return plain(result, RunResult)


@call
def start(desktop: Any, *, command: Words, env: Variables = None, cwd: Path | None = None) -> Any:
    return desktop.start(command, env=env, cwd=cwd)


@call
def launch(
    desktop: Any, *, command: Words, seconds: Seconds = 15.0, env: Variables = None, cwd: Path | None = None
) -> Any:
    return plain(desktop.launch(command, timeout_s=seconds, env=env, cwd=cwd), Window)


@call
def files_read(desktop: Any, *, path: Path, limit: Bytes = 64 << 20) -> Any:
    return desktop.files.read(_path(path), limit)


@call
def files_write(
    desktop: Any, *, path: Path, data: bytes, mode: Annotated[int, Field(ge=0, le=0o777)] = 0o644
) -> None:
    desktop.files.write(_path(path), data, mode)


@call
def files_list(desktop: Any, *, path: Path = ".", limit: Count = 10_000) -> Any:
    return plain(desktop.files.list(_path(path), limit), list[FileInfo])


@call
def files_info(desktop: Any, *, path: Path) -> Any:
    return plain(desktop.files.info(_path(path)), FileInfo | None)


def _path(path: str) -> str:
    if not path or "\0" in path:
        raise InvalidPath(f"{path!r} is not a path")
    return path
