"""Paragraphs of a text document, and the pieces of text that a function is to change."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, Optional

from office.documents import no_such
from refusal import Refused

FARTHEST = 30_000  # characters that a cursor goes at once
PARAGRAPH_BREAK = 0
HIGHLIGHTS = ("CharBackColor", "CharHighlight")


def paragraphs_of(model: Any) -> List[Any]:
    """The paragraphs of the body, in order; those inside tables are not counted."""
    return [one for one in _elements(model.getText()) if one.supportsService("com.sun.star.text.Paragraph")]


def _elements(content: Any) -> Iterator[Any]:
    listed = content.createEnumeration()
    while listed.hasMoreElements():
        yield listed.nextElement()


def portions(paragraph: Any) -> List[Any]:
    """The pieces of a paragraph that have one look each."""
    return [one for one in _elements(paragraph) if one.TextPortionType == "Text" and one.getString()]


def paragraph_numbered(model: Any, number: int) -> Any:
    found = paragraphs_of(model)
    if not 1 <= number <= len(found):
        raise Refused(
            "the document has %d paragraphs, counted from 1, and no paragraph %d" % (len(found), number)
        )
    return found[number - 1]


def chosen(model: Any, numbers: Optional[List[int]]) -> List[Any]:
    """The paragraphs of these numbers, counted from 1, or all."""
    found = paragraphs_of(model)
    if numbers is None:
        return found
    wrong = [one for one in numbers if not 1 <= one <= len(found)]
    if wrong or not numbers:
        said = "and no paragraph %d" % wrong[0] if wrong else "and none was named"
        raise Refused("the document has %d paragraphs, counted from 1, %s" % (len(found), said))
    return [found[number - 1] for number in numbers]


def pieces(
    model: Any, text: Optional[str], numbers: Optional[List[int]], match_case: bool = True
) -> List[Any]:
    """What to format: each occurrence of a text, else whole paragraphs."""
    if text is None:
        return [range_of(one) for one in chosen(model, numbers)]
    if not text:
        raise Refused("an empty text can't be found")
    if numbers is None:
        search = model.createSearchDescriptor()
        search.setSearchString(text)
        search.SearchCaseSensitive = match_case
        listed = model.findAll(search)
        found = [listed.getByIndex(i) for i in range(listed.getCount())]
    else:
        found = [one for each in chosen(model, numbers) for one in _within(each, text, match_case)]
    if not found:
        raise Refused("the document does not contain %r there" % text[:80])
    return found


def range_of(paragraph: Any) -> Any:
    """A cursor over a whole paragraph."""
    cursor = paragraph.getText().createTextCursorByRange(paragraph.getStart())
    cursor.gotoEndOfParagraph(True)
    return cursor


def _within(paragraph: Any, text: str, match_case: bool) -> List[Any]:
    whole, wanted = paragraph.getString(), text
    if not match_case:
        whole, wanted = whole.lower(), wanted.lower()
    found, place = [], whole.find(wanted)
    while place >= 0:
        cursor = paragraph.getText().createTextCursorByRange(paragraph.getStart())
        _go(cursor, units(whole[:place]), False)
        _go(cursor, units(wanted), True)
        found.append(cursor)
        place = whole.find(wanted, place + len(wanted))
    return found


def units(text: str) -> int:
    """How many characters LibreOffice counts."""
    return len(text.encode("utf-16-le")) // 2


def _go(cursor: Any, count: int, expand: bool) -> None:
    while count > 0:
        step = min(count, FARTHEST)
        cursor.goRight(step, expand)
        count -= step


def insert(cursor: Any, text: str) -> None:
    """Insert text at a cursor; a line break begins a paragraph."""
    place = cursor.getText()
    for number, line in enumerate(text.split("\n")):
        if number:
            place.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
        place.insertString(cursor, line, False)


def change_letters(paragraphs: List[Any], change: Callable[[str], str]) -> int:
    """Change the letters of paragraphs and keep their looks; returns how many paragraphs differ now."""
    changed = 0
    for one in paragraphs:
        before = one.getString()
        if change(before) == before:
            continue
        changed += 1
        pieces_there = portions(one)
        together = "".join(piece.getString() for piece in pieces_there) == before
        rest = change(before) if together else ""  # with fields or notes between them, each piece for itself
        for piece in pieces_there:
            text = piece.getString()
            new = rest[: len(text)] if rest else change(text)
            rest = rest[len(text) :]
            if new != text:
                piece.setString(new)
    return changed


def same_length(letter: str, other: str) -> str:
    return other if len(other) == len(letter) else letter


def upper(text: str) -> str:
    return "".join(same_length(one, one.upper()) for one in text)


def lower(text: str) -> str:
    return "".join(same_length(one, one.lower()) for one in text)


def capitalized(text: str) -> str:
    """The first letter of each word as a capital; the others stay."""
    made, inside = [], False
    for one in text:
        made.append(one if inside else same_length(one, one.upper()))
        inside = one.isalnum() or (inside and one in "'’")
    return "".join(made)


def sentence(text: str) -> str:
    """The first letter of each sentence as a capital, the others small."""
    made, begin = [], True
    for one in lower(text):
        made.append(same_length(one, one.upper()) if begin else one)
        begin = (begin and not one.isalnum()) or one in ".!?"
    return "".join(made)


def style_named(model: Any, family: str, name: str) -> str:
    """A style by the name that is shown, or by its own."""
    styles = model.getStyleFamilies().getByName(family)
    if styles.hasByName(name):
        return name
    names = {styles.getByName(one).DisplayName: one for one in styles.getElementNames()}
    for shown, own in names.items():
        if shown.lower() == name.lower():
            return own
    raise Refused(no_such("style", name, list(names)))


def page_styles(model: Any) -> List[Any]:
    """The styles of the pages that there are."""
    styles = model.getStyleFamilies().getByName("PageStyles")
    found = [styles.getByName(one) for one in styles.getElementNames()]
    used = [one for one in found if one.isInUse()]
    return used or found[:1]


def table_named(model: Any, name: Optional[str]) -> Any:
    """A table; the first one if no name is given."""
    tables = model.getTextTables()
    names = list(tables.getElementNames())
    if not names:
        raise Refused("the document has no table")
    if name is not None and name not in names:
        raise Refused(no_such("table", name, names))
    return tables.getByName(name or names[0])
