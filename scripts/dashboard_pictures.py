"""Takes the pictures of the dashboard that the documentation shows, from a running service with real desktops.

operant serve --desktops 4 --agent random &
python scripts/dashboard_pictures.py http://127.0.0.1:8000 docs/pictures
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect, sync_playwright

LARGE, PHONE = (1440, 900), (390, 844)
TASKS = ("core/calculator-type-sum-v1", "core/calculator-type-sum-v1", "core/editor-append-line-v1")


def main(url: str, folder: Path) -> None:
    expect.set_options(timeout=60_000)
    with httpx.Client(base_url=url, timeout=120.0) as api, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )

        def page(size: tuple[int, int]) -> Page:
            phone = size[0] < 600
            context = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                is_mobile=phone,
                has_touch=phone,
                device_scale_factor=2 if phone else 1,
            )
            opened = context.new_page()
            opened.set_default_timeout(60_000)
            return opened

        def save(shown: Page, name: str) -> None:
            shown.wait_for_timeout(1500)
            shown.screenshot(path=folder / f"dashboard-{name}.png")

        known = [row["id"] for row in api.get("/api/v1/tasks").json()]
        wanted = [name for name in TASKS if name in known] or known[:2]
        done = [
            api.post(
                "/api/v1/agent/complete-task", json={"task_id": name, "seed": seed, "model": "oracle"}
            ).json()
            for seed, name in enumerate(wanted)
        ]
        run = api.post("/api/v1/training/start", json={"total_timesteps": 6000, "curriculum": True}).json()
        while api.get(f"/api/v1/training/runs/{run['id']}").json()["running"]:
            time.sleep(0.5)

        large = page(LARGE)
        large.goto(url + "/training")
        expect(large.locator("canvas").first).to_be_visible()
        save(large, "training")
        large.goto(f"{url}/episodes/{done[-1]['episode']}")
        large.get_by_role("button", name="One step on").click()
        save(large, "episode")
        large.goto(url + "/tasks")
        save(large, "tasks")
        sessions = [
            api.post("/api/v1/sessions", json={"launch": [program]}).json()["id"]
            for program in ("galculator", "mousepad", "pcmanfm")
        ]
        large.goto(url + "/")
        save(large, "overview")
        large.goto(url + "/wall")
        expect(large.locator("operant-desktop[frames]")).to_have_count(len(sessions))
        save(large, "wall")
        large.goto(f"{url}/control?session={sessions[1]}")
        expect(large.locator("operant-desktop[frames]")).to_be_visible()
        large.locator(".od-stage").click()
        large.keyboard.type("Typed in the browser, shown by the desktop.")
        save(large, "control")
        phone = page(PHONE)
        phone.goto(f"{url}/control?session={sessions[0]}")
        expect(phone.locator("operant-desktop[frames]")).to_be_visible()
        save(phone, "phone")
        dark = page(LARGE)
        dark.goto(f"{url}/wall")
        dark.get_by_role("button", name="Dark or light").click()
        expect(dark.locator("operant-desktop[frames]")).to_have_count(len(sessions))
        save(dark, "dark")
        for name in sessions:
            api.delete(f"/api/v1/sessions/{name}")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), Path(sys.argv[2]))
