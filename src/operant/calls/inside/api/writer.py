"""LibreOffice Writer: text, formats, tables, pictures and pages of the open text document.

All functions are about the topmost text document unless `document` gives the title or path of another. Paragraphs are
counted from 1, without those inside tables. Nothing is saved before `save`.
"""

from __future__ import annotations

from typing import Any, Literal

from office import documents, looks, pictures
from office.connection import enum, struct
from office.documents import WRITER, changing, reading
from office.texts import (
    HIGHLIGHTS,
    PARAGRAPH_BREAK,
    capitalized,
    change_letters,
    chosen,
    insert,
    lower,
    page_styles,
    paragraph_numbered,
    paragraphs_of,
    pieces,
    portions,
    range_of,
    sentence,
    style_named,
    table_named,
    upper,
)
from refusal import Refused

WM_CLASS = "libreoffice-writer"
TIME_LIMITS = {"open_document": 60, "new_document": 60, "save": 30, "save_as": 30, "export_to_pdf": 30}
CASES = {"upper": upper, "lower": lower, "title": capitalized, "sentence": sentence}
SCRIPTS = {"superscript": (33, 58), "subscript": (-8, 58), "normal": (0, 100)}
LISTS = {"bullets": "List 1", "numbers": "Numbering 123", "none": ""}
ALIGNMENTS = {0: "left", 1: "right", 2: "justify", 3: "center"}
MATH = "078B7ABA-54FC-457F-8551-6147e776a997"
ARABIC = 4
PAPERS = {"A3": (29700, 42000), "A4": (21000, 29700), "A5": (14800, 21000), "letter": (21590, 27940)}


# The document.


def open_document(path: str) -> str:
    """Open a text document (docx, odt, doc, rtf, txt) in a window; start LibreOffice if it does not run."""
    return documents.open_file(WRITER, path)


def new_document() -> str:
    """Open an empty text document; start LibreOffice if it does not run."""
    return documents.new(WRITER)


def list_documents() -> list[dict[str, object]]:
    """List the open text documents: title, path, whether modified, whether read-only."""
    return documents.listed(WRITER)


def save(document: str | None = None) -> str:
    """Save the text document to its file, in the file's own format."""
    return documents.save(WRITER, document)


def save_as(path: str, overwrite: bool = False, document: str | None = None) -> str:
    """Save the text document to another file, which becomes its file: .docx, .odt, .doc, .rtf, .txt or .html."""
    return documents.save_as(WRITER, path, overwrite, document)


def close_document(discard_changes: bool = False, document: str | None = None) -> str:
    """Close the text document. Changes that are not saved are an error unless they are discarded."""
    return documents.close(WRITER, discard_changes, document)


def export_to_pdf(path: str, overwrite: bool = False, document: str | None = None) -> str:
    """Export the text document to a PDF file. Its own file stays as it is."""
    return documents.export(WRITER, path, overwrite, document)


def get_info(document: str | None = None) -> dict[str, object]:
    """Tell the file, the numbers of pages, paragraphs, words and characters, and the names of tables."""
    with reading(WRITER, document) as model:
        return {
            **documents.facts(model),
            "pages": model.getCurrentController().PageCount,
            "paragraphs": len(paragraphs_of(model)),
            "words": model.WordCount,
            "characters": model.CharacterCount,
            "tables": list(model.getTextTables().getElementNames()),
            "pictures": list(model.getGraphicObjects().getElementNames()),
        }


# Reading.


def get_text(document: str | None = None) -> str:
    """Read the whole text, a line for each paragraph. Tables are read by get_table."""
    with reading(WRITER, document) as model:
        return "\n".join(one.getString() for one in paragraphs_of(model))


def get_paragraphs(
    first: int = 1, last: int | None = None, document: str | None = None
) -> list[dict[str, object]]:
    """Read paragraphs from first to last with number, text, style, alignment and font."""
    with reading(WRITER, document) as model:
        found = paragraphs_of(model)
        if not 1 <= first <= len(found) or (last is not None and last < first):
            raise Refused("the document has %d paragraphs, counted from 1" % len(found))
        return [
            {
                "number": first + i,
                "text": one.getString(),
                "style": one.ParaStyleName,
                "align": ALIGNMENTS.get(one.ParaAdjust, "left"),
                "font": one.CharFontName,
                "size": round(one.CharHeight, 1),
            }
            for i, one in enumerate(found[first - 1 : last])
        ]


