"""Functions of applications that an agent may call instead of clicking: their declarations, checks and offer.

``inside/api`` holds one module for each application. Its functions run inside a desktop only; here their signatures and
docstrings are read as text (``reading``), arguments are checked against them (``declaration``), and ``catalog`` finds a
function by its name. ``operant.desktop.call_runner`` has them performed.
"""

from __future__ import annotations

from operant.calls.catalog import built_in_apis, find_function, functions_of, offered_functions
from operant.calls.declaration import Api, Function, Parameter, ValueType

__all__ = [
    "Api",
    "Function",
    "Parameter",
    "ValueType",
    "built_in_apis",
    "find_function",
    "functions_of",
    "offered_functions",
]
