"""Pictures: the same ones, or the same structure with other colours, sizes or directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import as_list

__all__ = ["METRICS", "compare_images", "grey", "look_alike", "similarity"]

Pixels = npt.NDArray[np.float64]
Options = Mapping[str, Any]
MAX_PIXELS = 64_000_000
ALIKE = 0.9
WINDOW = 7


def _open(path: Path, mode: str = "RGB", size: tuple[int, int] | None = None) -> Pixels:
    from PIL import Image

    with Image.open(path) as picture:
        if picture.width * picture.height > MAX_PIXELS:
            raise Refuted(f"{path.name} is too large")
        shown = picture.convert(mode)
        if size is not None and shown.size != size:
            shown = shown.resize(size, Image.Resampling.LANCZOS)
        return np.asarray(shown, dtype=np.float64)


def similarity(one: Pixels, other: Pixels) -> float:
    """Structural similarity of two grey pictures of one size (mean SSIM over windows of 7 pixels)."""
    if one.shape != other.shape:
        return 0.0
    if min(one.shape) < WINDOW:
        return float(np.array_equal(one, other))
    first, second = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    count = WINDOW * WINDOW
    mean_one, mean_other = _means(one), _means(other)
    factor = count / (count - 1)
    var_one = factor * (_means(one * one) - mean_one**2)
    var_other = factor * (_means(other * other) - mean_other**2)
    both = factor * (_means(one * other) - mean_one * mean_other)
    top = (2 * mean_one * mean_other + first) * (2 * both + second)
    bottom = (mean_one**2 + mean_other**2 + first) * (var_one + var_other + second)
    return float((top / bottom).mean())


def _means(values: Pixels) -> Pixels:
    """The mean of every window, by sums from the corner."""
    sums = np.pad(values.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    size = WINDOW
    window = sums[size:, size:] - sums[:-size, size:] - sums[size:, :-size] + sums[:-size, :-size]
    return np.asarray(window / (size * size), dtype=np.float64)


def grey(picture: Any) -> Any:
    """A picture of Pillow's in grey; one that is too large for any screen refutes."""
    if picture.width * picture.height > MAX_PIXELS:
        raise Refuted("a picture is too large")
    return picture.convert("L")


def look_alike(one: Any, other: Any) -> bool:
    """Whether two grey pictures of Pillow's have the same structure, at the size of the smaller one."""
    size = min(one.size, other.size, key=lambda side: side[0] * side[1])
    pixels = [np.asarray(picture.resize(size), dtype=np.float64) for picture in (one, other)]
    return similarity(pixels[0], pixels[1]) >= ALIKE


def _grey_pair(result: Path, expected: Path) -> tuple[Pixels, Pixels]:
    """Both in grey, the larger one scaled to the other's size."""
    sizes = [_open(path, "L").shape[::-1] for path in (result, expected)]
    size = min(sizes, key=lambda one: one[0] * one[1])
    return _open(result, "L", size), _open(expected, "L", size)


def compare_images(result: Path, expected: Path, options: Options) -> float:
    """How similar two pictures are; with ``reference_base_result``, by how much more than that."""
    score = similarity(*_grey_pair(result, expected))
    base = float(options.get("reference_base_result", 0.0))
    return max(0.0, (score - base) / (1 - base))


def _list(result: Any, expected: Any, options: Options) -> float:
    found, wanted = as_list(result), as_list(expected)
    if len(found) != len(wanted) or None in found:
        raise Refuted("a picture is missing")
    return float(
        all(np.array_equal(_open(one), _open(other)) for one, other in zip(found, wanted, strict=True))
    )


def _same_structure(result: Path, expected: Path, options: Options) -> float:
    threshold = float(options.get("ssim_threshold", ALIKE))
    one, other = _open(result, "L"), _open(expected, "L")
    if one.shape != other.shape:
        raise Refuted("the pictures have other sizes")
    return _at_least(similarity(one, other), threshold)


def _at_least(score: float, threshold: float) -> float:
    if score < threshold:
        raise Refuted(f"the structure differs: similarity {score:.3f} below {threshold:g}")
    return 1.0


def _resized_structure(result: Path, expected: Path, options: Options) -> float:
    """The same picture in another size, transparent borders apart."""
    cut = [_cropped(path) for path in (result, expected)]
    size = cut[0].size
    one, other = (np.asarray(picture.convert("L").resize(size), dtype=np.float64) for picture in cut)
    return _at_least(similarity(one, other), ALIKE)