def find_text(text: str, match_case: bool = False, document: str | None = None) -> list[dict[str, object]]:
    """List the paragraphs that contain a text: number and text; at most 200."""
    if not text:
        raise Refused("an empty text can't be found")
    with reading(WRITER, document) as model:
        wanted = text if match_case else text.lower()
        rows = [(i, one.getString()) for i, one in enumerate(paragraphs_of(model), 1)]
        found = [(i, row) for i, row in rows if wanted in (row if match_case else row.lower())]
        return [{"number": i, "text": row[:200]} for i, row in found[:200]]


def find_highlighted_text(color: str | None = None, document: str | None = None) -> list[dict[str, object]]:
    """List pieces of text with a highlight, of any color or of one: paragraph, text, color."""
    wanted = None if color is None else looks.color_name(looks.color_of(color))
    with reading(WRITER, document) as model:
        found = []
        for number, paragraph in enumerate(paragraphs_of(model), 1):
            for piece in portions(paragraph):
                shown = [looks.color_name(getattr(piece, name)) for name in HIGHLIGHTS]
                seen = next((one for one in shown if one != "none"), None)
                if seen is not None and wanted in (None, seen):
                    found.append({"paragraph": number, "text": piece.getString(), "color": seen})
        return found


# Text.


def write_text(
    text: str,
    place: Literal["cursor", "start", "end"] = "cursor",
    bold: bool | None = None,
    italic: bool | None = None,
    underline: bool | None = None,
    font: str | None = None,
    size: float | None = None,
    color: str | None = None,
    document: str | None = None,
) -> str:
    """Insert text at the cursor, the start or the end of the document. A line break begins a new paragraph."""
    values = looks.characters(bold, italic, underline, None, font, size, color)
    with changing(WRITER, document) as model:
        cursor = _cursor(model, place)
        body = cursor.getText()
        before = body.createTextCursorByRange(cursor.getStart())
        mark = before.goLeft(1, False)
        insert(cursor, text)
        if values:
            if mark:
                before.goRight(1, False)
            else:
                before.gotoStart(False)
            before.gotoRange(cursor.getEnd(), True)
            looks.put(before, values)
        return "inserted %d characters" % len(text)


def insert_paragraph(
    text: str, before: int | None = None, style: str | None = None, document: str | None = None
) -> str:
    """Insert a paragraph before another one, or at the end. Without a style it has that of its neighbor."""
    with changing(WRITER, document) as model:
        name = None if style is None else style_named(model, "ParagraphStyles", style)
        body = model.getText()
        if before is None:
            cursor = body.createTextCursorByRange(body.getEnd())
            if body.getString():
                body.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
            body.insertString(cursor, text, False)
        else:
            next_one = paragraph_numbered(model, before)
            cursor = body.createTextCursorByRange(next_one.getStart())
            body.insertString(cursor, text, False)
            body.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
            cursor.gotoPreviousParagraph(False)
        if name is not None:
            cursor.ParaStyleName = name
        return "the document has %d paragraphs" % len(paragraphs_of(model))


def set_paragraph_text(paragraph: int, text: str, document: str | None = None) -> str:
    """Replace the text of a paragraph and keep its style."""
    with changing(WRITER, document) as model:
        range_of(paragraph_numbered(model, paragraph)).setString(text.replace("\n", " "))
        return "replaced the text of paragraph %d" % paragraph


def delete_paragraphs(first: int, last: int | None = None, document: str | None = None) -> str:
    """Delete the paragraphs from first to last, or one."""
    with changing(WRITER, document) as model:
        end = first if last is None else last
        if end < first:
            raise Refused("the last paragraph is before the first")
        found = chosen(model, list(range(first, end + 1)))
        everything = len(paragraphs_of(model)) == len(found)
        for one in found[1:] if everything else found:
            one.dispose()
        if everything:
            range_of(found[0]).setString("")  # a document keeps one paragraph
        return "deleted %d paragraphs" % len(found)


