"""LibreOffice Impress: slides, text boxes, pictures, notes and looks of the open presentation.

All functions are about the topmost presentation unless `document` gives the title or path of another. Slides and the
boxes on them are counted from 1; get_slide lists the boxes. Nothing is saved before `save`.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import programs
from office import connection, documents, looks, options, pictures
from office.connection import enum, properties, struct, url_of
from office.documents import IMPRESS, changing, reading
from office.slides import (
    LAYOUTS,
    box_numbered,
    boxes_of,
    chosen,
    facts,
    kind_of,
    lines_of,
    notes_of,
    point,
    put_at,
    slide_numbered,
    slides_of,
    text_box,
    text_boxes,
    whole,
)
from refusal import Refused

WM_CLASS = "libreoffice-impress"
TIME_LIMITS = {
    "open_document": 60,
    "new_document": 60,
    "save": 30,
    "save_as": 30,
    "export_to_pdf": 30,
    "export_to_image": 30,
}
TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
TRANSITIONS = {"none": (0, 0), "fade": (37, 101), "wipe": (1, 1), "push": (35, 98), "cover": (36, 104)}


# The document.


def open_document(path: str) -> str:
    """Open a presentation (pptx, odp, ppt) in a window; start LibreOffice if it does not run."""
    return documents.open_file(IMPRESS, path)


def new_document() -> str:
    """Open an empty presentation; start LibreOffice if it does not run."""
    return documents.new(IMPRESS)


def list_documents() -> list[dict[str, object]]:
    """List the open presentations: title, path, whether modified, whether read-only."""
    return documents.listed(IMPRESS)


def save(document: str | None = None) -> str:
    """Save the presentation to its file, in the file's own format."""
    return documents.save(IMPRESS, document)


def save_as(path: str, overwrite: bool = False, document: str | None = None) -> str:
    """Save the presentation to another file, which becomes its file: .pptx, .odp or .ppt."""
    return documents.save_as(IMPRESS, path, overwrite, document)


def close_document(discard_changes: bool = False, document: str | None = None) -> str:
    """Close the presentation. Changes that are not saved are an error unless they are discarded."""
    return documents.close(IMPRESS, discard_changes, document)


def export_to_pdf(path: str, overwrite: bool = False, document: str | None = None) -> str:
    """Export the presentation to a PDF file. Its own file stays as it is."""
    return documents.export(IMPRESS, path, overwrite, document)


