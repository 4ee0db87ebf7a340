"""Chromium: shops, catalogues and inboxes, in which the same move is made on one thing after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps import chromium
from operant.apps.chromium import button, follow, named, press, tick
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
    on_site,
    seen,
    visited,
    written_down,
)
from operant.tasks.website.pages import add_button, form, links, listed, page, paragraph, table
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]


class FillCart(BrowserTask):
    id = "core/browser-fill-cart-v1"
    skill = "click"
    family = "shop"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Put {spoken} into the cart, then open the cart and check out.",
        "Buy {spoken}: add them to the cart one by one, then go to the cart and check out.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        products = draw.words(9, "products")
        amounts = dict(zip(draw.sample(products, 3), draw.sample((2, 2, 3), 3), strict=True))
        one, two, three = (f"{amount} {product}" for product, amount in amounts.items())
        return {
            "products": products,
            "prices": draw.numbers(9, 10, 99),
            "amounts": amounts,
            "spoken": f"{one}, {two} and {three}",
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        rows = [
            (product, str(price), add_button("/lists/cart/add", "product", product, f"Add {product}", "Add"))
            for product, price in zip(p.products, p.prices, strict=True)
        ]
        check_out = form("/lists/cart/close", button="Check out", onward="/thanks")
        return {
            "index": page("Shop", table(("Product", "Price", ""), rows), links({"Cart": "/cart"})),
            "cart": page("Cart", "<!--removable cart-->", check_out, links({"Shop": "/"})),
            "thanks": page("Thank you", paragraph("It is on its way."), links({"Shop": "/"})),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        def missing(view: View) -> dict[str, int]:
            """How many of each are not in the cart yet; negative if there are too many."""
            lines = (view.read(f"{SITE}/lists/cart.jsonl") or "").splitlines()
            return {
                product: p.amounts.get(product, 0) - lines.count(listed([{"product": product}]).strip())
                for product in p.products
            }

        def add(view: View) -> Action:
            # The same click twice in a row would look like one that had no effect, so take turns.
            left = {product: n for product, n in missing(view).items() if n > 0}
            wanted = sorted(left, key=lambda product: -left[product])
            clicks = [button(f"Add {product}").act(view) for product in wanted]
            return next((click for click in clicks if click.point is not None), clicks[0])

        def unwanted(view: View) -> Node | None:
            names = {f"Remove {product}" for product, n in missing(view).items() if n < 0}
            return next((node for node in chromium.shown(view, "push button") if node.name in names), None)

        def full(view: View) -> bool:
            return not any(n > 0 for n in missing(view).values())

        right = press(unwanted, lambda view: not any(missing(view).values()))
        pages = {
            "/": [Goal(full, add), follow("Cart")],
            "/cart": [follow("Shop", full), right, button("Check out")],
            "/thanks": [follow("Shop")],
        }
        bought = [{"product": product} for product, amount in p.amounts.items() for _ in range(amount)]
        return [written_down(kept_list("cart-closed", bought), pages)]


class LeafThrough(BrowserTask):
    id = "core/browser-leaf-through-v1"
    skill = "navigate"
    family = "shop"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Find the {item} in the catalogue, which has many pages, and reserve it.",
        "Somewhere in this catalogue is the {item}. Leaf through it and press its Reserve button.",
    )
    last = 10

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        # Pages of different length, so that Next is not always at the same place.
        pages = [[draw.phrase(2) for _ in range(4 + number % 3)] for number in range(self.last)]
        item = " ".join((draw.word("adjectives"), draw.word()))
        pages = [[other for other in one if other != item] for one in pages]
        number = draw.random.randint(6, 8)
        pages[number].insert(draw.random.randint(0, 3), item)
        return {"catalogue": pages, "item": item, "number": number}

    def pages(self, p: Params) -> Mapping[str, str]:
        pages = {"reserved": page("Reserved", links({"Catalogue": "/"}))}
        for number, items in enumerate(p.catalogue):
            rows = [
                (item, add_button("/forms/reserved", "item", item, f"Reserve {item}", "Reserve"))
                for item in items
            ]
            around = {"Next": f"/page-{number + 2}"} if number + 1 < self.last else {}
            around |= {"Previous": f"/page-{number}" if number > 1 else "/"} if number else {}
            name = f"page-{number + 1}" if number else "index"
            pages[name] = page(f"Catalogue, page {number + 1}", table(("Item", ""), rows), links(around))
        return pages

    def changes(self, p: Params) -> Sequence[Change]:
        pages = {}
        for number in range(self.last):
            onward = follow("Next" if number < p.number else "Previous")
            move = onward if number != p.number else button(f"Reserve {p.item}")
            pages[f"/page-{number + 1}" if number else "/"] = [move]
        return [written_down(kept_form("reserved", {"item": p.item}), pages)]


class CheapestShop(BrowserTask):
    id = "core/browser-cheapest-shop-v1"
    skill = "compare"
    family = "shop"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Compare the price of {product} in all four shops and buy them where they are cheapest.",
        "Look at every shop, find out which one has the cheapest {product}, and buy them there.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        cities, products = draw.words(4, "cities"), draw.words(6, "products")
        prices = [draw.numbers(4, 10, 999) for _ in products]
        chosen = draw.random.randrange(len(products))
        return {
            "cities": cities,
            "products": products,
            "prices": prices,
            "product": products[chosen],
            "cheapest": min(zip(prices[chosen], cities, strict=True))[1],
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        def buy(product: str, city: str) -> str:
            return add_button("/forms/bought", "bought", f"{product} in {city}", f"Buy {product}", "Buy")

        pages = {"index": page("Shops", links({city: f"/{city.lower()}" for city in p.cities}))}
        for index, city in enumerate(p.cities):
            rows = [
                (product, str(prices[index]), buy(product, city))
                for product, prices in zip(p.products, p.prices, strict=True)
            ]
            pages[city.lower()] = page(city, table(("Product", "Price", ""), rows), links({"All shops": "/"}))
        return pages

    def changes(self, p: Params) -> Sequence[Change]:
        def unseen(view: View) -> list[str]:
            return [city for city in p.cities if not visited(view, city.lower())]

        def next_shop(view: View) -> Node | None:
            return named("link", (unseen(view) or [p.cheapest])[0])(view)

        bought = kept_form("bought", {"bought": f"{p.product} in {p.cheapest}"})
        compared = follow("All shops", lambda view: not unseen(view))
        pages = {f"/{city.lower()}": [follow("All shops")] for city in p.cities}
        pages[f"/{p.cheapest.lower()}"] = [compared, button(f"Buy {p.product}")]
        pages["/"] = [press(next_shop)]
        goal = on_site(lambda view: found(bought)(view) and not unseen(view), pages)
        return [Change(goal, holds=[bought, *(seen(city.lower()) for city in p.cities)])]


class DeleteMessages(BrowserTask):
    id = "core/browser-delete-messages-v1"
    skill = "select"
    family = "shop"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Delete all messages from {one} and from {two}: tick them and press Delete.",
        "Tidy up the inbox: the messages of {one} and {two} can go, all others stay.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        one, two, *others = draw.words(5, "names")
        senders = [one] * 4 + [two] * 3 + [draw.choice(others) for _ in range(5)]
        days = draw.numbers(len(senders), 100, 999)
        rows = [
            {"from": sender, "number": str(day), "subject": f"{draw.word('topics')} {draw.word('verbs')}"}
            for sender, day in zip(senders, days, strict=True)
        ]
        draw.random.shuffle(rows)
        # The site sorts its lists; numbers first, they come in no order of senders.
        mixed = [{"about": f"{row['number']} {row['subject']}", "from": row["from"]} for row in rows]
        return {"one": one, "two": two, "rows": mixed}

    def pages(self, p: Params) -> Mapping[str, str]:
        inbox = form("/lists/inbox/remove", "<!--tickable inbox-->", button="Delete", onward="/")
        return {"index": page("Inbox", inbox)}

    def kept(self, p: Params) -> Mapping[str, str]:
        return {"lists/inbox.jsonl": listed(p.rows)}

    def changes(self, p: Params) -> Sequence[Change]:
        remaining = [row for row in p.rows if row["from"] not in (p.one, p.two)]

        def ticked(row: dict[str, str]) -> Goal:
            """The box of a message is as it should be; one that was deleted already needs no tick."""
            move, line = tick(", ".join(row.values()), row not in remaining), listed([row])
            inbox = f"{SITE}/lists/inbox.jsonl"
            return Goal(lambda view: line not in (view.read(inbox) or "") or move.done(view), move.act)

        rows = sorted(p.rows, key=lambda row: listed([row]))
        pages = {"/": [*map(ticked, rows), button("Delete")]}
        return [written_down(kept_list("inbox", remaining), pages)]


TEMPLATES: tuple[type[Template], ...] = (FillCart, LeafThrough, CheapestShop, DeleteMessages)