def _cropped(path: Path) -> Any:
    from PIL import Image

    with Image.open(path) as picture:
        shown = picture.convert("RGBA")
    box = shown.getchannel("A").getbbox()
    return shown.crop(box) if box else shown


def _changed(measure: Callable[[Path], float], sign: int, even: Callable[[Pixels], Pixels]) -> Any:
    """A property went up (1) or down (-1) against the gold file, and the structure is the same."""

    def check(result: Path, expected: Path, options: Options) -> float:
        if not sign * (measure(result) - measure(expected)) > 0:
            raise Refuted("the picture did not change in that way")
        one, other = _grey_pair(result, expected)
        return _at_least(similarity(even(one), even(other)), float(options.get("ssim_threshold", 0.65)))

    return check


def _levelled(values: Pixels) -> Pixels:
    """With the same mean and spread, so that brightness and contrast do not count."""
    spread = float(values.std())
    levelled = 128 + 48 * (values - values.mean()) / (spread or 1.0)
    return np.asarray(levelled, dtype=np.float64)


def _brightness(path: Path) -> float:
    return float(_open(path, "L").mean())


def _contrast(path: Path) -> float:
    return float(_open(path, "L").std())


def _saturation(path: Path) -> float:
    return float(_open(path, "HSV")[:, :, 1].mean())


def _darker(result: Path, expected: Path, options: Options) -> float:
    return float(_changed(_brightness, -1, _levelled)(result, expected, {}))


def _size(result: Path, rules: Options, options: Options) -> float:
    from PIL import Image

    if rules.get("ignore_transparent"):
        width, height = _cropped(result).size
    else:
        with Image.open(result) as picture:
            width, height = picture.size
    wanted = {"width": width, "height": height}
    if any(name in rules and rules[name] != value for name, value in wanted.items()):
        raise Refuted(f"the picture is {width}x{height}")
    return 1.0


def _mirrored(result: Path, expected: Path, options: Options) -> float:
    one, other = _open(result, "L"), _open(expected, "L")
    if one.shape != other.shape:
        raise Refuted("the pictures have other sizes")
    return _at_least(similarity(one, other[:, ::-1]), 0.99)


def _palette(result: Path, expected: Path, options: Options) -> float:
    from PIL import Image

    with Image.open(result) as picture:
        if picture.mode != "P":
            raise Refuted(f"its colours are {picture.mode}, not a palette")
    return _at_least(similarity(*_grey_pair(result, expected)), ALIKE)


def _green_background(result: Path, expected: Path, options: Options) -> float:
    """What is white in the gold file is green."""
    found, gold = _open(result), _open(expected)
    if found.shape != gold.shape:
        raise Refuted("the pictures have other sizes")
    background = (gold >= 250).all(axis=2)
    red, green, blue = (found[background][:, index] for index in range(3))
    if not len(green):
        raise TaskError("the gold picture has no white background")
    return float(bool(((green > red) & (green > blue)).all()))


def _triangle_in_middle(result: Path, expected: Any, options: Options) -> float:
    """The yellow pixels are around the middle."""
    found = _open(result)
    yellow = (found[:, :, 0] > 200) & (found[:, :, 1] > 200) & (found[:, :, 2] < 100)
    rows, columns = np.nonzero(yellow)
    if not len(rows):
        raise Refuted("nothing is yellow")
    away = (rows.mean() / found.shape[0] - 0.5, columns.mean() / found.shape[1] - 0.5)
    return float(max(abs(away[0]), abs(away[1])) < 0.05)


def _text_at_left(result: Path, expected: Any, options: Options) -> float:
    """The dark pixels begin in the left twentieth."""
    dark = np.nonzero((_open(result, "L") < 128).any(axis=0))[0]
    if not len(dark):
        raise Refuted("there is no text")
    return float(dark[0] < 0.05 * _open(result, "L").shape[1])


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "compare_images": compare_images,
    "compare_image_list": _list,
    "check_structure_sim": _same_structure,
    "check_structure_sim_with_threshold": _same_structure,
    "check_file_exists_and_structure_sim": _same_structure,
    "check_structure_sim_resized": _resized_structure,
    "check_brightness_decrease_and_structure_sim": _darker,
    "check_contrast_increase_and_structure_sim": _changed(_contrast, 1, _levelled),
    "check_saturation_increase_and_structure_sim": _changed(_saturation, 1, _levelled),
    "check_image_size": _size,
    "check_image_mirror": _mirrored,
    "check_palette_and_structure_sim": _palette,
    "check_green_background": _green_background,
    "check_triangle_position": _triangle_in_middle,
    "check_textbox_on_leftside": _text_at_left,
}