def export_to_image(
    path: str, slide: int | None = None, overwrite: bool = False, document: str | None = None
) -> str:
    """Export one slide to a picture (.png, .jpg, .svg), by default the one that is shown."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in TYPES:
        raise Refused("a slide is exported as %s, not as %r" % (", ".join(TYPES), ending))
    place = documents.target(path, overwrite)
    with reading(IMPRESS, document) as model:
        writer = connection.service("drawing.GraphicExportFilter")
        writer.setSourceDocument(slide_numbered(model, slide))
        writer.filter(properties(URL=url_of(place), MediaType=TYPES[ending]))
        if not os.path.exists(place):
            raise Refused("%s could not be written" % programs.shown(place))
        return "exported to %s (%d bytes)" % (programs.shown(place), os.path.getsize(place))


def get_info(document: str | None = None) -> dict[str, object]:
    """Tell the file, the size of slides, the slide that is shown, and number and title of each slide."""
    with reading(IMPRESS, document) as model:
        found = slides_of(model)
        return {
            **documents.facts(model),
            "current_slide": slide_numbered(model, None).Number,
            "width_mm": round(found[0].Width / 100, 1),
            "height_mm": round(found[0].Height / 100, 1),
            "slides": [
                {"slide": number, "title": _title(one), "boxes": one.getCount()}
                for number, one in enumerate(found, 1)
            ],
        }


def get_slide_count(document: str | None = None) -> int:
    """Count the slides."""
    with reading(IMPRESS, document) as model:
        return int(model.getDrawPages().getCount())


def get_slide(slide: int | None = None, document: str | None = None) -> dict[str, object]:
    """Read a slide, by default the one that is shown: its boxes with number, kind, place and text, and its notes."""
    with reading(IMPRESS, document) as model:
        found = slide_numbered(model, slide)
        return {
            "slide": found.Number,
            "boxes": [facts(number, one) for number, one in enumerate(boxes_of(found), 1)],
            "notes": notes_of(found).getString(),
        }


# Slides.


def go_to_slide(slide: int, document: str | None = None) -> str:
    """Show a slide."""
    with reading(IMPRESS, document) as model:
        model.getCurrentController().setCurrentPage(slide_numbered(model, slide))
        return "slide %d is shown" % slide


def add_slide(
    position: int | None = None,
    layout: Literal[
        "title", "title_content", "title_two_contents", "title_only", "blank", "centered_text"
    ] = "title_content",
    title: str | None = None,
    text: str | None = None,
    document: str | None = None,
) -> str:
    """Add a slide at a position, or behind the others, maybe with a title and text (a line for each point)."""
    if title is not None and layout in ("blank", "centered_text"):
        raise Refused("a slide with the layout %s has no title" % layout)
    if text is not None and layout in ("blank", "title_only"):
        raise Refused("a slide with the layout %s has no text" % layout)
    with changing(IMPRESS, document) as model:
        pages = model.getDrawPages()
        count = pages.getCount()
        goal = count + 1 if position is None else position
        if not 1 <= goal <= count + 1:
            raise Refused("a position is from 1 to %d, not %d" % (count + 1, goal))
        if goal == 1:
            # A slide is always added behind another one.
            pages.insertNewByIndex(0)
            _move(model, 2, 1)
        else:
            pages.insertNewByIndex(goal - 2)
        made = pages.getByIndex(goal - 1)
        made.Layout = LAYOUTS[layout]
        for value, kinds in ((title, ("title",)), (text, ("content", "subtitle"))):
            if value is not None:
                next(one for one in boxes_of(made) if kind_of(one) in kinds).setString(value)
        return "added slide %d of %d" % (goal, pages.getCount())


def duplicate_slide(slide: int, document: str | None = None) -> str:
    """Copy a slide; the copy follows it."""
    with changing(IMPRESS, document) as model:
        model.duplicate(slide_numbered(model, slide))
        return "slide %d is a copy of slide %d" % (slide + 1, slide)


def delete_slide(slide: int, document: str | None = None) -> str:
    """Delete a slide."""
    with changing(IMPRESS, document) as model:
        pages = model.getDrawPages()
        found = slide_numbered(model, slide)
        if pages.getCount() == 1:
            raise Refused("the only slide can't be deleted")
        pages.remove(found)
        return "the presentation has %d slides" % pages.getCount()


def move_slide(slide: int, position: int, document: str | None = None) -> str:
    """Move a slide to another position."""
    with changing(IMPRESS, document) as model:
        slide_numbered(model, slide)
        slide_numbered(model, position)
        _move(model, slide, position)
        return "slide %d is at position %d" % (slide, position)


def set_layout(
    slide: int,
    layout: Literal["title", "title_content", "title_two_contents", "title_only", "blank", "centered_text"],
    document: str | None = None,
) -> str:
    """Give a slide another layout."""
    with changing(IMPRESS, document) as model:
        slide_numbered(model, slide).Layout = LAYOUTS[layout]
        return "slide %d has the layout %s" % (slide, layout)


def set_transition(
    transition: Literal["none", "fade", "wipe", "push", "cover"],
    slide: int | None = None,
    document: str | None = None,
) -> str:
    """Set how a slide, or each, comes into sight in the show."""
    with changing(IMPRESS, document) as model:
        found = chosen(model, slide)
        for one in found:
            one.TransitionType, one.TransitionSubtype = TRANSITIONS[transition]
        return "set the transition of %d slides" % len(found)


def set_notes(slide: int, text: str, document: str | None = None) -> str:
    """Set the speaker's notes of a slide."""
    with changing(IMPRESS, document) as model:
        notes_of(slide_numbered(model, slide)).setString(text)
        return "set the notes of slide %d" % slide


# Boxes.


def write_text(slide: int, box: int, text: str, append: bool = False, document: str | None = None) -> str:
    """Set the text of a box, or add lines to it. A line break begins a new point."""
    with changing(IMPRESS, document) as model:
        place = text_box(slide_numbered(model, slide), box)
        before = "" if getattr(place, "IsEmptyPresentationObject", False) else place.getString()
        if append and before:
            cursor = place.createTextCursor()
            cursor.gotoEnd(False)
            place.insertString(cursor, "\n" + text, False)
        else:
            place.setString(text)
        return "box %d of slide %d has %d characters" % (box, slide, len(place.getString()))


