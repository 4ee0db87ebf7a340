"""Reads the calls out of Python source without running any of it.

Shared by the formats that are written as Python. Takes statements that are a call of a dotted name
with literal arguments, imports and settings that the caller lists, bare words that it lists, and
strings that stand alone; refuses everything else. Does not know what any call means.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import threading
import tokenize
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from operant.actions.payload import MAX_ITEMS, Fields, check_text, json_value, malformed
from operant.errors import ActionParseError

__all__ = ["Call", "Vocabulary", "python_literal", "python_string", "read_calls", "unfenced"]

#: Tokens from the start of a statement to any place in it, not counting earlier arguments. Bounds the
#: depth of the syntax tree before Python's parser, which a deep enough source can crash, sees it.
MAX_TOKENS_DEEP = 100
_FORBIDDEN_WORDS = set(keyword.kwlist) - {"True", "False", "None", "import", "from", "as"}
_FENCE_OPENS = re.compile(r"^[ \t]*```(?:(?:python|py|code)(?=\s))?", re.MULTILINE)
_FENCE_CLOSES = re.compile(r"```[ \t]*$", re.MULTILINE)
#: What Python's own tokenizer and parser raise, by version, on text that is not Python.
_NOT_PYTHON = (
    tokenize.TokenError,
    SyntaxError,
    ValueError,
    OverflowError,
    MemoryError,
    RecursionError,
    SystemError,
)
# Python warns of escapes such as "\d" when it reads a model's source; the filter to hush it is global.
_parsing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Call:
    """One call, or one bare word: its dotted name, its literal arguments and how it was written."""

    function: str
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    source: str = ""

    def bind(self, parameters: Sequence[str]) -> Fields:
        """The arguments by name, as a function with these parameters would see them."""
        if len(self.args) > len(parameters):
            raise malformed(f"{self.function} takes at most {len(parameters)} arguments", self.source)
        values = dict(zip(parameters, self.args, strict=False))
        for name, value in self.kwargs.items():
            if name in values:
                raise malformed(f"{self.function} gets {name} twice", self.source)
            values[name] = value
        return Fields(values, self.function)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a source may name besides functions."""

    modules: Collection[str] = ()
    settings: Collection[str] = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    words: Collection[str] = ()


def read_calls(source: object, allowed: Vocabulary) -> list[Call]:
    """The calls of a source, in order."""
    text = check_text(source).strip()
    if not text:
        raise malformed("an empty source", text)
    _check_shape(text)
    reader = _Reader(text, allowed)
    statements = _parse(text)
    if len(statements) > MAX_ITEMS:
        raise malformed(f"more than {MAX_ITEMS} statements", text)
    calls = [call for statement in statements for call in reader.statement(statement)]
    if not calls:
        raise malformed("a source that does nothing", text)
    return calls


def _check_shape(text: str) -> None:
    if "\0" in text:
        raise malformed("a null character in the source", text)
    levels = [0]
    deep = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and token.string in _FORBIDDEN_WORDS:
                raise malformed("only calls with literal arguments are allowed", token.string)
            if _is_formatted(token):
                raise malformed("a formatted string", token.string)
            if token.type in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                continue
            if token.type == tokenize.NEWLINE or token.string in (",", ";"):
                deep, levels[-1] = deep - levels[-1], 0
                continue
            if token.type == tokenize.OP and token.string in ")]}":
                if len(levels) > 1:
                    deep -= levels.pop()
                continue
            deep, levels[-1] = deep + 1, levels[-1] + 1
            if token.type == tokenize.OP and token.string in "([{":
                levels.append(0)
            if deep > MAX_TOKENS_DEEP:
                raise malformed("an expression nested too deeply", token.line)
    except ActionParseError:
        raise
    except _NOT_PYTHON as error:
        raise malformed(f"not Python: {type(error).__name__}", text) from None


