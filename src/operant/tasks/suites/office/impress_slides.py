"""Impress: change the slides of a talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.tasks.draw import Draw
from operant.tasks.office.presentation import Presentation, Slide
from operant.tasks.suites.office.office_task import OfficeTask, OracleStep, file_names, menu, replace_all
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

WINDOW = (1080, 680)
NEXT_SLIDE = Action.key("pagedown")
#: Selects the title of the slide and begins to edit it.
EDIT_TITLE = (Action.key("tab"), Action.key("f2"), Action.key("ctrl", "a"))
#: The same with the box below the title.
EDIT_POINTS = (Action.key("tab"), Action.key("tab"), Action.key("f2"))
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


class BoldTitle(SlideTask):
    id = "office/impress-bold-title-v1"
    skill = "keys"
    family = "looks"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Make the title of slide {number} of {file} bold, and save the file.",
        "In {file}, the heading of slide {number} should be in bold type. Save the presentation.",
    )
    heldout_instructions = ("Put the whole title on slide {number} of {file} in bold. Save it.",)

    def changed(self, slide: Slide, p: Params) -> Slide:
        return slide.changed(bold_title=True)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*self.there(p), *EDIT_TITLE, Action.key("ctrl", "b"), LEAVE, LEAVE]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("set_style", slide=p.number, box=1, bold=True)]


class PointTask(SlideTask):
    """The points of slide ``p.number`` change. ``p.point`` is a new one."""

    skill = "type"
    family = "points"
    difficulty = Difficulty.MEDIUM

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {**super().parameters(draw), "point": f"Please {draw.word('verbs')} it"}


class AddPoint(PointTask):
    id = "office/impress-add-point-v1"
    instructions = (
        "Add a point at the end of the list on slide {number} of {file}: {point}. Save the file.",
        "The list on slide {number} of {file} needs one more line at its end: {point}. Save the presentation.",
    )
    heldout_instructions = ("{point}: that is to be the last point on slide {number} of {file}. Save it.",)

    def changed(self, slide: Slide, p: Params) -> Slide:
        return slide.changed(lines=(*slide.lines, p.point))

    def keys(self, p: Params) -> Sequence[OracleStep]:
        end = Action.key("ctrl", "end")
        return [*self.there(p), *EDIT_POINTS, end, Action.type(f"\n{p.point}"), LEAVE, LEAVE]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("write_text", slide=p.number, box=2, text=p.point, append=True)]


class RewritePoints(PointTask):
    id = "office/impress-rewrite-points-v1"
    unseen = True
    instructions = (
        "Replace all points on slide {number} of {file} by a single one: {point}. Save the file.",
        "Below its title, slide {number} of {file} should only say: {point}. Save the presentation.",
    )
    heldout_instructions = (
        "Take the list on slide {number} of {file} away and write this in its place: {point}. Save it.",
    )

    def changed(self, slide: Slide, p: Params) -> Slide:
        return slide.changed(lines=(p.point,))

    def keys(self, p: Params) -> Sequence[OracleStep]:
        everything = Action.key("ctrl", "a")
        return [*self.there(p), *EDIT_POINTS, everything, Action.type(p.point), LEAVE, LEAVE]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("write_text", slide=p.number, box=2, text=p.point)]


class DeleteSlide(SlideTask):
    id = "office/impress-delete-slide-v1"
    skill = "menu"
    family = "slides"
    instructions = (
        "Delete slide {number} of {file}, and save the file.",
        "Slide {number} of {file} is not needed. Take it out of the presentation and save it.",
    )
    heldout_instructions = ("Remove slide {number} from {file} and keep all others. Save it.",)

    def after(self, p: Params) -> Presentation:
        slides = self.before(p).slides
        return Presentation.of(*slides[: p.number - 1], *slides[p.number :])

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*self.there(p), *menu("Slide", "Delete Slide")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("delete_slide", slide=p.number)]


class DuplicateSlide(SlideTask):
    id = "office/impress-duplicate-slide-v1"
    skill = "menu"
    family = "slides"
    instructions = (
        "Duplicate slide {number} of {file}, so that the copy follows it. Save the file.",
        "{file} should show slide {number} twice in a row. Copy the slide and save the presentation.",
    )
    heldout_instructions = ("Make a copy of slide {number} directly behind it in {file}. Save it.",)

    def after(self, p: Params) -> Presentation:
        slides = self.before(p).slides
        return Presentation.of(*slides[: p.number], *slides[p.number - 1 :])

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return [*self.there(p), *menu("Slide", "Duplicate Slide")]

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("duplicate_slide", slide=p.number)]


class ReplaceInSlides(SlideTask):
    id = "office/impress-replace-v1"
    skill = "dialog"
    family = "points"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Replace {old} by {name} everywhere in {file}, and save the file.",
        "{name} takes over from {old}. Change the name on all slides of {file} and save it.",
    )
    heldout_instructions = ("Every {old} in {file} should become {name}. Save the presentation.",)

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        values = super().parameters(draw)
        old, name = draw.words(2, "surnames")
        lines = list(values["lines"])
        for at in (0, -1):
            lines[at] = f"{lines[at]} and {old}"
        return {**values, "lines": lines, "old": old, "name": name}

    def after(self, p: Params) -> Presentation:
        return Presentation.of(
            *(
                slide.changed(lines=tuple(line.replace(p.old, p.name) for line in slide.lines))
                for slide in self.before(p).slides
            )
        )

    def keys(self, p: Params) -> Sequence[OracleStep]:
        return replace_all(p.old, p.name)

    def calls(self, p: Params) -> Sequence[Action]:
        return [self.call("find_and_replace", find=p.old, replacement=p.name)]


class ChangeTwoTitles(SlideTask):
    id = "office/impress-two-titles-v1"
    skill = "type"
    family = "slides"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Let the titles of slides 1 and 2 of {file} change places, and save the file.",
        "In {file}, slide 1 should have the title {second} and slide 2 the title {first}. Save the presentation.",
    )
    heldout_instructions = (
        "The titles {first} and {second} of the first two slides of {file} are mixed up. Swap them, and save it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        values = super().parameters(draw)
        return {**values, "first": values["titles"][0], "second": values["titles"][1]}

    def after(self, p: Params) -> Presentation:
        one, two, *others = self.before(p).slides
        return Presentation.of(one.changed(title=p.second), two.changed(title=p.first), *others)

    def keys(self, p: Params) -> Sequence[OracleStep]:
        one = [*EDIT_TITLE, Action.type(p.second), LEAVE, LEAVE]
        return [*one, NEXT_SLIDE, *EDIT_TITLE, Action.type(p.first), LEAVE, LEAVE]

    def calls(self, p: Params) -> Sequence[Action]:
        return [
            self.call("set_title", slide=1, text=p.second),
            self.call("set_title", slide=2, text=p.first),
        ]


TEMPLATES: tuple[type[Template], ...] = (
    ChangeTitle,
    BoldTitle,
    AddPoint,
    RewritePoints,
    DeleteSlide,
    DuplicateSlide,
    ReplaceInSlides,
    ChangeTwoTitles,
)
