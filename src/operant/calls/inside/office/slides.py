"""Slides of a presentation and the boxes on them, both counted from 1."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from office import looks
from office.connection import struct
from refusal import Refused

#: Numbers of LibreOffice's slide layouts.
LAYOUTS = {
    "title": 0,
    "title_content": 1,
    "title_two_contents": 3,
    "title_only": 19,
    "blank": 20,
    "centered_text": 32,
}
KINDS = {
    "TitleTextShape": "title",
    "SubtitleShape": "subtitle",
    "OutlinerShape": "content",
    "TextShape": "text",
    "GraphicObjectShape": "picture",
    "TableShape": "table",
    "MediaShape": "media",
    "OLE2Shape": "object",
    "ChartShape": "chart",
    "SlideNumberShape": "slide number",
    "FooterShape": "footer",
    "DateTimeShape": "date",
    "NotesShape": "notes",
}
POSITIONS = {
    "left": (0.0, None),
    "center": (0.5, 0.5),
    "right": (1.0, None),
    "top": (None, 0.0),
    "bottom": (None, 1.0),
    "top_left": (0.0, 0.0),
    "top_right": (1.0, 0.0),
    "bottom_left": (0.0, 1.0),
    "bottom_right": (1.0, 1.0),
}


def slides_of(model: Any) -> List[Any]:
    pages = model.getDrawPages()
    return [pages.getByIndex(i) for i in range(pages.getCount())]


def slide_numbered(model: Any, number: Optional[int]) -> Any:
    """A slide by its number, or the one that is shown."""
    if number is None:
        page = model.getCurrentController().getCurrentPage()
        if page.supportsService("com.sun.star.presentation.DrawPage"):
            return page
        return model.getDrawPages().getByIndex(0)  # a master is shown
    pages = model.getDrawPages()
    if not 1 <= number <= pages.getCount():
        raise Refused(
            "the presentation has %d slides, counted from 1, and no slide %d" % (pages.getCount(), number)
        )
    return pages.getByIndex(number - 1)


def chosen(model: Any, number: Optional[int]) -> List[Any]:
    """One slide, or all."""
    return slides_of(model) if number is None else [slide_numbered(model, number)]


def boxes_of(slide: Any) -> List[Any]:
    return [slide.getByIndex(i) for i in range(slide.getCount())]


def box_numbered(slide: Any, number: int) -> Any:
    if not 1 <= number <= slide.getCount():
        raise Refused("the slide has %d boxes, counted from 1, and no box %d" % (slide.getCount(), number))
    return slide.getByIndex(number - 1)


def kind_of(box: Any) -> str:
    name = box.getShapeType().rpartition(".")[2]
    return KINDS.get(name, name.replace("Shape", "").lower() or "shape")


def takes_text(box: Any) -> bool:
    return hasattr(box, "createTextCursor") and kind_of(box) not in ("picture", "media", "table")


def text_box(slide: Any, number: int) -> Any:
    found = box_numbered(slide, number)
    if not takes_text(found):
        raise Refused("box %d is a %s and takes no text" % (number, kind_of(found)))
    return found


def text_boxes(slide: Any, number: Optional[int]) -> List[Any]:
    """One box, or all that have text."""
    if number is not None:
        return [text_box(slide, number)]
    return [one for one in boxes_of(slide) if takes_text(one) and one.getString()]


def whole(box: Any) -> Any:
    """A cursor over its text. What is set on it wins over the looks of single words."""
    cursor = box.createTextCursor()
    cursor.gotoStart(False)
    cursor.gotoEnd(True)
    return cursor


def lines_of(box: Any) -> List[Any]:
    """The paragraphs of a box."""
    listed, found = box.createEnumeration(), []
    while listed.hasMoreElements():
        found.append(listed.nextElement())
    return found


def facts(number: int, box: Any) -> Dict[str, Any]:
    place, size = box.Position, box.Size
    found: Dict[str, Any] = {
        "box": number,
        "kind": kind_of(box),
        "name": box.Name,
        "left_mm": round(place.X / 100, 1),
        "top_mm": round(place.Y / 100, 1),
        "width_mm": round(size.Width / 100, 1),
        "height_mm": round(size.Height / 100, 1),
    }
    if takes_text(box):
        found["text"] = box.getString()
        if getattr(box, "IsEmptyPresentationObject", False):
            found["empty_placeholder"] = True
    return found


def put_at(slide: Any, box: Any, position: str) -> None:
    """Move a box to a named place; a side that the name does not tell stays."""
    place, size = box.Position, box.Size
    across, down = POSITIONS[position]
    x = place.X if across is None else round((slide.Width - size.Width) * across)
    y = place.Y if down is None else round((slide.Height - size.Height) * down)
    box.setPosition(struct("awt.Point", X=x, Y=y))


def point(left_mm: float, top_mm: float) -> Any:
    x = looks.hundredths(left_mm, "a place", -2000, 2000)
    return struct("awt.Point", X=x, Y=looks.hundredths(top_mm, "a place", -2000, 2000))


def notes_of(slide: Any) -> Any:
    """The box with the speaker's notes."""
    for one in boxes_of(slide.getNotesPage()):
        if kind_of(one) == "notes":
            return one
    raise Refused("the slide has no place for notes")
