"""Pages from a folder, the states of pages, and the addresses that name them."""

import asyncio
import json
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.domain.material.item import Page, PageState
from annotator.exchange.pages import fetching
from annotator.exchange.pages.fetching import (
    NEVER,
    PRIVATE,
    AddressRules,
    barred,
    checked,
    normal,
    pinned,
    target,
)
from annotator.exchange.pages.folder import FolderEntry, entries, page_of
from annotator.exchange.pages.states import (
    LONGEST_TEXT,
    PageReading,
    UnreadablePage,
    check_reading,
    check_status,
)
from annotator.exchange.release.bundle import Problem
from tests.exchange.pages.page_server import ARTICLE, HereWorker, Names, unreadable
from tests.exchange.texts.test_rendering import pdf
from tests.projects.refusals import expect_refusal
from tests.systems import failing, links

pytestmark = pytest.mark.anyio


SAVED = f'<link rel="canonical" href="https://a.example/saved/"><title>Saved</title><p>{ARTICLE}'


def written(folder: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        path = folder / name.replace("_", ".")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


async def pages_of(folder: Path) -> tuple[list[Page], list[str]]:
    result, problems = entries(folder)
    came = [await page_of(entry, HereWorker()) for entry in result]
    words = [str(one) for one in (*problems, *(one for one in came if isinstance(one, Problem)))]
    return [one for one in came if isinstance(one, Page)], words


async def test_an_index_says_which_file_is_which_page(tmp_path: Path) -> None:
    index = (
        "\ufeffurl,file,title,fetched_at\r\n"
        "https://arxiv.org/abs/2401.01234v2,a.html,,\r\n"
        '"https://b.example/x,y/",b.pdf,Rain,2026-01-31T10:00:00+02:00\r\n'
        "https://c.example,c.txt,,2026-02-01\r\n"
    )
    written(tmp_path, pages_csv=index, a_html=SAVED, b_pdf=pdf("Rain falls"), c_txt="words")
    pages, problems = await pages_of(tmp_path)
    assert problems == []
    assert [(page.url, page.title, page.text.strip()) for page in pages] == [
        ("arxiv:2401.01234", "Saved", ARTICLE.strip()),
        ("https://b.example/x,y", "Rain", "Rain falls"),
        ("https://c.example", "", "words"),
    ]
    days = [datetime(2026, 1, 31, 8, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)]
    assert [page.fetched_at for page in pages[1:]] == days


@pytest.mark.parametrize(
    "tree",
    [{"https://a.example": "a.txt"}, [{"url": "https://a.example", "file": "a.txt", "other": 1}]],
)
async def test_an_index_may_be_json(tmp_path: Path, tree: object) -> None:
    # What a person could read is no paywall.
    words = "All. Subscribe to continue reading."
    written(tmp_path, pages_json=json.dumps(tree), a_txt=words)
    (page,), problems = await pages_of(tmp_path)
    assert (page.url, page.text, page.state, problems) == ("https://a.example", words, PageState.OK, [])


async def test_without_an_index_saved_pages_name_their_own_address(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    written(tmp_path / "deep", page_html=SAVED)
    written(tmp_path, nameless_html=f"<p>{ARTICLE}", picture_png=b"x")
    pages, problems = await pages_of(tmp_path)
    assert [page.url for page in pages] == ["https://a.example/saved"]
    assert problems == [
        "nameless.html: it does not say which address it was saved from; name it in pages.csv."
    ]


async def test_a_saved_page_without_text_is_a_page_with_a_state(tmp_path: Path) -> None:
    written(
        tmp_path,
        pages_csv="url,file\nhttps://a.example,a.html\nhttps://b.example,b.png",
        a_html="<p>",
        b_png=b"\0",
    )
    pages, _ = await pages_of(tmp_path)
    assert [(page.state, page.text) for page in pages] == [(PageState.NOT_TEXT, "")] * 2
    assert all(page.cause for page in pages)


@links
@pytest.mark.parametrize(
    "name",
    [
        "../outside.txt",
        "/etc/passwd",
        "a/../../outside.txt",
        "C:\\x.txt",
        "..\\outside.txt",
        "link.txt",
        ".",
        "no.txt",
    ],
)
async def test_no_file_from_outside_the_folder_is_read(tmp_path: Path, name: str) -> None:
    (folder := tmp_path / "folder").mkdir()
    written(tmp_path, outside_txt="secret")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    written(folder, pages_json=json.dumps({"https://a.example": name}))
    pages, (problem,) = await pages_of(folder)
    assert (pages, "is no file in this folder" in problem) == ([], True)


async def test_each_bad_row_is_named_and_the_others_are_taken(tmp_path: Path) -> None:
    rows = (
        "url,file,fetched_at", "https://a.example,a.txt,", ",a.txt,", "https://b.example,,",
        "https://a.example/,a.txt,", "https://c.example,a.txt,yesterday", f"https://d.example/{'x' * 2000},a.txt,",
        "Smith 2020,a.txt,",
    )  # fmt: skip
    written(tmp_path, pages_csv="\n".join(rows), a_txt="words")
    pages, problems = await pages_of(tmp_path)
    assert [page.url for page in pages] == ["https://a.example"]
    assert [problem.split(":")[0] for problem in problems] == [f"pages.csv, row {n}" for n in range(3, 9)]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"pages_csv": "link,name\n"}, "has no column “url”"),
        ({"pages_csv": "url,file\n", "pages_json": "{}"}, "two indexes"),
        ({"pages_json": "[1]"}, "has no column “url”"),
        ({"pages_json": '{"a": "b", "a": "c"}'}, "stands twice"),
        ({"pages_json": "{"}, "line 1"),
        ({"a_txt": "words"}, "holds neither"),
    ],
)
def test_a_folder_that_cannot_be_understood_is_refused(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    expect_refusal(words, entries, written(tmp_path, **files))


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    expect_refusal("is not a folder", entries, tmp_path / "nowhere")


async def test_a_file_too_large_or_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.exchange.pages.folder.LARGEST", 100)
    written(tmp_path, a_txt="x" * 101)
    large, gone = [
        await page_of(FolderEntry(name, tmp_path / f"{name}.txt", "https://a.example"), HereWorker())
        for name in "ab"
    ]
    assert isinstance(large, Page)
    assert isinstance(gone, Problem)
    assert (large.state, large.text, "cannot be read" in gone.reason) == (PageState.TOO_LONG, "", True)


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
        (500, PageState.DEAD), (503, PageState.DEAD), (999, PageState.FORBIDDEN),
        # Without a body there is nothing to read, and whoever asks follows redirects itself.
        (204, PageState.DEAD), (205, PageState.DEAD), (301, PageState.DEAD), (304, PageState.DEAD),
    ],
)  # fmt: skip
def test_each_status_has_its_state(status: int, state: PageState) -> None:
    assert unreadable(check_status, status, {}).state is state


