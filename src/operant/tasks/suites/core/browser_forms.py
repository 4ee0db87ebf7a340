"""Chromium: fill in forms of a site, from the instruction and from pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.tasks.criteria import AllOf, Criterion, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.oracle import Milestone, Oracle, View
from operant.tasks.suites.core.browser_moves import (
    COPY,
    BrowserTask,
    Pages,
    choose,
    copied,
    fill,
    found,
    kept_form,
    kept_list,
    named,
    once,
    pasted,
    path_of,
    press,
    tab,
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
from operant.types import Action, Difficulty

__all__ = ["FORMS"]


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
        "Change the profile: the nickname is {nick}, the city {city}, delivery by {way}; tick {on}, take the tick from "
        "{off}, and save.",
        "In the profile, set Nickname to {nick}, City to {city} and Delivery to {way}. {on} goes on and {off} goes off. "
        "Then save.",
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


class BookTrip(BrowserTask):
    id = "core/browser-book-trip-v1"
    skill = "dialog"
    family = "form"
    difficulty = Difficulty.HARD
    instructions = (
        "Book a trip in four steps: for {name} {surname}, to {city} for {nights} nights, by {way}, with {one} and {two}, "
        "with the note {note}.",
        "Go through the booking. Traveller: {name} {surname}. City: {city}. Nights: {nights}. By {way}. Extras: {one} and "
        "{two}. Note: {note}.",
    )
    ways = ("train", "bus", "plane")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        cities, extras = draw.words(7, "cities"), draw.words(5, "topics")
        before, city = draw.sample(cities, 2)
        one, two = draw.sample(extras, 2)
        return {
            "name": draw.word("names"),
            "surname": draw.word("surnames"),
            "cities": cities,
            "before": before,
            "city": city,
            "nights": draw.number(2, 60),
            "way": draw.choice(self.ways),
            "extras": extras,
            "one": one,
            "two": two,
            "note": draw.phrase(2),
            "place": self.place(draw),
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        again = links({"Start again": "/"})
        step = lambda number, *parts: form(  # noqa: E731
            f"/forms/step-{number}", *parts, button="Next", onward=f"/step-{number + 1}"
        )
        return {
            "index": page("Who travels?", step(1, field("Name", "name"), field("Surname", "surname"))),
            "step-2": page(
                "Where to?",
                step(
                    2,
                    select("City", "city", p.cities, p.before),
                    field("Nights", "nights"),
                    radio("Travel by", "way", self.ways),
                ),
                again,
            ),
            "step-3": page(
                "What else?",
                step(3, *(box(extra, "extra") for extra in p.extras), field("Note", "note")),
                again,
            ),
            "step-4": page(
                "Is this right?",
                form(
                    "/forms/step-4",
                    '<input type=hidden name=book value="yes">',
                    button="Book",
                    onward="/booked",
                ),
                again,
            ),
            "booked": page("Thank you", paragraph("The trip is booked."), again),
        }

    def steps(self, p: Params) -> list[FileEquals]:
        extras = [extra for extra in p.extras if extra in (p.one, p.two)]
        return [
            kept_form("step-1", {"name": p.name, "surname": p.surname}),
            kept_form("step-2", {"city": p.city, "nights": str(p.nights), "way": p.way}),
            kept_form("step-3", {"extra": ", ".join(extras), "note": p.note}),
            kept_form("step-4", {"book": "yes"}),
        ]

    def success(self, p: Params) -> Criterion:
        return AllOf(of=tuple(self.steps(p)))

    def oracle(self, p: Params) -> Oracle:
        filled = [found(step) for step in self.steps(p)]
        right = [
            press(named("link", "Start again"), lambda view, n=n: all(step(view) for step in filled[:n]))
            for n in range(4)
        ]
        boxes = [tick(extra, extra in (p.one, p.two)) for extra in p.extras]
        pages = {
            "/": [fill("Name", p.name), fill("Surname", p.surname), button("Next")],
            "/step-2": [
                right[1],
                choose("City", p.city),
                fill("Nights", str(p.nights)),
                tick(p.way, role="radio button"),
                button("Next"),
            ],
            "/step-3": [right[2], *boxes, fill("Note", p.note), button("Next")],
            "/step-4": [right[3], button("Book")],
            "/booked": [press(named("link", "Start again"))],
        }
        return Pages(lambda view: all(step(view) for step in filled), pages)


class InviteGuests(BrowserTask):
    id = "core/browser-invite-guests-v1"
    skill = "form"
    family = "form"
    difficulty = Difficulty.HARD
    unseen = True
    instructions = (
        "Add three guests to the list (name, city, menu): {guests}. Then press Send the list.",
        "Invite {guests}: add each with name, city and menu, and send the list.",
    )
    menus = ("none", "fish", "meat", "vegan")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        rows = [
            {"name": name, "city": city, "menu": draw.choice(self.menus[1:])}
            for name, city in zip(draw.words(3, "names"), draw.words(3, "cities"), strict=True)
        ]
        guests = "; ".join(f"{row['name']}, {row['city']}, {row['menu']}" for row in rows)
        return {"rows": rows, "guests": guests, "place": self.place(draw)}

    def pages(self, p: Params) -> Mapping[str, str]:
        add = form(
            "/lists/guests/add",
            field("Name", "name"),
            field("City", "city"),
            select("Menu", "menu", self.menus, self.menus[0]),
            button="Add",
            onward="/",
        )
        send = form("/lists/guests/close", button="Send the list", onward="/sent")
        return {
            "index": page("Guests", add, send, "<h2>The list</h2>", "<!--removable guests-->"),
            "sent": page("The list is sent", links({"Guests": "/"})),
        }

    def success(self, p: Params) -> Criterion:
        return kept_list("guests-closed", p.rows)

    def oracle(self, p: Params) -> Oracle:
        def listed(view: View) -> list[str]:
            return (view.read(kept_list("guests", p.rows).path) or "").splitlines()

        lines = [kept_list("guests", [row]).text.strip() for row in p.rows]

        def wrong(view: View) -> Any:
            unwanted = [index for index, line in enumerate(listed(view)) if line not in lines]
            buttons = [
                node
                for node in view.widgets("push button", app="Chromium")
                if node.name.startswith("Remove ")
            ]
            return buttons[unwanted[0]] if unwanted and unwanted[0] < len(buttons) else None

        clean = press(wrong, lambda view: all(line in lines for line in listed(view)), "no wrong guest")
        add = [added(row, line, listed) for row, line in zip(p.rows, lines, strict=True)]
        pages = {"/": [clean, *add, button("Send the list")], "/sent": [press(named("link", "Guests"))]}
        return Pages(found(kept_list("guests-closed", p.rows)), pages)


def added(row: Mapping[str, str], line: str, listed: Any) -> Milestone:
    """A guest is on the list."""
    moves = [fill("Name", row["name"]), fill("City", row["city"]), choose("Menu", row["menu"]), button("Add")]

    def act(view: View) -> Action:
        return next(move for move in moves if not move.reached(view)).act(view)

    return Milestone(row["name"], lambda view: line in listed(view), act)


class TransferNumbers(BrowserTask):
    id = "core/browser-transfer-numbers-v1"
    skill = "copy"
    family = "form"
    difficulty = Difficulty.HARD
    instructions = (
        "Copy the stock of {spoken} from the tab Stock into the form in the tab Report, and press Send.",
        "Fill in the report in the other tab: it needs the stock of {spoken}. Then send it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        products = draw.words(9, "products")
        stock = dict(zip(products, map(str, draw.numbers(9, 100, 9999)), strict=True))
        wanted = draw.sample(products, 3)
        return {
            "stock": stock,
            "wanted": wanted,
            "spoken": f"{wanted[0]}, {wanted[1]} and {wanted[2]}",
            "place": self.place(draw),
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        rows = list(p.stock.items())
        fields = [field(product.title(), product) for product in p.wanted]
        return {
            "stock": page("Stock", table(("Product", "Stock"), rows)),
            "report": page("Report", form("/forms/report", *fields, button="Send", onward="/sent")),
            "sent": page("Report sent", links({"Back to the form": "/report"})),
        }

    def start(self, p: Params) -> tuple[str, ...]:
        return ("/stock", "/report")

    def success(self, p: Params) -> Criterion:
        return kept_form("report", {product: p.stock[product] for product in p.wanted})

    def oracle(self, p: Params) -> Oracle:
        return _Transfer(p, found(kept_form("report", {product: p.stock[product] for product in p.wanted})))


class _Transfer:
    """Looks at the form to see which numbers it has, fetches the next one, and brings it there."""

    def __init__(self, p: Params, done: Any) -> None:
        self.done = done
        self.fields = [pasted(product.title(), p.stock[product]) for product in p.wanted]
        self.copies = [copied(p.stock[product], named("static", p.stock[product])) for product in p.wanted]
        self.send = button("Send")
        self.back = press(named("link", "Back to the form"))

    def act(self, view: View) -> Action:
        if self.done(view):
            return Action.done()
        path = path_of(view)
        if path == "/sent":
            return self.back.act(view)
        if path == "/report":
            return self.fill_in(view)
        if path == "/stock":
            return self.fetch(view)
        return Action.wait()

    def fill_in(self, view: View) -> Action:
        for paste, copy in zip(self.fields, self.copies, strict=True):
            if not paste.reached(view):
                return paste.act(view) if copy.reached(view) else to_tab(view, "Stock")
        return self.send.act(view)

    def fetch(self, view: View) -> Action:
        """The form is out of sight: what was just copied goes there, and what lay on the clipboard is there already."""
        have = next((index for index, copy in enumerate(self.copies) if copy.reached(view)), None)
        if have is None:
            return self.copies[0].act(view)
        if view.last in (COPY, Action.wait()):
            return to_tab(view, "Report")
        return self.copies[(have + 1) % len(self.copies)].act(view)


def to_tab(view: View, title: str) -> Action:
    widget = tab(view, title)
    return once(view, view.click(widget)) if widget else Action.wait()


FORMS: tuple[type[Template], ...] = (
    FillField,
    TickBoxes,
    ChooseOption,
    SendMessage,
    ChangeProfile,
    CopyCodes,
    BookTrip,
    InviteGuests,
    TransferNumbers,
)
