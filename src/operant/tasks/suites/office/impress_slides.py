"""Impress: change the slides of a talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.draw import Draw
from operant.tasks.office.presentation import Presentation, Slide
from operant.tasks.suites.office.office_task import OfficeTask, OracleStep, file_names
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

WINDOW = (1080, 680)
NEXT_SLIDE = Action.key("pagedown")
#: Selects the title of the slide and begins to edit it.
EDIT_TITLE = (Action.key("tab"), Action.key("f2"), Action.key("ctrl", "a"))
LEAVE = Action.key("esc")


class SlideTask(OfficeTask):
    """The presentation ``p.file`` is open at its first slide. The task is about slide ``p.number``."""

    apps: ClassVar[tuple[str, ...]] = ("libreoffice-impress",)
    difficulty = Difficulty.EASY

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2, "pptx")
        count = draw.choice((3, 4))
        topics = [topic.capitalize() for topic in draw.words(count + 1, "topics")]
        nouns = draw.words(2 * count, "nouns")
        names = draw.words(2 * count, "names")
        lines = [f"The {noun} of {name}" for noun, name in zip(nouns, names, strict=True)]
        return {
            "file": file,
            "other": other,
            "titles": topics[:count],
            "lines": lines,
            "number": draw.choice((1, 2)),
            "new": topics[-1],
            "place": draw.place(*WINDOW),
        }

    def before(self, p: Params) -> Presentation:
        pairs = [p.lines[2 * i : 2 * i + 2] for i in range(len(p.titles))]
        return Presentation.of(
            *(Slide(title=title, lines=tuple(pair)) for title, pair in zip(p.titles, pairs, strict=True))
        )

    def after(self, p: Params) -> Presentation:
        slides = list(self.before(p).slides)
        slides[p.number - 1] = self.changed(slides[p.number - 1], p)
        return Presentation.of(*slides)

    def changed(self, slide: Slide, p: Params) -> Slide:
        """The slide that the task is about, as it must be saved."""
        return slide

    def others(self, p: Params) -> Mapping[str, Presentation]:
        return {p.other: Presentation.of(Slide(title=p.titles[1], lines=tuple(p.lines[:2])))}

    def there(self, p: Params) -> list[Action]:
        """To the slide that the task is about."""
        return [NEXT_SLIDE] * (p.number - 1)


class ChangeTitle(SlideTask):
    id = "office/impress-title-v1"
    skill = "type"
    family = "slides"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Change the title of slide {number} of {file} to {new}, and save the file.",
        "Slide {number} of {file} should have the title {new}. Save the presentation.",
    )

    def changed(self, slide: Slide, p: Params) -> Slide:
        return slide.changed(title=p.new)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*self.there(p), *EDIT_TITLE, Action.type(p.new), LEAVE, LEAVE]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_title", slide=p.number, text=p.new)]


TEMPLATES: tuple[type[Template], ...] = (ChangeTitle,)
