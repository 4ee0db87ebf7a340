"""Chromium: fill in forms of a site, from the instruction and from pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from operant.apps.chromium import carried, follow
from operant.tasks.changes import Change
from operant.tasks.draw import Draw
from operant.tasks.template import Params, Template
from operant.tasks.website.browser_task import BrowserTask, kept_form, written_down
from operant.tasks.website.form_fields import (
    FormField,
    check_boxes,
    drop_down,
    radio_buttons,
    text_field,
    whole_form,
)
from operant.tasks.website.pages import form, links, page, paragraph, table
from operant.types import Difficulty

__all__ = ["TEMPLATES"]


class OneForm(BrowserTask):
    """A form on the first page, submitted with a button; then a page says so and leads back."""

    family = "form"
    submit = "Save"
    title = "Settings"

    def fields(self, p: Params) -> Sequence[FormField]:
        """The parts of the form, before and after."""
        raise NotImplementedError

    def above(self, p: Params) -> str:
        """What the form shows above its fields."""
        return ""

    def pages(self, p: Params) -> Mapping[str, str]:
        fields = whole_form(self.fields(p), self.submit).html
        parts = form("/forms/form", self.above(p), fields, button=self.submit, onward="/saved")
        saved = page("Thank you", paragraph("It is saved."), links({"Back to the form": "/"}))
        return {"index": page(self.title, parts), "saved": saved}

    def changes(self, p: Params) -> Sequence[Change]:
        whole = whole_form(self.fields(p), self.submit)
        pages = {"/": whole.moves, "/saved": [follow("Back to the form")]}
        return [written_down(kept_form("form", whole.values), pages)]


class FillFormField(OneForm):
    id = "core/browser-fill-field-v1"
    skill = "type"
    difficulty = Difficulty.EASY
    title = "Note"
    instructions = (
        "Enter {text} in the field {label} and press Save. Change nothing else.",
        "Put {text} into {label} and save the form.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        labels = draw.sample(("Title", "Place", "Owner", "Remark"), 4)
        values = [draw.phrase(2), draw.word("cities"), draw.word("names")]
        return {
            "labels": labels,
            "values": dict(zip(labels[1:], values, strict=True)),
            "label": labels[0],
            "text": draw.phrase(3),
            "order": draw.sample(labels, 4),
        }

    def fields(self, p: Params) -> Sequence[FormField]:
        after = {**p.values, p.label: p.text}
        return [text_field(label, after[label], p.values.get(label, "")) for label in p.order]


class TickBoxes(OneForm):
    id = "core/browser-tick-boxes-v1"
    skill = "click"
    difficulty = Difficulty.EASY
    title = "Newsletters"
    instructions = (
        "Tick {one} and {two} as well, and press Save.",
        "Subscribe to {one} and {two}, too: tick the boxes and save.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        topics = draw.words(8, "topics")
        one, two, before = draw.sample(topics, 3)
        return {"topics": topics, "one": one, "two": two, "before": before}

    def fields(self, p: Params) -> Sequence[FormField]:
        return [check_boxes("topic", p.topics, after=(p.one, p.two, p.before), before=[p.before])]


class ChooseOption(OneForm):
    id = "core/browser-choose-option-v1"
    skill = "menu"
    difficulty = Difficulty.EASY
    title = "Trip"
    instructions = (
        "Choose {city} as the {end} and press Save.",
        "Set the {end} to {city} in the drop-down list, and save.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        cities = draw.words(7, "cities")
        start, target, city = draw.sample(cities, 3)
        before = {"Start": start, "Target": target}
        return {"cities": cities, "before": before, "end": draw.choice(("Start", "Target")), "city": city}

    def fields(self, p: Params) -> Sequence[FormField]:
        after = {**p.before, p.end: p.city}
        return [drop_down(label, p.cities, after[label], before) for label, before in p.before.items()]


class SendMessage(OneForm):
    id = "core/browser-send-message-v1"
    skill = "form"
    difficulty = Difficulty.MEDIUM
    submit, title = "Send", "Contact us"
    instructions = (
        "Send a message with this form. Name: {name}. City: {city}. Subject: {subject}. Message: {message}.",
        "Fill in the form (name {name}, city {city}, subject {subject}, message {message}) and send it.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        return {
            "name": f"{draw.word('names')} {draw.word('surnames')}",
            "city": draw.word("cities"),
            "subject": f"{draw.word('topics')} {draw.number(10, 99)}",
            "message": draw.phrase(3),
            "order": draw.sample(("Name", "City", "Subject", "Message"), 4),
        }

    def fields(self, p: Params) -> Sequence[FormField]:
        return [text_field(label, getattr(p, label.lower())) for label in p.order]


class ChangeProfile(OneForm):
    id = "core/browser-change-profile-v1"
    skill = "settings"
    difficulty = Difficulty.MEDIUM
    title = "Profile"
    instructions = (
        "Change the profile: the nickname is {nick}, the city {city}, delivery by {way}; tick {on}, "
        "take the tick from {off}, and save.",
        "In the profile, set Nickname to {nick}, City to {city} and Delivery to {way}. "
        "Tick {on}, untick {off}. Then save.",
    )
    ways = ("post", "courier", "pickup")

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        cities, topics = draw.words(6, "cities"), draw.words(5, "topics")
        on, off, kept = draw.sample(topics, 3)
        way_before, way = draw.sample(self.ways, 2)
        city_before, city = draw.sample(cities, 2)
        nick_before, nick = draw.words(2)
        return {
            "nick_before": nick_before,
            "nick": f"{nick}{draw.number(10, 99)}",
            "cities": cities,
            "city_before": city_before,
            "city": city,
            "topics": topics,
            "on": on,
            "off": off,
            "kept": kept,
            "way_before": way_before,
            "way": way,
        }

    def fields(self, p: Params) -> Sequence[FormField]:
        return [
            text_field("Nickname", p.nick, p.nick_before),
            drop_down("City", p.cities, p.city, p.city_before),
            radio_buttons("Delivery", self.ways, p.way, p.way_before),
            check_boxes("topic", p.topics, after=(p.on, p.kept), before=(p.off, p.kept)),
        ]


class CopyCodes(OneForm):
    id = "core/browser-copy-codes-v1"
    skill = "copy"
    difficulty = Difficulty.MEDIUM
    submit, title = "Check in", "Tickets"
    instructions = (
        "Copy the ticket code of {one} into First code and that of {two} into Second code, and check in.",
        "Check in with two codes from the list: first that of {one}, second that of {two}.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(6, "names")
        letters = [draw.random.choice("ABCDEFGHJKLM") + draw.random.choice("NPQRSTUVWXYZ") for _ in names]
        codes = [f"{pair}{n}" for pair, n in zip(letters, draw.numbers(6, 1000, 9999), strict=True)]
        one, two = draw.sample(names, 2)
        return {"codes": dict(zip(names, codes, strict=True)), "one": one, "two": two}

    def above(self, p: Params) -> str:
        return table(("Name", "Code"), list(p.codes.items()))

    def fields(self, p: Params) -> Sequence[FormField]:
        codes = {"First code": p.codes[p.one], "Second code": p.codes[p.two]}
        return [
            replace(text_field(label, code, name=label.split()[0].lower()), moves=[carried(label, code)])
            for label, code in codes.items()
        ]


TEMPLATES: tuple[type[Template], ...] = (
    FillFormField,
    TickBoxes,
    ChooseOption,
    SendMessage,
    ChangeProfile,
    CopyCodes,
)
