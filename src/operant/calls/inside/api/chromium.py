"""Chromium, the web browser: pages, forms, tabs, bookmarks and downloads.

All functions are about the page that is seen. Widgets have the names that are written on or beside them.
"""

from __future__ import annotations

import os
import time
from typing import Any
from urllib.parse import urlsplit

import programs
from browser import CLICKED, FILLED, TEXT, TICKED, Browser, DialogOpen, Page, PageWidget, open_dialog
from bus import session_bus
from refusal import Refused
from widgets import PUSH_BUTTON, SHOWING

WM_CLASS = "Chromium"
TIME_LIMITS = {"navigate": 25, "download": 60, "click": 25}
LONGEST_TEXT = 50_000  # characters
MOST_ELEMENTS = 400
APPEARS_S = 0.3  # within which a click begins to load another page
SCHEMES = ("http", "https", "file", "about", "chrome", "data")
BOOKMARKS = "chrome://bookmarks/"
HISTORY_STEPS = {"back": -1, "forward": 1}
ADD_BOOKMARK = "(title, url) => chrome.bookmarks.create({parentId: '1', title, url}).then(one => one.id)"
ALL_BOOKMARKS = "() => chrome.bookmarks.getTree()"


def navigate(url: str) -> dict[str, object]:
    """Go to an address in the tab that is seen, and wait until the page is loaded."""
    with Browser() as browser, browser.page() as page:
        return _gone_to(page, _address(url))


def get_page() -> dict[str, object]:
    """Tell the address and the title of the page."""
    with Browser() as browser, browser.page() as page:
        return _described(page.wait_loaded())


def read_page(first: int = 0, characters: int = 20000) -> str:
    """Read the text of the page, from a character on, counted from 0."""
    if first < 0 or not 0 < characters <= LONGEST_TEXT:
        raise Refused("at most %d characters are read, and the first is 0" % LONGEST_TEXT)
    with Browser() as browser, browser.page() as page:
        text = str(page.run(TEXT))
        return text[first : first + characters]


def list_elements() -> list[dict[str, object]]:
    """List what can be clicked or filled in on the page, with role, name, value and state."""
    with Browser() as browser, browser.page() as page:
        found = []
        for one in page.widgets():
            if one.role in CLICKED or one.role in FILLED:
                said: dict[str, object] = {"role": one.role, "name": one.name[:200]}
                if one.value:
                    said["value"] = one.value[:200]
                for state in ("checked", "disabled", "expanded", "selected"):
                    if one.states.get(state) not in (None, False, "false"):
                        said[state] = True
                found.append(said)
        return found[:MOST_ELEMENTS]


def click(name: str, role: str = "") -> dict[str, object]:
    """Click a link, button, box or tab of the page by its name; role may say which, such as link or button."""
    roles = [one for one in (*CLICKED, *FILLED) if role.lower() in ("", one.lower())]
    if not roles:
        raise Refused("no element has the role %r; roles: %s" % (role[:40], ", ".join((*CLICKED, *FILLED))))
    with Browser() as browser, browser.page() as page:
        return _clicked(page, page.find(name, roles))


def fill(field: str, value: str) -> str:
    """Make a field of the page say this, choose an option of a list, or tick a box with "true" or "false"."""
    with Browser() as browser, browser.page() as page:
        _fill(page, field, value)
        return "%s says %r" % (field, value[:200])


def fill_form(values: dict[str, str], submit: str = "") -> dict[str, object]:
    """Fill in several fields by their names, and click the button of that name if one is given."""
    with Browser() as browser, browser.page() as page:
        for field, value in values.items():
            _fill(page, field, value)
        if submit:
            return _clicked(page, page.find(submit, CLICKED))
        return _described(page.wait_loaded())


def press_enter() -> dict[str, object]:
    """Press Enter in the field that was filled last."""
    with Browser() as browser, browser.page() as page:
        page.press("Enter")
        time.sleep(APPEARS_S)
        return _described(page.wait_loaded())


