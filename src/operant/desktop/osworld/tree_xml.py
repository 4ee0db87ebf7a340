"""Accessibility trees as the XML that OSWorld's guests answer, written and read.

An element is named after the role, with hyphens; states, places and values are attributes in namespaces of their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from operant.desktop.atspi import ROLES, STATES
from operant.errors import RemoteDesktopError
from operant.types import Node

__all__ = ["NAMESPACES", "read_tree", "write_tree"]

_SPACE = "https://accessibility.{}.example.org/ns/{}"
_PARTS = {
    "st": "state",
    "attr": "attributes",
    "cp": "component",
    "doc": "document",
    "docattr": "document/attributes",
    "txt": "text",
    "val": "value",
    "act": "action",
}
#: Prefixes of attributes, and what each stands for on Ubuntu's machines.
NAMESPACES = {short: _SPACE.format("ubuntu", part) for short, part in _PARTS.items()}
#: What Debian's browser is called, and what OSWorld's getters look for on a machine of this kind.
_APPLICATIONS = {"Chromium": "Google Chrome"}
_DEEPEST = 200  # elements within elements that are read
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PAIR = re.compile(r"\(\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*\)")
_ROLES = {role.replace(" ", "-"): role for role in ROLES}
_STATES = {state.replace(" ", "_"): state for state in STATES}
_NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)


def write_tree(tree: Node) -> str:
    """The XML of a desktop's tree. Its root is ``desktop-frame``."""
    tops = tree.children if tree.role == "desktop frame" else (tree,)
    applications = [_as_application(one) if one.role == "terminal" else one for one in tops]
    spaces = "".join(f' xmlns:{short}="{name}"' for short, name in NAMESPACES.items())
    inside = "".join(part for child in applications for part in _element(child, top=True))
    return f'<desktop-frame{spaces} name="main">{inside}</desktop-frame>'


def _as_application(terminal: Node) -> Node:
    """A terminal that was read off the screen, where one that speaks for itself would be."""
    states = terminal.states | {"active"} if "focused" in terminal.states else terminal.states
    frame = Node("frame", terminal.name, states, terminal.box, children=(terminal,))
    return Node("application", "xterm", frozenset(), None, children=(frame,))


def _element(node: Node, *, top: bool = False) -> Iterator[str]:
    tag = node.role.replace(" ", "-")
    tag = tag if _NAME.fullmatch(tag) else "unknown"
    name = _APPLICATIONS.get(node.name, node.name) if top else node.name
    states = "".join(f' st:{state.replace(" ", "_")}="true"' for state in sorted(node.states))
    place = value = about = ""
    if node.box is not None:
        x, y, width, height = node.box
        place = f' cp:screencoord="({x}, {y})" cp:size="({width}, {height})"'
    if node.value is not None:
        value = f' val:value="{node.value}"'
    if node.description:
        about = f" attr:description={_attribute(node.description)}"
    if node.url:
        about += f" docattr:DocURL={_attribute(node.url)}"
    yield f"<{tag} name={_attribute(name)}{states}{place}{value}{about}>"
    if node.text:
        yield _text(node.text)
    for child in node.children:
        yield from _element(child)
    yield f"</{tag}>"


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("", text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _text(text: str) -> str:
    plain = _FORBIDDEN.sub("", text.replace("\ufffc", "").replace("\ufffd", ""))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def read_tree(text: str, *, url: str = "the machine") -> Node:
    """The tree that a guest answered, which may be of Ubuntu or Windows."""
    if "<!DOCTYPE" in text[:2000] or "<!ENTITY" in text:
        raise RemoteDesktopError(f"{url} sent an accessibility tree that defines entities")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise RemoteDesktopError(f"{url} sent an accessibility tree that is no XML: {error}") from error
    return _node(root, url, 0)


def _node(element: ElementTree.Element, url: str, depth: int) -> Node:
    if depth > _DEEPEST:
        raise RemoteDesktopError(f"{url} sent an accessibility tree that is deeper than {_DEEPEST}")
    found: dict[str, dict[str, str]] = {}
    for name, value in element.attrib.items():
        space, _, local = name.rpartition("}")
        found.setdefault(space.partition("/ns/")[2], {})[local] = value
    states = {
        _STATES.get(name, name.replace("_", " "))
        for name, value in found.get("state", {}).items()
        if value == "true"
    }
    tag = element.tag.rpartition("}")[2]
    return Node(
        role=_ROLES.get(tag, tag.replace("-", " ")),
        name=element.attrib.get("name", ""),
        states=frozenset(states),
        box=_box(found.get("component", {})),
        text=element.text.strip("\0") if element.text and element.text.strip() else None,
        value=_number(found.get("value", {}).get("value")),
        description=found.get("attributes", {}).get("description", ""),
        children=tuple(_node(child, url, depth + 1) for child in element),
        url=found.get("document/attributes", {}).get("DocURL"),
    )


def _box(component: dict[str, str]) -> tuple[int, int, int, int] | None:
    place, size = (_PAIR.fullmatch(component.get(name, "")) for name in ("screencoord", "size"))
    if place is None or size is None:
        return None
    return int(place[1]), int(place[2]), int(size[1]), int(size[2])


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
