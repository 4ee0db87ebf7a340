"""Trees as the XML of OSWorld's guests, written by the code that the guest server uses."""

from __future__ import annotations

from typing import Any

import pytest

from operant.desktop.osworld.tree_xml import write_tree
from operant.errors import TaskError
from operant.tasks.osworld.metrics.accessibility import unknown_attributes
from operant.types import Node


def node(
    role: str, name: str, *children: Node, states: frozenset[str] = frozenset(), text: str | None = None
) -> Node:
    return Node(role, name, states, (0, 0, 9, 9), text=text, children=children)


TREE = write_tree(
    node(
        "desktop frame",
        "main",
        node(
            "application",
            "Thunderbird",
            node("page tab", "Inbox", states=frozenset({"selected"})),
            node("entry", "Address", text="ann@example.org"),
        ),
    )
)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ({"xpath": "//application[@name='Thunderbird']//page-tab[@name='Inbox']"}, 1),
        ({"xpath": "//page-tab[@st:selected='true']"}, 1),
        ({"xpath": "//application[@name='Writer']"}, 0),
        ({"xpath": "//entry[contains(text(), 'ann@')]"}, 1),
        ({"selectors": ["menu-bar", "application[name=Thunderbird] page-tab[st|selected=true]"]}, 1),
        ({"selectors": ["application[name=Thunderbird] > label"]}, 0),
        ({"selectors": ["entry"], "text": "ann@example.org"}, 1),
        ({"selectors": ["entry"], "text": "bob@example.org"}, 0),
    ],
)
def test_rules_find_elements(score, rule: dict[str, Any], wanted: int) -> None:
    assert score("check_accessibility_tree", TREE, [rule]) == wanted
    assert score("check_accessibility_tree", TREE, [{"xpath": "//entry"}, rule]) == wanted


def test_text_may_be_similar(score) -> None:
    rule = {"selectors": ["entry"], "text": "bob@example.org", "exact": False}
    assert 0.5 < score("check_accessibility_tree", TREE, [rule]) < 1


@pytest.mark.parametrize("rule", [{}, {"xpath": "//["}, {"xpath": "count(//entry)"}, {"selectors": ["a[["]}])
def test_rules_that_can_not_be_read_are_the_tasks_fault(score, rule: dict[str, Any]) -> None:
    with pytest.raises(TaskError):
        score("check_accessibility_tree", TREE, [rule])


def test_attributes_that_no_tree_has_are_named() -> None:
    rules = [{"selectors": ["a[attr|id=x] b[attr|class='y']"]}, {"xpath": "//a[@attr:description='z']"}]
    assert list(unknown_attributes(rules)) == ["id", "class"]


def test_the_panel_of_slides(score) -> None:
    assert score("check_left_panel", TREE) == 0
    shown = node("application", "soffice", node("document frame", "Slides View"))
    assert score("check_left_panel", write_tree(node("desktop frame", "main", shown))) == 1
