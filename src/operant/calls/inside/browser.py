"""Pages and tabs of the running browser over DevTools: find widgets by their names, click and fill them.

Widgets are those of the browser's accessibility tree, so names are what a screen reader says. Scripts that run in a page
stand here as they are; what an agent writes goes in as arguments only.
"""

from __future__ import annotations

import difflib
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import owner
from bus import SessionBus, session_bus
from devtools import DevTools, DevToolsError, DevToolsTimeout
from display import wait_until
from refusal import Refused
from widgets import AccessibleApplication, AppWidget

PAGE_S = 5.0  # how long a page may take to answer
CLICKED_S = 1.5  # how long a click may take; one that opens a dialog never ends
SHOWN_S = 0.8  # how long a page may take to say whether it is seen; one that shows a dialog never does
LOADED_S = 15.0
#: Roles that can be clicked, and those that take a value.
CLICKED = [
    *("button", "link", "checkbox", "radio", "tab", "option", "switch", "DisclosureTriangle"),
    *("menuitem", "menuitemcheckbox", "menuitemradio"),
]
FILLED = [
    "textbox",
    "searchbox",
    "combobox",
    "spinbutton",
    "slider",
    "listbox",
    "Date",
    "DateTime",
    "InputTime",
    "ColorWell",
]
TICKED = ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio")
MOST_NAMED = 60

SHOWN = "() => [document.visibilityState === 'visible', document.hasFocus()]"
STATE = "() => [document.readyState, location.href, document.title]"
TEXT = "() => document.body ? document.body.innerText : ''"
SELECT_ALL = "function() { if (this.select) this.select(); else getSelection().selectAllChildren(this); }"
VALUE = "function() { return 'value' in this ? this.value : this.innerText; }"
KIND = "function() { return [this.tagName, this.type || '', !!(this.disabled || this.readOnly)]; }"
SET_VALUE = """function(value) {
  const owner = this instanceof HTMLSelectElement ? HTMLSelectElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(owner.prototype, 'value').set.call(this, value);
  this.dispatchEvent(new Event('input', {bubbles: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
  return this.value;
}"""
OPTIONS = "function() { return Array.from(this.options).map(one => [one.label.trim(), one.value]); }"


class DialogOpen(Refused):
    """The browser shows a dialog, and its page answers nothing before it is closed."""

    def __init__(self, title: str) -> None:
        super().__init__("the dialog %r of the browser is open: answer_dialog answers it" % title)
        self.title = title


class PageWidget(NamedTuple):
    """One widget of a page."""

    node: int
    role: str
    name: str
    value: str
    states: Dict[str, Any]


class Tab(NamedTuple):
    id: str
    title: str
    url: str
    shown: bool
    focused: bool


class Browser:
    """The running browser."""

    def __init__(self) -> None:
        self._tools = DevTools(owner.browser_pipe())

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._tools.close()

    def ask(
        self, method: str, parameters: Any = None, session: Any = None, timeout_s: float = PAGE_S
    ) -> Dict[str, Any]:
        try:
            return self._tools.command(method, parameters, session, timeout_s)
        except DevToolsTimeout:
            with session_bus() as bus:
                dialog = open_dialog(bus)
            if dialog is not None:
                raise DialogOpen(dialog[1].name) from None
            raise Refused("the page does not answer: its scripts do not end, or a dialog is open") from None
        except DevToolsError as error:
            raise Refused("the browser says: %s" % error) from None

    def event(self, method: str, timeout_s: float) -> Optional[Dict[str, Any]]:
        return self._tools.wait_event(method, timeout_s)

    def tabs(self) -> List[Tab]:
        """The tabs with a page, and which of them are in sight."""
        found = []
        for one in self.ask("Target.getTargets")["targetInfos"]:
            if one["type"] == "page":
                with Page(self, one["targetId"]) as page:
                    shown, focused = page.run(SHOWN, timeout_s=SHOWN_S)
                found.append(Tab(one["targetId"], one["title"], one["url"], shown, focused))
        if not found:
            raise Refused("the browser has no page")
        return found

    def tab(self, name: Optional[str]) -> Tab:
        """A tab by a part of its title or address, or by its number in the list; the one in sight without a name."""
        tabs = self.tabs()
        if name is None:
            return max(tabs, key=lambda one: (one.focused, one.shown))
        if name.isdigit() and 1 <= int(name) <= len(tabs):
            return tabs[int(name) - 1]
        wanted = name.lower()
        exact = [one for one in tabs if wanted in (one.title.lower(), one.url.lower())]
        partly = [one for one in tabs if wanted in one.title.lower() or wanted in one.url.lower()]
        if not exact and len(partly) != 1:
            shown = ", ".join("%r" % one.title[:60] for one in tabs[:MOST_NAMED])
            raise Refused("%s tabs are called %r; tabs: %s" % (len(partly) or "no", name[:60], shown))
        return (exact or partly)[0]

    def page(self) -> Page:
        """The page that is seen."""
        return Page(self, self.tab(None).id)


