"""Criteria on documents: a cell of a spreadsheet, the text of a document, in the formats that people use."""

from __future__ import annotations

import csv
import io
import math
import posixpath
import re
from html.parser import HTMLParser
from xml.etree.ElementTree import Element

from pydantic import StrictFloat, StrictInt, StrictStr, field_validator, model_validator

from operant.errors import TaskError, VerifierError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.packages import Package
from operant.tasks.criteria.places import FileQuestion, read_file
from operant.tasks.criteria.question import NoEvidence, Refuted

__all__ = ["DocumentText", "SpreadsheetCell"]

NUMBER = re.compile(r"[-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?")
CELL = re.compile(r"([A-Za-z]{1,3})([1-9][0-9]{0,6})")
CONVERT_S = 20.0
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


class SpreadsheetCell(FileQuestion):
    """A cell of a spreadsheet (csv, ods or xlsx) holds that value."""

    cell: str
    """Which cell, such as B3."""
    equals: StrictInt | StrictFloat | StrictStr
    """Its value; numbers are compared as numbers."""
    sheet: str | None = None
    """Name of the sheet; the first one if not said."""

    @field_validator("cell")
    @classmethod
    def _is_a_cell(cls, cell: str) -> str:
        if not CELL.fullmatch(cell):
            raise TaskError(f"{cell!r} is not a cell of a spreadsheet", hint="cells are named like B3")
        return cell.upper()

    @model_validator(mode="after")
    def _known_format(self) -> SpreadsheetCell:
        if _extension(self.path) not in ("csv", "tsv", "ods", "xlsx"):
            raise TaskError(
                f"{self.path!r} is no spreadsheet that can be read", hint="csv, tsv, ods and xlsx can"
            )
        return self

    def look(self, world: World) -> Verdict:
        data = read_file(world, self.path)
        column, row = _column_and_row(self.cell)
        kind = _extension(self.path)
        if kind in ("csv", "tsv"):
            found = _csv_cell(data, column, row, self.path)
        elif kind == "ods":
            found = _ods_cell(Package(data, self.path), column, row, self.sheet)
        else:
            found = _xlsx_cell(Package(data, self.path), self.cell, self.sheet)
        return Verdict.compared(
            _same_value(found, self.equals),
            f"{self.cell} of {self.path} holds {found[:60]!r}",
            repr(str(self.equals)[:60]),
        )


class DocumentText(FileQuestion):
    """The text of a document: plain text, html, odt, docx or pdf. Runs of blanks count as one blank."""

    contains: str | None = None
    """Text that occurs in it."""
    equals: str | None = None
    """All of its text."""

    @model_validator(mode="after")
    def _asks_something(self) -> DocumentText:
        if not self.contains and self.equals is None:
            raise TaskError("a document_text needs contains or equals")
        return self

    def look(self, world: World) -> Verdict:
        said = _flat(self._text(world))
        holds = True
        if self.contains is not None:
            holds = _flat(self.contains) in said
        if self.equals is not None:
            holds = holds and said == _flat(self.equals)
        wanted = self.contains if self.equals is None else self.equals
        return Verdict.compared(holds, f"{self.path} says {said[:80]!r}", repr(str(wanted)[:80]))

    def _text(self, world: World) -> str:
        data = read_file(world, self.path)
        kind = _extension(self.path)
        if kind == "odt":
            return "\n".join(
                _paragraphs(Package(data, self.path).xml("content.xml"), (TEXT + "p", TEXT + "h"))
            )
        if kind == "docx":
            return "\n".join(_paragraphs(Package(data, self.path).xml("word/document.xml"), (WORD + "p",)))
        if kind == "pdf":
            return _pdf_text(world, self.path, data)
        text = data.decode("utf-8", "replace")
        if kind in ("html", "htm", "xhtml"):
            reader = _PageText()
            reader.feed(text)
            reader.close()
            return "".join(reader.parts)
        return text


# Cells.


def _column_and_row(cell: str) -> tuple[int, int]:
    """Both counted from 0."""
    match = CELL.fullmatch(cell)
    assert match is not None
    column = 0
    for letter in match[1].upper():
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1, int(match[2]) - 1


def _csv_cell(data: bytes, column: int, row: int, name: str) -> str:
    text = data.decode("utf-8-sig", "replace")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        for index, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)):
            if index == row:
                return cells[column].strip() if column < len(cells) else ""
    except csv.Error as error:
        raise Refuted(f"{name} is broken: {error}") from error
    return ""