def test_a_page_that_came_is_no_cause() -> None:
    for status in (200, 203, 206):
        check_status(status, {})


def test_a_challenge_to_robots_is_not_a_failing_server() -> None:
    assert unreadable(check_status, 503, {"cf-mitigated": "challenge"}).state is PageState.FORBIDDEN


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
        # An article with a notice for its title, and a declared paywall with the whole text.
        (PageReading(ARTICLE * 2, "404 Not Found: a history"), PageState.OK),
        (PageReading(ARTICLE * 6, free=False), PageState.OK),
        # An article that speaks of a notice.
        *(
            (PageReading(f"On the web. {mention}. {ARTICLE * 6}", "How sites answer"), PageState.OK)
            for mention in (
                "Subscribe to continue reading",
                "verify you are a human",
                "404 Not Found",
                "the page was not found",
            )
        ),
    ],
)
def test_each_reading_has_its_state(reading: PageReading, state: PageState) -> None:
    assert state_of(reading) is state


def test_what_a_person_saved_is_taken_at_its_word() -> None:
    short = PageReading("The whole note. Subscribe to continue reading.", free=False)
    assert (state_of(short), state_of(short, by_a_person=True)) == (PageState.PAYWALL, PageState.OK)
    assert state_of(PageReading(), by_a_person=True) is PageState.NOT_TEXT


OPEN, CLOSED = AddressRules(allow_private=True), AddressRules()


@pytest.mark.parametrize(
    ("cited", "opened"),
    [
        ("https://example.org/a/?q=1#part", "https://example.org/a/?q=1"),
        ("doi:10.1000/XYZ", "https://doi.org/10.1000/xyz"),
        ("https://www.publisher.org/doi/full/10.1000/xyz", "https://doi.org/10.1000/xyz"),
        ("https://arxiv.org/abs/2401.01234v2", "https://arxiv.org/pdf/2401.01234"),
        ("<https://example.org/x>", "https://example.org/x"),
        (" http://localhost:8080/x#y ", "http://localhost:8080/x"),
    ],
)
def test_what_is_cited_becomes_what_is_opened(cited: str, opened: str) -> None:
    assert target(cited) == opened


def test_a_book_has_no_page() -> None:
    assert unreadable(target, "ISBN 978-0-306-40615-7").state is PageState.NOT_TEXT


