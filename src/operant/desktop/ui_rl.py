"""Desktops behind UI-RL's environment servers, of either generation: pixels, a pointer, keys, and a word on progress.

The first generation begins sessions by type (``POST /session``), the second is one session. A session begins when it
is first needed and ends with ``reset`` or ``close``. Such servers set their own tasks up and show pixels only: there
are no windows, widgets, files or commands behind them.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import httpx
import numpy as np
import numpy.typing as npt
from loguru import logger

from operant.actions import ui_rl
from operant.actions.scrolling import as_notches
from operant.config.desktop import DesktopConfig, Profile
from operant.config.settings import read_variable
from operant.desktop.frame_comparison import same_frame
from operant.desktop.png_frames import is_png, read_png_frame
from operant.desktop.protocol import Capability, Desktop, LimitedDesktop
from operant.desktop.remote.connection import BROKEN, CONNECT_S, FIRST_PAUSE_S, IDLE_S, check_url
from operant.errors import (
    AccessibilityError,
    ActionNotExpressible,
    ConfigError,
    DesktopClosed,
    DesktopTimeout,
    InvalidAction,
    NotSupported,
    OperantError,
    RemoteDesktopError,
    Unauthorized,
    UnknownTask,
)
from operant.types import Action, ActionKind, Monitor, Node, Point, Size, StepResult, Window

__all__ = ["DEFAULT_TYPE", "UiRlDesktop", "UiRlFleet", "UiRlLine", "speaks_ui_rl"]

DEFAULT_TYPE = "simple_data_entry"
CALL_S = 60.0
CHECK_S = 10.0
GOODBYE_S = 5.0
PATIENCE_S = 2.0
MOST_BYTES = 64 << 20
SETTLED = StepResult(changed=False, settled=True, waited_ms=0.0)
PLAIN_ONLY = (
    "a UI-RL server sets its own tasks up and shows pixels only: see operant.tasks.ui_rl.session_task"
)


class UiRlLine:
    """HTTP to one server; safe for threads. Nothing that acts is ever sent twice."""

    def __init__(self, url: str, token: str | None = None, *, patience_s: float = PATIENCE_S) -> None:
        self.url = check_url(url)
        self.patience_s = patience_s
        self._client = httpx.Client(
            base_url=self.url,
            headers={"authorization": f"Bearer {token}"} if token else {},
            limits=httpx.Limits(keepalive_expiry=IDLE_S, max_connections=None),
            verify=self.url.startswith("https://"),
            trust_env=False,
        )

    def ask(
        self,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        method: str = "GET",
        timeout_s: float = CALL_S,
        again: bool = True,
    ) -> _Answer:
        """What the server says. ``again``: to be asked twice does no harm, so a line that breaks is opened again."""
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        began, pause = time.monotonic(), FIRST_PAUSE_S
        safe = BROKEN if again else (httpx.ConnectError, httpx.ConnectTimeout)
        while True:
            try:
                return self._send(method, path, given, timeout_s)
            except BROKEN as error:
                if not isinstance(error, safe) or time.monotonic() - began + pause > self.patience_s:
                    raise RemoteDesktopError(
                        f"{self.url} can't be reached: {error or type(error).__name__}",
                        hint="is it up? start one with: operant desktop serve --protocol ui-rl",
                    ) from error
                time.sleep(pause)
                pause *= 2
            except httpx.TimeoutException as error:
                raise DesktopTimeout(f"{self.url} did not answer within {timeout_s:g} s") from error
            except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: it was closed meanwhile
                raise RemoteDesktopError(f"{self.url}: {error}") from error

    def _send(self, method: str, path: str, given: Mapping[str, Any], timeout_s: float) -> _Answer:
        limits = httpx.Timeout(timeout_s, connect=CONNECT_S)
        with self._client.stream(method, path, params=given, timeout=limits) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise RemoteDesktopError(f"{self.url} sent more than {MOST_BYTES} bytes")
            return _Answer(self.url, response.status_code, bytes(content), response.headers)

    def close(self) -> None:
        self._client.close()


class _Answer:
    """An answer that has arrived; nothing in it is believed before it was looked at."""

    def __init__(self, url: str, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        self.url = url
        self.status = status
        self.content = content
        self.kind = headers.get("content-type", "").partition(";")[0]

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def is_page(self) -> bool:
        return self.kind == "text/html" or self.content[:64].lstrip().lower().startswith(
            (b"<!doctype", b"<html")
        )

    def json(self) -> dict[str, Any]:
        import json

        try:
            found = json.loads(self.content)
        except (ValueError, RecursionError):
            self.stranger("that is no JSON")
        if not isinstance(found, dict):
            self.stranger("that is no object")
        return found

    def frame(self) -> npt.NDArray[np.uint8]:
        if not is_png(self.content):
            self.stranger("that is no PNG picture")
        try:
            return read_png_frame(self.content)
        except ValueError as error:
            raise RemoteDesktopError(f"{self.url} sent a picture that can't be read: {error}") from error

    def stranger(self, what: str) -> NoReturn:
        shown = "an HTML page" if self.is_page else "an answer"
        raise RemoteDesktopError(
            f"{self.url} gave {shown} {what} (status {self.status})",
            hint="is it a UI-RL server, and is this its address and port?",
        )

    def problem(self) -> tuple[str, str, str | None]:
        """Code, sentence and hint, where the server gives them."""
        try:
            found = self.json()
        except RemoteDesktopError:
            return "", f"status {self.status}", None
        code, hint = found.get("code"), found.get("hint")
        said = found.get("message") or found.get("detail") or f"status {self.status}"
        return str(code or ""), str(said)[:300], None if hint is None else str(hint)[:300]

    def check(self) -> _Answer:
        """Raise what an answer means that is not the one that was asked for."""
        if self.ok:
            return self
        if self.is_page:
            self.stranger("and not what was asked for")
        code, said, hint = self.problem()
        message = f"{self.url}: {said}"
        if self.status in (401, 403):
            raise Unauthorized(message, hint="set the token that it was started with (OPERANT_TOKEN)")
        if code == "unknown_task":
            raise UnknownTask(message, hint=hint)
        if self.status == 404:
            raise DesktopClosed(f"{message}: the session has ended", hint=hint or "begin another")
        if self.status == 422:
            raise InvalidAction(message, hint=hint)
        raise RemoteDesktopError(message, hint=hint)


class UiRlDesktop(LimitedDesktop):
    """One session at a time on one server. ``delay_s`` asks the server to wait so long after each action.

    >>> with UiRlDesktop("http://127.0.0.1:8765") as desktop:  # doctest: +SKIP
    ...     desktop.perform(Action.click(Point(0.5, 0.5)))
    """

    capabilities = frozenset({Capability.RESET})
    lacking_hint = PLAIN_ONLY

    def __init__(
        self,
        server: UiRlLine | str,
        session_type: str = DEFAULT_TYPE,
        *,
        token: str | None = None,
        timeout_s: float = CALL_S,
        delay_s: float | None = None,
    ) -> None:
        self.session_type = session_type
        self.timeout_s = timeout_s
        self.delay_s = delay_s
        self.last_step = SETTLED
        self.closed = False
        self.instruction: str | None = None
        """What the server's task asks for, where the server says so."""
        self._owned = isinstance(server, str)
        self._line = UiRlLine(server, token) if isinstance(server, str) else server
        self._lock = threading.RLock()
        self._home: str | None = None
        """Where the session's calls go: ``/session/7``, or nothing before them in the second generation."""
        self._used = False
        self._last: npt.NDArray[np.uint8] | None = None
        self._pointer: tuple[int, int] | None = None
        try:
            self.check()
        except BaseException:
            if self._owned:
                self._line.close()
            raise

    # Coming and going.

    def begin(self, session_type: str | None = None, seed: int | None = None) -> None:
        """End the session and begin another. ``seed`` decides the task's instance, where the server knows seeds."""
        with self._lock:
            self._open()
            self._end()
            self.session_type = session_type or self.session_type
            wanted = {"type": self.session_type, "n": 1, "seed": seed}
            answer = self._line.ask("/session", wanted, method="POST", timeout_s=self.timeout_s, again=False)
            if answer.status in (404, 405) and answer.problem()[0] != "unknown_task" and not answer.is_page:
                self._begin_single()
            else:
                self._begin_numbered(answer)
            try:
                self._last = self._look()
            except BaseException:
                self._end()
                raise

    def _begin_numbered(self, answer: _Answer) -> None:
        try:
            numbers = answer.check().json().get("session_ids")
        except InvalidAction as error:  # how UI-RL's own server refuses a type
            raise UnknownTask(
                f"{self._line.url} has no session type {self.session_type!r}", hint=error.message
            ) from error
        if not (isinstance(numbers, list) and len(numbers) == 1 and isinstance(numbers[0], (int, str))):
            answer.stranger("without a session's number")
        self._home = f"/session/{numbers[0]}"
        about = self._line.ask(self._home, timeout_s=self.timeout_s)
        said = about.json().get("instruction") if about.ok else None
        self.instruction = said if isinstance(said, str) else None

    def _begin_single(self) -> None:
        if self._used and not self._line.ask("/reset", method="POST", again=False).ok:
            raise NotSupported(
                f"{self._line.url} is one session that can't begin again",
                hint="restart it for each episode, or serve desktops with: operant desktop serve --protocol ui-rl",
            )
        self._home, self._used = "", True

    def _end(self) -> None:
        home, self._home = self._home, None
        self._last, self._pointer, self.last_step = None, None, SETTLED
        self.instruction = None
        if home:
            with contextlib.suppress(OperantError):  # an unused session ends by itself
                self._line.ask(home, method="DELETE", timeout_s=GOODBYE_S, again=False)

    def check(self) -> None:
        """Raise a typed error unless the server answers, and the session if there is one."""
        with self._lock:
            self._open()
            answer = self._line.ask(self._home or "/", timeout_s=CHECK_S)
            if answer.is_page:
                answer.stranger("where a UI-RL server says its name")
            if self._home or answer.status != 404:
                answer.check()

    def reset(self, profile: Profile | None = None) -> None:
        """End the session; the next call begins another."""
        with self._lock:
            self._open()
            self._end()

    def close(self) -> None:
        """End the session. A server that is gone ends it by itself."""
        with self._lock:
            if self.closed:
                return
            self._end()
            self.closed = True
            if self._owned:
                self._line.close()

    def _open(self) -> None:
        if self.closed:
            raise DesktopClosed("the desktop is closed")

    def __enter__(self) -> UiRlDesktop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Seeing and doing.

    @property
    def size(self) -> Size:
        height, width = self._seen().shape[:2]
        return Size(width, height)

    @property
    def monitors(self) -> tuple[Monitor, ...]:
        return (Monitor(0, 0, *self.size),)

    def _seen(self) -> npt.NDArray[np.uint8]:
        """The last picture; begins a session if there is none."""
        with self._lock:
            self._open()
            if self._last is None:
                self.begin()
            assert self._last is not None
            return self._last

    def _look(self) -> npt.NDArray[np.uint8]:
        path, parameters = ("/screenshot", None) if self._home else ("/act", {"action_type": "screenshot"})
        return self._line.ask(f"{self._home}{path}", parameters, timeout_s=self.timeout_s).check().frame()

    def frame(self) -> npt.NDArray[np.uint8]:
        """The screen now, RGB, (height, width, 3)."""
        with self._lock:
            self._seen()
            return self._take(self._look()).copy()

    def glance(self) -> npt.NDArray[np.uint8]:
        """The same as ``frame``."""
        return self.frame()

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        """Do it and return the frame. What the protocol has no words for is an ``ActionNotExpressible``."""
        with self._lock:
            before, began = self._seen(), time.monotonic()
            if action.kind is ActionKind.WAIT:
                time.sleep(action.duration)
                frame = self._take(self._look())
            else:
                for part in self._parts(action):
                    frame = self._take(self._act(part))
            waited = 1000 * (time.monotonic() - began)
            self.last_step = StepResult(not same_frame(before, frame), settled=True, waited_ms=waited)
            return frame.copy()

    def _parts(self, action: Action) -> list[Action]:
        """What the protocol can say: scrolls come in threes, and clicks have a place."""
        if action.kind is ActionKind.SCROLL and not action.dx:
            whole = as_notches(action)
            times = math.ceil(abs(whole.dy) / ui_rl.NOTCHES)
            step = math.copysign(ui_rl.NOTCHES, whole.dy)
            return [replace(whole, dy=step)] * times if times else [Action(ActionKind.SCREENSHOT)]
        if action.kind is ActionKind.CLICK and action.point is None:
            if self._pointer is None:
                raise ActionNotExpressible(
                    "a UI-RL server does not say where the pointer is: click at a place"
                )
            return [replace(action, point=Point.from_pixel(*self._pointer, self.size))]
        return [action]

    def _act(self, action: Action) -> npt.NDArray[np.uint8]:
        said = ui_rl.render(action, self.size)
        answer = self._line.ask(
            f"{self._home}/act",
            {**said, "delay": self.delay_s},
            timeout_s=self.timeout_s + (self.delay_s or 0.0),
            again=False,
        )
        frame = answer.check().frame()
        if action.point is not None:
            self._pointer = action.point.to_pixel(self.size)
        return frame

    def _take(self, frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        if self._last is not None and frame.shape != self._last.shape:
            raise RemoteDesktopError(
                f"{self._line.url} changed the size of its screen to {frame.shape[1::-1]}"
            )
        self._last = frame
        return frame

    def progress(self) -> dict[str, Any]:
        """What the server says about the task: its own words."""
        with self._lock:
            self._seen()
            return self._line.ask(f"{self._home}/progress", timeout_s=self.timeout_s).check().json()

    def settle(self, still_ms: float = 0.0) -> StepResult:
        """Servers wait before they answer; there is nothing left to wait for."""
        return self.last_step

    def pointer(self) -> tuple[int, int]:
        """Where the last action pointed; the middle before there was one. The protocol does not say."""
        width, height = self.size
        return self._pointer or (width // 2, height // 2)

    # What such servers don't have.

    def windows(self) -> list[Window]:
        """None are known."""
        return []

    def accessibility(
        self, scope: str = "focused", *, app: str | None = None, timeout_s: float = 2.0, lines: bool = False
    ) -> Node:
        raise AccessibilityError(f"{self._line.url} tells nothing of widgets", hint=PLAIN_ONLY)


class UiRlFleet:
    """Several servers as one place to get desktops from, in turn. ``token_variable`` names the variable with their token.

    >>> fleet = UiRlFleet(["http://10.0.0.7:8000"])  # doctest: +SKIP
    >>> DesktopPool(4, factory=fleet.lease)  # doctest: +SKIP
    """

    def __init__(
        self,
        urls: Sequence[str],
        session_type: str = DEFAULT_TYPE,
        *,
        token_variable: str = "OPERANT_TOKEN",
        timeout_s: float = CALL_S,
        delay_s: float | None = None,
    ) -> None:
        if not urls:
            raise ConfigError("a fleet without a single address")
        token = read_variable(token_variable)
        self.lines = [UiRlLine(url, token) for url in dict.fromkeys(urls)]
        self.session_type = session_type
        self.timeout_s = timeout_s
        self.delay_s = delay_s
        self._turns = itertools.count()

    def check(self, config: DesktopConfig | None = None) -> None:
        """Ask every server at once. It is an error if none answers, or if one has no such session type."""
        failure: OperantError | None = None
        answered = 0
        for line in self.lines:
            try:
                _check(line, self.session_type)
                answered += 1
            except (RemoteDesktopError, DesktopTimeout) as error:
                logger.warning("{}", error.message)
                failure = error
        if not answered and failure is not None:
            raise failure

    def lease(self, config: DesktopConfig | None = None) -> Desktop:
        """A desktop of the next server that answers; if none does, what the last one said."""
        return self._in_turn(self._desktop)

    def _desktop(self, line: UiRlLine) -> UiRlDesktop:
        return UiRlDesktop(line, self.session_type, timeout_s=self.timeout_s, delay_s=self.delay_s)

    def _in_turn(self, make: Callable[[UiRlLine], UiRlDesktop]) -> UiRlDesktop:
        first, count = next(self._turns), len(self.lines)
        failure: OperantError | None = None
        for offset in range(count):
            try:
                return make(self.lines[(first + offset) % count])
            except (RemoteDesktopError, DesktopTimeout) as error:
                failure = error  # down or slow: the others may do
        assert failure is not None
        raise failure

    def close(self) -> None:
        for line in self.lines:
            line.close()


def _check(line: UiRlLine, session_type: str) -> None:
    answer = line.ask("/types", timeout_s=CHECK_S)
    if answer.ok and session_type not in answer.json():
        import difflib

        near = difflib.get_close_matches(session_type, answer.json(), 1)
        raise UnknownTask(
            f"{line.url} has no session type {session_type!r}",
            hint=f"did you mean {near[0]!r}?" if near else f"{line.url}/types lists them",
        )
    if answer.status != 404:  # UI-RL's own servers have no list
        answer.check()
    if answer.is_page:
        answer.stranger("where a UI-RL server says its name")


def speaks_ui_rl(url: str, token: str | None = None) -> bool:
    """Whether that address is a UI-RL server and not one of Operant's own protocol; an error if it does not answer."""
    line = UiRlLine(url, token)
    try:
        answer = line.ask("/v1/about", timeout_s=CHECK_S)
        if answer.is_page:
            answer.stranger("where a desktop server says its name")
        return answer.status == 404
    finally:
        line.close()
