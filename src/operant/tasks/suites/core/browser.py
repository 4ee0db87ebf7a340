"""Chromium on a site inside the desktop: get to pages and read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps import chromium
from operant.apps.chromium import follow, go_to, named, press
from operant.apps.view import View
from operant.tasks.changes import Change, answered
from operant.tasks.criteria import Accessible, Url
from operant.tasks.draw import Draw
from operant.tasks.template import Params, Template
from operant.tasks.website.browser_task import (
    HOST,
    ORIGIN,
    BrowserTask,
    is_at,
    kept_form,
    on_site,
    reached,
    seen,
    visited,
)
from operant.tasks.website.form_fields import FormField, text_field, whole_form
from operant.tasks.website.pages import form, link, links, page, paragraph, sortable, table
from operant.types import Difficulty, Node

__all__ = ["TEMPLATES"]


class ClickLink(BrowserTask):
    id = "core/browser-click-link-v1"
    skill = "click"
    family = "navigation"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the page {name} by its link.",
        "Follow the link {name} on this page.",
        "Click {name}.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(9)
        return {"names": names, "name": draw.choice(names)}

    def pages(self, p: Params) -> Mapping[str, str]:
        index = page("Contents", links({name: f"/{name}" for name in p.names}))
        return {"index": index, **{name: page(name.title(), link("Contents", "/")) for name in p.names}}

    def changes(self, p: Params) -> Sequence[Change]:
        return [reached(f"/{p.name}", {"/": [follow(p.name)]})]


class GoToAddress(BrowserTask):
    id = "core/browser-go-to-address-v1"
    skill = "navigate"
    family = "navigation"
    difficulty = Difficulty.EASY
    instructions = ("Go to the address {address}.", "Show {address} in the browser.")

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(3)
        numbers = draw.numbers(2, 10, 999)
        return {"names": names, "numbers": numbers, "address": f"{HOST}/{names[0]}/{numbers[0]}"}

    def pages(self, p: Params) -> Mapping[str, str]:
        pages = {f"{name}/{number}": f"{name} {number}" for name in p.names for number in p.numbers}
        index = page("Welcome", paragraph("This site has many pages. None of them is linked from here."))
        return {"index": index, **{path: page(title.title()) for path, title in pages.items()}}

    def changes(self, p: Params) -> Sequence[Change]:
        url = f"http://{p.address}"
        return [Change(go_to(p.address, lambda view: chromium.location(view) == url), holds=[Url(url=url)])]


class OpenInNewTab(BrowserTask):
    id = "core/browser-new-tab-v1"
    skill = "keys"
    family = "navigation"
    difficulty = Difficulty.EASY
    instructions = (
        "Open {address} in a new tab. The page that is open now stays open.",
        "Without closing this page, show {address} in another tab.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        first, name = draw.words(2)
        return {"first": first, "name": name, "address": f"{HOST}/{name}"}

    def pages(self, p: Params) -> Mapping[str, str]:
        return {
            p.first: page(p.first.title(), paragraph("Keep me open.")),
            p.name: page(p.name.title(), paragraph("Here it is.")),
        }

    def start(self, p: Params) -> tuple[str, ...]:
        return (f"/{p.first}",)

    def changes(self, p: Params) -> Sequence[Change]:
        title = p.first.title()

        def both(view: View) -> bool:
            return is_at(f"/{p.name}")(view) and chromium.tab(view, title) is not None

        kept = Accessible(app=chromium.APP.accessible_name, role="page tab", name=title)
        goal = go_to(p.address, both, keep=f"{ORIGIN}/{p.first}")
        return [Change(goal, holds=[Url(url=f"http://{p.address}"), kept])]


class ReadPrice(BrowserTask):
    id = "core/browser-read-price-v1"
    skill = "read"
    family = "reading"
    difficulty = Difficulty.EASY
    instructions = (
        "What do {product} cost in the {city} shop? Report the price.",
        "Look up the price of {product} in {city} and report it.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        cities, products = draw.words(4, "cities"), draw.words(10, "products")
        prices = [draw.numbers(len(products), 10, 999) for _ in cities]
        city, product = draw.random.randrange(4), draw.random.randrange(10)
        return {
            "cities": cities,
            "products": products,
            "prices": prices,
            "city": cities[city],
            "product": products[product],
            "price": prices[city][product],
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        pages = {"index": page("Shops", links({city: f"/{city.lower()}" for city in p.cities}))}
        for city, prices in zip(p.cities, p.prices, strict=True):
            rows = [(product, str(price)) for product, price in zip(p.products, prices, strict=True)]
            pages[city.lower()] = page(city, table(("Product", "Price"), rows), links({"All shops": "/"}))
        return pages

    def changes(self, p: Params) -> Sequence[Change]:
        shop = p.city.lower()
        others = {f"/{city.lower()}": [follow("All shops")] for city in p.cities if city != p.city}
        read = on_site(is_at(f"/{shop}"), {**others, "/": [follow(p.city)]})
        return [Change(read, holds=[seen(shop)]), answered(str(p.price), numeric=True)]


class FindOnPage(BrowserTask):
    id = "core/browser-find-on-page-v1"
    skill = "search"
    family = "reading"
    difficulty = Difficulty.EASY
    instructions = (
        "Which room has {person}? Find the name on this page and report the room number.",
        "Search this long page for {person} and report the number of the room.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        people = [
            f"{name} {surname}" for name in draw.words(12, "names") for surname in draw.words(8, "surnames")
        ]
        draw.random.shuffle(people)
        rooms = draw.numbers(len(people), 100, 999)
        chosen = draw.random.randrange(40, len(people))
        return {
            "rows": list(zip(people, rooms, strict=True)),
            "person": people[chosen],
            "room": rooms[chosen],
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        return {"index": page("Rooms", *(paragraph(f"{person}: room {room}") for person, room in p.rows))}

    def changes(self, p: Params) -> Sequence[Change]:
        find = chromium.find_text(p.person)
        return [Change(on_site(find.done, {"/": [find]})), answered(str(p.room), numeric=True)]


class SortTable(BrowserTask):
    id = "core/browser-sort-table-v1"
    skill = "sort"
    family = "reading"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "Sort the {topic} table by {column}, the {first} first. Leave the other table as it is.",
        "In the table of the {topic}, click {column} until the {first} comes first.",
    )
    heads = ("Product", "Price", "Amount")

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        topics = draw.words(2, "topics")
        rows = [
            [
                (product, str(price), str(amount))
                for product, price, amount in zip(
                    draw.words(5, "products"), draw.numbers(5, 10, 999), draw.numbers(5, 10, 99), strict=True
                )
            ]
            for _ in topics
        ]
        order = draw.choice(("ascending", "descending"))
        return {
            "topics": topics,
            "rows": rows,
            "topic": draw.choice(topics),
            "column": draw.choice(("Price", "Amount")),
            "order": order,
            "first": "smallest" if order == "ascending" else "largest",
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        parts = []
        for topic, rows in zip(p.topics, p.rows, strict=True):
            parts += [f"<h2>{topic}</h2>", sortable(topic, self.heads, rows)]
        return {"index": page("Costs", *parts)}

    def changes(self, p: Params) -> Sequence[Change]:
        head = f"{p.topic}, {p.column}"
        is_sorted = named("column header", f"{head}, {p.order}")

        def sorter(view: View) -> Node | None:
            heads = chromium.shown(view, "column header")
            return next((node.children[0] for node in heads if node.name.startswith(head)), None)

        other = next(topic for topic in p.topics if topic != p.topic)
        names = [f"{head}, {p.order}", *(f"{other}, {name}" for name in self.heads)]
        app = chromium.APP.accessible_name
        return [
            Change(
                on_site(lambda view: is_sorted(view) is not None, {"/": [press(sorter)]}),
                holds=[Accessible(app=app, role="column header", name=name) for name in names],
            )
        ]


class ReadMessage(BrowserTask):
    id = "core/browser-read-message-v1"
    skill = "login"
    family = "reading"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Log in as {user} with the password {password}. In the messages, look up the code that {sender} "
        "sent, log out and report the code.",
        "{sender} sent a code. Log in (name {user}, password {password}), read it in the messages, "
        "log out and report it.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        user, *senders = draw.words(7, "names")
        codes = draw.numbers(len(senders), 1000, 9999)
        chosen = draw.random.randrange(len(senders))
        return {
            "user": user,
            "password": draw.word() + str(draw.number(10, 99)),
            "senders": senders,
            "codes": codes,
            "sender": senders[chosen],
            "code": codes[chosen],
        }

    def login(self, p: Params) -> FormField:
        fields = [text_field("Name", p.user), text_field("Password", p.password, hidden=True)]
        return whole_form(fields, "Log in")

    def pages(self, p: Params) -> Mapping[str, str]:
        login = form("/forms/login", self.login(p).html, button="Log in", onward="/desk")
        members, out = "<!--members-->", links({"Log out": "/goodbye"})
        inbox = links({f"From {sender}": f"/from-{sender.lower()}" for sender in p.senders})
        pages = {
            "index": page("Log in", login),
            "refused": page("Wrong name or password", links({"Try again": "/"})),
            "desk": page("Welcome", members, links({"Messages": "/messages"}), out),
            "messages": page("Messages", members, inbox, out),
            "goodbye": page("Goodbye", links({"Log in again": "/"})),
        }
        for sender, code in zip(p.senders, p.codes, strict=True):
            text = paragraph(f"The code is {code}. Keep it.")
            pages[f"from-{sender.lower()}"] = page(
                f"From {sender}", members, text, links({"Messages": "/messages"}), out
            )
        return pages

    def kept(self, p: Params) -> Mapping[str, str]:
        return {"account.json": kept_form("login", {"name": p.user, "password": p.password}).text}

    def changes(self, p: Params) -> Sequence[Change]:
        message = f"from-{p.sender.lower()}"
        pages = {
            "/": self.login(p).moves,
            "/refused": [follow("Try again")],
            "/desk": [follow("Messages")],
            "/messages": [follow(f"From {p.sender}")],
            f"/{message}": [follow("Log out")],
            "/goodbye": [follow("Log in again")],
        }
        read = on_site(lambda view: is_at("/goodbye")(view) and visited(view, message), pages)
        left = Change(read, holds=[seen(message), Url(url=f"{ORIGIN}/goodbye")])
        return [left, answered(str(p.code), numeric=True)]


TEMPLATES: tuple[type[Template], ...] = (
    ClickLink,
    GoToAddress,
    OpenInNewTab,
    ReadPrice,
    FindOnPage,
    SortTable,
    ReadMessage,
)
