"""Chromium: forms of several pages, steps or tabs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.apps.moves import Milestone
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.browser_forms import button
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

__all__ = ["FLOWS"]


class BookTrip(BrowserTask):
    id = "core/browser-book-trip-v1"
    skill = "dialog"
    family = "form"
    difficulty = Difficulty.HARD
    instructions = (
        "Book a trip in four steps: for {name} {surname}, to {city} for {nights} nights, by {way}, "
        "with {one} and {two}, with the note {note}.",
        "Go through the booking. Traveller: {name} {surname}. City: {city}. Nights: {nights}. By {way}. "
        "Extras: {one} and {two}. Note: {note}.",
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

        def step(number: int, *parts: str) -> str:
            return form(f"/forms/step-{number}", *parts, button="Next", onward=f"/step-{number + 1}")

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

        def right(steps: int) -> Milestone:
            """Everything before is as it should be."""
            return press(
                named("link", "Start again"), lambda view: all(step(view) for step in filled[:steps])
            )

        boxes = [tick(extra, extra in (p.one, p.two)) for extra in p.extras]
        pages = {
            "/": [fill("Name", p.name), fill("Surname", p.surname), button("Next")],
            "/step-2": [
                right(1),
                choose("City", p.city),
                fill("Nights", str(p.nights)),
                tick(p.way, role="radio button"),
                button("Next"),
            ],
            "/step-3": [right(2), *boxes, fill("Note", p.note), button("Next")],
            "/step-4": [right(3), button("Book")],
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
        """The form is out of sight: what was just copied goes there, what was copied before is there."""
        have = next((index for index, copy in enumerate(self.copies) if copy.reached(view)), None)
        if have is None:
            return self.copies[0].act(view)
        if view.last in (COPY, Action.wait()):
            return to_tab(view, "Report")
        return self.copies[(have + 1) % len(self.copies)].act(view)


def to_tab(view: View, title: str) -> Action:
    widget = tab(view, title)
    return once(view, view.click(widget)) if widget else Action.wait()


FLOWS: tuple[type[Template], ...] = (BookTrip, InviteGuests, TransferNumbers)
