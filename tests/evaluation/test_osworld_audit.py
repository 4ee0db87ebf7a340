"""The example tasks in OSWorld's schema, and the audit of some of them on real desktops."""

from __future__ import annotations

import runpy
import time
from pathlib import Path

import pytest

from operant.config.desktop import DesktopConfig
from operant.evaluation.osworld_audit import audit_osworld, summarise_audit
from operant.tasks.osworld.template import OsworldTemplate, load_osworld

EXAMPLES = Path(__file__).parents[2] / "examples" / "osworld"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cache")
    runpy.run_path(str(EXAMPLES / "make_assets.py"))["main"](place)
    return place


def templates(cache: Path, query: str = "") -> list[OsworldTemplate]:
    return load_osworld(f"{EXAMPLES}?cache={cache}{query}")


def test_every_example_is_covered_and_has_its_files(cache: Path) -> None:
    found = templates(cache, "&uncovered=yes")
    assert len(found) >= 20
    assert not [template.id for template in found if not template.covered]
    assert not [one for template in found for one in template.about()["missing_here"] if "cache" in one]
    wanted = {"os", "editor", "libreoffice_calc", "libreoffice_writer", "libreoffice_impress", "vlc", "gimp"}
    assert {template.file.domain for template in found} == wanted


@pytest.mark.x11
def test_the_audit_passes_on_tasks_that_are_right_and_names_one_that_is_not(cache: Path) -> None:
    chosen = [one for one in templates(cache, "&domain=os+editor") if one.file.id in
              ("os-rename-folder", "os-fingerprint", "editor-replace")]  # fmt: skip
    began = time.monotonic()
    audited = audit_osworld(chosen, times=1, config=DesktopConfig())
    summary = summarise_audit(chosen, audited, began)
    assert summary["tasks_run"] == 3
    assert summary["episodes"] == 7  # nothing and FAIL on each, gold files on one
    for key in ("nothing_scores", "fail_scores_wrong", "gold_below_one", "flaky", "broken", "not_run"):
        assert not summary[key], key


@pytest.mark.x11
def test_a_task_that_is_done_from_the_start_is_named(cache: Path, tmp_path: Path) -> None:
    source = EXAMPLES / "evaluation_examples" / "examples" / "os" / "os-make-folder.json"
    place = tmp_path / "evaluation_examples" / "examples" / "os" / source.name
    place.parent.mkdir(parents=True)
    place.write_text(source.read_text().replace("there\\n", "missing\\n"))
    chosen = load_osworld(str(tmp_path))
    audited = audit_osworld(chosen, times=1, trials=("nothing",), config=DesktopConfig())
    assert list(summarise_audit(chosen, audited, 0.0)["nothing_scores"]) == ["osworld/os-make-folder-v1"]
