"""The page server while a test needs it."""

from collections.abc import Iterator

import pytest

from tests.exchange.pages.page_server import PageServer, serving


@pytest.fixture
def server() -> Iterator[PageServer]:
    with serving() as running:
        yield running
