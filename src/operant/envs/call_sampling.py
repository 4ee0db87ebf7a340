"""Calls drawn at random: any function that there is, with arguments of the types that it declares."""

from __future__ import annotations

import numpy as np

from operant.calls.catalog import built_in_apis, functions_of
from operant.calls.declaration import ValueType
from operant.types import Action

__all__ = ["sample_call"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LARGEST = 100
LONGEST = 8  # letters of a text
MOST_ITEMS = 3
DEEPEST = 2  # lists of lists end there


def sample_call(random: np.random.Generator) -> Action:
    """One call. Parameters with a default are given in half of the cases."""
    functions = functions_of(built_in_apis())
    function = functions[int(random.integers(len(functions)))]
    given = {
        one.name: _value(one.type, random, DEEPEST)
        for one in function.parameters
        if one.required or random.random() < 0.5
    }
    return Action.call(function.full_name, given)


def _value(type: ValueType, random: np.random.Generator, depth: int) -> object:
    if type.optional and random.random() < 0.25:
        return None
    match type.kind:
        case "choice":
            return type.choices[int(random.integers(len(type.choices)))]
        case "integer":
            return int(random.integers(LARGEST + 1))
        case "number":
            return float(round(random.uniform(0, LARGEST), 2))
        case "boolean":
            return bool(random.integers(2))
        case "list" | "record":
            item = type.item or ValueType("text")
            count = int(random.integers(MOST_ITEMS + 1)) if depth else 0
            values = [_value(item, random, depth - 1) for _ in range(count)]
            return values if type.kind == "list" else {_text(random): value for value in values}
    return _text(random)


def _text(random: np.random.Generator) -> str:
    length = int(random.integers(1, LONGEST + 1))
    return "".join(LETTERS[int(random.integers(len(LETTERS)))] for _ in range(length))