def answer_dialog(button: str = "OK") -> str:
    """Press a button of the dialog that a page shows, such as OK or Cancel."""
    with session_bus() as bus:
        found = open_dialog(bus)
        if found is None:
            raise Refused("the browser shows no dialog")
        app, dialog = found
        buttons = {one.name: one for one in app.below(dialog) if one.role == PUSH_BUTTON and one.has(SHOWING)}
        if button not in buttons:
            raise Refused("there is no button %r; buttons: %s" % (button[:40], ", ".join(buttons)))
        app.press(buttons[button])
        return "pressed %s of %r" % (button, dialog.name)


def back() -> dict[str, object]:
    """Go back to the page before."""
    return _through_history("back")


def forward() -> dict[str, object]:
    """Go forward again."""
    return _through_history("forward")


def reload() -> dict[str, object]:
    """Load the page again."""
    with Browser() as browser, browser.page() as page:
        page.ask("Page.reload")
        time.sleep(APPEARS_S)
        return _described(page.wait_loaded())


def list_tabs() -> list[dict[str, object]]:
    """List the tabs with their titles and addresses, and which one is seen."""
    with Browser() as browser:
        return [
            {"number": number, "title": one.title, "url": one.url, "shown": one.shown}
            for number, one in enumerate(browser.tabs(), 1)
        ]


def open_tab(url: str = "about:blank") -> dict[str, object]:
    """Open an address in a new tab."""
    with Browser() as browser:
        target = browser.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        with Page(browser, target) as page:
            if url == "about:blank":
                return _described(page.wait_loaded())
            return _gone_to(page, _address(url))


def switch_tab(tab: str) -> str:
    """Show a tab by its title, a part of its title or address, or its number in list_tabs."""
    with Browser() as browser:
        found = browser.tab(tab)
        browser.ask("Target.activateTarget", {"targetId": found.id})
        return "the tab %r is shown" % found.title


def close_tab(tab: str = "") -> str:
    """Close a tab by its title or number, or the one that is seen."""
    with Browser() as browser:
        found = browser.tab(tab or None)
        if len(browser.tabs()) == 1:
            raise Refused("it is the only tab: windows.close closes the browser")
        browser.ask("Target.closeTarget", {"targetId": found.id})
        return "closed the tab %r" % found.title


def list_bookmarks() -> list[dict[str, str]]:
    """List the bookmarks with their folders."""
    found: list[dict[str, str]] = []
    with Browser() as browser:
        for root in _in_bookmarks(browser, ALL_BOOKMARKS):
            _collect(root, "", found)
    return found


def add_bookmark(title: str = "", url: str = "") -> str:
    """Bookmark the page that is seen, or another address, on the bookmark bar."""
    with Browser() as browser:
        if not (title and url):
            with browser.page() as page:
                there, named = page.wait_loaded()
            url, title = url or there, title or named
        _in_bookmarks(browser, ADD_BOOKMARK, title, _address(url))
        return "bookmarked %s as %r" % (url, title)


def download(url: str, folder: str = "~/Downloads") -> str:
    """Download a file from an address into a folder, and wait until it is there."""
    place = programs.path_of(folder)
    os.makedirs(place, exist_ok=True)
    with Browser() as browser, browser.page() as page:
        behaviour = {"behavior": "allow", "downloadPath": place, "eventsEnabled": True}
        browser.ask("Browser.setDownloadBehavior", behaviour)
        try:
            page.ask("Page.navigate", {"url": _address(url)}, timeout_s=10)
            began = browser.event("Browser.downloadWillBegin", 5.0)
            if began is None:
                raise Refused("%s is a page or does not answer: nothing was downloaded" % url[:200])
            state: dict[str, Any] = {}
            while state.get("state") not in ("completed", "canceled"):
                seen = browser.event("Browser.downloadProgress", 50.0)
                if seen is None:
                    raise Refused("the download does not end")
                state = seen if seen.get("guid") == began.get("guid") else state
            if state["state"] == "canceled":
                raise Refused("the download was cancelled")
            name = str(state.get("filePath") or os.path.join(place, str(began.get("suggestedFilename"))))
            return "downloaded %s" % programs.shown(name)
        finally:
            browser.ask("Browser.setDownloadBehavior", {"behavior": "default"})


