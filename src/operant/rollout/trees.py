"""Accessibility trees as differences: of each tree only the subtrees that no tree before it had.

A subtree is a line with its own fields and the numbers of its children, so equal subtrees are stored once in an
episode, and a tree is the number of its root. Reading shares them too: equal subtrees are one object.
Knows nodes and plain values, no files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operant.types import Node

__all__ = ["TreeDecoder", "TreeEncoder"]

#: What follows a node's role, name, states and box; left out at the end of a line where it is the default.
DEFAULTS: tuple[Any, ...] = (None, None, "", None, [])


class TreeEncoder:
    """Encodes the trees of one episode in order."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}

    def encode(self, tree: Node | None) -> tuple[list[Any], int | None]:
        """The new subtrees, children first, and the number of the root; both are plain values."""
        new: list[Any] = []
        return new, None if tree is None else self._number(tree, new)

    def _number(self, node: Node, new: list[Any]) -> int:
        children = tuple([self._number(child, new) for child in node.children])
        own = (node.role, node.name, node.states, node.box, node.text, node.value, node.description, node.url)
        key = (*own, children)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            rest = [node.text, node.value, node.description, node.url, list(children)]
            while rest and rest[-1] == DEFAULTS[len(rest) - 1]:
                rest.pop()
            new.append([node.role, node.name, sorted(node.states), node.box, *rest])
        return number


class TreeDecoder:
    """Decodes what a ``TreeEncoder`` made, in the same order."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []

    def decode(self, new: Sequence[Any], root: int | None) -> Node | None:
        """``ValueError``, ``TypeError`` or ``IndexError`` if these are no subtrees."""
        for line in new:
            fields: list[Any] = list(line) + list(DEFAULTS[len(line) - 4 :])
            role, name, states, box, text, value, description, url, children = fields
            below = tuple([self._nodes[child] for child in children])
            place = None if box is None else _box(*box)
            self._nodes.append(
                Node(role, name, frozenset(states), place, text, value, description, below, url)
            )
        return None if root is None else self._nodes[root]


def _box(x: int, y: int, width: int, height: int) -> tuple[int, int, int, int]:
    return x, y, width, height
