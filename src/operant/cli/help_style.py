"""How help looks: flags have no type, every default is told in one way, and what is required says so.

Knows parameters of commands and no verb. ``root`` hands it each command that is about to be parsed.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from typer import BadParameter

__all__ = ["style_help"]


def style_help(command: Any) -> Any:
    """The same command, and those below it, with help in our style."""
    for part in getattr(command, "commands", {}).values():
        style_help(part)
    for parameter in command.params:
        _style(parameter)
    help_option = command.get_help_option

    def get_help_option(context: Any) -> Any:
        option = help_option(context)
        if option is not None:
            option.metavar = ""
        return option

    command.get_help_option = get_help_option
    parse = command.parse_args

    def parse_args(context: Any, args: Any) -> Any:
        try:
            return parse(context, args)
        except BadParameter as error:
            error.message = _in_plain_words(error)
            raise

    command.parse_args = parse_args
    return command


def _in_plain_words(error: BadParameter) -> str:
    """Typer hands on what pydantic says of a value, where pydantic checks it."""
    found = getattr(error.__cause__, "errors", None)
    if found is None:
        return str(error.message)
    from operant.config.plain_words import plain, reason

    first = found()[0]
    return (plain(first) or reason(first)).replace("must be", "it must be", 1)


def _style(parameter: Any) -> None:
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""  # it takes no value
    said = default_text(parameter)
    parameter.show_default = False
    if said:
        from rich.markup import escape

        parameter.help = f"{parameter.help or ''} [dim]{escape(f'[default: {said}]')}[/dim]".strip()


def default_text(parameter: Any) -> str:
    """What a parameter is if it is not given; nothing where that is no value."""
    shown = getattr(parameter, "show_default", None)
    if isinstance(shown, str):
        return shown
    default = parameter.default
    if parameter.required or default is None or default == () or default == [] or callable(default):
        return ""
    if isinstance(default, bool):
        # --network/--no-network has a default worth telling; a plain flag is off.
        names = parameter.opts if default else parameter.secondary_opts
        return names[0].lstrip("-") if parameter.secondary_opts and names else ""
    if isinstance(default, Enum):
        return str(default.value)
    if isinstance(default, float):
        return f"{default:g}"
    if isinstance(default, (list, tuple)):
        return ", ".join(map(str, default))
    return str(default)
