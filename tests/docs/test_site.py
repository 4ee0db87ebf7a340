"""The documentation builds, without a broken link, and its lines are short."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
LONGEST = 120
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for page in ("index.html", "tutorials/own_task/index.html", "reference/settings/index.html"):
        assert (tmp_path / page).is_file()
    assert "--suite" in (tmp_path / "reference/commands/index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_are_short_and_links_lead_somewhere(page: Path) -> None:
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        for target in LINK.findall(line):
            if "://" not in target:
                assert (page.parent / target).exists(), f"line {number}: {target}"
        # Rows of tables, links, commands and pictures cannot be broken.
        bare = CODE.sub("", LINK.sub("", line))
        assert line.startswith(("|", "<img")) or len(bare) <= LONGEST, (
            f"line {number} has {len(line)} characters"
        )
