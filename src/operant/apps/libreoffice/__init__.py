"""LibreOffice's applications. They are one process: a second document opens in the first one's, and a dialog of one
blocks it alone."""

from __future__ import annotations

from operant.apps.libreoffice.office_app import OfficeApp, OfficeState

__all__ = ["OfficeApp", "OfficeState"]
