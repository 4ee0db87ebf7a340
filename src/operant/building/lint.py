"""What code of a model may be made of, checked on its syntax tree: it is never imported or run here.

Everything that is not allowed is forbidden: modules and their names, builtins, attributes that begin with an underscore
or lead to frames, classes, and statements that run when a module is imported. Programs are named by literals, and only
the application's own and a few harmless tools may be run. The walls of the desktop hold without this; it keeps out of
the store what has no business there.
"""

from __future__ import annotations

import ast
import builtins
import io
import tokenize
from collections.abc import Collection, Iterator

from operant.building.allowed import BUILTINS, MODULES, TOOLS

__all__ = ["lint"]

MOST_CODE = 20_000  # characters
#: Attributes of frames, generators and code, by which every wall of the language can be passed.
FRAMES = ("f_", "tb_", "gi_", "cr_", "ag_", "co_", "func_")
FORBIDDEN_NODES: dict[type[ast.AST], str] = {
    ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "async",
    ast.Await: "await",
    ast.AsyncFor: "async",
    ast.AsyncWith: "async",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Yield: "a generator",
    ast.YieldFrom: "a generator",
    ast.MatchClass: "a class pattern",
    ast.NamedExpr: "an assignment in an expression",
}


def lint(code: str, programs: Collection[str] = ()) -> list[str]:
    """What is forbidden in the code, with its lines; empty if nothing is. ``programs`` are the application's own."""
    if len(code) > MOST_CODE:
        return [f"the code has {len(code)} characters, over the limit of {MOST_CODE}"]
    try:
        tree = ast.parse(code)
        comments = [
            one
            for one in tokenize.generate_tokens(io.StringIO(code).readline)
            if one.type == tokenize.COMMENT
        ]
        found = list(_findings(tree, frozenset(programs) | TOOLS))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        return [f"this is not Python: {error}"]
    for one in comments:
        if any(word in one.string.replace(" ", "") for word in ("type:ignore", "mypy:", "coding")):
            found.append((one.start[0], f"the comment {one.string[:60]!r}"))
    return [f"line {line}: {what} is not allowed" for line, what in sorted(set(found))]


def _findings(tree: ast.Module, programs: frozenset[str]) -> Iterator[tuple[int, str]]:
    modules: dict[str, str] = {}  # name in the code -> the module that it stands for
    bound: set[str] = set()
    bases: set[int] = set()  # the nodes in which a module's name may stand
    direct: set[str] = set()  # names of programs.run and opening.open_program
    for one in tree.body:
        if not _inert(one):
            yield one.lineno, "a statement that runs when the module is loaded"
    for node in ast.walk(tree):
        if kind := FORBIDDEN_NODES.get(type(node)):
            yield getattr(node, "lineno", 0), kind
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name] = alias.name
                if alias.name not in MODULES:
                    yield node.lineno, f"the module {alias.name[:60]}"
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                bound.add(alias.asname or alias.name)
                if module not in MODULES:
                    yield node.lineno, f"the module {module[:60]}"
                elif not _offered(module, alias.name):
                    yield node.lineno, f"{module}.{alias.name[:60]}"
                elif (module, alias.name) in (("programs", "run"), ("opening", "open_program")):
                    direct.add(alias.asname or alias.name)
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            given = node.args
            bound |= {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            bound |= {one.arg for one in (given.vararg, given.kwarg) if one is not None}
            if isinstance(node, ast.FunctionDef):
                bound.add(node.name)
                if node.decorator_list:
                    yield node.lineno, "a decorator"
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, ast.MatchAs | ast.MatchStar) and node.name
        ):
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
    for name in bound | set(modules):
        if name in modules and name in bound:
            yield 1, f"the name of a module, {name}, for something else"
        if (name in direct or name in modules) and hasattr(builtins, name):
            yield 1, f"the name of a builtin, {name}, for something else"
    yield from _uses(tree, modules, bound, direct, bases, programs)


def _uses(
    tree: ast.Module,
    modules: dict[str, str],
    bound: set[str],
    direct: set[str],
    bases: set[int],
    programs: frozenset[str],
) -> Iterator[tuple[int, str]]:
    """Names and attributes that are used, and programs that are run."""
    runs: set[int] = set()  # the nodes by which a program may be run: what a call calls
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _runs(node.func, modules, direct):
            runs.add(id(node.func))
            program = _program(node)
            if program is None:
                yield node.lineno, "a program that is not named by a literal list"
            elif program not in programs:
                yield node.lineno, f"the program {program[:60]!r}"
        if isinstance(node, ast.Attribute):
            if node.attr.startswith("_") or node.attr.startswith(FRAMES):
                yield node.lineno, f"the attribute {node.attr[:60]}"
            if isinstance(node.value, ast.Name) and node.value.id in modules:
                bases.add(id(node.value))
                if not _offered(modules[node.value.id], node.attr):
                    yield node.lineno, f"{modules[node.value.id]}.{node.attr[:60]}"
            if not isinstance(node.ctx, ast.Load):
                yield node.lineno, f"an assignment to the attribute {node.attr[:60]}"
            if node.attr in ("format", "format_map"):
                yield node.lineno, f"the attribute {node.attr}"
        elif isinstance(node, ast.keyword) and node.arg and node.arg.startswith("__"):
            yield node.value.lineno, f"the argument {node.arg[:60]}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "__" in node.value:
            yield node.lineno, "a text with two underscores"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if node.id in modules and id(node) not in bases:
                yield node.lineno, f"the module {node.id} as a value"
            elif node.id.startswith("__") or (hasattr(builtins, node.id) and node.id not in BUILTINS):
                yield node.lineno, f"the name {node.id[:60]}"
            elif node.id not in modules and node.id not in bound and node.id not in BUILTINS:
                yield node.lineno, f"the unknown name {node.id[:60]}"
            elif node.id in direct and id(node) not in runs:
                yield node.lineno, f"{node.id} as a value"
        elif isinstance(node, ast.Attribute) and _runs(node, modules, set()) and id(node) not in runs:
            yield node.lineno, f"{node.attr} as a value"


def _offered(module: str, name: str) -> bool:
    names = MODULES.get(module)
    return names is not None and (name in names if names else not name.startswith("_"))


def _runs(node: ast.expr, modules: dict[str, str], direct: set[str]) -> bool:
    """Whether this is a function that runs a program."""
    match node:
        case ast.Name(id=name):
            return name in direct
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return (modules.get(name), attr) in (("programs", "run"), ("opening", "open_program"))
    return False


def _program(call: ast.Call) -> str | None:
    match call.args[:1]:
        case [ast.List(elts=[ast.Constant(value=str(program)), *_])]:
            return program
    return None


def _inert(node: ast.stmt) -> bool:
    """Whether a statement of the module's own level only declares."""
    match node:
        case ast.FunctionDef() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=value):
            try:
                ast.literal_eval(value if value is not None else ast.Constant(None))
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                return False
            return True
    return False
