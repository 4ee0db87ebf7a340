"""Going round in circles is noticed; work that repeats itself is not taken for it."""

from __future__ import annotations

from operant.agents.circles import goes_in_circles
from operant.types import Action, Deed, Point

A, B, C = (Action.click(Point(x, 0.5)) for x in (0.1, 0.5, 0.9))


def deeds(*actions: Action, changed: bool = True) -> tuple[Deed, ...]:
    return tuple(Deed(action, changed=changed) for action in actions)


def test_what_has_just_changed_nothing_is_not_done_again() -> None:
    again = Action.click(Point(0.101, 0.5))
    assert goes_in_circles(deeds(A, changed=False), again)
    assert not goes_in_circles(deeds(A), again)
    assert not goes_in_circles(deeds(A, changed=False), B)
    assert not goes_in_circles((), A)


def test_a_circle_is_gone_round_twice_but_not_a_third_time() -> None:
    assert not goes_in_circles(deeds(A, B, A), B)
    assert goes_in_circles(deeds(A, B, A, B, A), B)
    assert goes_in_circles(deeds(A, B, C, A, B, C, A, B), C)
    assert not goes_in_circles(deeds(A, B, C, A, B, B, A, B), C)


def test_a_key_may_be_pressed_as_often_as_it_does_something() -> None:
    key = Action.key("ctrl", "plus")
    assert not goes_in_circles(deeds(*[key] * 9), key)


def test_whoever_waits_may_go_on_waiting() -> None:
    wait = Action.wait()
    assert not goes_in_circles(deeds(wait, wait, wait, changed=False), wait)
    assert not goes_in_circles(deeds(A, *[wait] * 5, changed=False), wait)
    assert not goes_in_circles(deeds(*[wait] * 9), wait)  # something moves


def test_but_not_for_ever() -> None:
    wait = Action.wait()
    assert goes_in_circles(deeds(*[wait] * 6, changed=False), wait)


def test_other_texts_are_other_actions() -> None:
    assert not goes_in_circles(deeds(Action.type("a"), changed=False), Action.type("b"))
    assert goes_in_circles(deeds(Action.type("a"), changed=False), Action.type("a"))
