"""Chromium: forms of several pages, steps or tabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps import chromium
from operant.apps.chromium import button, first_of, follow, press
from operant.apps.moves import Goal
from operant.apps.view import View
from operant.tasks.changes import Change
from operant.tasks.draw import Draw
from operant.tasks.template import Params, Template
from operant.tasks.website.browser_task import (
    SITE,
    BrowserTask,
    found,
    kept_form,
    kept_list,
    written_down,
)
from operant.tasks.website.form_fields import (
    FormField,
    check_boxes,
    drop_down,
    hidden,
    radio_buttons,
    text_field,
    whole_form,
)
from operant.tasks.website.pages import form, links, listed, page, paragraph, table
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]


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

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
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
        }

    def steps(self, p: Params) -> Mapping[str, FormField]:
        """The title of each step, and its form."""
        steps = {
            "Who travels?": [text_field("Name", p.name), text_field("Surname", p.surname)],
            "Where to?": [
                drop_down("City", p.cities, p.city, p.before),
                text_field("Nights", p.nights),
                radio_buttons("Travel by", self.ways, p.way, name="way"),
            ],
            "What else?": [check_boxes("extra", p.extras, after=(p.one, p.two)), text_field("Note", p.note)],
        }
        whole = {title: whole_form(fields, "Next") for title, fields in steps.items()}
        return {**whole, "Is this right?": whole_form([hidden("book", "yes")], "Book")}

    def pages(self, p: Params) -> Mapping[str, str]:
        again, pages = links({"Start again": "/"}), {}
        for number, (title, fields) in enumerate(self.steps(p).items(), 1):
            submit, onward = ("Book", "/booked") if number == 4 else ("Next", f"/step-{number + 1}")
            step = form(f"/forms/step-{number}", fields.html, button=submit, onward=onward)
            pages["index" if number == 1 else f"step-{number}"] = page(title, step, again * (number > 1))
        return {**pages, "booked": page("Thank you", paragraph("The trip is booked."), again)}

    def changes(self, p: Params) -> Sequence[Change]:
        forms = list(self.steps(p).values())
        wanted = [kept_form(f"step-{number}", form.values) for number, form in enumerate(forms, 1)]

        def right(count: int) -> Goal:
            """The steps before are as they should be."""
            return follow("Start again", lambda view: all(found(one)(view) for one in wanted[:count]))

        pages = {
            f"/step-{count + 1}" if count else "/": [right(count), *form.moves]
            for count, form in enumerate(forms)
        }
        return [written_down(wanted, {**pages, "/booked": [follow("Start again")]})]


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

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        rows = [
            {"name": name, "city": city, "menu": draw.choice(self.menus[1:])}
            for name, city in zip(draw.words(3, "names"), draw.words(3, "cities"), strict=True)
        ]
        return {"rows": rows, "guests": "; ".join(", ".join(row.values()) for row in rows)}

    def guest(self, name: str = "", city: str = "", menu: str = "") -> FormField:
        """The form for a guest."""
        fields = [text_field("Name", name), text_field("City", city)]
        return whole_form([*fields, drop_down("Menu", self.menus, menu, self.menus[0])], "Add")

    def pages(self, p: Params) -> Mapping[str, str]:
        add = form("/lists/guests/add", self.guest().html, button="Add", onward="/")
        send = form("/lists/guests/close", button="Send the list", onward="/sent")
        return {
            "index": page("Guests", add, send, "<h2>The list</h2>", "<!--removable guests-->"),
            "sent": page("The list is sent", links({"Guests": "/"})),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        wanted = [listed([row]).strip() for row in p.rows]

        def guests(view: View) -> list[str]:
            return (view.read(f"{SITE}/lists/guests.jsonl") or "").splitlines()

        def wrong(view: View) -> Node | None:
            buttons = [
                node for node in chromium.shown(view, "push button") if node.name.startswith("Remove ")
            ]
            unwanted = (n for n, guest in enumerate(guests(view)) if guest not in wanted)
            return dict(enumerate(buttons)).get(next(unwanted, -1))

        def is_added(line: str) -> chromium.Holds:
            return lambda view: line in guests(view)

        clean = press(wrong, lambda view: all(guest in wanted for guest in guests(view)))
        added = [
            Goal(is_added(line), first_of(*self.guest(**row).moves))
            for row, line in zip(p.rows, wanted, strict=True)
        ]
        pages = {"/": [clean, *added, button("Send the list")], "/sent": [follow("Guests")]}
        return [written_down(kept_list("guests-closed", p.rows), pages)]


class TransferNumbers(BrowserTask):
    id = "core/browser-transfer-numbers-v1"
    skill = "copy"
    family = "form"
    difficulty = Difficulty.HARD
    instructions = (
        "Copy the stock of {spoken} from the tab Stock into the form in the tab Report, and press Send.",
        "Fill in the report in the other tab: it needs the stock of {spoken}. Then send it.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        products = draw.words(9, "products")
        stock = dict(zip(products, map(str, draw.numbers(9, 100, 9999)), strict=True))
        wanted = draw.sample(products, 3)
        return {"stock": stock, "wanted": wanted, "spoken": f"{wanted[0]}, {wanted[1]} and {wanted[2]}"}

    def pages(self, p: Params) -> Mapping[str, str]:
        fields = [text_field(product.title(), "").html for product in p.wanted]
        return {
            "stock": page("Stock", table(("Product", "Stock"), list(p.stock.items()))),
            "report": page("Report", form("/forms/report", *fields, button="Send", onward="/sent")),
            "sent": page("Report sent", links({"Back to the form": "/report"})),
        }

    def start(self, p: Params) -> tuple[str, ...]:
        return ("/stock", "/report")

    def changes(self, p: Params) -> Sequence[Change]:
        numbers = {product: p.stock[product] for product in p.wanted}
        copies = [chromium.copied(number) for number in numbers.values()]
        pastes = [chromium.pasted(product.title(), number) for product, number in numbers.items()]

        def fetched(paste: Goal, copy: Goal) -> Goal:
            """On the form: paste the number, or go and copy it."""
            return Goal(
                paste.done,
                lambda view: paste.act(view) if copy.done(view) else chromium.to_tab(view, "Stock"),
            )

        def fetch(view: View) -> Action:
            have = next((index for index, copy in enumerate(copies) if copy.done(view)), None)
            # The form is out of sight: what was just copied goes there, what was copied before is there.
            if have is not None and view.last in (chromium.COPY, Action.wait()):
                return chromium.to_tab(view, "Report")
            return copies[0 if have is None else (have + 1) % len(copies)].act(view)

        pages = {
            "/report": [*map(fetched, pastes, copies), button("Send")],
            "/stock": [Goal(lambda view: False, fetch)],
            "/sent": [follow("Back to the form")],
        }
        return [written_down(kept_form("report", numbers), pages)]


TEMPLATES: tuple[type[Template], ...] = (BookTrip, InviteGuests, TransferNumbers)
