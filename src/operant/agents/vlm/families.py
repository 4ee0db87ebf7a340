"""How families of models differ: in what they count coordinates, how large they see, where adapters go.

To add a family: one ``Family`` below. A family knows nothing of prompts or actions; ``answers`` turns its
units into canonical points, and ``loading`` asks it for a processor that needs no video libraries. Models of no
family here are ``GENERIC``: they work, but how they count tokens was not tested.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from operant.actions.coordinates import Units
from operant.errors import ModelError
from operant.types import Size

__all__ = ["FAMILIES", "GENERIC", "Family", "Units", "family_of", "kind_of_name"]


Shown = Callable[[Size, Any, int], Size]

PROJECTIONS = "q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj"
LONGEST_SIDE_RATIO = 200  # what Qwen's processor refuses


@dataclass(frozen=True)
class Family:
    """One family. ``shown`` gives the size at which a screen is shown, for (screen, image processor, pixels)."""

    name: str
    model_types: tuple[str, ...]
    units: Units
    shown: Shown
    lora_targets: str
    """Pattern for the full names of the layers that get adapters: the language model's, never the eye's."""
    hub_names: str = ""
    """Pattern for the names under which hubs offer its models, to tell the kind before anything is downloaded."""
    still_processor: str | None = None
    """The processor class to load without its video part, which needs libraries that screens don't."""


def in_patches(screen: Size, image_processor: Any, max_pixels: int) -> Size:
    """Qwen's way: both sides whole patches, as large as allowed, nearly the same shape."""
    patch = int(image_processor.patch_size) * int(image_processor.merge_size)
    limits = image_processor.size
    least = int(limits["shortest_edge"])
    most = max(min(int(limits["longest_edge"]), max_pixels), patch * patch, least)
    if max(screen) / min(screen) > LONGEST_SIDE_RATIO:
        raise ModelError(f"a screen of {screen} is too narrow for this model")
    width, height = (max(patch, round(side / patch) * patch) for side in screen)
    if width * height > most:
        shrink = math.sqrt(screen.width * screen.height / most)
        width, height = (max(patch, math.floor(side / shrink / patch) * patch) for side in screen)
    elif width * height < least:
        grow = math.sqrt(least / (screen.width * screen.height))
        width, height = (math.ceil(side * grow / patch) * patch for side in screen)
    return Size(width, height)


def by_longest_side(screen: Size, image_processor: Any, max_pixels: int) -> Size:
    """Idefics' way: the processor scales to a longest side and cuts tiles; we only keep the pixels few."""
    shrink = min(1.0, math.sqrt(max_pixels / (screen.width * screen.height)))
    longest = (getattr(image_processor, "size", None) or {}).get("longest_edge")
    if longest:
        shrink = min(shrink, int(longest) / max(screen))
    return Size(max(1, round(screen.width * shrink)), max(1, round(screen.height * shrink)))


def as_square(screen: Size, image_processor: Any, max_pixels: int) -> Size:
    """LLaVA's way: one fixed size. The screen is squeezed into it, because a crop would lose its sides."""
    target = getattr(image_processor, "crop_size", None) or image_processor.size
    side = target.get("height") or target.get("shortest_edge")
    return Size(int(target.get("width") or side), int(side))


def uncropped(screen: Size, image_processor: Any, max_pixels: int) -> Size:
    """For processors without a description here: by the longest side, or squeezed if the sides would be cut off."""
    if getattr(image_processor, "do_center_crop", None):
        return as_square(screen, image_processor, max_pixels)
    return by_longest_side(screen, image_processor, max_pixels)


_LANGUAGE = rf".*language_model\..*\.({PROJECTIONS})"

_TEXT = rf".*text_model\..*\.({PROJECTIONS})"

FAMILIES: tuple[Family, ...] = (
    Family(
        "Qwen2-VL",
        ("qwen2_vl",),
        Units.THOUSANDTHS,
        in_patches,
        _LANGUAGE,
        r"qwen2-vl|ui-tars-\d+b",
        "Qwen2VLProcessor",
    ),
    Family(
        "Qwen2.5-VL",
        ("qwen2_5_vl",),
        Units.PIXELS,
        in_patches,
        _LANGUAGE,
        r"qwen2\.5-vl|ui-tars-1\.5",
        "Qwen2_5_VLProcessor",
    ),
    Family(
        "Qwen3-VL", ("qwen3_vl",), Units.THOUSANDTHS, in_patches, _LANGUAGE, r"qwen3-vl", "Qwen3VLProcessor"
    ),
    Family(
        "SmolVLM/Idefics3",
        ("smolvlm", "idefics3"),
        Units.FRACTIONS,
        by_longest_side,
        _TEXT,
        r"smolvlm|idefics3",
        "Idefics3Processor",  # SmolVLM's own is this one with a video part
    ),
    Family(
        "Idefics2", ("idefics2",), Units.FRACTIONS, by_longest_side, _TEXT, r"idefics2", "Idefics2Processor"
    ),
    Family("LLaVA", ("llava",), Units.FRACTIONS, as_square, _LANGUAGE, r"llava-(1\.5|v1\.5|interleave)"),
)

#: Any other image-text-to-text model: PEFT's word for all linear layers, because their names are not known.
GENERIC = Family("generic", ("generic",), Units.FRACTIONS, uncropped, "all-linear")


def family_of(model_type: str) -> Family:
    """The family of a model's ``model_type``; ``generic`` is one, too."""
    for family in (*FAMILIES, GENERIC):
        if model_type in family.model_types:
            return family
    known = ", ".join(name for family in FAMILIES for name in family.model_types)
    raise ModelError(
        f"a model of kind {model_type!r} is of no known family",
        hint=f"kinds that work: {known}, and generic for others",
    )


def kind_of_name(name: str) -> str:
    """The ``model_type`` that a hub name speaks of; empty if it does not say."""
    for family in FAMILIES:
        if family.hub_names and re.search(family.hub_names, name, re.IGNORECASE):
            return next((kind for kind in family.model_types if kind in name.lower()), family.model_types[0])
    return ""
