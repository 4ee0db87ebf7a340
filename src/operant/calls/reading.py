"""Reads the declarations of an API from its source, as text: the module is never imported outside a desktop.

Every public function is declared. Its parameters have annotations (``str``, ``int``, ``float``, ``bool``, ``list[...]``,
``dict[str, ...]``, ``Literal[...]``, ``object``, each also with ``| None``) and literal defaults, and its docstring is what
a model reads. ``WM_CLASS`` names the windows that the API belongs to, ``TIME_LIMITS`` gives functions that take long
more seconds.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from operant.calls.declaration import REQUIRED, Api, Function, Kind, Parameter, ValueType
from operant.errors import ConfigError

__all__ = ["read_api", "read_type"]

TIME_LIMIT_S = 10.0
_SIMPLE: dict[str, Kind] = {
    "str": "text",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "list",
    "dict": "record",
    "object": "anything",
}


def read_api(name: str, source: str) -> Api:
    """The declarations in a module's source; ``ConfigError`` names what can't be declared."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"the API {name} is not Python: {error}") from error
    constants = {
        node.targets[0].id: _literal(name, node.value)
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("WM_CLASS", "TIME_LIMITS")
    }
    limits = constants.get("TIME_LIMITS", {})
    functions = tuple(
        _function(name, node, float(limits.get(node.name, TIME_LIMIT_S)))
        for node in module.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    )
    if not functions:
        raise ConfigError(f"the API {name} has no functions")
    unknown = sorted(set(limits) - {one.name for one in functions})
    if unknown:
        raise ConfigError(f"the API {name} has a time limit for {unknown[0]}, which is not there")
    doc = (ast.get_docstring(module) or "").partition("\n")[0]
    return Api(name, doc, str(constants.get("WM_CLASS", "")), functions)


def _function(api: str, node: ast.FunctionDef, time_limit_s: float) -> Function:
    place = f"{api}.{node.name}"
    doc = inspect.cleandoc(ast.get_docstring(node) or "")
    if not doc:
        raise ConfigError(f"{place} has no docstring", hint="it is what a model reads")
    given = node.args
    if given.vararg or given.kwarg or given.posonlyargs or given.kwonlyargs:
        raise ConfigError(f"{place} may only have parameters that are given by place or by name")
    if node.returns is None:
        raise ConfigError(f"{place} does not say what it returns")
    bare: list[Any] = [REQUIRED] * (len(given.args) - len(given.defaults))
    defaults = bare + [_literal(place, one) for one in given.defaults]
    parameters = []
    for one, default in zip(given.args, defaults, strict=True):
        if one.annotation is None:
            raise ConfigError(f"{place}: {one.arg} has no type")
        parameters.append(Parameter(one.arg, read_type(place, one.annotation), default))
    return Function(api, node.name, tuple(parameters), doc, ast.unparse(node.returns), time_limit_s)


def read_type(place: str, node: ast.expr) -> ValueType:
    """The type that an annotation says; ``ConfigError`` for one that no argument can have."""
    written = ast.unparse(node)
    match node:
        case ast.Name(id=simple) if simple in _SIMPLE:
            return ValueType(_SIMPLE[simple], written=written)
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            inner = read_type(place, left)
            return ValueType(inner.kind, inner.item, inner.choices, optional=True, written=written)
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return ValueType("list", read_type(place, item), written=written)
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[ast.Name(id="str"), item])):
            return ValueType("record", read_type(place, item), written=written)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=items)):
            choices = tuple(_literal(place, one) for one in items)
            return ValueType("choice", choices=choices, written=written)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=only):
            return ValueType("choice", choices=(_literal(place, only),), written=written)
    raise ConfigError(f"{place}: {written!r} is not a type that an argument can have")


def _literal(place: str, node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise ConfigError(f"{place}: {ast.unparse(node)[:60]!r} is not a literal") from error
