"""The README as a package index shows it: its links lead somewhere from there.

Hatch runs this when it builds Operant (``tool.hatch.metadata.hooks.custom``). A link to a file of the repository
becomes an address below ``REPOSITORY_URL`` or the setting ``repository`` (such as https://host/owner/operant);
where neither is given, the file's name takes its place, because a relative link would be dead there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: [text](path) and ![text](path); an address or a place on the page itself is left alone.
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|mailto:|#)([^)\s]+)\)")


def for_index(readme: str, repository: str = "") -> str:
    """The same text with links that work anywhere."""
    return LINK.sub(lambda link: _anywhere(link, repository.rstrip("/")), readme)


def _anywhere(link: re.Match[str], repository: str) -> str:
    picture, text, path = link.groups()
    if not repository:
        name = path.partition("#")[0]
        return text if picture else f"{text} (`{name}`)"
    kind = "raw" if picture else "blob"
    return f"{picture}[{text}]({repository}/{kind}/main/{path})"


class CustomMetadataHook(MetadataHookInterface):
    """Hands the rewritten README to the build."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = os.environ.get("REPOSITORY_URL") or self.config.get("repository", "")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_index(text, repository)}
