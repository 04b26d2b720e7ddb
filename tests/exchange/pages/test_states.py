"""States: a notice in a page's place is told from a page, and each cause is a sentence."""

import pytest

from annotator.domain.material.page import PageState
from annotator.exchange.pages.states import (
    LONGEST_TEXT,
    PageReading,
    UnreadablePage,
    check_reading,
    check_status,
)
from tests.exchange.pages.page_server import ARTICLE


def state_of(reading: PageReading, **how: bool) -> PageState:
    try:
        check_reading(reading, **how)
    except UnreadablePage as why:
        return why.state if why.cause.endswith(".") else PageState.OK
    return PageState.OK


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (401, PageState.FORBIDDEN), (402, PageState.PAYWALL), (403, PageState.FORBIDDEN), (404, PageState.DEAD),
        (410, PageState.DEAD), (418, PageState.DEAD), (429, PageState.FORBIDDEN), (451, PageState.FORBIDDEN),
        (500, PageState.DEAD), (503, PageState.DEAD), (204, PageState.DEAD), (304, PageState.DEAD),
        (999, PageState.FORBIDDEN),
    ],
)  # fmt: skip
def test_each_status_has_its_state(status: int, state: PageState) -> None:
    with pytest.raises(UnreadablePage) as why:
        check_status(status, {})
    assert why.value.state is state
    assert why.value.cause.endswith(".")


def test_a_page_that_came_is_no_cause() -> None:
    refused = []
    for status in (200, 203, 204, 205, 206, 301):
        try:
            check_status(status, {})
        except UnreadablePage:
            refused.append(status)
    # Without a body there is nothing to read, and whoever asks follows redirects itself.
    assert refused == [204, 205, 301]


def test_a_challenge_to_robots_is_not_a_failing_server() -> None:
    with pytest.raises(UnreadablePage) as why:
        check_status(503, {"cf-mitigated": "challenge"})
    assert why.value.state is PageState.FORBIDDEN


@pytest.mark.parametrize(
    ("reading", "state"),
    [
        (PageReading(ARTICLE, "Deep networks"), PageState.OK),
        (PageReading("Short, but all there is."), PageState.OK),
        (PageReading("", "App"), PageState.NOT_TEXT),
        (PageReading("  \n "), PageState.NOT_TEXT),
        (PageReading(unreadable="It is a picture, not a text."), PageState.NOT_TEXT),
        (
            PageReading(unreadable="Reading it took longer than 30 seconds.", too_much=True),
            PageState.TOO_LONG,
        ),
        (PageReading("x" * (LONGEST_TEXT + 1)), PageState.TOO_LONG),
        (PageReading("x" * LONGEST_TEXT), PageState.OK),
        (PageReading("The beginning. Subscribe to continue reading."), PageState.PAYWALL),
        (PageReading("Abstract. We show. Access through your institution"), PageState.PAYWALL),
        (PageReading("The beginning …", free=False), PageState.PAYWALL),
        (PageReading("All of it.", free=True), PageState.OK),
        (PageReading("Just a moment... Enable JavaScript and cookies to continue"), PageState.FORBIDDEN),
        (PageReading("Please verify you are a human", "Attention Required!"), PageState.FORBIDDEN),
        (PageReading("Sorry.", "404 Not Found"), PageState.DEAD),
        (PageReading("The page you are looking for could not be found."), PageState.DEAD),
        (PageReading("DOI Not Found"), PageState.DEAD),
    ],
)
def test_each_reading_has_its_state(reading: PageReading, state: PageState) -> None:
    assert state_of(reading) is state


@pytest.mark.parametrize(
    "mention",
    ["Subscribe to continue reading", "verify you are a human", "404 Not Found", "the page was not found"],
)
def test_an_article_that_speaks_of_a_notice_is_none(mention: str) -> None:
    assert state_of(PageReading(f"On the web. {mention}. {ARTICLE * 6}", "How sites answer")) is PageState.OK


def test_an_article_with_a_notice_for_its_title_is_none() -> None:
    assert state_of(PageReading(ARTICLE * 2, "404 Not Found: a history")) is PageState.OK


def test_a_declared_paywall_with_the_whole_text_is_read() -> None:
    assert state_of(PageReading(ARTICLE * 6, free=False)) is PageState.OK


def test_what_a_person_saved_is_taken_at_its_word() -> None:
    short = PageReading("The whole note. Subscribe to continue reading.", free=False)
    assert state_of(short) is PageState.PAYWALL
    assert state_of(short, by_a_person=True) is PageState.OK
    assert state_of(PageReading(), by_a_person=True) is PageState.NOT_TEXT