def test_the_normal_address_is_the_identifiers_or_the_text_itself() -> None:
    assert normal("https://arxiv.org/pdf/2401.01234v3") == normal("arXiv:2401.01234") == "arxiv:2401.01234"
    assert normal("HTTPS://Example.org:443/a/#b") == "https://example.org/a"
    assert normal("  Smith 2020 ") == "Smith 2020"


@pytest.mark.parametrize(
    ("address", "state"),
    [
        ("ftp://example.org/x", PageState.FORBIDDEN),
        ("file:///etc/passwd", PageState.FORBIDDEN),
        ("javascript:alert(1)", PageState.FORBIDDEN),
        ("data:text/html,x", PageState.FORBIDDEN),
        ("https://user:secret@example.org/", PageState.FORBIDDEN),
        ("https://nature.com@evil.example/", PageState.FORBIDDEN),
        ("http://example.org:22/", PageState.FORBIDDEN),
        ("http://example.org:6379/", PageState.FORBIDDEN),
        ("https://example.org/" + "a" * 2000, PageState.FORBIDDEN),
        ("http://example.org:99999/", PageState.DEAD),
        ("http://example.org\\@evil.example/", PageState.DEAD),
        ("https:///nowhere", PageState.DEAD),
        ("http://a b.example/", PageState.DEAD),
        ("Smith 2020", PageState.DEAD),
        ("", PageState.DEAD),
    ],
)
def test_what_is_no_address_of_the_web_is_refused(address: str, state: PageState) -> None:
    why = unreadable(checked, address, CLOSED)
    assert why.state is state
    # No password is repeated.
    assert "secret" not in why.cause


def test_an_international_name_is_asked_for_in_its_ascii_form() -> None:
    # “bücher” in Punycode: RFC 3492's algorithm as in RFC 5891's registries.
    url = checked("https://bücher.example/ü?q=ä#x", CLOSED)
    assert str(url) == "https://xn--bcher-kva.example/%C3%BC?q=%C3%A4"


PRIVATE_ONES = (
    "127.0.0.1", "127.9.9.9", "::1", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "100.64.0.1", "198.18.0.1", "192.0.2.1", "fd00::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2001:db8::1",
)  # fmt: skip
# Of this link alone, or of a cloud's metadata.
NEVER_ONES = (
    "169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "0.0.0.0", "::",
        "224.0.0.1", "239.255.255.250", "ff02::1", "255.255.255.255", "240.0.0.1", "::ffff:0.0.0.0", "fec0::1",
        "64:ff9b:1::a00:1", "not a number", "127.1",
)  # fmt: skip
PUBLIC_ONES = ("93.184.215.14", "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d70e", "::ffff:1.1.1.1")


@pytest.mark.parametrize(
    ("number", "closed", "opened"),
    [
        *((number, PRIVATE, "") for number in PRIVATE_ONES),
        *((number, NEVER, NEVER) for number in NEVER_ONES),
        *((number, "", "") for number in PUBLIC_ONES),
    ],
)
def test_private_numbers_are_kept_out_unless_allowed_and_some_are_never_connected_to(
    number: str, closed: str, opened: str
) -> None:
    assert (barred(number, CLOSED), barred(number, OPEN)) == (closed, opened)


async def test_a_name_is_pinned_to_all_its_numbers() -> None:
    names = Names(paper_example=[["1.1.1.1", "2606:4700::1111", "1.1.1.1"]])
    numbers = await pinned(checked("https://paper.example/", CLOSED), CLOSED, names)
    assert numbers == ("1.1.1.1", "2606:4700::1111")


async def test_one_private_number_among_public_ones_keeps_the_name_out() -> None:
    names = Names(paper_example=[["1.1.1.1", "10.0.0.1"]])
    with pytest.raises(UnreadablePage, match="private network"):
        await pinned(checked("https://paper.example/", CLOSED), CLOSED, names)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "①②⑦.⓪.⓪.①",
        "[::1]",
        "[::ffff:7f00:1]",
        "localhost",
    ],
)
async def test_every_way_to_write_loopback_is_seen_through(host: str) -> None:
    # The system's own resolver reads the odd spellings, without asking anybody.
    with pytest.raises(UnreadablePage, match=r"private network|could be opened|no machine"):
        await pinned(checked(f"http://{host}/", CLOSED), CLOSED)


async def test_names_without_a_machine_and_without_an_answer_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hanging(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    silent = failing(socket.gaierror(socket.EAI_AGAIN, "try again"))
    monkeypatch.setattr(fetching, "LOOK_UP_S", 0.01)
    for look_up, words in (
        (Names(), "no machine of the name"),
        (silent, "cannot be looked up now"),
        (hanging, "in time"),
    ):
        with pytest.raises(UnreadablePage, match=words):
            await pinned(checked("https://nowhere.example/", CLOSED), CLOSED, look_up)