def _is_formatted(token: tokenize.TokenInfo) -> bool:
    """Whether a token opens a string that holds expressions: from Python 3.12 on a token of its own."""
    if token.type == tokenize.STRING:
        return "f" in token.string[: token.string.index(token.string[-1])].lower()
    return tokenize.tok_name[token.type] in ("FSTRING_START", "TSTRING_START")


def _parse(text: str) -> list[ast.stmt]:
    try:
        with _parsing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except _NOT_PYTHON as error:
        reason = error.msg if isinstance(error, SyntaxError) else type(error).__name__
        raise malformed(f"not Python: {reason}", text) from None


class _Reader:
    def __init__(self, text: str, allowed: Vocabulary) -> None:
        # Only these end a line for Python; str.splitlines knows more of them.
        self._lines = [line.encode() for line in re.split(r"\r\n|\r|\n", text)]
        self._allowed = allowed

    def quote(self, node: ast.expr | ast.stmt) -> str:
        line = self._lines[node.lineno - 1] if node.lineno <= len(self._lines) else b""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return line[node.col_offset : end].decode(errors="replace")

    def statement(self, node: ast.stmt) -> list[Call]:
        match node:
            case ast.Import(names=names) if all(
                alias.name in self._allowed.modules and alias.asname is None for alias in names
            ):
                return []
            case ast.Assign(targets=[target], value=value) if self.name(target) in self._allowed.settings:
                self.literal(value)
                return []
            case ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Expr(value=ast.Name(id=word)) if word in self._allowed.words:
                return [Call(word, source=word)]
            case ast.Expr(value=ast.Call() as call):
                return [self.call(call)]
        raise malformed("only calls with literal arguments are allowed", self.quote(node))

    def call(self, node: ast.Call) -> Call:
        source = self.quote(node)
        function = self.name(node.func)
        if function is None:
            raise malformed("a call of something that has no plain name", source)
        kwargs: dict[str, object] = {}
        for argument in node.keywords:
            if argument.arg is None:
                raise malformed("arguments have to be written out", source)
            if argument.arg in kwargs:
                raise malformed(f"{function} gets {argument.arg} twice", source)
            kwargs[argument.arg] = self.literal(argument.value)
        return Call(function, tuple(self.literal(argument) for argument in node.args), kwargs, source)

    def name(self, node: ast.expr) -> str | None:
        """``a.b.c`` for a chain of plain names, None for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        return ".".join([node.id, *reversed(parts)])

    def literal(self, node: ast.expr) -> object:
        """The value of a literal; tuples become lists, so that every value is one that JSON can hold."""
        match node:
            case ast.Constant(value=value):
                return json_value(value)
            case ast.UnaryOp(
                op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as value)
            ):
                return json_value(-value if isinstance(sign, ast.USub) else value)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return json_value([self.literal(item) for item in items])
            case ast.Dict(keys=keys, values=values):
                if any(key is None for key in keys):
                    raise malformed("arguments have to be written out", self.quote(node))
                names = [self.literal(key) for key in keys if key is not None]
                return json_value(
                    {check_text(name): self.literal(value) for name, value in zip(names, values, strict=True)}
                )
            case ast.Attribute() if (name := self.name(node) or "") in self._allowed.constants:
                return self._allowed.constants[name]
        raise malformed("an argument that is not a literal", self.quote(node))


def unfenced(text: str) -> str:
    """The code of the first fenced block of a text, or the text if no line begins with a fence."""
    opening = _FENCE_OPENS.search(text)
    if opening is None:
        return text
    closing = _FENCE_CLOSES.search(text, opening.end())
    if closing is None:
        raise malformed("a code fence that is never closed", text[opening.start() :])
    return text[opening.end() : closing.start()]


def python_string(text: str) -> str:
    """The text as a Python literal in single quotes, whatever quotes are in it."""
    # repr picks single quotes for a text that has both kinds, so it is given one of the other kind.
    return "'" + repr('"' + text)[2:]


def python_literal(value: object) -> str:
    """A JSON value as Python source."""
    return python_string(value) if isinstance(value, str) else repr(value)
