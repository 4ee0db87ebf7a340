"""Presentations: PPTX compared with a gold file, shape by shape, or looked at for one property."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted

__all__ = ["METRICS", "compare_pptx"]

MAX_UNPACKED = 1 << 30
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
PICTURE, TABLE, FREEFORM = 13, 19, 5
LOW, RIGHT, HIGH = 3_600_000, 4_320_000, 1_980_000  # EMU from the top, the left and the top
Options = Mapping[str, Any]


def _presentation(path: Path) -> Any:
    import pptx

    with zipfile.ZipFile(path) as package:
        if sum(part.file_size for part in package.infolist()) > MAX_UNPACKED:
            raise Refuted(f"{path.name} is too large")
    return pptx.Presentation(str(path))


class _Comparison:
    """Two presentations, and what of them counts: all but a few things, unless an option says otherwise."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.tolerance = float(options.get("approximately_tolerance", 0.005))

    def examines(self, what: str, default: bool = True) -> bool:
        return bool(self.options.get(f"examine_{what}", default))

    def near(self, one: int | None, other: int | None) -> bool:
        if one == other:
            return True
        if not one or not other:
            return False
        return abs(one - other) / max(abs(one), abs(other)) <= self.tolerance

    def same_box(self, one: Any, other: Any, sides: str = "left top width height") -> bool:
        return all(self.near(getattr(one, side), getattr(other, side)) for side in sides.split())

    def presentations(self, found: Any, wanted: Any) -> None:
        if self.examines("number_of_slides"):
            _equal(len(found.slides), len(wanted.slides), "number of slides")
        for number, (one, other) in enumerate(zip(found.slides, wanted.slides, strict=False), 1):
            self.slides(one, other, number)

    def slides(self, one: Any, other: Any, number: int) -> None:
        if self.examines("background_color"):
            _equal(_background(one), _background(other), f"background of slide {number}")
        if self.examines("note"):
            _equal(_notes(one), _notes(other), f"notes of slide {number}")
        _equal(len(one.shapes), len(other.shapes), f"number of shapes of slide {number}")
        for shape, wanted in zip(one.shapes, other.shapes, strict=True):
            self.places(shape, wanted, number)
            self.shapes(shape, wanted, f"slide {number}")

    def places(self, one: Any, other: Any, number: int) -> None:
        """Where shapes are; some options are about a shape that was moved."""
        kinds = one.shape_type, other.shape_type
        moved = False
        if (
            self.examines("title_bottom_position", False)
            and _text(one) == _text(other) == "Product Comparison"
        ):
            moved = _holds(one.top > other.top and one.top >= LOW, "the title is not at the bottom")
        elif self.examines("table_bottom_position", False) and number == 3 and kinds == (TABLE, TABLE):
            moved = _holds(one.top > other.top and one.top >= LOW, "the table is not at the bottom")
        elif self.examines("right_position", False) and number == 2 and not _texted(one, other):
            moved = _holds(one.left > other.left and one.left >= RIGHT, "the shape is not at the right")
        elif self.examines("top_position", False) and number == 2 and kinds == (PICTURE, PICTURE):
            moved = _holds(one.top < other.top and one.top <= HIGH, "the picture is not at the top")
        if moved:
            return
        if self.examines("image_size", False):
            sides = "width height" if kinds == (PICTURE, PICTURE) else "left top width height"
            _holds(self.same_box(one, other, sides), f"a shape of slide {number} has another size")
        if self.examines("modify_height", False):
            free = not _texted(one, other) or kinds == (FREEFORM, FREEFORM)
            _holds(
                self.same_box(one, other, "height" if free else "left top width height"),
                f"a shape of slide {number} has another height",
            )
        strict = any(self.examines(f"{name}_position", False) for name in ("title_bottom", "table_bottom"))
        if strict or (self.examines("shape") and (_text(one) or _text(other))):
            _holds(self.same_box(one, other), f"a shape of slide {number} is elsewhere")

    def shapes(self, one: Any, other: Any, where: str) -> None:
        _equal(one.shape_type, other.shape_type, f"kind of a shape of {where}")
        if one.shape_type == TABLE:
            cells = [[cell for row in shape.table.rows for cell in row.cells] for shape in (one, other)]
            _equal(len(one.table.columns), len(other.table.columns), f"columns of a table of {where}")
            _equal(len(cells[0]), len(cells[1]), f"cells of a table of {where}")
            for cell, wanted in zip(*cells, strict=True):
                self.texts(cell.text_frame, wanted.text_frame, where)
        elif hasattr(one, "shapes") and hasattr(other, "shapes"):
            _equal(len(one.shapes), len(other.shapes), f"parts of a group of {where}")
            for part, wanted in zip(one.shapes, other.shapes, strict=True):
                self.shapes(part, wanted, where)
        elif _texted(one, other):
            self.texts(one.text_frame, other.text_frame, where)

    def texts(self, one: Any, other: Any, where: str) -> None:
        if self.examines("text"):
            _equal(one.text.strip(), other.text.strip(), f"text of {where}")
        _equal(len(one.paragraphs), len(other.paragraphs), f"number of paragraphs of {where}")
        for paragraph, wanted in zip(one.paragraphs, other.paragraphs, strict=True):
            self.paragraphs(paragraph, wanted, f"{where}, {paragraph.text[:30]!r}")

    def paragraphs(self, one: Any, other: Any, where: str) -> None:
        if self.examines("alignment"):
            _equal(one.alignment or 1, other.alignment or 1, f"alignment in {where}")
        if self.examines("text"):
            _equal(one.text, other.text, f"text in {where}")
        levels = (one.level or 0, other.level or 0)
        if self.examines("indent") and max(levels) > 1:  # 0 and 1 look the same
            _equal(*levels, f"level in {where}")
        if self.examines("bullets") and one.text.strip():
            _equal(_bullet(one), _bullet(other), f"bullet in {where}")
        runs = [list(part.runs) for part in (one, other)]
        if not one.text.strip() and not other.text.strip():
            return
        if self.examines("run_count"):
            _equal(len(runs[0]), len(runs[1]), f"number of runs in {where}")
        for run, wanted in zip(*runs, strict=False):
            self.fonts(run.font, wanted.font, where)

    def fonts(self, one: Any, other: Any, where: str) -> None:
        for name, read in FONT.items():
            if self.examines(name):
                _equal(read(one), read(other), f"{name.replace('_', ' ')} in {where}")