def list_downloads(folder: str = "~/Downloads") -> list[dict[str, object]]:
    """List the files that were downloaded, and which are not complete yet."""
    place = programs.path_of(folder)
    if not os.path.isdir(place):
        return []
    return [
        {"file": name, "bytes": os.path.getsize(os.path.join(place, name)), "complete": not _partial(name)}
        for name in sorted(os.listdir(place))[:MOST_ELEMENTS]
    ]


def _fill(page: Page, field: str, value: str) -> None:
    widget = page.find(field, [*FILLED, *TICKED])
    if widget.role not in TICKED:
        page.fill(widget, value)
        return
    if value.lower() not in ("true", "false"):
        raise Refused('%r is a box: it takes "true" or "false"' % widget.name)
    ticked = widget.states.get("checked") in (True, "true")
    if ticked != (value.lower() == "true"):
        page.click(widget)


def _clicked(page: Page, widget: PageWidget) -> dict[str, object]:
    """The page after a click, or the dialog that it opened."""
    try:
        page.click(widget)
        time.sleep(APPEARS_S)  # whether another page comes can't be known before
        return _described(page.wait_loaded())
    except DialogOpen as error:
        return {"dialog": error.title}


def _gone_to(page: Page, url: str) -> dict[str, object]:
    answer = page.ask("Page.navigate", {"url": url}, timeout_s=20)
    if answer.get("isDownload"):
        raise Refused("%s is a file to download, not a page" % url[:200])
    if answer.get("errorText"):
        raise Refused("%s can't be opened: %s" % (url[:200], answer["errorText"]))
    return _described(page.wait_loaded())


def _through_history(way: str) -> dict[str, object]:
    with Browser() as browser, browser.page() as page:
        history = page.ask("Page.getNavigationHistory")
        index = history["currentIndex"] + HISTORY_STEPS[way]
        if not 0 <= index < len(history["entries"]):
            raise Refused("there is no page to go %s to" % way)
        page.ask("Page.navigateToHistoryEntry", {"entryId": history["entries"][index]["id"]})
        time.sleep(APPEARS_S)
        return _described(page.wait_loaded())


def _described(said: list[str]) -> dict[str, object]:
    return {"url": said[0], "title": said[1]}


def _address(url: str) -> str:
    """An address as it is typed into the address bar: http is meant where nothing else is said."""
    url = url.strip()
    if not url or any(sign.isspace() for sign in url):
        raise Refused("%r is not an address" % url[:100])
    if url.startswith(("/", "~")):
        return "file://" + programs.path_of(url)
    scheme = urlsplit(url).scheme
    if scheme in SCHEMES:
        return url
    if "://" in url or scheme == "javascript":
        raise Refused("addresses begin with %s, not with %s" % (", ".join(SCHEMES), scheme[:40]))
    return "http://" + url


def _in_bookmarks(browser: Browser, function: str, *arguments: str) -> Any:
    """What a function returns in the browser's own page for bookmarks, in a tab behind the others."""
    target = browser.ask("Target.createTarget", {"url": BOOKMARKS, "background": True})["targetId"]
    try:
        with Page(browser, target) as manager:
            manager.wait_loaded()
            return manager.run(function, None, *arguments)
    finally:
        browser.ask("Target.closeTarget", {"targetId": target})


def _collect(node: Any, folder: str, found: list[dict[str, str]]) -> None:
    if "url" in node:
        found.append({"title": node["title"], "url": node["url"], "folder": folder})
    for child in node.get("children", ()):
        _collect(child, (folder + "/" + node["title"]).strip("/"), found)


def _partial(name: str) -> bool:
    return name.endswith((".crdownload", ".part"))
