"""Formulas as people write them for Excel (``=SUM(A1,Data!B2)``), in the way that Calc's interface reads them."""

from __future__ import annotations

#: Codes of cells whose formula can't be read at all.
UNREADABLE = {501, 507, 508, 509, 510, 511, 512, 514, 516}
ERRORS = {
    502: "#VALUE! (invalid argument)",
    503: "#NUM!",
    519: "#VALUE!",
    522: "a circular reference",
    523: "no convergence",
    524: "#REF!",
    525: "#NAME? (an unknown name or function)",
    532: "#DIV/0!",
    32767: "#N/A",
}


def for_calc(formula: str) -> str:
    """The same formula with ``;`` between arguments and ``.`` behind the name of a sheet."""
    made, place, braces = [], 0, 0
    while place < len(formula):
        character = formula[place]
        if character in "\"'":
            end = _end_of_quoted(formula, place)
            made.append(formula[place:end])
            place = end
            continue
        if character == "{":
            braces += 1
        elif character == "}":
            braces -= 1
        elif braces and character == ";":
            character = "|"
        elif character == ",":
            character = ";"
        elif character == "!" and _ends_sheet_name(formula, place):
            character = "."
        made.append(character)
        place += 1
    return "".join(made)


def _end_of_quoted(formula: str, place: int) -> int:
    quote = formula[place]
    place += 1
    while place < len(formula):
        if formula[place] == quote:
            if formula[place + 1 : place + 2] != quote:
                return place + 1
            place += 1
        place += 1
    return place


def _ends_sheet_name(formula: str, place: int) -> bool:
    """Whether the mark there is not the end of ``#REF!``, and a cell follows."""
    before, after = formula[:place], formula[place + 1 : place + 2]
    if not before or not (before[-1] == "'" or before[-1].isalnum() or before[-1] == "_"):
        return False
    word = before.rpartition("#")
    if word[1] and word[2].isalpha() and word[2].isupper() and word[2] in ("REF", "NUM", "VALUE", "NULL"):
        return False
    return after.isalpha() or after in ("$", "#")
