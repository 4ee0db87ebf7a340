"""Chromium on a site inside the desktop: get to pages and read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.apps.moves import Milestone
from operant.apps.view import View
from operant.tasks.criteria import Accessible, AllOf, Answer, Criterion, FileContains, Url
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.browser_flows import FLOWS
from operant.tasks.suites.core.browser_forms import FORMS
from operant.tasks.suites.core.browser_moves import (
    APP,
    HOST,
    ORIGIN,
    SITE,
    BrowserTask,
    Pages,
    fill,
    kept_form,
    named,
    once,
    path_of,
    press,
    shown,
    tab,
    visited,
)
from operant.tasks.suites.core.browser_pages import field, form, link, links, page, paragraph, sortable, table
from operant.tasks.suites.core.browser_shops import SHOPS
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Difficulty

__all__ = ["TEMPLATES"]

ADDRESS_BAR = Action.key("ctrl", "l")
NEW_TAB = Action.key("ctrl", "t")
FIND = Action.key("ctrl", "f")


def answer(text: object) -> Action:
    return Action(ActionKind.ANSWER, text=str(text))


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

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(9)
        return {"names": names, "name": draw.choice(names), "place": self.place(draw)}

    def pages(self, p: Params) -> Mapping[str, str]:
        index = page("Contents", links({name: f"/{name}" for name in p.names}))
        return {"index": index, **{name: page(name.title(), link("Contents", "/")) for name in p.names}}

    def success(self, p: Params) -> Criterion:
        return Url(url=f"{ORIGIN}/{p.name}")

    def oracle(self, p: Params) -> Oracle:
        follow = press(named("link", p.name))
        return Pages(lambda view: path_of(view) == f"/{p.name}", {"/": [follow]})


class GoToAddress(BrowserTask):
    id = "core/browser-go-to-address-v1"
    skill = "navigate"
    family = "navigation"
    difficulty = Difficulty.EASY
    instructions = ("Go to the address {address}.", "Show {address} in the browser.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(3)
        numbers = draw.numbers(2, 10, 999)
        address = f"{HOST}/{names[0]}/{numbers[0]}"
        return {"names": names, "numbers": numbers, "address": address, "place": self.place(draw)}

    def pages(self, p: Params) -> Mapping[str, str]:
        pages = {f"{name}/{number}": f"{name} {number}" for name in p.names for number in p.numbers}
        index = page("Welcome", paragraph("This site has many pages. None of them is linked from here."))
        return {"index": index, **{path: page(title.title()) for path, title in pages.items()}}

    def success(self, p: Params) -> Criterion:
        return Url(url=f"http://{p.address}")

    def oracle(self, p: Params) -> Oracle:
        path = p.address.removeprefix(HOST)
        return _ToAddress(p.address, lambda view: path_of(view) == path)


class _ToAddress:
    """Types an address into the address bar, in a new tab if a page is to stay open."""

    def __init__(self, address: str, there: Any, keep: str | None = None) -> None:
        self.enter = Action.type(f"{address}\n")
        self.there = there
        self.keep = keep

    def act(self, view: View) -> Action:
        if self.there(view):
            return Action.done()
        if view.last == ADDRESS_BAR:
            return self.enter
        if view.last == self.enter:
            return Action.wait()
        if self.keep is not None and path_of(view) == self.keep:
            return once(view, NEW_TAB)
        return ADDRESS_BAR


class OpenInNewTab(BrowserTask):
    id = "core/browser-new-tab-v1"
    skill = "keys"
    family = "navigation"
    difficulty = Difficulty.EASY
    instructions = (
        "Open {address} in a new tab. The page that is open now stays open.",
        "Without closing this page, show {address} in another tab.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        first, name = draw.words(2)
        return {"first": first, "name": name, "address": f"{HOST}/{name}", "place": self.place(draw)}

    def pages(self, p: Params) -> Mapping[str, str]:
        return {
            p.first: page(p.first.title(), paragraph("Keep me open.")),
            p.name: page(p.name.title(), paragraph("Here it is.")),
        }

    def start(self, p: Params) -> tuple[str, ...]:
        return (f"/{p.first}",)

    def success(self, p: Params) -> Criterion:
        kept = Accessible(app=APP, role="page tab", name=p.first.title())
        return AllOf(of=(Url(url=f"http://{p.address}"), kept))

    def oracle(self, p: Params) -> Oracle:
        def there(view: View) -> bool:
            return path_of(view) == f"/{p.name}" and tab(view, p.first.title()) is not None

        return _ToAddress(p.address, there, keep=f"/{p.first}")


class ReadPrice(BrowserTask):
    id = "core/browser-read-price-v1"
    skill = "read"
    family = "reading"
    difficulty = Difficulty.EASY
    instructions = (
        "What do {product} cost in the {city} shop? Report the price.",
        "Look up the price of {product} in {city} and report it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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
            "place": self.place(draw),
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        pages = {"index": page("Shops", links({city: f"/{city.lower()}" for city in p.cities}))}
        for city, prices in zip(p.cities, p.prices, strict=True):
            rows = [(product, str(price)) for product, price in zip(p.products, prices, strict=True)]
            pages[city.lower()] = page(city, table(("Product", "Price"), rows), links({"All shops": "/"}))
        return pages

    def success(self, p: Params) -> Criterion:
        seen = FileContains(path=f"{SITE}/visits.txt", text=f"{p.city.lower()}\n")
        return AllOf(of=(Answer(text=str(p.price), numeric=True), seen))

    def oracle(self, p: Params) -> Oracle:
        pages = {
            f"/{city.lower()}": [press(named("link", "All shops"))] for city in p.cities if city != p.city
        }
        seen = lambda view: path_of(view) == f"/{p.city.lower()}"  # noqa: E731
        return Pages(seen, {**pages, "/": [press(named("link", p.city))]}, finish=answer(p.price))


class FindOnPage(BrowserTask):
    id = "core/browser-find-on-page-v1"
    skill = "search"
    family = "reading"
    difficulty = Difficulty.EASY
    instructions = (
        "Which room has {person}? Find the name on this page and report the room number.",
        "Search this long page for {person} and report the number of the room.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        people = [
            f"{name} {surname}" for name in draw.words(12, "names") for surname in draw.words(8, "surnames")
        ]
        draw.random.shuffle(people)
        rooms = draw.numbers(len(people), 100, 999)
        chosen = draw.random.randrange(40, len(people))
        rows = list(zip(people, rooms, strict=True))
        return {"rows": rows, "person": people[chosen], "room": rooms[chosen], "place": self.place(draw)}

    def pages(self, p: Params) -> Mapping[str, str]:
        return {"index": page("Rooms", *(paragraph(f"{person}: room {room}") for person, room in p.rows))}

    def success(self, p: Params) -> Criterion:
        return Answer(text=str(p.room), numeric=True)

    def oracle(self, p: Params) -> Oracle:
        def seen(view: View) -> bool:
            return any(p.person in node.name for node in shown(view, "static"))

        def act(view: View) -> Action:
            if view.last == FIND:
                return Action.type(p.person)
            return Action.wait() if view.last == Action.type(p.person) else FIND

        return Pages(seen, {"/": [Milestone("found", seen, act)]}, finish=answer(p.room))


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

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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
            "place": self.place(draw),
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        parts = []
        for topic, rows in zip(p.topics, p.rows, strict=True):
            parts += [f"<h2>{topic}</h2>", sortable(topic, ("Product", "Price", "Amount"), rows)]
        return {"index": page("Costs", *parts)}

    def success(self, p: Params) -> Criterion:
        other = next(topic for topic in p.topics if topic != p.topic)
        heads = [
            f"{p.topic}, {p.column}, {p.order}",
            *(f"{other}, {name}" for name in ("Product", "Price", "Amount")),
        ]
        return AllOf(of=tuple(Accessible(app=APP, role="column header", name=head) for head in heads))

    def oracle(self, p: Params) -> Oracle:
        def head(view: View) -> Any:
            start = f"{p.topic}, {p.column}"
            return next((node for node in shown(view, "column header") if node.name.startswith(start)), None)

        def is_sorted(view: View) -> bool:
            return bool(shown(view, "column header", f"{p.topic}, {p.column}, {p.order}"))

        return Pages(is_sorted, {"/": [press(lambda view: (node := head(view)) and node.children[0])]})


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

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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
            "place": self.place(draw),
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        login = form(
            "/forms/login",
            field("Name", "name"),
            field("Password", "password", kind="password"),
            button="Log in",
            onward="/desk",
        )
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

    def success(self, p: Params) -> Criterion:
        return AllOf(
            of=(
                Answer(text=str(p.code), numeric=True),
                FileContains(path=f"{SITE}/visits.txt", text=f"from-{p.sender.lower()}\n"),
                Url(url=f"{ORIGIN}/goodbye"),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        message = f"from-{p.sender.lower()}"
        pages = {
            "/": [
                fill("Name", p.user),
                fill("Password", p.password, "password text"),
                press(named("push button", "Log in")),
            ],
            "/refused": [_follow("Try again")],
            "/desk": [_follow("Messages")],
            "/messages": [_follow(f"From {p.sender}")],
            f"/{message}": [_follow("Log out")],
            "/goodbye": [_follow("Log in again")],
        }
        return Pages(
            lambda view: path_of(view) == "/goodbye" and visited(view, message), pages, finish=answer(p.code)
        )


def _follow(text: str) -> Milestone:
    return press(named("link", text))


TEMPLATES: tuple[type[Template], ...] = (
    ClickLink,
    GoToAddress,
    OpenInNewTab,
    ReadPrice,
    FindOnPage,
    SortTable,
    ReadMessage,
    *FORMS,
    *FLOWS,
    *SHOPS,
)
