"""Mozilla's programs: preferences at the end of the defaults that Debian keeps in /etc, so that every profile has them."""

from __future__ import annotations

import json

from operant.desktop.toolkits.base import Toolkit

__all__ = ["MOZILLA"]

_PREFERENCES: dict[str, bool | int | str] = {
    # Widgets are shown although no screen reader runs.
    "accessibility.force_disabled": -1,
    # The screen comes to rest.
    "ui.caretBlinkTime": 0,
    "ui.caretBlinkCount": 0,
    "ui.prefersReducedMotion": 1,
    "general.smoothScroll": False,
    "toolkit.cosmeticAnimations.enabled": False,
    # No pages, dialogs and bars of a first run.
    "browser.aboutwelcome.enabled": False,
    "browser.preonboarding.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.firstrunSkipsHomepage": True,
    "browser.startup.page": 0,
    "browser.newtabpage.enabled": False,
    "browser.tabs.firefox-view": False,
    "browser.uitour.enabled": False,
    "startup.homepage_welcome_url": "",
    "startup.homepage_welcome_url.additional": "",
    "startup.homepage_override_url": "",
    "termsofuse.bypassNotification": True,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.firstRunURL": "",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "mail.provider.suppress_dialog_on_startup": True,
    "mail.shell.checkDefaultClient": False,
    "mail.spotlight.firstRunDone": True,
    "mail.rights.version": 1,
    "mailnews.start_page.enabled": False,
    "mailnews.start_page_override.mstone": "ignore",
    # Nothing asks the network on its own.
    "app.update.auto": False,
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "app.shield.optoutstudies.enabled": False,
    "browser.search.update": False,
    "extensions.update.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
_LINES = "".join(f"pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items())

MOZILLA = Toolkit(
    "mozilla",
    "Mozilla",
    ("libxul.so",),
    environment={"GNOME_ACCESSIBILITY": "1", "MOZ_CRASHREPORTER_DISABLE": "1"},
    system={"/etc/firefox-esr/firefox-esr.js": _LINES, "/etc/thunderbird/pref/thunderbird.js": _LINES},
    advice="set accessibility.force_disabled to -1 in its preferences",
)
