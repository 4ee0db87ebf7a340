"""Blanks of tasks that are written in files: how a seed draws their values, and how texts get them.

``{name}`` in any text of a task stands for its parameter ``name``; ``{{`` and ``}}`` are plain braces. In a task without
parameters, ``{name}`` is a mistake, ``{{name}}`` is a name in braces, and all other braces are plain.
Nothing is evaluated: a blank is replaced by its value, whatever that says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from operant.errors import TaskError
from operant.tasks.criteria.parse import nearest
from operant.tasks.draw import Draw

__all__ = ["check_size", "draw_parameters", "fill", "fill_nothing"]

NAME = re.compile(r"[a-z_][a-z0-9_]*")
BLANK = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
NAMED = re.compile(r"\{\{([a-z_][a-z0-9_]*)\}\}|\{([a-z_][a-z0-9_]*)\}")
MAX_NODES = 20_000  # of the data of one task: references in YAML can multiply without end


def draw_parameters(declared: object, draw: Draw, where: str) -> dict[str, Any]:
    """The values of all parameters, in the order in which they are declared."""
    if not isinstance(declared, Mapping):
        raise TaskError(f"{where}: {declared!r} is not a mapping of names to what fills them")
    values: dict[str, Any] = {}
    for name, how in declared.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise TaskError(f"{where}: {name!r} is not a name", hint="names are small letters, digits and _")
        try:
            values[name] = _drawn(how, draw, values)
        except TaskError as error:
            raise TaskError(f"{where}.{name}: {error.message}", hint=error.hint) from error
    return values


def _drawn(how: object, draw: Draw, known: Mapping[str, Any]) -> Any:
    if isinstance(how, list):
        how = {"choice": how}
    if not isinstance(how, Mapping):
        return how
    if len(how) != 1:
        raise TaskError("one way to fill it is needed", hint=nearest("", WAYS))
    ((way, detail),) = how.items()
    if way not in WAYS:
        raise TaskError(f"{way!r} is not a way to fill it", hint=nearest(way, WAYS))
    return WAYS[way](draw, detail, known)


def _choice(draw: Draw, options: object, known: Mapping[str, Any]) -> Any:
    if not isinstance(options, list) or not options:
        raise TaskError(f"{options!r} is not a list to choose from")
    return draw.choice(options)


def _number(draw: Draw, detail: object, known: Mapping[str, Any]) -> int:
    low, high = _integers(detail, 2, "a range like [10, 99]")
    if low > high or high - low > 1_000_000:
        raise TaskError(f"no number can be drawn from {low} to {high}")
    return draw.number(low, high)


def _place(draw: Draw, detail: object, known: Mapping[str, Any]) -> list[int]:
    width, height = _integers(detail, 2, "a size like [640, 480]")
    return list(draw.place(width, height))


def _word(draw: Draw, pool: object, known: Mapping[str, Any]) -> str:
    return draw.word(str(pool))


def _phrase(draw: Draw, words: object, known: Mapping[str, Any]) -> str:
    if not isinstance(words, int) or isinstance(words, bool) or not 1 <= words <= 10:
        raise TaskError(f"{words!r} is not a number of words from 1 to 10")
    return draw.phrase(words)


def _file_name(draw: Draw, extension: object, known: Mapping[str, Any]) -> str:
    if not isinstance(extension, str) or not extension.isalnum():
        raise TaskError(f"{extension!r} is not an extension like txt")
    return draw.file_name(extension)


def _sum(draw: Draw, names: object, known: Mapping[str, Any]) -> int:
    return sum(_operands(names, known))


def _product(draw: Draw, names: object, known: Mapping[str, Any]) -> int:
    return math.prod(_operands(names, known))


def _difference(draw: Draw, names: object, known: Mapping[str, Any]) -> int:
    first, *others = _operands(names, known)
    return first - sum(others)


#: How a parameter can be filled -> who does it. The first four draw from pools that the splits do not share.
WAYS: dict[str, Callable[[Draw, object, Mapping[str, Any]], Any]] = {
    "word": _word,
    "phrase": _phrase,
    "file_name": _file_name,
    "number": _number,
    "choice": _choice,
    "place": _place,
    "sum": _sum,
    "product": _product,
    "difference": _difference,
}


def _integers(detail: object, count: int, example: str) -> list[int]:
    numbers = detail if isinstance(detail, list) else []
    if len(numbers) != count or not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise TaskError(f"{detail!r} is not {example}")
    return numbers


def _operands(names: object, known: Mapping[str, Any]) -> list[int]:
    if not isinstance(names, list) or not names:
        raise TaskError(f"{names!r} is not a list of parameters")
    for name in names:
        if name not in known:
            raise TaskError(f"{name!r} is not a parameter above this one", hint=nearest(name, known))
        if not isinstance(known[name], int):
            raise TaskError(f"{name!r} is not a number")
    return [known[name] for name in names]


def check_size(data: object, where: str) -> None:
    """Refuse data that goes on and on."""
    seen = 0
    waiting = [data]
    while waiting:
        item = waiting.pop()
        seen += 1
        if seen > MAX_NODES:
            raise TaskError(f"{where}: there is too much of it")
        waiting += (
            list(item.values()) if isinstance(item, Mapping) else item if isinstance(item, list) else []
        )


def fill(data: Any, values: Mapping[str, Any], where: str) -> Any:
    """The same data with every blank of every text filled in."""
    if isinstance(data, str):
        return fill_text(data, values, where)
    if isinstance(data, list):
        return [fill(one, values, f"{where}[{index}]") for index, one in enumerate(data)]
    if isinstance(data, Mapping):
        return {fill(key, values, where): fill(one, values, f"{where}.{key}") for key, one in data.items()}
    return data


def fill_nothing(data: Any, where: str) -> Any:
    """The same data, of a task that has no parameters: a blank in it is an error."""
    if isinstance(data, str):
        return NAMED.sub(lambda match: _plain(match, where), data)
    if isinstance(data, list):
        return [fill_nothing(one, f"{where}[{index}]") for index, one in enumerate(data)]
    if isinstance(data, Mapping):
        return {fill_nothing(key, where): fill_nothing(one, f"{where}.{key}") for key, one in data.items()}
    return data


def _plain(match: re.Match[str], where: str) -> str:
    if match[1] is not None:
        return f"{{{match[1]}}}"
    raise TaskError(
        f"{where}: no parameter fills the blank {match[0]!r}",
        hint=f"say under parameters what fills it, or write {{{match[0]}}} for plain braces",
    )


def fill_text(text: str, values: Mapping[str, Any], where: str) -> Any:
    whole = BLANK.fullmatch(text)
    if whole and whole[1] is not None and isinstance(values.get(whole[1]), (list, bool)):
        return values[whole[1]]  # a place for a window, say, stays what it is

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        if match[1] not in values:
            hint = f"{nearest(match[1], values)} Write {{{{ for a plain brace." if values else None
            raise TaskError(f"{where}: no parameter fills the blank {match[0]!r}", hint=hint)
        return str(values[match[1]])

    return BLANK.sub(value, text)