#: option -> what of a font it is about; what is not said is as if it were off
FONT: dict[str, Callable[[Any], Any]] = {
    "font_name": lambda font: font.name,
    "font_size": lambda font: font.size,
    "font_bold": lambda font: bool(font.bold),
    "font_italic": lambda font: bool(font.italic),
    "font_underline": lambda font: bool(font.underline),
    "strike_through": lambda font: font._element.get("strike", "noStrike"),
    "color_rgb": lambda font: _rgb(font.color),
}


def compare_pptx(result: Path, expected: Path, options: Options) -> float:
    """Nothing that counts differs."""
    _Comparison(options).presentations(_presentation(result), _presentation(expected))
    return 1.0


def _equal(found: Any, wanted: Any, what: str) -> None:
    if found != wanted:
        raise Refuted(f"{what}: {found!r:.60} instead of {wanted!r:.60}")


def _holds(held: bool, why: str) -> bool:
    if not held:
        raise Refuted(why)
    return True


def _texted(*shapes: Any) -> bool:
    return all(shape.has_text_frame for shape in shapes)


def _text(shape: Any) -> str:
    return str(shape.text_frame.text).strip() if shape.has_text_frame else ""


def _rgb(colour: Any) -> str | None:
    return str(colour.rgb) if colour is not None and colour.type == 1 else None


def _background(slide: Any) -> str | None:
    """The colour of a solid background, of the slide or of its master."""
    from pptx.enum.dml import MSO_FILL

    for holder in (slide, slide.slide_layout.slide_master):
        fill = holder.background.fill
        if fill.type == MSO_FILL.SOLID:
            return _rgb(fill.fore_color)
        if fill.type != MSO_FILL.BACKGROUND:
            return None
    return None


def _notes(slide: Any) -> str:
    if not slide.has_notes_slide or slide.notes_slide.notes_text_frame is None:
        return ""
    return str(slide.notes_slide.notes_text_frame.text).strip()


