"""LibreOffice's own settings, which hold for all documents."""

from __future__ import annotations

from typing import Any, Dict

from office import connection
from office.connection import properties

AUTO_SAVE = "/org.openoffice.Office.Recovery/AutoSave"
SLIDE_SHOW = "/org.openoffice.Office.Impress/Misc/Start"


def set_options(node: str, values: Dict[str, Any]) -> None:
    """Set values of one place in the registry, as the dialog with options does."""
    provider = connection.service("configuration.ConfigurationProvider")
    access = provider.createInstanceWithArguments(
        "com.sun.star.configuration.ConfigurationUpdateAccess", properties(nodepath=node)
    )
    for name, value in values.items():
        access.setPropertyValue(name, value)
    access.commitChanges()