def set_title(slide: int, text: str, document: str | None = None) -> str:
    """Set the title of a slide."""
    with changing(IMPRESS, document) as model:
        titles = [one for one in boxes_of(slide_numbered(model, slide)) if kind_of(one) == "title"]
        if not titles:
            raise Refused("slide %d has no title: set_layout gives it one" % slide)
        titles[0].setString(text)
        return "set the title of slide %d" % slide


def add_text_box(
    slide: int,
    text: str,
    left_mm: float,
    top_mm: float,
    width_mm: float = 100,
    height_mm: float = 15,
    document: str | None = None,
) -> str:
    """Add a box with text at a place on a slide."""
    with changing(IMPRESS, document) as model:
        page = slide_numbered(model, slide)
        made = model.createInstance("com.sun.star.drawing.TextShape")
        _place(made, left_mm, top_mm, width_mm, height_mm)
        page.add(made)
        made.setString(text)
        return "added box %d to slide %d" % (page.getCount(), slide)


def delete_content(slide: int, box: int | None = None, document: str | None = None) -> str:
    """Delete a box of a slide, or all of them."""
    with changing(IMPRESS, document) as model:
        page = slide_numbered(model, slide)
        gone = boxes_of(page) if box is None else [box_numbered(page, box)]
        for one in gone:
            page.remove(one)
        return "deleted %d boxes" % len(gone)


def find_and_replace(
    find: str, replacement: str, match_case: bool = True, document: str | None = None
) -> str:
    """Replace every occurrence of a text on all slides."""
    if not find:
        raise Refused("an empty text can't be found")
    with changing(IMPRESS, document) as model:
        count = 0
        for page in slides_of(model):
            change = page.createReplaceDescriptor()
            change.setSearchString(find)
            change.setReplaceString(replacement)
            change.SearchCaseSensitive = match_case
            count += page.replaceAll(change)
        if not count:
            raise Refused("the slides do not contain %r" % find[:80])
        return "replaced %d times" % count


def position_box(
    slide: int,
    box: int,
    position: Literal[
        "left",
        "center",
        "right",
        "top",
        "bottom",
        "top_left",
        "top_right",
        "bottom_left",
        "bottom_right",
    ],
    document: str | None = None,
) -> str:
    """Move a box to a side, a corner or the center of its slide."""
    with changing(IMPRESS, document) as model:
        page = slide_numbered(model, slide)
        place = box_numbered(page, box)
        put_at(page, place, position)
        return "box %d is at %.1f, %.1f mm" % (box, place.Position.X / 100, place.Position.Y / 100)


def set_box_geometry(
    slide: int,
    box: int,
    left_mm: float | None = None,
    top_mm: float | None = None,
    width_mm: float | None = None,
    height_mm: float | None = None,
    document: str | None = None,
) -> str:
    """Set place and size of a box in millimetres; what is not given stays."""
    with changing(IMPRESS, document) as model:
        one = box_numbered(slide_numbered(model, slide), box)
        _place(
            one,
            one.Position.X / 100 if left_mm is None else left_mm,
            one.Position.Y / 100 if top_mm is None else top_mm,
            one.Size.Width / 100 if width_mm is None else width_mm,
            one.Size.Height / 100 if height_mm is None else height_mm,
        )
        return "changed box %d" % box


def insert_image(
    slide: int,
    path: str,
    left_mm: float | None = None,
    top_mm: float | None = None,
    width_mm: float | None = None,
    height_mm: float | None = None,
    document: str | None = None,
) -> str:
    """Insert a picture from a file into a slide, by default in its center."""
    with changing(IMPRESS, document) as model:
        page = slide_numbered(model, slide)
        picture = pictures.graphic(path)
        made = model.createInstance("com.sun.star.drawing.GraphicObjectShape")
        page.add(made)
        made.Graphic = picture
        made.setSize(pictures.size_of(picture, width_mm, height_mm))
        put_at(page, made, "center")
        if left_mm is not None or top_mm is not None:
            x = made.Position.X / 100 if left_mm is None else left_mm
            made.setPosition(point(x, made.Position.Y / 100 if top_mm is None else top_mm))
        return "inserted box %d, a picture of %.1f by %.1f mm" % (
            page.getCount(),
            made.Size.Width / 100,
            made.Size.Height / 100,
        )


