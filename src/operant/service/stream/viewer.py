"""One connection to one desktop: sends pictures as fast as they change and are seen, and does what comes back.

The rate adapts on both sides. A screen that does not change is looked at less and less often; a viewer that
acknowledges pictures is never more than a few behind; one that does not read at all is let go.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass
from typing import Any

from loguru import logger
from starlette.websockets import WebSocket, WebSocketDisconnect

from operant.actions.json_actions import from_json
from operant.errors import DesktopError, InvalidAction, OperantError, SessionExpired, TooManyRequests
from operant.service.pictures import Encoding
from operant.service.problems import problem_of
from operant.service.runtime import Runtime
from operant.service.sessions.session import Session
from operant.service.stream.pictures import Camera, Picture
from operant.types import Action, ActionKind

__all__ = ["StreamViewer", "Wish"]

BEHIND = 3  # pictures that may be on their way
SEND_S = 10.0  # how long a viewer may take to read
IDLE_S, IDLEST_S = 0.1, 0.4  # how often a still screen is looked at
STILL_S = 1.0  # after so long without a change it counts as still
QUEUED = 64  # inputs that may wait
MESSAGE_BYTES = 64 << 10
MOST_GARBAGE = 20
GOING_AWAY, REFUSED = 1001, 1008


@dataclass(frozen=True, slots=True)
class Wish:
    """How a viewer wants to see it."""

    encoding: Encoding = "jpeg"
    fps: float = 20.0
    quality: int = 75
    width: int | None = None


class StreamViewer:
    """``run`` returns when either side has had enough."""

    def __init__(self, socket: WebSocket, runtime: Runtime, session: Session, wish: Wish) -> None:
        self._socket = socket
        self._runtime = runtime
        self._session = session
        self._wish = wish
        self._camera = Camera(wish.encoding, wish.quality, wish.width)
        self._inputs: asyncio.Queue[tuple[Any, Action, bool]] = asyncio.Queue(QUEUED)
        self._stirred = asyncio.Event()
        self._acknowledged = asyncio.Event()
        self._sent = self._seen = 0
        self._acknowledges = False
        self._garbage = 0
        self._sending = asyncio.Lock()

    async def run(self) -> None:
        session = self._session
        size = session.size
        await self._say(
            "hello",
            session=session.id,
            width=size.width,
            height=size.height,
            encoding=self._wish.encoding,
            attempt=session.attempt,
            instruction=session.instruction,
            model=session.model,
            taken_over=session.taken_over,
            live=session.live,
        )
        self._runtime.metrics.viewers.inc()
        tasks = [asyncio.create_task(part()) for part in (self._watch, self._listen, self._act)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                with contextlib.suppress(WebSocketDisconnect, asyncio.TimeoutError):
                    task.result()
        finally:
            self._runtime.metrics.viewers.dec()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect, asyncio.TimeoutError):
                await asyncio.wait_for(self._socket.close(GOING_AWAY), 1.0)

    # Showing.

    async def _watch(self) -> None:
        session, told = self._session, 0
        changed_at, pause = time.monotonic(), 1 / self._wish.fps
        while True:
            began = time.monotonic()
            for event in session.events_after(told):
                told = event.number
                changed_at = began
                await self._say(event.kind, **event.data)
            if session.closed:
                return
            # Its display is being replaced, or it was handed back just now: the next round sees which.
            with contextlib.suppress(DesktopError, SessionExpired):
                picture = await self._runtime.watch(self._shoot)
                if picture is not None:
                    changed_at = began
                    if not await self._show(picture):
                        return
            still = time.monotonic() - changed_at
            if still < STILL_S or session.attempt is not None:
                pause = 1 / self._wish.fps
            else:
                pause = max(1 / self._wish.fps, min(IDLEST_S, IDLE_S * still))
            self._stirred.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stirred.wait(), max(0.001, pause - (time.monotonic() - began)))

    def _shoot(self) -> Picture | None:
        return self._camera.shoot(self._session.look())

    async def _show(self, picture: Picture) -> bool:
        """Send a picture; false if the viewer does not look."""
        message = picture.message()
        self._sent = picture.number  # before it goes, because the acknowledgement may be back at once
        try:
            async with self._sending:
                await asyncio.wait_for(self._socket.send_bytes(message), SEND_S)
            while self._acknowledges and self._sent - self._seen >= BEHIND:
                self._acknowledged.clear()
                await asyncio.wait_for(self._acknowledged.wait(), SEND_S)
        except asyncio.TimeoutError:
            logger.info("a viewer of {} does not read and is let go", self._session.id)
            return False
        self._runtime.metrics.frames.inc()
        self._runtime.metrics.bytes.inc(len(message))
        return True

    async def _say(self, kind: str, **data: Any) -> None:
        text = json.dumps({"type": kind, **data})
        async with self._sending:
            await asyncio.wait_for(self._socket.send_text(text), SEND_S)

    async def _complain(self, error: OperantError, number: Any = None) -> None:
        _, problem = problem_of(error)
        await self._say("error", id=number, code=problem.code, message=problem.message, hint=problem.hint)

    # Listening.

    async def _listen(self) -> None:
        while self._garbage < MOST_GARBAGE:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                await self._hear(_parse(message))
            except OperantError as error:
                self._garbage += isinstance(error, InvalidAction)
                await self._complain(error)
        await self._socket.close(REFUSED, "garbage")

    async def _hear(self, said: dict[str, Any]) -> None:
        kind, session = said.get("type"), self._session
        if kind == "ack":
            number = said.get("frame")
            if isinstance(number, int) and self._seen < number <= self._sent:
                self._seen, self._acknowledges = number, True
                self._acknowledged.set()
        elif kind == "action":
            action = from_json(said.get("action"))
            if action.kind.terminal:
                raise InvalidAction(f"{action.kind.value} ends an episode, and there is none here")
            try:
                self._inputs.put_nowait((said.get("id"), action, said.get("secret") is True))
            except asyncio.QueueFull:
                raise TooManyRequests(f"{QUEUED} inputs are waiting already") from None
        elif kind == "take_over":
            session.take_over(said.get("on") is True)
            self._stirred.set()
        elif kind == "refresh":
            self._camera.forget()
            self._stirred.set()
        else:
            raise InvalidAction(
                f"{str(kind)[:40]!r} is no message", hint="ack, action, take_over and refresh are"
            )

    # Doing.

    async def _act(self) -> None:
        while True:
            number, action, secret = await self._inputs.get()
            if action.kind is ActionKind.MOVE and not self._inputs.empty():
                continue  # there is a later place, or something better, to go on with
            try:
                performed = await self._runtime.at_desk(self._session.perform, action, secret=secret)
            except DesktopError as error:
                await self._runtime.at_desk(self._runtime.sessions.broken, self._session, error)
                await self._complain(error, number)
                return
            except OperantError as error:
                await self._complain(error, number)
                if isinstance(error, SessionExpired):
                    return
            else:
                self._runtime.metrics.acted("person", action.kind.value)
                self._stirred.set()
                await self._say("done", id=number, changed=performed.changed, waited_ms=performed.waited_ms)


def _parse(message: Any) -> dict[str, Any]:
    text = message.get("text")
    if text is None:
        raise InvalidAction("messages are JSON text, not bytes")
    if len(text) > MESSAGE_BYTES:
        raise InvalidAction(f"a message is at most {MESSAGE_BYTES} characters")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidAction("a message is not JSON") from error
    if not isinstance(said, dict):
        raise InvalidAction("a message is a JSON object")
    return said