def find_and_replace(
    find: str,
    replacement: str,
    match_case: bool = True,
    whole_words: bool = False,
    regex: bool = False,
    document: str | None = None,
) -> str:
    """Replace every occurrence of a text in the whole document, tables included. Formats stay."""
    if not find:
        raise Refused("an empty text can't be found")
    with changing(WRITER, document) as model:
        change = model.createReplaceDescriptor()
        change.setSearchString(find)
        change.setReplaceString(replacement)
        change.SearchCaseSensitive = match_case
        change.SearchWords = whole_words
        change.SearchRegularExpression = regex
        count = model.replaceAll(change)
        if not count:
            raise Refused("the document does not contain %r" % find[:80])
        return "replaced %d times" % count


def change_text_case(
    case: Literal["upper", "lower", "title", "sentence"],
    paragraphs: list[int] | None = None,
    text: str | None = None,
    document: str | None = None,
) -> str:
    """Change letters to upper or lower case, of paragraphs, of each occurrence of a text, or of all."""
    with changing(WRITER, document) as model:
        if text is None:
            return "changed %d paragraphs" % change_letters(chosen(model, paragraphs), CASES[case])
        found = pieces(model, text, paragraphs)
        for one in found:
            one.setString(CASES[case](one.getString()))
        return "changed %d times" % len(found)


def capitalize_words(paragraphs: list[int] | None = None, document: str | None = None) -> str:
    """Make the first letter of each word a capital, in paragraphs or in all."""
    with changing(WRITER, document) as model:
        return "changed %d paragraphs" % change_letters(chosen(model, paragraphs), capitalized)


def insert_page_break(before: int | None = None, document: str | None = None) -> str:
    """Begin a new page before a paragraph, or at the cursor."""
    with changing(WRITER, document) as model:
        if before is not None:
            paragraph_numbered(model, before).BreakType = enum("style.BreakType", "PAGE_BEFORE")
        else:
            cursor = _cursor(model, "cursor")
            cursor.getText().insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
            cursor.BreakType = enum("style.BreakType", "PAGE_BEFORE")
        return "the document has %d pages" % model.getCurrentController().PageCount


def insert_hyperlink(text: str, url: str, document: str | None = None) -> str:
    """Make each occurrence of a text a link."""
    with changing(WRITER, document) as model:
        found = pieces(model, text, None)
        for one in found:
            one.HyperLinkURL = url
        return "linked %d times" % len(found)


def add_comment(text: str, comment: str, author: str = "", document: str | None = None) -> str:
    """Add a comment behind the first occurrence of a text."""
    with changing(WRITER, document) as model:
        place = pieces(model, text, None)[0]
        note = model.createInstance("com.sun.star.text.textfield.Annotation")
        note.Content = comment
        note.Author = author
        place.getText().insertTextContent(place.getEnd(), note, False)
        return "commented on %r" % text[:80]


def insert_formula_at_cursor(formula: str, document: str | None = None) -> str:
    """Insert a mathematical formula in LibreOffice's notation, such as "a over b", at the cursor."""
    with changing(WRITER, document) as model:
        cursor = _cursor(model, "cursor")
        made = model.createInstance("com.sun.star.text.TextEmbeddedObject")
        made.CLSID = MATH
        made.AnchorType = enum("text.TextContentAnchorType", "AS_CHARACTER")
        cursor.getText().insertTextContent(cursor, made, False)
        inner = made.getEmbeddedObject()
        if inner is None:
            cursor.getText().removeTextContent(made)
            raise Refused("formulas need the package libreoffice-math")
        inner.Formula = formula
        return "inserted the formula"


def insert_image_at_cursor(
    path: str,
    width_mm: float | None = None,
    height_mm: float | None = None,
    place: Literal["cursor", "start", "end"] = "cursor",
    document: str | None = None,
) -> str:
    """Insert a picture from a file at the cursor, the start or the end of the document."""
    with changing(WRITER, document) as model:
        picture = pictures.graphic(path)
        made = model.createInstance("com.sun.star.text.TextGraphicObject")
        made.Graphic = picture
        made.AnchorType = enum("text.TextContentAnchorType", "AS_CHARACTER")
        made.Size = pictures.size_of(picture, width_mm, height_mm)
        cursor = _cursor(model, place)
        cursor.getText().insertTextContent(cursor, made, False)
        return "inserted a picture of %.1f by %.1f mm" % (made.Size.Width / 100, made.Size.Height / 100)


