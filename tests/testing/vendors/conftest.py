"""The strict servers of this folder's tests: one for all, each conversation on its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from operant.testing.vendors import VendorServer


@pytest.fixture(scope="session")
def server() -> Iterator[VendorServer]:
    with VendorServer() as running:
        yield running