def insert_file(
    slide: int,
    path: str,
    left_mm: float = 40,
    top_mm: float = 40,
    width_mm: float = 120,
    height_mm: float = 70,
    document: str | None = None,
) -> str:
    """Insert a film or a sound from a file into a slide."""
    place = programs.path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % programs.shown(place))
    with changing(IMPRESS, document) as model:
        page = slide_numbered(model, slide)
        made = model.createInstance("com.sun.star.drawing.MediaShape")
        page.add(made)
        _place(made, left_mm, top_mm, width_mm, height_mm)
        made.MediaURL = url_of(place)
        return "inserted %s as box %d" % (programs.shown(place), page.getCount())


# Looks.


def set_style(
    slide: int,
    box: int | None = None,
    bold: bool | None = None,
    italic: bool | None = None,
    underline: bool | None = None,
    strikethrough: bool | None = None,
    font: str | None = None,
    size: float | None = None,
    color: str | None = None,
    document: str | None = None,
) -> str:
    """Format the text of a box, or of all boxes of a slide; what is not given stays."""
    values = looks.characters(bold, italic, underline, strikethrough, font, size, color)
    if not values:
        raise Refused("say what to change: bold, color, size and so on")
    with changing(IMPRESS, document) as model:
        found = text_boxes(slide_numbered(model, slide), box)
        for one in found:
            looks.put(whole(one), values)
        return "formatted %d boxes" % len(found)


def set_slide_font(font: str, slide: int | None = None, document: str | None = None) -> str:
    """Set the font of all text of a slide, or of all slides."""
    values = looks.characters(font=font)
    with changing(IMPRESS, document) as model:
        found = [one for page in chosen(model, slide) for one in text_boxes(page, None)]
        for one in found:
            looks.put(whole(one), values)
        return "set the font of %d boxes" % len(found)


def set_text_color(slide: int, box: int | None, color: str, document: str | None = None) -> str:
    """Set the color of the text of a box (null: all boxes), a name or "#rrggbb"."""
    return set_style(slide, box, color=color, document=document)


def set_text_strikethrough(
    slide: int,
    box: int,
    lines: list[int] | None = None,
    on: bool = True,
    document: str | None = None,
) -> str:
    """Strike through lines of a box, counted from 1, or all; or end it."""
    with changing(IMPRESS, document) as model:
        found = lines_of(text_box(slide_numbered(model, slide), box))
        wanted = list(range(1, len(found) + 1)) if lines is None else lines
        for number in wanted:
            if not 1 <= number <= len(found):
                raise Refused("the box has %d lines, counted from 1, and no line %d" % (len(found), number))
        for number in wanted:
            found[number - 1].CharStrikeout = 1 if on else 0
        return "changed %d lines" % len(wanted)


def set_textbox_alignment(
    slide: int,
    box: int | None,
    align: Literal["left", "center", "right", "justify"],
    document: str | None = None,
) -> str:
    """Align the text of a box (null: all boxes)."""
    with changing(IMPRESS, document) as model:
        found = text_boxes(slide_numbered(model, slide), box)
        for one in found:
            whole(one).ParaAdjust = enum("style.ParagraphAdjust", looks.PARAGRAPH[align])
        return "aligned %d boxes" % len(found)


def set_background_color(slide: int, box: int, color: str, document: str | None = None) -> str:
    """Fill a box with a color, a name or "#rrggbb"; "none" empties it."""
    value = looks.color_of(color)
    with changing(IMPRESS, document) as model:
        place = box_numbered(slide_numbered(model, slide), box)
        place.FillStyle = enum("drawing.FillStyle", "NONE" if value == looks.NO_COLOR else "SOLID")
        if value != looks.NO_COLOR:
            place.FillColor = value
        return "box %d has the background %s" % (box, color)


def set_slide_background(
    slide: int | None = None,
    color: str | None = None,
    image_path: str | None = None,
    document: str | None = None,
) -> str:
    """Give a slide, or all, a background: a color or a picture from a file."""
    if (color is None) == (image_path is None):
        raise Refused("give either a color or an image_path")
    value = None if color is None else looks.color_of(color)
    with changing(IMPRESS, document) as model:
        picture = None if image_path is None else pictures.graphic(image_path)
        found = chosen(model, slide)
        for one in found:
            made = model.createInstance("com.sun.star.drawing.Background")
            if picture is not None:
                made.FillStyle = enum("drawing.FillStyle", "BITMAP")
                made.FillBitmap = picture
                made.FillBitmapMode = enum("drawing.BitmapMode", "STRETCH")
            elif value == looks.NO_COLOR:
                made.FillStyle = enum("drawing.FillStyle", "NONE")
            else:
                made.FillStyle = enum("drawing.FillStyle", "SOLID")
                made.FillColor = value
            one.Background = made
        return "set the background of %d slides" % len(found)