def go_to_paragraph(paragraph: int, end: bool = False, document: str | None = None) -> str:
    """Put the cursor at the start or the end of a paragraph."""
    with reading(WRITER, document) as model:
        one = paragraph_numbered(model, paragraph)
        model.getCurrentController().getViewCursor().gotoRange(one.getEnd() if end else one.getStart(), False)
        return "the cursor is in paragraph %d" % paragraph


# Formats.


def format_text(
    text: str | None = None,
    paragraphs: list[int] | None = None,
    bold: bool | None = None,
    italic: bool | None = None,
    underline: bool | None = None,
    strikethrough: bool | None = None,
    font: str | None = None,
    size: float | None = None,
    color: str | None = None,
    highlight: str | None = None,
    document: str | None = None,
) -> str:
    """Format each occurrence of a text, or paragraphs, or everything; what is not given stays.

    Colors are names or "#rrggbb", size is in points.
    """
    values = looks.characters(bold, italic, underline, strikethrough, font, size, color)
    if highlight is not None:
        values["CharBackColor"] = looks.color_of(highlight)
    if not values:
        raise Refused("say what to change: bold, color, size and so on")
    with changing(WRITER, document) as model:
        found = pieces(model, text, paragraphs)
        for one in found:
            looks.put(one, values)
        return "formatted %d %s" % (len(found), "paragraphs" if text is None else "times")


def set_font(
    font: str,
    paragraphs: list[int] | None = None,
    text: str | None = None,
    document: str | None = None,
) -> str:
    """Set the font of paragraphs, of each occurrence of a text, or of everything."""
    return format_text(text, paragraphs, font=font, document=document)


def set_font_size(
    size: float,
    paragraphs: list[int] | None = None,
    text: str | None = None,
    document: str | None = None,
) -> str:
    """Set the size of text in points, of paragraphs, of each occurrence of a text, or of everything."""
    return format_text(text, paragraphs, size=size, document=document)


def set_color(
    color: str,
    paragraphs: list[int] | None = None,
    text: str | None = None,
    document: str | None = None,
) -> str:
    """Set the color of text, of paragraphs, of each occurrence of a text, or of everything."""
    return format_text(text, paragraphs, color=color, document=document)


def set_highlight(
    color: str,
    paragraphs: list[int] | None = None,
    text: str | None = None,
    document: str | None = None,
) -> str:
    """Highlight paragraphs, each occurrence of a text, or everything, with a color."""
    return format_text(text, paragraphs, highlight=color, document=document)


def remove_highlighting(paragraphs: list[int] | None = None, document: str | None = None) -> str:
    """Take highlights away from paragraphs, or from the whole document."""
    with changing(WRITER, document) as model:
        count = 0
        for one in chosen(model, paragraphs):
            for piece in portions(one):
                for name in HIGHLIGHTS:
                    if looks.color_name(getattr(piece, name)) != "none":
                        setattr(piece, name, looks.NO_COLOR)
                        count += 1
        return "removed %d highlights" % count


def set_strikethrough(
    on: bool = True,
    paragraphs: list[int] | None = None,
    text: str | None = None,
    document: str | None = None,
) -> str:
    """Strike through paragraphs, each occurrence of a text, or everything; or end it."""
    return format_text(text, paragraphs, strikethrough=on, document=document)


def set_script(
    text: str,
    script: Literal["superscript", "subscript", "normal"],
    paragraphs: list[int] | None = None,
    document: str | None = None,
) -> str:
    """Raise or lower each occurrence of a text, in paragraphs or everywhere."""
    with changing(WRITER, document) as model:
        found = pieces(model, text, paragraphs)
        for one in found:
            one.CharEscapement, one.CharEscapementHeight = SCRIPTS[script]
        return "changed %d times" % len(found)


def set_default_font(font: str, size: float | None = None, document: str | None = None) -> str:
    """Set the font of all text that has no font of its own: that of the default paragraph style."""
    values = looks.characters(font=font, size=size)
    with changing(WRITER, document) as model:
        looks.put(model.getStyleFamilies().getByName("ParagraphStyles").getByName("Standard"), values)
        return "the default font is %s" % font


