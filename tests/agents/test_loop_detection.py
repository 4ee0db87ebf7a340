"""Loops are detected; work that repeats itself is not taken for one."""

from __future__ import annotations

from operant.agents.loop_detection import is_looping
from operant.types import Action, PastAction, Point

A, B, C = (Action.click(Point(x, 0.5)) for x in (0.1, 0.5, 0.9))


def past(*actions: Action, changed: bool = True) -> tuple[PastAction, ...]:
    return tuple(PastAction(action, changed=changed) for action in actions)


def test_what_has_just_changed_nothing_is_not_done_again() -> None:
    again = Action.click(Point(0.101, 0.5))
    assert is_looping(past(A, changed=False), again)
    assert not is_looping(past(A), again)
    assert not is_looping(past(A, changed=False), B)
    assert not is_looping((), A)


def test_a_loop_may_go_round_twice_but_not_a_third_time() -> None:
    assert not is_looping(past(A, B, A), B)
    assert is_looping(past(A, B, A, B, A), B)
    assert is_looping(past(A, B, C, A, B, C, A, B), C)
    assert not is_looping(past(A, B, C, A, B, B, A, B), C)


def test_a_key_may_be_pressed_as_often_as_it_does_something() -> None:
    key = Action.key("ctrl", "plus")
    assert not is_looping(past(*[key] * 9), key)


def test_waiting_may_go_on() -> None:
    wait = Action.wait()
    assert not is_looping(past(wait, wait, wait, changed=False), wait)
    assert not is_looping(past(A, *[wait] * 5, changed=False), wait)
    assert not is_looping(past(*[wait] * 9), wait)  # something moves


def test_but_not_for_ever() -> None:
    wait = Action.wait()
    assert is_looping(past(*[wait] * 6, changed=False), wait)


def test_other_texts_are_other_actions() -> None:
    assert not is_looping(past(Action.type("a"), changed=False), Action.type("b"))
    assert is_looping(past(Action.type("a"), changed=False), Action.type("a"))