def set_slide_orientation(orientation: Literal["portrait", "landscape"], document: str | None = None) -> str:
    """Turn all slides upright or wide."""
    with changing(IMPRESS, document) as model:
        for one in slides_of(model) + _masters(model):
            short, long = sorted((one.Width, one.Height))
            width, height = (short, long) if orientation == "portrait" else (long, short)
            if one.Width != width:
                one.Width, one.Height = width, height
        return "the slides are %s" % orientation


def set_slide_numbers(visible: bool, slide: int | None = None, document: str | None = None) -> str:
    """Show or hide the number of a slide, or of all."""
    with changing(IMPRESS, document) as model:
        found = chosen(model, slide)
        for one in found:
            one.IsPageNumberVisible = visible
        return "the numbers of %d slides are %s" % (len(found), "shown" if visible else "hidden")


def set_slide_number_color(color: str, document: str | None = None) -> str:
    """Set the color of slide numbers, a name or "#rrggbb"."""
    values = looks.characters(color=color)
    with changing(IMPRESS, document) as model:
        found = [
            one
            for page in slides_of(model) + _masters(model)
            for one in boxes_of(page)
            if kind_of(one) == "slide number"
        ]
        if not found:
            raise Refused("neither the slides nor their masters have a slide number")
        for one in found:
            looks.put(whole(one), values)
            looks.put(one, values)
        return "set the color of %d slide numbers" % len(found)


# Settings.


def configure_auto_save(enabled: bool, minutes: int = 10) -> str:
    """Let LibreOffice save what is needed to recover documents every so many minutes, or not."""
    if not 1 <= minutes <= 60:
        raise Refused("from 1 to 60 minutes, not %d" % minutes)
    options.set_options(options.AUTO_SAVE, {"Enabled": enabled, "TimeIntervall": minutes})
    return "auto-save is %s" % ("on, every %d minutes" % minutes if enabled else "off")


def configure_display_settings(
    presenter_view: bool | None = None, display: int | None = None, document: str | None = None
) -> str:
    """Set whether a show uses the presenter's view, and on which display (1, 2, ...; 0 all) it runs."""
    if presenter_view is None and display is None:
        raise Refused("say what to change: presenter_view or display")
    if display is not None and not 0 <= display <= 16:
        raise Refused("displays are counted from 1, and 0 stands for all")
    if display is not None:
        with changing(IMPRESS, document) as model:
            model.getPresentation().Display = -1 if display == 0 else display
    if presenter_view is not None:
        options.set_options(options.SLIDE_SHOW, {"EnablePresenterScreen": presenter_view})
    return "the settings of the show are changed"


# Inside.


def _title(slide: Any) -> str:
    for one in boxes_of(slide):
        if kind_of(one) == "title" and not one.IsEmptyPresentationObject:
            return str(one.getString())
    return ""


def _masters(model: Any) -> list[Any]:
    pages = model.getMasterPages()
    return [pages.getByIndex(i) for i in range(pages.getCount())]


def _place(box: Any, left_mm: float, top_mm: float, width_mm: float, height_mm: float) -> None:
    box.setPosition(point(left_mm, top_mm))
    width, height = looks.hundredths(width_mm, "a width", 1), looks.hundredths(height_mm, "a height", 1)
    box.setSize(struct("awt.Size", Width=width, Height=height))


def _move(model: Any, slide: int, position: int) -> None:
    """LibreOffice moves slides only by a command for the slide that is shown."""
    view = model.getCurrentController()
    shown = view.getCurrentPage()
    moved = slide_numbered(model, slide)
    view.setCurrentPage(moved)
    dispatcher = connection.service("frame.DispatchHelper")
    command = ".uno:MovePageDown" if position > slide else ".uno:MovePageUp"
    for _ in range(abs(position - slide)):
        dispatcher.executeDispatch(view.getFrame(), command, "", 0, ())
    if moved.Number != position:
        raise Refused("LibreOffice did not move the slide")
    view.setCurrentPage(shown)