def _ods_cell(package: Package, column: int, row: int, sheet: str | None) -> str:
    tables = list(package.xml("content.xml").iter(TABLE + "table"))
    table = next((one for one in tables if sheet in (None, one.get(TABLE + "name"))), None)
    if table is None:
        raise Refuted(f"{package.name} has no sheet {sheet or ''}")
    line = _at(table.iter(TABLE + "table-row"), row, TABLE + "number-rows-repeated")
    if line is None:
        return ""
    cells = (one for one in line if one.tag in (TABLE + "table-cell", TABLE + "covered-table-cell"))
    cell = _at(cells, column, TABLE + "number-columns-repeated")
    if cell is None:
        return ""
    value = cell.get(OFFICE + "value")
    return value if value is not None else "\n".join(_paragraphs(cell, (TEXT + "p",)))


def _at(elements: object, index: int, repeated: str) -> Element | None:
    """The element at that place where each may stand for several; nothing is ever multiplied out."""
    passed = 0
    for element in elements:  # type: ignore[attr-defined]
        times = element.get(repeated, "1")
        passed += int(times) if times.isdecimal() and len(times) < 10 else 1
        if index < passed:
            return element  # type: ignore[no-any-return]
    return None


def _xlsx_cell(package: Package, cell: str, sheet: str | None) -> str:
    sheets = list(package.xml("xl/workbook.xml").iter(SHEET + "sheet"))
    chosen = next((one for one in sheets if sheet in (None, one.get("name"))), None)
    if chosen is None:
        raise Refuted(f"{package.name} has no sheet {sheet or ''}")
    relations = {one.get("Id"): one.get("Target", "") for one in package.xml("xl/_rels/workbook.xml.rels")}
    target = relations.get(chosen.get(RELATION + "id"), "")
    member = target.lstrip("/") if target.startswith("/") else posixpath.normpath("xl/" + target)
    for found in package.xml(member).iter(SHEET + "c"):
        if found.get("r") == cell:
            return _xlsx_value(package, found)
    return ""


def _xlsx_value(package: Package, cell: Element) -> str:
    if cell.get("t") == "inlineStr":
        return "".join(part.text or "" for part in cell.iter(SHEET + "t"))
    value = cell.findtext(SHEET + "v", "")
    if cell.get("t") != "s":
        return value
    strings = package.find_xml("xl/sharedStrings.xml")
    entries = [] if strings is None else strings.findall(SHEET + "si")
    if not value.isdecimal() or len(value) > 9 or int(value) >= len(entries):
        raise Refuted(f"{package.name} is broken: no shared string {value[:20]}")
    return "".join(part.text or "" for part in entries[int(value)].iter(SHEET + "t"))


def _same_value(found: str, wanted: int | float | str) -> bool:
    if isinstance(wanted, str) and found.strip() == wanted.strip():
        return True
    if not NUMBER.fullmatch(found.strip()) or not NUMBER.fullmatch(str(wanted).strip()):
        return False
    return math.isclose(float(found), float(wanted), rel_tol=1e-9, abs_tol=1e-9)


# Texts.


def _paragraphs(root: Element, tags: tuple[str, ...]) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter() if one.tag in tags]


class _PageText(HTMLParser):
    """What a page says, without its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in ("script", "style", "template", "noscript", "title")
        if tag in ("p", "br", "div", "li", "tr", "td", "th", "h1", "h2", "h3", "h4"):
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "template", "noscript", "title") and self._silent:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)


def _pdf_text(world: World, path: str, data: bytes) -> str:
    """Taken out by pdftotext inside the desktop: a PDF reader is too large a thing to feed from outside."""
    if not data.startswith(b"%PDF-"):
        raise Refuted(f"{path} is not a PDF")
    if not world.desktop.files.exists("/usr/bin/pdftotext"):
        raise VerifierError("the text of a PDF needs pdftotext", hint="apt install poppler-utils")
    result = world.desktop.run(
        ["/usr/bin/pdftotext", "-enc", "UTF-8", "-", "-"], stdin=data, timeout_s=CONVERT_S, limit=8 << 20
    )
    if result.returncode != 0:
        raise NoEvidence(f"{path} is a broken PDF")
    return result.output


def _extension(path: str) -> str:
    return posixpath.splitext(path)[1].removeprefix(".").lower()


def _flat(text: str) -> str:
    return " ".join(text.split())
