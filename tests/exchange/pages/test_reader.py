"""Reader services: asked instead of the page, and never a way into a private network."""

import pytest

from annotator.domain.material.page import PageState
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pages.addresses import PRIVATE, AddressRules
from annotator.exchange.pages.fetching import checked_prefix, named, through, unwrapped
from annotator.exchange.pages.states import PageReading, UnreadablePage
from tests.exchange.pages.page_server import ARTICLE, Given, Names, PageServer, fetcher

PAGE = "https://paper.example/a?b=c"
PUBLIC = Names(paper_example=[["1.1.1.1"]], inside_example=[["10.0.0.1"]])


@pytest.mark.parametrize(
    ("reader", "asked"),
    [
        ("https://reader.example/", "https://reader.example/https://paper.example/a?b=c"),
        ("https://reader.example", "https://reader.example/https://paper.example/a?b=c"),
        ("https://reader.example/get?u=", "https://reader.example/get?u=https%3A%2F%2Fpaper.example%2Fa%3Fb%3Dc"),
        ("https://reader.example/{url}/text", "https://reader.example/https%3A%2F%2Fpaper.example%2Fa%3Fb%3Dc/text"),
    ],
)  # fmt: skip
def test_the_page_follows_the_prefix_or_stands_in_its_place(reader: str, asked: str) -> None:
    assert through(checked_prefix(reader), PAGE) == asked


@pytest.mark.parametrize(
    "reader",
    ["reader.example", "ftp://r.example/", "https://u:p@r.example/", "https://", "https://r/{url}{url}"],
)
def test_what_is_no_reader_service_is_refused(reader: str) -> None:
    with pytest.raises(Refusal, match="cannot be used"):
        checked_prefix(reader)


def test_the_head_a_service_puts_before_the_text_is_taken_off() -> None:
    head = "Title: Deep nets\n\nURL Source: https://a.example\n\nPublished Time: 2026\n\n"
    text = f"{head}Markdown Content:\n# Deep\n\nwords"
    assert unwrapped(PageReading(text)) == PageReading(text="# Deep\n\nwords", title="Deep nets")
    assert unwrapped(PageReading("Just words")) == PageReading("Just words")


def test_a_page_that_the_service_could_not_have_is_dead() -> None:
    head = "Title: \n\nURL Source: x\n\nWarning: Target URL returned error 404: Not Found\n\n"
    text = f"{head}Markdown Content:\nNot found"
    with pytest.raises(UnreadablePage) as why:
        unwrapped(PageReading(text))
    assert why.value.state is PageState.DEAD


def test_a_key_in_the_address_of_a_service_is_not_kept() -> None:
    assert named("https://reader.example:8443/get?key=sk-secret&url={url}") == "https://reader.example:8443"
    assert named("") == ""


@pytest.mark.anyio
async def test_a_reader_is_asked_and_named_and_may_itself_be_private(server: PageServer) -> None:
    server.pages[f"/read/{PAGE}"] = Given(
        f"Title: T\n\nMarkdown Content:\n{ARTICLE}", content_type="text/plain"
    )
    async with fetcher(rules=AddressRules(), reader=server.url("/read/"), look_up=PUBLIC) as one:
        page = (await one.fetch(PAGE)).page
    assert (page.state, page.text, page.title) == (PageState.OK, ARTICLE.strip(), "T")
    assert (page.url, page.by_reader, page.final_url) == (PAGE, server.url(""), "")


@pytest.mark.anyio
@pytest.mark.parametrize("inside", ["https://inside.example/x", "http://10.0.0.1/", "http://127.0.0.1/"])
async def test_a_reader_is_not_sent_into_a_private_network(server: PageServer, inside: str) -> None:
    async with fetcher(rules=AddressRules(), reader=server.url("/read"), look_up=PUBLIC) as one:
        page = (await one.fetch(inside)).page
    assert (page.state, page.cause, server.asked) == (PageState.FORBIDDEN, PRIVATE, [])


@pytest.mark.anyio
async def test_a_service_out_of_order_says_nothing_of_the_page(server: PageServer) -> None:
    server.pages[f"/read/{PAGE}"] = Given(status=402)
    async with fetcher(rules=AddressRules(), reader=server.url("/read"), look_up=PUBLIC) as one:
        page = (await one.fetch(PAGE)).page
    assert (page.state, page.cause) == (
        PageState.DEAD,
        "The reader service did not give it. The server asks for payment (402).",
    )


@pytest.mark.anyio
async def test_a_name_only_the_service_can_look_up_is_left_to_it(server: PageServer) -> None:
    server.pages["/read/https://elsewhere.example"] = Given(ARTICLE, content_type="text/plain")
    async with fetcher(rules=AddressRules(), reader=server.url("/read"), look_up=PUBLIC) as one:
        assert (await one.fetch("https://elsewhere.example")).page.state is PageState.OK
