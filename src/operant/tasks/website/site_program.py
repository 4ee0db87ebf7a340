"""The web site of the browser tasks: serves pages and keeps what is submitted.

Runs inside a desktop, on the system's Python with its standard library alone: ``python3 site.py DIRECTORY``.
It goes into the background as soon as it listens. ``DIRECTORY/pages`` holds the pages; what visitors do ends
up in ``forms`` (the last submission of each), ``lists`` (entries, sorted, one a line) and ``visits.txt``.
"""

from __future__ import annotations

import html
import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

PORT = 8000
NAME = re.compile(r"[a-z0-9-]+")
#: Where a page shows a list: with a button to remove each entry, or with a box to tick for each.
SHOWN = re.compile(r"<!--(removable|tickable) ([a-z0-9-]+)-->")
MEMBERS = "<!--members-->"


def read(path: str, otherwise: str = "") -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return otherwise


def write(path: str, text: str) -> None:
    """All at once: whoever reads it meanwhile sees the old or the new text."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def entries(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in read(f"lists/{name}.jsonl").splitlines()]


def keep(name: str, rows: list[dict[str, str]]) -> None:
    lines = sorted(json.dumps(row, sort_keys=True) for row in rows)
    write(f"lists/{name}.jsonl", "".join(f"{line}\n" for line in lines))


def show(match: re.Match[str]) -> str:
    """A list as a page shows it."""
    kind, name = match.groups()
    parts = []
    for index, row in enumerate(entries(name)):
        text = html.escape(", ".join(row.values()))
        if kind == "tickable":
            parts.append(f"<label class=row><input type=checkbox name=pick value={index}> {text}</label>")
        else:
            button = f'<button name=pick value={index} aria-label="Remove {text}">Remove</button>'
            parts.append(f"<form method=post action=/lists/{name}/remove><p>{text} {button}</p></form>")
    return "".join(parts) or "<p>Nothing yet.</p>"


class Visitor(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].strip("/") or "index"
        if not all(NAME.fullmatch(part) for part in path.split("/")):
            return self.answer(404, "<title>Not found</title><h1>Not found</h1>")
        page = read(f"pages/{path}.html")
        if not page:
            return self.answer(404, "<title>Not found</title><h1>Not found</h1>")
        if MEMBERS in page and not os.path.exists("forms/login.json"):
            return self.go("/")
        if path == "goodbye" and os.path.exists("forms/login.json"):
            os.remove("forms/login.json")
        with open("visits.txt", "a", encoding="utf-8") as visits:
            visits.write(f"{path}\n")
        return self.answer(200, SHOWN.sub(show, page))

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        fields = parse_qsl(self.rfile.read(length).decode("utf-8", "replace"), keep_blank_values=True)
        onward = next((value for name, value in fields if name == "next"), None) or self.came_from()
        given: dict[str, str] = {}
        for name, value in fields:
            if name != "next":
                given[name] = f"{given[name]}, {value}" if name in given else value
        kind, _, rest = self.path.strip("/").partition("/")
        name, _, what = rest.partition("/")
        if not NAME.fullmatch(name):
            return self.answer(404, "<title>Not found</title><h1>Not found</h1>")
        if kind == "forms" and not self.refused(name, given):
            write(f"forms/{name}.json", json.dumps(given, sort_keys=True))
        elif kind == "forms":
            onward = "/refused"
        elif what == "add":
            keep(name, [*entries(name), given])
        elif what == "remove":
            picked = {value for field, value in fields if field == "pick"}
            keep(name, [row for index, row in enumerate(entries(name)) if str(index) not in picked])
        elif what == "close":
            write(f"lists/{name}-closed.jsonl", read(f"lists/{name}.jsonl"))
            keep(name, [])
        return self.go(onward)

    def refused(self, name: str, given: dict[str, str]) -> bool:
        """Whether there is an account and this is not its name and password."""
        account = read("account.json")
        return name == "login" and account != "" and json.loads(account) != given

    def came_from(self) -> str:
        return "/" + self.headers.get("Referer", "").partition("//")[2].partition("/")[2]

    def go(self, where: str) -> None:
        self.send_response(303)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, status: int, page: str) -> None:
        data = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing: nobody listens."""


def main() -> None:
    os.chdir(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Visitor)
    if os.fork():
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    server.serve_forever()


if __name__ == "__main__":
    main()
