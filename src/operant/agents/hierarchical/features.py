"""What is known of a row besides its words: one table, in the order in which the network takes the columns.

A checkpoint depends on the order. The states of widgets follow the columns of the table.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ROW_FEATURES", "STATES", "STATE_COLUMNS", "RowFeature"]


class RowFeature(IntEnum):
    """A column of ``row_features``: its place, the unit of its numbers, and why the agent needs it."""

    unit: str
    reason: str

    def __new__(cls, unit: str, reason: str) -> RowFeature:
        place = len(cls.__members__)
        member = int.__new__(cls, place)
        member._value_ = place
        member.unit = unit
        member.reason = reason
        return member

    CENTER_X = "fraction of the screen's width", "tells left from right"
    CENTER_Y = "fraction of the screen's height", "tells above from below"
    WIDTH = "fraction of the screen's width", "tells a field from a button"
    HEIGHT = "fraction of the screen's height", "tells a line from a text area"
    AREA = "fraction of the screen's area", "tells a widget from what holds widgets"
    WORDS_IN_INSTRUCTION = "fraction of the row's words", "names that are spoken of are targets, known or not"
    HAS_TEXT = "0 or 1", "tells an empty field from a filled one"
    AGE = "actions ago / 8", "orders the memory; 0 for what is on the screen"
    CHANGED_SCREEN = "0 or 1", "a past action without effect should not be repeated"
    NAMED_IN_INSTRUCTION = "0 or 1", "the whole name is spoken of, not only words of it"
    HOLDS_TYPED_TEXT = "0 or 1", "the last typed text has arrived"
    TIMES_CLICKED = "clicks / 4, at most 1", "counts repeated clicks on one widget"
    CLICKED_LAST = "0 or 1", "where the last click went"
    NEXT_SIGN = "0 or 1", "the key that goes on with a sum that is being entered"
    HAS_NUMBER = "0 or 1", "rows that can be compared by a number"
    NUMBER_SIZE = "log(1 + |number|) / 8, at most 2", "the order of magnitude"
    NUMBER_RANK = "0 for the smallest of its column, 1 for the largest", "finds the largest and the smallest"
    PLACE_IN_COLUMN = "place / 16, at most 2", "finds the third line"
    PLACE_FROM_END = "place from the end / 16, at most 2", "finds the last line"
    COVERED = "0 or 1", "another window lies over it, so a click would not reach it"
    COLUMN_ORDER = "1 rising, -1 falling, 0 neither", "tells whether a list is sorted"


#: States of widgets that are worth knowing, 0 or 1 each.
STATES = (
    "focused", "selected", "checked", "pressed", "expanded", "expandable", "editable", "sensitive", "active",
    "modal", "multi line", "focusable", "selectable",
)  # fmt: skip
STATE_COLUMNS = slice(len(RowFeature), len(RowFeature) + len(STATES))
ROW_FEATURES = STATE_COLUMNS.stop
