"""Chromium: fill in forms of a site, from the instruction and from pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.moves import Milestone
from operant.tasks.criteria import Criterion
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.browser_moves import (
    BrowserTask,
    Pages,
    choose,
    copied,
    fill,
    found,
    kept_form,
    named,
    pasted,
    press,
    tick,
)
from operant.tasks.suites.core.browser_pages import (
    box,
    field,
    form,
    links,
    page,
    paragraph,
    radio,
    select,
    table,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["FORMS", "button"]


def button(name: str) -> Milestone:
    return press(named("push button", name))


class OneForm(BrowserTask):
    """A form on the first page, submitted with a button; then a page says so and leads back."""

    family = "form"
    submit = "Save"
    title = "Settings"

    def fields(self, p: Params) -> Sequence[str]:
        """The parts of the form."""
        raise NotImplementedError

    def wanted(self, p: Params) -> Mapping[str, str]:
        """What is to be submitted."""
        raise NotImplementedError

    def moves(self, p: Params) -> Sequence[Milestone]:
        """How the oracle fills it in."""
        raise NotImplementedError

    def pages(self, p: Params) -> Mapping[str, str]:
        return {
            "index": page(
                self.title, form("/forms/form", *self.fields(p), button=self.submit, onward="/saved")
            ),
            "saved": page("Thank you", paragraph("It is saved."), links({"Back to the form": "/"})),
        }

    def success(self, p: Params) -> Criterion:
        return kept_form("form", self.wanted(p))

    def oracle(self, p: Params) -> Oracle:
        pages = {
            "/": [*self.moves(p), button(self.submit)],
            "/saved": [press(named("link", "Back to the form"))],
        }
        return Pages(found(kept_form("form", self.wanted(p))), pages)


class FillField(OneForm):
    id = "core/browser-fill-field-v1"
    skill = "type"
    difficulty = Difficulty.EASY
    title = "Note"
    instructions = (
        "Enter {text} in the field {label} and press Save. Change nothing else.",
        "Put {text} into {label} and save the form.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        labels = draw.sample(("Title", "Place", "Owner", "Remark"), 4)
        values = [draw.phrase(2), draw.word("cities"), draw.word("names")]
        return {
            "labels": labels,
            "values": dict(zip(labels[1:], values, strict=True)),
            "label": labels[0],
            "text": draw.phrase(3),
            "order": draw.sample(labels, 4),
            "place": self.place(draw),
        }

    def fields(self, p: Params) -> Sequence[str]:
        return [field(label, label.lower(), p.values.get(label, "")) for label in p.order]

    def wanted(self, p: Params) -> Mapping[str, str]:
        values = {**p.values, p.label: p.text}
        return {label.lower(): value for label, value in values.items()}

    def moves(self, p: Params) -> Sequence[Milestone]:
        return [fill(label, value) for label, value in {**p.values, p.label: p.text}.items()]


class TickBoxes(OneForm):
    id = "core/browser-tick-boxes-v1"
    skill = "click"
    difficulty = Difficulty.EASY
    title = "Newsletters"
    instructions = (
        "Tick {one} and {two} as well, and press Save.",
        "Subscribe to {one} and {two}, too: tick the boxes and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        topics = draw.words(8, "topics")
        one, two, before = draw.sample(topics, 3)
        return {"topics": topics, "one": one, "two": two, "before": before, "place": self.place(draw)}

    def fields(self, p: Params) -> Sequence[str]:
        return [box(topic, "topic", topic == p.before) for topic in p.topics]

    def chosen(self, p: Params) -> list[str]:
        return [topic for topic in p.topics if topic in (p.one, p.two, p.before)]

    def wanted(self, p: Params) -> Mapping[str, str]:
        return {"topic": ", ".join(self.chosen(p))}

    def moves(self, p: Params) -> Sequence[Milestone]:
        return [tick(topic, topic in self.chosen(p)) for topic in p.topics]


class ChooseOption(OneForm):
    id = "core/browser-choose-option-v1"
    skill = "menu"
    difficulty = Difficulty.EASY
    title = "Trip"
    instructions = (
        "Choose {city} as the {end} and press Save.",
        "Set the {end} to {city} in the drop-down list, and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        cities = draw.words(7, "cities")
        start, target, city = draw.sample(cities, 3)
        return {
            "cities": cities,
            "before": {"Start": start, "Target": target},
            "end": draw.choice(("Start", "Target")),
            "city": city,
            "place": self.place(draw),
        }

    def fields(self, p: Params) -> Sequence[str]:
        return [select(label, label.lower(), p.cities, city) for label, city in p.before.items()]

    def ends(self, p: Params) -> dict[str, str]:
        return {**p.before, p.end: p.city}

    def wanted(self, p: Params) -> Mapping[str, str]:
        return {label.lower(): city for label, city in self.ends(p).items()}

    def moves(self, p: Params) -> Sequence[Milestone]:
        return [choose(label, city) for label, city in self.ends(p).items()]


class SendMessage(OneForm):
    id = "core/browser-send-message-v1"
    skill = "form"
    difficulty = Difficulty.MEDIUM
    submit, title = "Send", "Contact us"
    instructions = (
        "Send a message with this form. Name: {name}. City: {city}. Subject: {subject}. Message: {message}.",
        "Fill in the form (name {name}, city {city}, subject {subject}, message {message}) and send it.",
    )
    labels = ("Name", "City", "Subject", "Message")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {
            "name": f"{draw.word('names')} {draw.word('surnames')}",
            "city": draw.word("cities"),
            "subject": f"{draw.word('topics')} {draw.number(10, 99)}",
            "message": draw.phrase(3),
            "order": draw.sample(self.labels, 4),
            "place": self.place(draw),
        }

    def fields(self, p: Params) -> Sequence[str]:
        return [field(label, label.lower()) for label in p.order]

    def wanted(self, p: Params) -> Mapping[str, str]:
        return {label.lower(): getattr(p, label.lower()) for label in self.labels}

    def moves(self, p: Params) -> Sequence[Milestone]:
        return [fill(label, getattr(p, label.lower())) for label in p.order]


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

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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
            "place": self.place(draw),
        }

    def fields(self, p: Params) -> Sequence[str]:
        return [
            field("Nickname", "nickname", p.nick_before),
            select("City", "city", p.cities, p.city_before),
            radio("Delivery", "delivery", self.ways, p.way_before),
            *(box(topic, "topic", topic in (p.off, p.kept)) for topic in p.topics),
        ]

    def wanted(self, p: Params) -> Mapping[str, str]:
        topics = [topic for topic in p.topics if topic in (p.on, p.kept)]
        return {"nickname": p.nick, "city": p.city, "delivery": p.way, "topic": ", ".join(topics)}

    def moves(self, p: Params) -> Sequence[Milestone]:
        return [
            fill("Nickname", p.nick),
            choose("City", p.city),
            tick(p.way, role="radio button"),
            *(tick(topic, topic in (p.on, p.kept)) for topic in p.topics),
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

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(6, "names")
        letters = [draw.random.choice("ABCDEFGHJKLM") + draw.random.choice("NPQRSTUVWXYZ") for _ in names]
        codes = [f"{pair}{n}" for pair, n in zip(letters, draw.numbers(6, 1000, 9999), strict=True)]
        one, two = draw.sample(names, 2)
        return {
            "codes": dict(zip(names, codes, strict=True)),
            "one": one,
            "two": two,
            "place": self.place(draw),
        }

    def fields(self, p: Params) -> Sequence[str]:
        rows = [(name, code) for name, code in p.codes.items()]
        return [table(("Name", "Code"), rows), field("First code", "first"), field("Second code", "second")]

    def wanted(self, p: Params) -> Mapping[str, str]:
        return {"first": p.codes[p.one], "second": p.codes[p.two]}

    def moves(self, p: Params) -> Sequence[Milestone]:
        return [
            carried("First code", p.codes[p.one]),
            carried("Second code", p.codes[p.two]),
        ]


def carried(label: str, text: str) -> Milestone:
    """Copy a word of the page into a field of the same page."""
    copy, paste = copied(text, named("static", text)), pasted(label, text)
    return Milestone(
        paste.name, paste.reached, lambda view: (paste if copy.reached(view) else copy).act(view)
    )


FORMS: tuple[type[Template], ...] = (
    FillField,
    TickBoxes,
    ChooseOption,
    SendMessage,
    ChangeProfile,
    CopyCodes,
)
