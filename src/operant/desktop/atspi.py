"""The names behind AT-SPI's numbers: roles and states, in the order of the specification."""

from __future__ import annotations

import functools

__all__ = ["ROLES", "STATES", "role_name", "state_names"]

_ROLES = (
    "invalid|accelerator label|alert|animation|arrow|calendar|canvas|check box|check menu item|color chooser|"
    "column header|combo box|date editor|desktop icon|desktop frame|dial|dialog|directory pane|drawing area|"
    "file chooser|filler|focus traversable|font chooser|frame|glass pane|html container|icon|image|"
    "internal frame|label|layered pane|list|list item|menu|menu bar|menu item|option pane|page tab|"
    "page tab list|panel|password text|popup menu|progress bar|push button|radio button|radio menu item|"
    "root pane|row header|scroll bar|scroll pane|separator|slider|spin button|split pane|status bar|table|"
    "table cell|table column header|table row header|tearoff menu item|terminal|text|toggle button|tool bar|"
    "tool tip|tree|tree table|unknown|viewport|window|extended|header|footer|paragraph|ruler|application|"
    "autocomplete|editbar|embedded|entry|chart|caption|document frame|heading|page|section|redundant object|"
    "form|link|input method window|table row|tree item|document spreadsheet|document presentation|"
    "document text|document web|document email|comment|list box|grouping|image map|notification|info bar|"
    "level bar|title bar|block quote|audio|video|definition|article|landmark|log|marquee|math|rating|timer|"
    "static|math fraction|math root|subscript|superscript|description list|description term|"
    "description value|footnote|content deletion|content insertion|mark|suggestion|push button menu"
)
ROLES = tuple(_ROLES.split("|"))

_STATES = (
    "invalid|active|armed|busy|checked|collapsed|defunct|editable|enabled|expandable|expanded|focusable|focused|"
    "has tooltip|horizontal|iconified|modal|multi line|multiselectable|opaque|pressed|resizable|selectable|"
    "selected|sensitive|showing|single line|stale|transient|vertical|visible|manages descendants|indeterminate|"
    "required|truncated|animated|invalid entry|supports autocompletion|selectable text|is default|visited|"
    "checkable|has popup|read only"
)
STATES = tuple(_STATES.split("|"))


def role_name(number: int) -> str:
    return ROLES[number] if 0 <= number < len(ROLES) else "unknown"


def state_names(words: list[int]) -> frozenset[str]:
    """The states whose bits are set in the two 32-bit words of a state set; words that are missing say nothing."""
    return _states(sum(word << 32 * place for place, word in enumerate(words[:2])))


@functools.lru_cache(maxsize=4096)
def _states(bits: int) -> frozenset[str]:
    return frozenset(name for index, name in enumerate(STATES) if bits >> index & 1)
