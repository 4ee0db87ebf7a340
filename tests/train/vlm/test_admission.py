"""The bound on staleness: who may begin, and who has to wait for the learner."""

from __future__ import annotations

import threading

import pytest

from operant.errors import ConfigError
from operant.train.vlm.admission import Admission

NOW = 0.01
NEVER = threading.Event()


def enter(admission: Admission, count: int) -> int:
    return sum(admission.enter(NEVER, NOW) for _ in range(count))


@pytest.mark.parametrize("eta", [0, 1, 4])
def test_so_many_may_begin_before_the_learner_has_to_move(eta: int) -> None:
    admission = Admission(3, eta)
    assert enter(admission, 50) == 3 * (eta + 1)
    for _ in range(3):
        admission.leave(accepted=True)
    assert enter(admission, 5) == 0  # what has ended still counts
    admission.advance(1)
    assert enter(admission, 50) == 3


def test_what_was_lost_or_taught_nothing_makes_room() -> None:
    admission = Admission(2, 0)
    assert enter(admission, 5) == 2
    admission.leave(accepted=False)
    assert enter(admission, 5) == 1
    admission.leave(accepted=True)
    admission.leave(accepted=True)
    admission.replace(2)
    assert enter(admission, 5) == 2


def test_experience_is_no_older_than_the_bound_on_average() -> None:
    """Simulated: rollouts end in any order, the learner takes them as they come. One that is overtaken by many
    others may well be older than the bound; all of them together are not."""
    import random

    draw = random.Random(3)
    for eta in (0, 1, 3):
        admission = Admission(4, eta)
        running: list[int] = []
        ready: list[int] = []
        ages: list[int] = []
        while admission.version < 40:
            while admission.enter(NEVER, 0.0):
                running.append(admission.version)
            for _ in range(draw.randint(1, 4)):
                if running:
                    ready.append(running.pop(draw.randrange(len(running))))
                    admission.leave(accepted=True)
            while len(ready) >= 4:
                taken, ready = ready[:4], ready[4:]
                ages += [admission.version - version for version in taken]
                admission.advance(admission.version + 1)
        assert sum(ages) / len(ages) <= eta
        assert eta == 0 or max(ages) > 0


def test_waiting_ends_when_everything_stops() -> None:
    admission, stop, ended = Admission(1, 0), threading.Event(), []
    assert admission.enter(stop)
    thread = threading.Thread(target=lambda: ended.append(admission.enter(stop)))
    thread.start()
    stop.set()
    admission.wake()
    thread.join(5)
    assert ended == [False]


def test_state_comes_back_without_what_was_running() -> None:
    admission = Admission(2, 1)
    enter(admission, 3)
    admission.leave(accepted=True)
    admission.advance(1)
    twin = Admission(2, 1)
    twin.restore(admission.state())
    assert (twin.version, twin.accepted, twin.running) == (1, 1, 0)
    with pytest.raises(ConfigError):
        Admission(0, 1)
