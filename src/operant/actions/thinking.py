"""What a model said aloud: its reply without its thinking.

Thinking stands between ``<think>`` and ``</think>`` (or the tags of Seed's and Kimi's models). Templates often
open it for the model, so that a reply holds only the closing tag. Thinking that never ends holds no action:
the model was cut off. Nothing here knows what an action looks like.
"""

from __future__ import annotations

import re

from operant.actions.payload import check_text

__all__ = [
    "INFEASIBLE",
    "NEVER_USED",
    "escape_thinking",
    "holds_thinking",
    "says_infeasible",
    "without_thinking",
]

#: What models are asked to write when a task can't be done and their dialect has no action for it.
INFEASIBLE = "[INFEASIBLE]"
#: Seed's tokenizer may append this to any of its tags.
NEVER_USED = r"(?:_never_used_[0-9a-f]{1,64})?"
_OPENS = re.compile(rf"<(?:seed:|gui_)?think(?:ing)?{NEVER_USED}>|◁think▷")
_CLOSES = re.compile(rf"</(?:seed:|gui_)?think(?:ing)?{NEVER_USED}>|◁/think▷")
_TAGS = re.compile(f"{_OPENS.pattern}|{_CLOSES.pattern}")
_ESCAPES = {"<": "\\x3c", "◁": "\\u25c1"}


def without_thinking(text: object) -> str:
    """The reply with all thinking left out; empty if there is nothing else.

    >>> without_thinking("<think>click?</think>type"), without_thinking("click?</think>type")
    ('type', 'type')
    >>> without_thinking("wait <think>and then click")
    'wait '
    """
    said = check_text(text)
    closings = [tag.end() for tag in _CLOSES.finditer(said)]
    spoken: list[str] = []
    start = 0
    if closings:
        # Before the last closing tag, only what stands before an opening one was said aloud.
        begins = closings[-1]
        opening = _OPENS.search(said, 0, begins)
        while opening is not None and (end := _CLOSES.search(said, opening.end())) is not None:
            spoken.append(said[start : opening.start()])
            start = end.end()
            opening = _OPENS.search(said, start, begins)
        if _CLOSES.search(said, start):
            # The template opened the thinking: all of it was thought.
            spoken, start = [], begins
    rest = said[start:]
    unfinished = _OPENS.search(rest)
    return "".join(spoken) + (rest[: unfinished.start()] if unfinished else rest)


def holds_thinking(text: str) -> bool:
    """Whether a text has a tag of thinking in it, so that a reader would take part of it for thinking."""
    return bool(_TAGS.search(text))


def escape_thinking(source: str) -> str:
    """Python source whose strings hold no such tag: a string may write its first character as an escape."""
    return _TAGS.sub(lambda tag: _ESCAPES[tag[0][0]] + tag[0][1:], source)


def says_infeasible(text: object) -> bool:
    """Whether a reply calls the task impossible; what was only thought is no verdict."""
    return INFEASIBLE.lower() in without_thinking(text).lower()
