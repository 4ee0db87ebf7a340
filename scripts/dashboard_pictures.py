"""Takes the pictures of the dashboard that the documentation shows, from a running service with real desktops.

operant serve --desktops 4 &
python scripts/dashboard_pictures.py http://127.0.0.1:8000 docs/pictures

Shows what the service has: train something, evaluate something and let agents try some tasks first.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

SIZES = {"": (1440, 900), "-phone": (390, 844)}
PROGRAMS = ("galculator", "mousepad", "pcmanfm")
SENTENCE = "Typed in the browser, shown by the desktop."
TASK = "/tasks/core/calculator-type-sum-v1"
QUALITY = 78


def main(url: str, folder: Path) -> None:
    expect.set_options(timeout=60_000)
    with httpx.Client(base_url=url, timeout=120.0) as api, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        sessions = [
            api.post("/api/v1/sessions", json={"launch": [program]}).raise_for_status().json()["id"]
            for program in PROGRAMS
        ]
        type_it = {"session": sessions[1], "action": {"kind": "type", "text": SENTENCE}}
        api.post("/api/v1/agent/execute", json=type_it).raise_for_status()
        try:
            for suffix, size in SIZES.items():
                phone = bool(suffix)
                context = browser.new_context(
                    viewport={"width": size[0], "height": size[1]}, is_mobile=phone, has_touch=phone
                )
                page = context.new_page()
                page.set_default_timeout(60_000)
                _tour(page, api, url, folder, sessions, suffix)
                context.close()
        finally:
            for name in sessions:
                api.delete(f"/api/v1/sessions/{name}")
            browser.close()


def _tour(page: Page, api: httpx.Client, url: str, folder: Path, sessions: list[str], suffix: str) -> None:
    """Every page once; the dark one last, because it stays dark."""

    def save(name: str, after_ms: int = 2500) -> None:
        page.wait_for_timeout(after_ms)  # timers have had a turn, charts are drawn
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.save(folder / f"dashboard-{name}{suffix}.webp", quality=QUALITY, method=6)

    def screens(count: int) -> None:
        expect(page.locator("operant-desktop[frames]")).to_have_count(count)

    page.goto(url + "/")
    save("overview")
    page.goto(url + "/wall")
    screens(len(sessions))
    save("wall")
    page.goto(f"{url}/control?session={sessions[1]}")
    screens(1)
    save("control")
    page.goto(url + "/tasks")
    save("tasks")
    page.goto(url + TASK)
    page.get_by_role("button", name="Watch the oracle").click()
    screens(1)
    expect(page.locator(".op-pill", has_text="success")).to_be_visible()
    save("task", 300)  # before the desktop is handed back
    page.goto(url + "/episodes")
    save("episodes")
    found = api.get("/api/v1/episodes", params={"outcome": "success"}).json()["episodes"]
    found = [one for one in found if one["agent"] != "oracle"] or found  # those have values to show
    page.goto(f"{url}/episodes/{max(found, key=lambda one: one['steps'])['id']}")
    page.get_by_role("button", name="One step on").click()
    save("episode")
    runs = [run["id"] for run in api.get("/api/v1/training/runs").json() if run["latest"]]
    page.goto(f"{url}/training?runs={runs[0]}")
    expect(page.locator("canvas").first).to_be_visible()
    save("training")
    if len(runs) > 1:
        page.goto(f"{url}/training?runs={runs[0]},{runs[1]}")
        expect(page.locator("canvas").first).to_be_visible()
        save("compare")
    page.goto(url + "/results")
    save("results")
    page.goto(url + "/wall")
    page.get_by_role("button", name="Dark or light").click()
    screens(len(sessions))
    save("dark")


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), Path(sys.argv[2]))