def set_line_spacing(lines: float, paragraphs: list[int] | None = None, document: str | None = None) -> str:
    """Set the line spacing (1, 1.5, 2) of paragraphs or of all."""
    if not 0.5 <= lines <= 10:
        raise Refused("a line spacing is from 0.5 to 10 lines, not %g" % lines)
    with changing(WRITER, document) as model:
        found = chosen(model, paragraphs)
        for one in found:
            one.ParaLineSpacing = struct("style.LineSpacing", Mode=0, Height=round(lines * 100))
        return "set the line spacing of %d paragraphs" % len(found)


def set_paragraph_alignment(
    align: Literal["left", "center", "right", "justify"],
    paragraphs: list[int] | None = None,
    document: str | None = None,
) -> str:
    """Align paragraphs, or all."""
    with changing(WRITER, document) as model:
        found = chosen(model, paragraphs)
        for one in found:
            one.ParaAdjust = enum("style.ParagraphAdjust", looks.PARAGRAPH[align])
        return "aligned %d paragraphs" % len(found)


def set_paragraph_spacing(
    before_mm: float | None = None,
    after_mm: float | None = None,
    indent_mm: float | None = None,
    first_line_mm: float | None = None,
    paragraphs: list[int] | None = None,
    document: str | None = None,
) -> str:
    """Set the space above and below, the left indent and that of the first line, of paragraphs or of all."""
    given = {
        "ParaTopMargin": before_mm,
        "ParaBottomMargin": after_mm,
        "ParaLeftMargin": indent_mm,
        "ParaFirstLineIndent": first_line_mm,
    }
    values = {
        name: looks.hundredths(one, "a length", 0, 300) for name, one in given.items() if one is not None
    }
    if not values:
        raise Refused("say what to change: before_mm, after_mm, indent_mm or first_line_mm")
    with changing(WRITER, document) as model:
        found = chosen(model, paragraphs)
        for one in found:
            looks.put(one, values)
        return "changed %d paragraphs" % len(found)


def set_paragraph_style(style: str, paragraphs: list[int], document: str | None = None) -> str:
    """Give paragraphs a style, such as "Heading 1", "Title" or "Quotations"."""
    with changing(WRITER, document) as model:
        name = style_named(model, "ParagraphStyles", style)
        for one in chosen(model, paragraphs):
            one.ParaStyleName = name
        return "%d paragraphs have the style %s" % (len(paragraphs), name)


def set_list(
    kind: Literal["bullets", "numbers", "none"], paragraphs: list[int], document: str | None = None
) -> str:
    """Make paragraphs a list with bullets or numbers, or end it."""
    with changing(WRITER, document) as model:
        for one in chosen(model, paragraphs):
            one.NumberingStyleName = LISTS[kind]
        return "%d paragraphs have %s" % (len(paragraphs), kind if kind != "none" else "no list")


# Tables.


def insert_table(values: list[list[object]], before: int | None = None, document: str | None = None) -> str:
    """Insert a table with these rows of values before a paragraph, or at the end of the document."""
    if not values or not values[0] or any(len(row) != len(values[0]) for row in values):
        raise Refused("values are rows of the same length")
    if len(values) > 1000 or len(values[0]) > 60:
        raise Refused("a table has at most 1000 rows and 60 columns")
    with changing(WRITER, document) as model:
        body = model.getText()
        place = body.getEnd() if before is None else paragraph_numbered(model, before).getStart()
        made = model.createInstance("com.sun.star.text.TextTable")
        made.initialize(len(values), len(values[0]))
        body.insertTextContent(body.createTextCursorByRange(place), made, False)
        made.setDataArray(tuple(tuple(_cell_value(one) for one in row) for row in values))
        return "inserted %s" % made.getName()


def get_table(table: str | None = None, document: str | None = None) -> list[list[object]]:
    """Read the rows of a table, by default the first one. Merged cells can't be read."""
    with reading(WRITER, document) as model:
        return [list(row) for row in table_named(model, table).getDataArray()]


def set_table_cell(
    row: int, column: int, text: str, table: str | None = None, document: str | None = None
) -> str:
    """Set the text of a cell of a table, counted from 1, by default of the first table."""
    with changing(WRITER, document) as model:
        found = table_named(model, table)
        rows, columns = found.getRows().getCount(), found.getColumns().getCount()
        if not (1 <= row <= rows and 1 <= column <= columns):
            raise Refused("%s has %d rows and %d columns" % (found.getName(), rows, columns))
        found.getCellByPosition(column - 1, row - 1).setString(text)
        return "set row %d, column %d of %s" % (row, column, found.getName())


