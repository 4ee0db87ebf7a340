"""Requests that fail: how long they are waited for."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from operant.agents.hosted.requests import Failure, ask, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "7200"}, 7200.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Fri, 99 Foo 2026 25:61:00 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize("zone", [timezone.utc, timezone(timedelta(hours=5))], ids=["GMT", "another zone"])
def test_a_date_after_which_to_ask_again(zone: timezone) -> None:
    later = datetime.now(zone) + timedelta(hours=1)
    pause = retry_after({"retry-after": format_datetime(later, usegmt=zone is timezone.utc)})
    assert pause is not None
    assert 3500 < pause <= 3600


def busy(pause: float | None) -> Failure:
    return Failure(429, "Rate limit reached.", pause)


def test_it_waits_as_long_as_it_is_told_within_the_time_of_the_turn() -> None:
    pauses: list[float] = []

    def send(left: float) -> str:
        if len(pauses) < 2:
            raise busy(20.0)
        return "answer"

    assert ask(send, timeout_s=55.0, retries=4, sleep=pauses.append) == ("answer", 3)
    assert pauses == [20.0, 20.0]


@pytest.mark.parametrize("pause", [56.0, 86_400.0])
def test_a_pause_beyond_the_turn_is_told(pause: float) -> None:
    def send(left: float) -> str:
        raise busy(pause)

    with pytest.raises(Failure) as caught:
        ask(send, timeout_s=55.0, retries=4, sleep=lambda seconds: pytest.fail("it has no time to wait"))
    error = caught.value.typed("openai:model", str)
    assert (
        error.message == f"openai:model: HTTP 429: Rate limit reached; the server asks to wait {pause:.0f} s"
    )
    assert "timeout_s" in (error.hint or "")


def test_a_failure_that_does_not_pass_is_told_as_it_is() -> None:
    def send(left: float) -> str:
        raise Failure(401, "no", 99.0)

    with pytest.raises(Failure) as caught:
        ask(send, timeout_s=55.0, retries=4)
    assert (caught.value.message, caught.value.hint) == ("no", "the key is wrong or was revoked")
