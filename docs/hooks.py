"""What the site adds to the pages: names of files of the repository in place of links, and the help of every verb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

#: A link from a page to a file outside docs/, such as [defaults](../config/config.yaml).
OUTSIDE = re.compile(r"(!?)\[([^\]]*)\]\((?:\.\./)+([\w.][^)#\s]*)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    text = OUTSIDE.sub(lambda link: _plain(link, page.file.src_uri), markdown)
    return text.replace("{{ commands }}", "\n".join(_commands())) if "{{ commands }}" in text else text


def _plain(link: re.Match[str], page: str) -> str:
    """The name of a file of the repository, which the site does not hold; links between pages stay."""
    up = link[0].count("../", 0, link.start(3) - link.start())
    if up <= page.count("/"):
        return link[0]
    name = f"`{link[3]}`"
    return name if link[2].strip("`") == link[3] else f"{link[2]} ({name})"


def _commands() -> Iterator[str]:
    """Every verb with its flags, as Markdown."""
    from operant.cli.root import VERBS, Verb

    for name, (module, summary) in VERBS.items():
        yield from _command(f"operant {name}", Verb(name, module, summary).load())


def _command(name: str, command: Any) -> Iterator[str]:
    parts = getattr(command, "commands", None)
    if parts:
        for part, inner in parts.items():
            yield from _command(f"{name} {part}", inner)
        return
    yield f"## {name}\n\n{' '.join((command.help or '').split())}\n"
    rows = [
        _row(param)
        for param in command.params
        if param.name != "help" and not getattr(param, "hidden", False)
    ]
    if rows:
        yield "| flag | meaning | default |\n|---|---|---|"
        yield from rows
    yield ""


def _row(param: Any) -> str:
    flags = (
        ", ".join(f"`{one}`" for one in param.opts)
        if param.param_type_name == "option"
        else f"`{param.name}`"
    )
    shown = getattr(param, "show_default", None)
    default = shown if isinstance(shown, str) else param.default
    said = (
        "required"
        if param.required
        else ""
        if default in (None, False, ()) or callable(default)
        else str(default)
    )
    return f"| {flags} | {' '.join((getattr(param, 'help', '') or '').split())} | {said} |".replace(
        "||", "| |"
    )