class Page:
    """A session with one page; it ends with the ``with``."""

    def __init__(self, browser: Browser, target: str) -> None:
        self._browser = browser
        self.target = target
        self._session = browser.ask("Target.attachToTarget", {"targetId": target, "flatten": True})[
            "sessionId"
        ]

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._browser.ask("Target.detachFromTarget", {"sessionId": self._session})
        except Refused:
            pass  # it closed itself

    def ask(self, method: str, parameters: Any = None, timeout_s: float = PAGE_S) -> Dict[str, Any]:
        return self._browser.ask(method, parameters, self._session, timeout_s)

    def run(
        self, function: str, widget: Optional[PageWidget] = None, *arguments: Any, timeout_s: float = PAGE_S
    ) -> Any:
        """What one of the functions above returns in the page, for the page or for one of its widgets."""
        if widget is None:
            found = self.ask("Runtime.evaluate", {"expression": "globalThis"}, timeout_s)["result"]
        else:
            found = self.ask("DOM.resolveNode", {"backendNodeId": widget.node})["object"]
        answer = self.ask(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "objectId": found["objectId"],
                "arguments": [{"value": one} for one in arguments],
                "returnByValue": True,
                "awaitPromise": True,
            },
            timeout_s,
        )
        if "exceptionDetails" in answer:
            raise Refused("the page refused: %s" % str(answer["exceptionDetails"].get("text"))[:200])
        return answer["result"].get("value")

    def wait_loaded(self, seconds: float = LOADED_S) -> List[str]:
        """Wait until the page is there; returns its address and title."""
        last: List[Any] = ["", "", ""]

        def loaded() -> bool:
            try:
                last[:] = self.run(STATE, timeout_s=SHOWN_S)
            except DialogOpen:
                raise
            except Refused:
                return False  # between two pages
            return bool(last[0] == "complete")

        if not wait_until(loaded, seconds, 0.02):
            raise Refused("the page %s did not load within %g s" % (last[1] or "", seconds))
        return last[1:]

    # Widgets.

    def widgets(self) -> List[PageWidget]:
        """All widgets of the page that have a name, in reading order."""
        self.ask("Accessibility.enable")
        nodes = self.ask("Accessibility.getFullAXTree", timeout_s=2 * PAGE_S)["nodes"]
        found = []
        for node in nodes:
            if node.get("ignored") or "backendDOMNodeId" not in node:
                continue
            role, name = _said(node.get("role")), _said(node.get("name"))
            states = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
            found.append(PageWidget(node["backendDOMNodeId"], role, name, _said(node.get("value")), states))
        return found

    def find(self, name: str, roles: List[str]) -> PageWidget:
        """The widget of that name; an unknown one is refused with the nearest."""
        known = [one for one in self.widgets() if one.role in roles and one.name]
        wanted = " ".join(name.lower().split())
        exact = [one for one in known if " ".join(one.name.lower().split()) == wanted]
        partly = [one for one in known if wanted and wanted in one.name.lower()]
        if exact:
            return exact[0]
        if len(partly) == 1:
            return partly[0]
        names = [one.name[:60] for one in partly or known]
        near = [] if partly else difflib.get_close_matches(name[:60], names, 1)
        said = "did you mean %r?" % near[0] if near else "there are: %s" % ", ".join(names[:MOST_NAMED])
        count = "%d things are" % len(partly) if partly else "nothing on the page is"
        raise Refused("%s called %r; %s" % (count, name[:60], said if names else "the page has none"))

    def click(self, widget: PageWidget) -> None:
        """Click in the middle of a widget, after scrolling it into sight."""
        if widget.states.get("disabled"):
            raise Refused("%r is disabled" % widget.name[:60])
        where = {"backendNodeId": widget.node}
        self.ask("DOM.scrollIntoViewIfNeeded", where)
        quads = self.ask("DOM.getContentQuads", where)["quads"]
        if not quads:
            raise Refused("%r is not in sight" % widget.name[:60])
        x, y = sum(quads[0][0::2]) / 4, sum(quads[0][1::2]) / 4
        point = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", {"type": kind, **point}, CLICKED_S)

    def fill(self, widget: PageWidget, value: str) -> None:
        """Make a field say this."""
        tag, kind, fixed = self.run(KIND, widget)
        if fixed:
            raise Refused("%r can't be changed" % widget.name[:60])
        if tag == "SELECT":
            options = self.run(OPTIONS, widget)
            chosen = [one for label, one in options if value in (label, one)]
            if not chosen:
                labels = ", ".join(label for label, _ in options[:MOST_NAMED])
                raise Refused("%r has no option %r; options: %s" % (widget.name[:60], value[:60], labels))
            self.run(SET_VALUE, widget, chosen[0])
            return
        if tag == "INPUT" and kind in ("date", "time", "month", "week", "datetime-local", "color", "range"):
            if self.run(SET_VALUE, widget, value) != value:
                raise Refused("%r does not take %r: it is a field for %s" % (widget.name[:60], value, kind))
            return
        self.ask("DOM.focus", {"backendNodeId": widget.node})
        self.run(SELECT_ALL, widget)
        if value:
            self.ask("Input.insertText", {"text": value})
        else:
            self.press("Delete")
        said = self.run(VALUE, widget)
        if str(said).replace("\r", "").strip() != value.replace("\r", "").strip():
            raise Refused("%r took %r instead of %r" % (widget.name[:60], str(said)[:80], value[:80]))

    def press(self, key: str) -> None:
        code = {"Delete": 46, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code, **text}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", {"type": kind, **about})


def _said(value: Any) -> str:
    said = value.get("value", "") if isinstance(value, dict) else ""
    return said if isinstance(said, str) else str(said)


def open_dialog(bus: SessionBus) -> Optional[Tuple[AccessibleApplication, AppWidget]]:
    """The dialog that the browser shows, as accessibility tells of it."""
    try:
        app = AccessibleApplication(bus, "Chromium")
        dialog = app.dialog()
    except Refused:
        return None
    return None if dialog is None else (app, dialog)