def _bullet(paragraph: Any) -> tuple[str, str] | None:
    """Its character and its level; None without one."""
    properties = paragraph._p.pPr
    bullet = None if properties is None else properties.find(f"{DRAWING}buChar")
    return None if bullet is None else (bullet.get("char", ""), properties.get("lvl", "0"))


# One property.


def _portrait(result: Path, expected: Any, options: Options) -> float:
    presentation = _presentation(result)
    return float(presentation.slide_height > presentation.slide_width)


def _transition(result: Path, rules: Options, options: Options) -> float:
    name = f"ppt/slides/slide{int(rules['slide_idx']) + 1}.xml"
    with zipfile.ZipFile(result) as package:
        if package.getinfo(name).file_size > MAX_UNPACKED:
            raise Refuted("the slide is too large")
        text = package.read(name)
    from xml.etree import ElementTree

    for one in ElementTree.fromstring(text).iter():
        kinds = [part.tag.rpartition("}")[2] for part in one]
        if one.tag.endswith("}transition") and rules["transition_type"] in kinds:
            return 1.0
    raise Refuted("there is no such transition")


def _fill_distance(result: Path, rules: Options, options: Options) -> float:
    """How near the backgrounds are to a colour, by how far they were from it before."""
    wanted, before = rules["rgb"], rules["original_rgb"]
    scale = _distance(wanted, before)
    scores = []
    for slide in _presentation(result).slides:
        colour = _background(slide)
        found = before if colour is None else [int(colour[i : i + 2], 16) for i in (0, 2, 4)]
        scores.append(max(0.0, 1 - _distance(found, wanted) / scale) if scale else float(found == wanted))
    return sum(scores) / len(scores) if scores else 0.0


def _distance(one: Any, other: Any) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5)


def _stretched(result: Path, expected: Path, options: Options) -> float:
    """The first picture of the first slide fills the height and stands in the middle; it is the one of the original."""
    presentation, original = _presentation(result), _presentation(expected)
    found, before = (
        [shape for shape in one.slides[0].shapes if shape.shape_type == PICTURE]
        for one in (presentation, original)
    )
    if not found or not before or found[0].image.blob != before[0].image.blob:
        raise Refuted("the picture is not there")
    picture, height, width = found[0], presentation.slide_height, presentation.slide_width
    near = 0.005 * height
    held = (
        abs(picture.height - height) <= near
        and abs(picture.top) <= near
        and abs(2 * picture.left + picture.width - width) <= 4 * near
    )
    return float(held)


#: How a colour is recognised by its name: which part stands out.
_PARTS = {"red": 0, "green": 1, "blue": 2}
_STANDS_OUT = 50


def _page_numbers(result: Path, rules: Options, options: Options) -> float:
    """Every slide shows its number in the colour, by its own field or by that of its master."""
    wanted = str(rules["color"])
    if wanted not in (*_PARTS, "black"):
        raise TaskError(f"check_page_number_colors does not know the colour {wanted!r}")
    for number, slide in enumerate(_presentation(result).slides, 1):
        parts = (slide, slide.slide_layout, slide.slide_layout.slide_master)
        colours = next(filter(None, map(_number_colours, parts)), [])
        if not colours or not all(_is_colour(one, wanted) for one in colours):
            raise Refuted(f"the number of slide {number} is not {wanted}")
    return 1.0


def _number_colours(part: Any) -> list[str]:
    """Colours of the fields that show a slide's number."""
    fields = [one for one in part._element.iter(f"{DRAWING}fld") if one.get("type") == "slidenum"]
    path = f"{DRAWING}rPr/{DRAWING}solidFill/{DRAWING}srgbClr"
    return [colour.get("val", "") for field in fields for colour in field.findall(path)]


def _is_colour(text: str, name: str) -> bool:
    parts = [int(text[i : i + 2], 16) for i in (0, 2, 4)]
    if name == "black":
        return max(parts) < _STANDS_OUT
    strong = parts.pop(_PARTS[name])
    return all(strong > part + _STANDS_OUT for part in parts)


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "compare_pptx_files": compare_pptx,
    "check_slide_orientation_Portrait": _portrait,
    "check_transition": _transition,
    "evaluate_presentation_fill_to_rgb_distance": _fill_distance,
    "check_page_number_colors": _page_numbers,
    "check_image_stretch_and_center": _stretched,
}
