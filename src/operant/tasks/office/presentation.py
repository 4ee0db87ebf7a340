"""Presentations as data: slides with a title, lines and notes. Files are pptx, through python-pptx."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Literal

from operant.config.base import Config
from operant.tasks.criteria.packages import Package
from operant.tasks.criteria.question import Refuted

if TYPE_CHECKING:
    from pptx.slide import Slide as FileSlide

__all__ = ["Presentation", "Slide"]

TITLE_AND_CONTENT = 1  # of the layouts of python-pptx's own template
#: Places of a slide that are filled by the application: date, footer, number.
AUTOMATIC = ("DATE", "FOOTER", "SLIDE_NUMBER")


class Slide(Config):
    """One slide."""

    title: str = ""
    lines: tuple[str, ...] = ()
    """What its other boxes say, a line for each paragraph."""
    notes: str = ""
    bold_title: bool = False

    def changed(self, **fields: Any) -> Slide:
        return self.model_copy(update=fields)


class Presentation(Config):
    """Slides in their order."""

    kind: Literal["pptx"] = "pptx"
    slides: tuple[Slide, ...]

    @classmethod
    def of(cls, *slides: Slide) -> Presentation:
        return cls(slides=slides)

    def written(self) -> bytes:
        import pptx

        file = pptx.Presentation()
        for slide in self.slides:
            made = file.slides.add_slide(file.slide_layouts[TITLE_AND_CONTENT])
            made.shapes.title.text = slide.title
            if slide.bold_title:
                made.shapes.title.text_frame.paragraphs[0].runs[0].font.bold = True
            made.placeholders[1].text = "\n".join(slide.lines)
            if slide.notes:
                made.notes_slide.notes_text_frame.text = slide.notes
        buffer = io.BytesIO()
        file.save(buffer)
        return buffer.getvalue()

    @classmethod
    def read(cls, data: bytes, name: str) -> Presentation:
        """What a file says; ``Refuted`` if it is no such file."""
        import pptx

        Package(data, name).screen()
        try:
            return cls(slides=tuple(_slide(one) for one in pptx.Presentation(io.BytesIO(data)).slides))
        except Exception as error:  # a library that meets a broken file may raise anything
            raise Refuted(f"{name} is no presentation: {type(error).__name__}: {str(error)[:100]}") from error

    def difference(self, wanted: Presentation) -> str | None:
        """What is not as it should be, in a sentence."""
        for number, (ours, theirs) in enumerate(zip(self.slides, wanted.slides, strict=False), 1):
            for field in Slide.model_fields:
                found, expected = getattr(ours, field), getattr(theirs, field)
                if found != expected:
                    told = f"{field.replace('_', ' ')} {str(found)[:80]!r}, expected {str(expected)[:80]!r}"
                    return f"slide {number}: {told}"
        if len(self.slides) != len(wanted.slides):
            return f"{len(self.slides)} slides, expected {len(wanted.slides)}"
        return None


def _slide(file: FileSlide) -> Slide:
    title = file.shapes.title
    lines: list[str] = []
    for shape in file.shapes:
        automatic = shape.is_placeholder and shape.placeholder_format.type.name in AUTOMATIC
        if shape.has_text_frame and not automatic and (title is None or shape.shape_id != title.shape_id):
            lines += [one.text.strip() for one in shape.text_frame.paragraphs if one.text.strip()]
    runs = [] if title is None else [r for p in title.text_frame.paragraphs for r in p.runs if r.text.strip()]
    notes = file.notes_slide.notes_text_frame if file.has_notes_slide else None
    return Slide(
        title="" if title is None else title.text_frame.text.strip(),
        lines=tuple(lines),
        notes="" if notes is None else notes.text.strip(),
        bold_title=bool(runs) and all(run.font.bold for run in runs),
    )
