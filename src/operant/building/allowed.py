"""What code of a model may use: modules with their names, builtins and programs. Everything else is forbidden."""

from __future__ import annotations

__all__ = ["BUILTINS", "MODULES", "TOOLS"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: module -> the names that may be used of it; empty: all that do not begin with an underscore
MODULES: dict[str, frozenset[str]] = {
    # Beside the function, inside the desktop.
    "bus": frozenset({"SessionBus", "session_bus"}),
    "display": frozenset({"TopWindow", "XDisplay", "wait_until"}),
    "opening": frozenset({"open_program"}),
    "home_files": frozenset({"list_files", "read_text", "write_text", "remove", "exists"}),
    "programs": frozenset({"run", "shown"}),
    "refusal": frozenset({"Refused"}),
    "widgets": _names(
        "ACTIVE AccessibleApplication AppWidget DIALOGS ENTRY FILE_CHOOSER FOCUSED FRAME MULTI_LINE"
        " PUSH_BUTTON SHOWING TEXT TOGGLE_BUTTON"
    ),
    # Of the standard library.
    "__future__": frozenset({"annotations"}),
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "difflib": frozenset({"SequenceMatcher", "get_close_matches", "unified_diff"}),
    "fnmatch": frozenset({"fnmatch", "fnmatchcase"}),
    "html": frozenset({"escape", "unescape"}),
    "itertools": frozenset({"accumulate", "chain", "count", "groupby", "islice", "product", "zip_longest"}),
    "json": frozenset({"JSONDecodeError", "dumps", "loads"}),
    "math": frozenset(),
    "re": _names(
        "DOTALL I IGNORECASE M MULTILINE Match Pattern S VERBOSE X compile error escape findall finditer"
        " fullmatch match search split sub subn"
    ),
    "statistics": frozenset({"mean", "median", "mode", "pstdev", "stdev"}),
    "string": frozenset({"ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation"}),
    "textwrap": frozenset({"dedent", "fill", "indent", "shorten", "wrap"}),
    "time": frozenset({"monotonic", "sleep", "strftime", "time"}),
    "typing": frozenset({"Any", "Dict", "List", "Literal", "Optional", "Tuple"}),
    "unicodedata": frozenset({"category", "normalize"}),
}
BUILTINS = _names(
    "ArithmeticError AttributeError Exception False IndexError KeyError LookupError None OSError"
    " RuntimeError True TypeError ValueError ZeroDivisionError abs all any ascii bin bool bytes chr"
    " dict divmod enumerate filter float frozenset hash hex int isinstance iter len list map max min"
    " next object oct ord pow range repr reversed round set slice sorted str sum tuple zip"
)
#: Programs that any function may run: they read what they are given and print.
TOOLS = frozenset({"pdftotext", "pdfinfo", "identify", "file", "wc", "sort", "date"})
