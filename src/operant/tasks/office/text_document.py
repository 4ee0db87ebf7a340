"""Text documents as data: paragraphs, their formatted pieces, and tables. Files are docx, through python-docx."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from operant.config.base import Config
from operant.errors import TaskError
from operant.tasks.criteria.packages import Package
from operant.tasks.criteria.question import Refuted

if TYPE_CHECKING:
    from docx.document import Document as File
    from docx.text.paragraph import Paragraph as FileParagraph
    from docx.text.run import Run

__all__ = ["Paragraph", "Span", "TextDocument"]

Align = Literal["", "left", "center", "right", "justify"]
PLAIN = "Normal"


class Span(Config):
    """A piece of a paragraph that looks alike."""

    text: str
    bold: bool = False
    italic: bool = False
    underline: bool = False

    def looks_like(self, other: Span) -> bool:
        return (self.bold, self.italic, self.underline) == (other.bold, other.italic, other.underline)


class Paragraph(Config):
    """One paragraph of the text."""

    spans: tuple[Span, ...] = ()
    style: str = PLAIN
    """Name of its style, such as ``Heading 1``."""
    align: Align = ""
    """Empty where its style decides, which is the same as left in a plain document."""
    listed: Literal["", "bullet", "number"] = ""
    """Whether it is an item of a list."""
    new_page: bool = False
    """Whether a page begins before it."""

    @classmethod
    def of(cls, text: str, **more: Any) -> Paragraph:
        return cls(spans=(Span(text=text),) if text else (), **more)

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)

    def changed(self, **fields: Any) -> Paragraph:
        return self.model_copy(update=fields)

    def styled(self, text: str, **look: Any) -> Paragraph:
        """The same plain paragraph with one occurrence of a text that looks different."""
        before, _, behind = self.text.partition(text)
        pieces = (Span(text=before), Span(text=text, **look), Span(text=behind))
        return self.changed(spans=_joined(pieces))


class TextDocument(Config):
    """A text of paragraphs, and its tables."""

    kind: Literal["docx"] = "docx"
    paragraphs: tuple[Paragraph, ...]
    tables: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """What the cells of each table say, row by row. Paragraphs inside are not among the others."""

    @classmethod
    def of(cls, *paragraphs: Paragraph | str, **more: Any) -> TextDocument:
        made = (one if isinstance(one, Paragraph) else Paragraph.of(one) for one in paragraphs)
        return cls(paragraphs=tuple(made), **more)

    def with_paragraph(self, index: int, paragraph: Paragraph) -> TextDocument:
        """The same document with another paragraph at a place that is counted from 0."""
        return self.model_copy(
            update={
                "paragraphs": (*self.paragraphs[:index], paragraph, *self.paragraphs[index + 1 :]),
            }
        )

    def written(self) -> bytes:
        from docx import Document

        file = Document()
        for paragraph in self.paragraphs:
            _write(paragraph, file)
        for rows in self.tables:
            table = file.add_table(len(rows), len(rows[0]))
            for row, cells in enumerate(rows):
                for column, text in enumerate(cells):
                    table.cell(row, column).text = text
        buffer = io.BytesIO()
        file.save(buffer)
        return buffer.getvalue()

    @classmethod
    def read(cls, data: bytes, name: str) -> TextDocument:
        """What a file says; ``Refuted`` if it is no such file."""
        from docx import Document

        Package(data, name).screen()
        try:
            file = Document(io.BytesIO(data))
            return cls(
                paragraphs=tuple(_paragraphs(file)),
                tables=tuple(
                    tuple(tuple(cell.text for cell in row.cells) for row in table.rows)
                    for table in file.tables
                ),
            )
        except Exception as error:  # a library that meets a broken file may raise anything
            raise Refuted(
                f"{name} is no text document: {type(error).__name__}: {str(error)[:100]}"
            ) from error

    def difference(self, wanted: TextDocument) -> str | None:
        """What is not as it should be, in a sentence."""
        for number, (ours, theirs) in enumerate(zip(self.paragraphs, wanted.paragraphs, strict=False), 1):
            told = _difference(ours, theirs)
            if told is not None:
                return f"paragraph {number}: {told}"
        if len(self.paragraphs) != len(wanted.paragraphs):
            return f"{len(self.paragraphs)} paragraphs, expected {len(wanted.paragraphs)}"
        if self.tables != wanted.tables:
            return f"the tables are {str(self.tables)[:80]}, expected {str(wanted.tables)[:80]}"
        return None


# Files.


def _write(paragraph: Paragraph, file: File) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    if paragraph.listed:
        raise TaskError("items of lists are read, not written", hint="begin with plain paragraphs")
    made = file.add_paragraph(style=paragraph.style)
    made.paragraph_format.page_break_before = paragraph.new_page or None
    if paragraph.align:
        made.alignment = WD_ALIGN_PARAGRAPH[paragraph.align.upper()]
    for span in paragraph.spans:
        run = made.add_run(span.text)
        run.bold, run.italic, run.underline = span.bold or None, span.italic or None, span.underline or None


def _paragraphs(file: File) -> Iterator[Paragraph]:
    for one in file.paragraphs:
        breaks = [run for run in one.runs if 'w:type="page"' in run._r.xml and "<w:br" in run._r.xml]
        yield Paragraph(
            spans=_joined(_span(run) for run in one.runs),
            style=str(one.style.name if one.style is not None else PLAIN),
            align=_align(one),
            listed=_listed(one, file),
            new_page=bool(one.paragraph_format.page_break_before) or bool(breaks),
        )


def _span(run: Run) -> Span:
    return Span(
        text=run.text.strip("\n"),
        bold=bool(run.bold),
        italic=bool(run.italic),
        underline=bool(run.underline),
    )


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same text in as few pieces as there are looks."""
    made: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if made and made[-1].looks_like(span):
            made[-1] = made[-1].model_copy(update={"text": made[-1].text + span.text})
        else:
            made.append(span)
    return tuple(made)


