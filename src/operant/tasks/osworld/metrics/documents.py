"""Text documents: DOCX and ODT compared with a gold file, or looked at for one property."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import as_list

__all__ = ["METRICS", "compare_docx"]

MAX_UNPACKED = 1 << 30
ODT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
FORMAT = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
Options = Mapping[str, Any]


def _document(path: Path) -> Any:
    import docx

    with zipfile.ZipFile(path) as package:
        if sum(part.file_size for part in package.infolist()) > MAX_UNPACKED:
            raise Refuted(f"{path.name} is too large")
    return docx.Document(str(path))


def _odt(path: Path) -> ElementTree.Element:
    with zipfile.ZipFile(path) as package:
        if package.getinfo("content.xml").file_size > MAX_UNPACKED:
            raise Refuted(f"{path.name} is too large")
        return ElementTree.fromstring(package.read("content.xml"))


def _paragraphs(path: Path) -> list[str]:
    if path.suffix == ".odt":
        return ["".join(one.itertext()) for one in _odt(path).iter(f"{ODT}p")]
    return [paragraph.text for paragraph in _document(path).paragraphs]


def compare_docx(result: Path, expected: Path, options: Options) -> float:
    """The paragraphs say the same, as strictly as the options ask for."""
    texts = [_paragraphs(path) for path in (result, expected)]
    if options.get("ignore_order"):
        texts = [sorted(lines) for lines in texts]
    if options.get("delete_empty_lines"):
        texts = [[line for line in lines if line.strip()] for lines in texts]
    if options.get("ignore_case"):
        texts = [[line.lower() for line in lines] for lines in texts]
    similar = options.get("content_only") or options.get("fuzzy_match")
    if options.get("ignore_blanks", True) or options.get("content_only"):
        texts = [[" ".join("\n".join(lines).split())] for lines in texts]
    found, wanted = texts
    if similar:
        return _similarity(found, wanted)
    if found != wanted:
        raise Refuted("the text differs")
    return 1.0


def _similarity(found: list[str], wanted: list[str]) -> float:
    from rapidfuzz import fuzz

    if len(found) != len(wanted):
        return 0.0
    pairs = list(zip(found, wanted, strict=True))
    return sum(fuzz.ratio(one, other) for one, other in pairs) / 100 / len(pairs) if pairs else 1.0


def _without_blank_lines(result: Path, expected: Path, options: Options) -> float:
    return compare_docx(result, expected, {**options, "delete_empty_lines": True, "ignore_blanks": False})


def _tables(result: Path, expected: Path, options: Options) -> float:
    found, wanted = (
        [
            [[cell.text.strip() for cell in row.cells] for row in table.rows]
            for table in _document(path).tables
        ]
        for path in (result, expected)
    )
    if found != wanted:
        raise Refuted("the tables differ")
    return 1.0


def _pictures(result: Path, expected: Path, options: Options) -> float:
    """The same pictures in the same order, pixel by pixel."""
    found, wanted = (list(_pixels(path)) for path in (result, expected))
    return float(found == wanted)


def _pixels(path: Path) -> Iterator[tuple[Any, bytes]]:
    import io

    from PIL import Image

    for relation in _document(path).part.rels.values():
        if "image" in relation.reltype and not relation.is_external:
            with Image.open(io.BytesIO(relation.target_part.blob)) as picture:
                yield picture.size, picture.convert("RGB").tobytes()


def _line_spacing(result: Path, expected: Path, options: Options) -> float:
    compare_docx(result, expected, {})
    found, wanted = (
        [paragraph.paragraph_format.line_spacing for paragraph in _document(path).paragraphs]
        for path in (result, expected)
    )
    return float(found == wanted)


def _tab_stops(result: Path, expected: Path, options: Options) -> float:
    """The same stops; the score falls with the distance from where they should be, by the width of the text."""
    import docx.enum.text as enum

    document, gold = _document(result), _document(expected)
    found, wanted = ([one for one in book.paragraphs if one.text.strip()] for book in (document, gold))
    if len(found) != len(wanted):
        raise Refuted("there are other paragraphs")
    words = options.get("word_number_split_by_tabstop")
    index = int(options.get("index", 0))
    if words is not None and any(len(one.text.split("\t")[index].split()) != words for one in found):
        raise Refuted("the tabulators split other words")
    section = gold.sections[0]
    width = section.page_width - section.left_margin - section.right_margin
    away = 0.0
    for one, other in zip(found, wanted, strict=True):
        stops = [
            [
                stop
                for stop in paragraph.paragraph_format.tab_stops
                if stop.alignment != enum.WD_TAB_ALIGNMENT.CLEAR
                and (stop.alignment != enum.WD_TAB_ALIGNMENT.LEFT or stop.position)
            ]
            for paragraph in (one, other)
        ]
        if [stop.alignment for stop in stops[0]] != [stop.alignment for stop in stops[1]]:
            raise Refuted("the tabulators are of another kind")
        away += sum(abs(a.position - b.position) for a, b in zip(*stops, strict=True)) / width
    return 1 - away / len(found) if found else 0.0


def _font_names(result: Path, rules: Options, options: Options) -> float:
    runs = [run for paragraph in _document(result).paragraphs for run in paragraph.runs if run.text.strip()]
    wrong = [run.font.name for run in runs if run.font.name != rules["font_name"]]
    if wrong:
        raise Refuted(f"the font {wrong[0]!r} is there")
    return float(bool(runs))


def _subscripts(result: Path, expected: Path, options: Options) -> float:
    """Some run is a subscript in both."""
    for one, other in zip(_document(result).paragraphs, _document(expected).paragraphs, strict=False):
        for run, wanted in zip(one.runs, other.runs, strict=False):
            if run.font.subscript and wanted.font.subscript:
                return 1.0
    return 0.0


def _page_numbers(result: Path, expected: Any, options: Options) -> float:
    """Every footer has a number, or a field that counts pages."""
    for section in _document(result).sections:
        footer = section.footer
        text = "".join(paragraph.text for paragraph in footer.paragraphs)
        fields = re.search(r"\bPAGE\b", "".join(footer._element.itertext()))
        if not any(letter.isdigit() for letter in text) and fields is None:
            raise Refuted("a footer has no page number")
    return 1.0


def _first_line_centred(result: Path, expected: Any, options: Options) -> float:
    import docx.enum.text as enum

    first = _document(result).paragraphs[0]
    return float(first.paragraph_format.alignment == enum.WD_ALIGN_PARAGRAPH.CENTER)


def _page_breaks(result: Path, rules: Options, options: Options) -> float:
    found = sum(
        1 for one in _document(result).element.body.iter(f"{WORD}br") if one.get(f"{WORD}type") == "page"
    )
    wanted = (rules or {}).get("page_break_count")
    if found == 0 or (wanted is not None and found != wanted):
        raise Refuted(f"there are {found} page breaks")
    return 1.0


def _last_struck_through(result: Path, expected: Path, options: Options) -> float:
    compare_docx(result, expected, {})
    return float(all(run.font.strike for run in _document(result).paragraphs[-1].runs))


def _italics_of_14(result: Path, expected: Path, options: Options) -> float:
    compare_docx(result, expected, {})
    runs = [run for paragraph in _document(result).paragraphs for run in paragraph.runs if run.italic]
    if any(run.font.size is None or run.font.size.pt != 14 for run in runs):
        raise Refuted("an italic text is not of size 14")
    return 1.0


def _coloured_words(result: Path, expected: Path, options: Options) -> float:
    """In tables, words that begin with a vowel are red and the others blue."""
    compare_docx(result, expected, {})
    for table in _document(result).tables:
        for run in (
            run for row in table.rows for cell in row.cells for part in cell.paragraphs for run in part.runs
        ):
            if run.text.strip() and run.font.color.rgb != _colour_of(run.text.strip()):
                raise Refuted(f"{run.text[:40]!r} has another colour")
    return 1.0


def _colour_of(word: str) -> Any:
    from docx.shared import RGBColor

    return RGBColor(255, 0, 0) if word[0].lower() in "aeiou" else RGBColor(0, 0, 255)


def _highlights_gone(result: Path, expected: Path, options: Options) -> float:
    """The text of an ODT is the same, and nothing in it is highlighted in yellow."""
    compare_docx(result, expected, {})
    root = _odt(result)
    yellow = {
        style.get(f"{STYLE}name")
        for style in root.iter(f"{STYLE}style")
        for one in style.iter(f"{STYLE}text-properties")
        if (one.get(f"{FORMAT}background-color") or "").lower() == "#ffff00"
    }
    return float(not any(one.get(f"{ODT}style-name") in yellow for one in root.iter(f"{ODT}span")))


def _unique_records(result: Path, expected: Any, options: Options) -> float:
    """Lines of the original, without two of one train, for the trains of the gold file."""
    gold, original = as_list(expected)
    found, wanted, before = (
        [line.strip() for line in _paragraphs(path) if line.strip()] for path in (result, gold, original)
    )

    def trains(lines: list[str]) -> list[str]:
        return sorted(parts[1].strip() for line in lines if len(parts := line.split(",")) == 4)

    if not set(found) <= set(before) or len(found) != len(wanted) or trains(found) != trains(wanted):
        raise Refuted("the records are others")
    return float(len(set(trains(found))) == len(trains(found)))


def _references(result: Path, expected: Path, options: Options) -> float:
    """How similar the lists of references are, by how much more than they were at the start."""
    title = str(options.get("reference_indicator", "References"))
    found, wanted = (_after(_paragraphs(path), title) for path in (result, expected))
    if found is None or wanted is None:
        return float(found is wanted)
    base = float(options.get("reference_base_result", 0.5))
    score = _similarity(found, wanted)
    return (score - base) / (1 - base) if score >= base + 0.01 else 0.0


def _after(lines: list[str], title: str) -> list[str] | None:
    """The lines below a title that say something; None without the title."""
    if title not in lines:
        return None
    return [line for line in lines[lines.index(title) + 1 :] if line.strip()]


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "compare_docx_files": compare_docx,
    "compare_docx_files_and_ignore_new_lines": _without_blank_lines,
    "compare_docx_tables": _tables,
    "compare_docx_images": _pictures,
    "compare_line_spacing": _line_spacing,
    "check_tabstops": _tab_stops,
    "compare_font_names": _font_names,
    "compare_subscript_contains": _subscripts,
    "has_page_numbers_in_footers": _page_numbers,
    "is_first_line_centered": _first_line_centred,
    "contains_page_break": _page_breaks,
    "evaluate_strike_through_last_paragraph": _last_struck_through,
    "check_italic_font_size_14": _italics_of_14,
    "evaluate_colored_words_in_tables": _coloured_words,
    "check_highlighted_words": _highlights_gone,
    "compare_references": _references,
    "compare_unique_train_records": _unique_records,
}
