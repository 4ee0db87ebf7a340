"""Requests that clients cancel, without a client."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from operant.config.desktop import DesktopConfig
from operant.errors import DesktopClosed, RequestCancelled
from operant.mcp.offer import Offer
from operant.mcp.requests import Request, current_request
from operant.mcp.session import DesktopSession
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Action


def test_a_request_that_is_cancelled_while_it_waits_for_its_turn_is_not_begun() -> None:
    session = DesktopSession(Offer(DesktopConfig(), factory=FakeDesktop.factory))
    request = Request()
    with ThreadPoolExecutor(1) as threads, session.using():
        waiting = threads.submit(request.do, lambda: session.act(Action.wait(0.0)))
        request.cancel()
    with pytest.raises(RequestCancelled):
        waiting.result(10)
    assert session.journal() == ""
    session.act(Action.wait(0.0))
    assert session.journal().count("\n") == 1


def test_what_is_under_way_is_ended_until_it_has_ended() -> None:
    request, begun, ended, calls = Request(), threading.Event(), threading.Event(), []

    def work() -> str:
        with current_request().ended_by(end):
            begun.set()
            assert ended.wait(10)
        return "left"

    def end() -> None:
        calls.append(None)
        if len(calls) == 3:  # the command was not there yet before
            ended.set()

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(request.do, work)
        assert begun.wait(10)
        request.cancel()
        assert working.result(10) == "left"
    assert len(calls) >= 3
    with pytest.raises(RequestCancelled):
        request.do(work)


def test_a_desktop_that_is_gone_ends_the_attempt_to_end() -> None:
    request, begun, gone = Request(), threading.Event(), threading.Event()

    def end() -> None:
        raise DesktopClosed("it is closed")

    def work() -> Any:
        with current_request().ended_by(end):
            begun.set()
            return gone.wait(10)

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(request.do, work)
        assert begun.wait(10)
        request.cancel()
        gone.set()
        assert working.result(10)


def test_a_thread_without_a_request_goes_on() -> None:
    current_request().check()