def _align(paragraph: FileParagraph) -> Align:
    names: dict[str, Align] = {"LEFT": "left", "CENTER": "center", "RIGHT": "right", "JUSTIFY": "justify"}
    return "" if paragraph.alignment is None else names.get(paragraph.alignment.name, "")


def _listed(paragraph: FileParagraph, file: File) -> Literal["", "bullet", "number"]:
    properties = paragraph._p.pPr
    numbering = None if properties is None else properties.numPr
    if numbering is None or numbering.numId is None or not numbering.numId.val:
        return ""
    space = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    level = str(numbering.ilvl.val) if numbering.ilvl is not None else "0"
    root = file.part.numbering_part.element
    kind = next(
        (n for n in root.iter(f"{space}num") if n.get(f"{space}numId") == str(numbering.numId.val)), None
    )
    if kind is None:
        return ""
    abstract = kind.find(f"{space}abstractNumId").get(f"{space}val")
    for one in root.iter(f"{space}abstractNum"):
        if one.get(f"{space}abstractNumId") != abstract:
            continue
        for place in one.iter(f"{space}lvl"):
            if place.get(f"{space}ilvl") == level:
                form = place.find(f"{space}numFmt")
                return "bullet" if form is not None and form.get(f"{space}val") == "bullet" else "number"
    return ""


# What differs.


def _difference(found: Paragraph, wanted: Paragraph) -> str | None:
    if found.text.strip() != wanted.text.strip():
        return f"{found.text[:60]!r}, expected {wanted.text[:60]!r}"
    if _looks(found) != _looks(wanted):
        return "pieces of it look different from what is expected"
    for field in ("style", "listed", "new_page"):
        ours, theirs = getattr(found, field), getattr(wanted, field)
        if ours != theirs:
            return f"{field.replace('_', ' ')} {ours!r}, expected {theirs!r}"
    if (found.align or "left") != (wanted.align or "left"):
        return f"align {found.align or 'left'!r}, expected {wanted.align or 'left'!r}"
    return None


def _looks(paragraph: Paragraph) -> list[tuple[str, bool, bool, bool]]:
    """Every character that is seen, with its look: blanks between pieces may belong to either."""
    return [
        (letter, span.bold, span.italic, span.underline)
        for span in paragraph.spans
        for letter in span.text
        if not letter.isspace()
    ]
