"""What the site adds to the pages: names of files of the repository in place of links, and the help of every verb."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

#: A link from a page to a file outside docs/, such as [defaults](../config/config.yaml).
OUTSIDE = re.compile(r"(!?)\[([^\]]*)\]\((?:\.\./)+([\w.][^)#\s]*)(?:#[^)]*)?\)")
VERBS = (
    "doctor", "demo", "desktop shot", "desktop run", "desktop serve", "apps list", "apps show", "apps check",
    "tasks list", "tasks show", "tasks try", "tasks check", "eval", "results show", "replay", "demos collect",
    "train clone", "train dagger", "train hierarchical", "train vlm", "export", "hub push", "hub pull", "serve",
)  # fmt: skip


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    text = OUTSIDE.sub(lambda link: _plain(link, page.file.src_uri), markdown)
    return (
        text.replace("{{ commands }}", _commands()) if page.file.src_uri == "reference/commands.md" else text
    )


def _plain(link: re.Match[str], page: str) -> str:
    """The name of a file of the repository, which the site does not hold; links between pages stay."""
    up = link[0].count("../", 0, link.start(3) - link.start())
    if up <= page.count("/"):
        return link[0]
    name = f"`{link[3]}`"
    return name if link[2].strip("`") == link[3] else f"{link[2]} ({name})"


def _commands() -> str:
    return "\n\n".join(f"## operant {verb}\n\n```text\n{_help(verb)}\n```" for verb in VERBS)


def _help(verb: str) -> str:
    command = [sys.executable, "-m", "operant", *verb.split(), "--help"]
    found = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
    )
    return "\n".join(line.rstrip() for line in found.stdout.strip().splitlines())
