"""What applications offer on the session bus: names, objects with their methods and properties, and GTK's actions.

Asks only; it calls no method of an application other than those that describe it.
"""

from __future__ import annotations

from typing import Any, Dict, List
from xml.etree import ElementTree

from bus import SessionBus, session_bus
from display import XDisplay
from refusal import Refused

DAEMON = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
ACTIONS = "org.gtk.Actions"
#: Every object has these; they say nothing of an application.
STANDARD = ("org.freedesktop.DBus.",)
MOST_OBJECTS, MOST_MEMBERS, MOST_ACTIONS = 120, 60, 300
MOST_ROOM = 50_000  # characters of one description, below what a call returns
ANSWER_S = 1.5


def bus_names() -> List[str]:
    """The well-known names on the session bus."""
    with session_bus() as bus:
        names = bus.call(*DAEMON, "ListNames")[0]
        return sorted(name for name in names if not name.startswith(":"))


def window_objects() -> List[Dict[str, str]]:
    """The bus name and the objects that windows of GTK applications name."""
    found = []
    with XDisplay() as display:
        for window in display.windows():
            name = display.text(window.id, "_GTK_UNIQUE_BUS_NAME")
            for which in ("_GTK_APPLICATION_OBJECT_PATH", "_GTK_WINDOW_OBJECT_PATH"):
                path = display.text(window.id, which)
                if name and path:
                    found.append({"bus": name, "path": path, "window": window.title})
    return found


def describe_service(name: str) -> List[Dict[str, Any]]:
    """The objects of a bus name that have interfaces of their own."""
    found: List[Dict[str, Any]] = []
    room = MOST_ROOM
    with session_bus() as bus:
        waiting, seen = ["/"], set()
        while waiting and len(seen) < MOST_OBJECTS and room > 0:
            path = waiting.pop(0)
            seen.add(path)
            node = _introspect(bus, name, path)
            if node is None:
                continue
            for child in node.findall("node"):
                below = path.rstrip("/") + "/" + (child.get("name") or "")
                if below not in seen and child.get("name"):
                    waiting.append(below)
            interfaces = [
                _interface(one)
                for one in node.findall("interface")
                if not (one.get("name") or "").startswith(STANDARD)
            ]
            if interfaces:
                found.append({"path": path, "interfaces": interfaces})
                room -= sum(len(line) + 4 for one in interfaces for line in one["members"])
    return found


def describe_actions(bus_name: str, path: str) -> List[Dict[str, Any]]:
    """GTK's actions of an object: name, the type of their argument, and their state."""
    with session_bus() as bus:
        try:
            said = bus.call(bus_name, path, ACTIONS, "DescribeAll", timeout_s=ANSWER_S)[0]
        except Refused:
            return []
        return [
            {"name": name, "argument": kind, "state": [repr(one)[:60] for one in state], "enabled": enabled}
            for name, (enabled, kind, state) in sorted(said.items())[:MOST_ACTIONS]
        ]


def _introspect(bus: SessionBus, name: str, path: str) -> Any:
    try:
        said = bus.call(name, path, "org.freedesktop.DBus.Introspectable", "Introspect", timeout_s=ANSWER_S)[
            0
        ]
        return ElementTree.fromstring(said)
    except (Refused, ElementTree.ParseError):
        return None


def _interface(node: Any) -> Dict[str, Any]:
    members = []
    for one in node:
        name = one.get("name") or ""
        if one.tag == "method":
            given = [arg for arg in one.findall("arg") if arg.get("direction") != "out"]
            back = [arg for arg in one.findall("arg") if arg.get("direction") == "out"]
            members.append("%s(%s) -> (%s)" % (name, _arguments(given), _arguments(back)))
        elif one.tag == "property":
            members.append("%s: %s (%s)" % (name, one.get("type"), one.get("access")))
        elif one.tag == "signal":
            members.append("signal %s(%s)" % (name, _arguments(one.findall("arg"))))
    return {"name": node.get("name") or "", "members": [one[:300] for one in members[:MOST_MEMBERS]]}


def _arguments(nodes: Any) -> str:
    return ", ".join(("%s %s" % (one.get("type"), one.get("name") or "")).strip() for one in nodes)
