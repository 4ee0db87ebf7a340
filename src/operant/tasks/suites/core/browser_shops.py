"""Chromium: shops, catalogues and inboxes, in which the same move is made on one thing after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.apps.moves import Milestone
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, FileContains
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.browser_moves import (
    SITE,
    BrowserTask,
    Holds,
    Pages,
    found,
    kept_form,
    kept_list,
    named,
    press,
    shown,
    tick,
    visited,
)
from operant.tasks.suites.core.browser_pages import (
    add_button,
    form,
    links,
    listed,
    page,
    paragraph,
    table,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["SHOPS"]


class FillCart(BrowserTask):
    id = "core/browser-fill-cart-v1"
    skill = "click"
    family = "shop"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Put {spoken} into the cart, then open the cart and check out.",
        "Buy {spoken}: add them to the cart one by one, then go to the cart and check out.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        products = draw.words(9, "products")
        amounts = dict(zip(draw.sample(products, 3), draw.sample((2, 2, 3), 3), strict=True))
        one, two, three = (f"{amount} {product}" for product, amount in amounts.items())
        return {
            "products": products,
            "prices": draw.numbers(9, 10, 99),
            "amounts": amounts,
            "spoken": f"{one}, {two} and {three}",
            "place": self.place(draw),
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

    def success(self, p: Params) -> Criterion:
        return kept_list("cart-closed", self.rows(p))

    def rows(self, p: Params) -> list[dict[str, str]]:
        return [{"product": product} for product, amount in p.amounts.items() for _ in range(amount)]

    def oracle(self, p: Params) -> Oracle:
        def missing(view: View) -> dict[str, int]:
            """How many of each are not in the cart yet; negative if there are too many."""
            lines = (view.read(f"{SITE}/lists/cart.jsonl") or "").splitlines()
            return {
                product: p.amounts.get(product, 0) - lines.count(listed([{"product": product}]).strip())
                for product in p.products
            }

        def add(view: View) -> Action:
            # The same click twice in a row would look like one that had no effect, so take turns.
            wanted = sorted(
                (product for product, n in missing(view).items() if n > 0), key=lambda x: -missing(view)[x]
            )
            clicks = [press(named("push button", f"Add {product}")).act(view) for product in wanted]
            return next((click for click in clicks if click.point is not None), clicks[0])

        full = Milestone("all in the cart", lambda view: not any(n > 0 for n in missing(view).values()), add)
        right = lambda view: not any(missing(view).values())  # noqa: E731
        unwanted = lambda view: next(  # noqa: E731
            (
                node
                for node in shown(view, "push button")
                if any(node.name == f"Remove {product}" for product, n in missing(view).items() if n < 0)
            ),
            None,
        )
        none_missing = press(named("link", "Shop"), full.reached)
        pages = {
            "/": [full, press(named("link", "Cart"))],
            "/cart": [none_missing, press(unwanted, right), press(named("push button", "Check out"))],
            "/thanks": [press(named("link", "Shop"))],
        }
        return Pages(found(kept_list("cart-closed", self.rows(p))), pages)


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

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        # Pages of different length, so that Next is not always at the same place.
        pages = [[draw.phrase(2) for _ in range(4 + number % 3)] for number in range(self.last)]
        item = " ".join((draw.word("adjectives"), draw.word()))
        pages = [[other for other in one if other != item] for one in pages]
        number = draw.random.randint(6, 8)
        pages[number].insert(draw.random.randint(0, 3), item)
        return {"catalogue": pages, "item": item, "number": number, "place": self.place(draw)}

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

    def success(self, p: Params) -> Criterion:
        return kept_form("reserved", {"item": p.item})

    def oracle(self, p: Params) -> Oracle:
        pages = {}
        for number in range(self.last):
            way = "Next" if number < p.number else "Previous"
            move = (
                press(named("link", way))
                if number != p.number
                else press(named("push button", f"Reserve {p.item}"))
            )
            pages[f"/page-{number + 1}" if number else "/"] = [move]
        return Pages(found(kept_form("reserved", {"item": p.item})), pages)


class CheapestShop(BrowserTask):
    id = "core/browser-cheapest-shop-v1"
    skill = "compare"
    family = "shop"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Compare the price of {product} in all four shops and buy them where they are cheapest.",
        "Look at every shop, find out which one has the cheapest {product}, and buy them there.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        cities, products = draw.words(4, "cities"), draw.words(6, "products")
        prices = [draw.numbers(4, 10, 999) for _ in products]
        chosen = draw.random.randrange(len(products))
        cheapest = min(zip(prices[chosen], cities, strict=True))[1]
        return {
            "cities": cities,
            "products": products,
            "prices": prices,
            "product": products[chosen],
            "cheapest": cheapest,
            "place": self.place(draw),
        }

    def pages(self, p: Params) -> Mapping[str, str]:
        pages = {"index": page("Shops", links({city: f"/{city.lower()}" for city in p.cities}))}
        for index, city in enumerate(p.cities):
            rows = [
                (product, str(prices[index]), _buy(product, city))
                for product, prices in zip(p.products, p.prices, strict=True)
            ]
            pages[city.lower()] = page(city, table(("Product", "Price", ""), rows), links({"All shops": "/"}))
        return pages

    def success(self, p: Params) -> Criterion:
        seen = [FileContains(path=f"{SITE}/visits.txt", text=f"{city.lower()}\n") for city in p.cities]
        return AllOf(of=(kept_form("bought", {"bought": f"{p.product} in {p.cheapest}"}), *seen))

    def oracle(self, p: Params) -> Oracle:
        def unseen(view: View) -> list[str]:
            return [city for city in p.cities if not visited(view, city.lower())]

        def next_shop(view: View) -> Any:
            return named("link", (unseen(view) or [p.cheapest])[0])(view)

        done = found(kept_form("bought", {"bought": f"{p.product} in {p.cheapest}"}))
        elsewhere = press(named("link", "All shops"))
        compare = press(named("link", "All shops"), lambda view: not unseen(view))
        buy = press(named("push button", f"Buy {p.product}"))
        pages = {f"/{city.lower()}": [elsewhere] for city in p.cities}
        pages[f"/{p.cheapest.lower()}"] = [compare, buy]
        pages["/"] = [press(next_shop)]
        return Pages(lambda view: done(view) and not unseen(view), pages)


def _buy(product: str, city: str) -> str:
    return add_button("/forms/bought", "bought", f"{product} in {city}", f"Buy {product}", "Buy")


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

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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
        return {"one": one, "two": two, "rows": mixed, "place": self.place(draw)}

    def pages(self, p: Params) -> Mapping[str, str]:
        inbox = form("/lists/inbox/remove", "<!--tickable inbox-->", button="Delete", onward="/")
        return {"index": page("Inbox", inbox)}

    def kept(self, p: Params) -> Mapping[str, str]:
        return {"lists/inbox.jsonl": listed(p.rows)}

    def remaining(self, p: Params) -> list[dict[str, str]]:
        return [row for row in p.rows if row["from"] not in (p.one, p.two)]

    def success(self, p: Params) -> Criterion:
        return kept_list("inbox", self.remaining(p))

    def oracle(self, p: Params) -> Oracle:
        rows = sorted(p.rows, key=lambda row: listed([row]))
        ticks = [tick(", ".join(row.values()), row not in self.remaining(p)) for row in rows]

        def gone(row: dict[str, str]) -> Holds:
            return lambda view: listed([row]) not in (view.read(f"{SITE}/lists/inbox.jsonl") or "")

        # A message that was deleted already needs no tick.
        moves = [_unless(gone(row), move) for row, move in zip(rows, ticks, strict=True)]
        pages = {"/": [*moves, press(named("push button", "Delete"))]}
        return Pages(found(kept_list("inbox", self.remaining(p))), pages)


def _unless(needless: Holds, move: Milestone) -> Milestone:
    return Milestone(move.name, lambda view: needless(view) or move.reached(view), move.act)


SHOPS: tuple[type[Template], ...] = (FillCart, LeafThrough, CheapestShop, DeleteMessages)