def add_table_row(values: list[object], table: str | None = None, document: str | None = None) -> str:
    """Add a row at the end of a table, by default of the first one."""
    with changing(WRITER, document) as model:
        found = table_named(model, table)
        rows, columns = found.getRows().getCount(), found.getColumns().getCount()
        if len(values) != columns:
            raise Refused(
                "%s has %d columns, and %d values were given" % (found.getName(), columns, len(values))
            )
        found.getRows().insertByIndex(rows, 1)
        for column, value in enumerate(values):
            found.getCellByPosition(column, rows).setString(str(_cell_value(value)))
        return "%s has %d rows" % (found.getName(), rows + 1)


# Pages.


def add_page_numbers(
    place: Literal["header", "footer"] = "footer",
    align: Literal["left", "center", "right"] = "center",
    prefix: str = "",
    document: str | None = None,
) -> str:
    """Show the number of each page in the header or footer, maybe behind a text such as "Page "."""
    with changing(WRITER, document) as model:
        side = place.capitalize()
        for style in page_styles(model):
            setattr(style, side + "IsOn", True)
            body = getattr(style, side + "Text")
            cursor = body.createTextCursorByRange(body.getEnd())
            if body.getString():
                body.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
            body.insertString(cursor, prefix, False)
            field = model.createInstance("com.sun.star.text.TextField.PageNumber")
            field.NumberingType = ARABIC
            field.SubType = enum("text.PageNumberType", "CURRENT")
            body.insertTextContent(cursor, field, False)
            cursor.ParaAdjust = enum("style.ParagraphAdjust", looks.PARAGRAPH[align])
        return "the %s shows page numbers" % place


def set_header_footer(
    place: Literal["header", "footer"],
    text: str,
    align: Literal["left", "center", "right"] = "left",
    document: str | None = None,
) -> str:
    """Set the text of the header or footer of all pages; an empty text removes it."""
    with changing(WRITER, document) as model:
        side = place.capitalize()
        for style in page_styles(model):
            setattr(style, side + "IsOn", bool(text))
            if text:
                body = getattr(style, side + "Text")
                body.setString(text)
                cursor = body.createTextCursor()
                cursor.gotoEnd(True)
                cursor.ParaAdjust = enum("style.ParagraphAdjust", looks.PARAGRAPH[align])
        return "the %s is %s" % (place, "set" if text else "removed")


def set_page_layout(
    paper: Literal["A3", "A4", "A5", "letter"] | None = None,
    orientation: Literal["portrait", "landscape"] | None = None,
    margin_mm: float | None = None,
    columns: int | None = None,
    document: str | None = None,
) -> str:
    """Set paper, orientation, the margin on all sides, and columns of all pages; what is not given stays."""
    if columns is not None and not 1 <= columns <= 10:
        raise Refused("a page has from 1 to 10 columns")
    if (paper, orientation, margin_mm, columns) == (None, None, None, None):
        raise Refused("say what to change: paper, orientation, margin_mm or columns")
    margin = None if margin_mm is None else looks.hundredths(margin_mm, "a margin", 0, 100)
    with changing(WRITER, document) as model:
        for style in page_styles(model):
            width, height = (style.Width, style.Height) if paper is None else PAPERS[paper]
            wide = style.IsLandscape if orientation is None else orientation == "landscape"
            style.IsLandscape = wide
            style.Size = struct(
                "awt.Size",
                Width=max(width, height) if wide else min(width, height),
                Height=min(width, height) if wide else max(width, height),
            )
            if margin is not None:
                for side in ("Left", "Right", "Top", "Bottom"):
                    setattr(style, side + "Margin", margin)
            if columns is not None:
                made = style.TextColumns
                made.setColumnCount(columns)
                style.TextColumns = made
        return "the pages are changed"


# Inside.


def _cursor(model: Any, place: str) -> Any:
    """Where text goes in."""
    body = model.getText()
    if place == "cursor":
        seen = model.getCurrentController().getViewCursor()
        return seen.getText().createTextCursorByRange(seen.getStart())
    return body.createTextCursorByRange(body.getEnd() if place == "end" else body.getStart())


def _cell_value(value: object) -> str | float:
    if value is None:
        return ""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value if isinstance(value, str) else float(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
