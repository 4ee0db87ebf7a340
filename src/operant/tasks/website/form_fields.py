"""Fields of forms, each said once: how a page shows it, what is to be submitted, and the moves that fill it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from operant.apps import chromium
from operant.apps.moves import Goal
from operant.tasks.website import pages

__all__ = ["FormField", "check_boxes", "drop_down", "hidden", "radio_buttons", "text_field", "whole_form"]


@dataclass(frozen=True)
class FormField:
    """A part of a form, or all of it, before and after."""

    html: str
    values: Mapping[str, str]
    """What is to be submitted: name -> value."""
    moves: Sequence[Goal]
    """How it is filled in."""


def text_field(
    label: str, after: object, before: str = "", *, name: str = "", hidden: bool = False
) -> FormField:
    """A field for a line of text, which may be hidden as it is typed."""
    name, kind = name or label.lower(), "password" if hidden else "text"
    move = chromium.fill(label, str(after), "password text" if hidden else "entry")
    return FormField(pages.field(label, name, before, kind), {name: str(after)}, [move])


def drop_down(label: str, options: Sequence[str], after: str, before: str) -> FormField:
    html = pages.select(label, label.lower(), options, before)
    return FormField(html, {label.lower(): after}, [chromium.choose(label, after)])


def radio_buttons(
    label: str, options: Sequence[str], after: str, before: str | None = None, *, name: str = ""
) -> FormField:
    name = name or label.lower()
    move = chromium.tick(after, role="radio button")
    return FormField(pages.radio(label, name, options, before), {name: after}, [move])


def check_boxes(
    name: str, labels: Sequence[str], after: Sequence[str], before: Sequence[str] = ()
) -> FormField:
    """Boxes, each with its label as its value."""
    html = "".join(pages.box(label, name, label in before) for label in labels)
    chosen = ", ".join(label for label in labels if label in after)
    return FormField(html, {name: chosen}, [chromium.tick(label, label in after) for label in labels])


def hidden(name: str, value: str) -> FormField:
    """What a form submits and does not show."""
    return FormField(f'<input type=hidden name={name} value="{value}">', {name: value}, [])


def whole_form(fields: Sequence[FormField], submit: str) -> FormField:
    """All fields of a form; the moves end with the button that submits it."""
    values = {name: value for field in fields for name, value in field.values.items()}
    moves = [move for field in fields for move in field.moves]
    return FormField("".join(field.html for field in fields), values, [*moves, chromium.button(submit)])
