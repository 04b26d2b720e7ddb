"""Folders: pages by an index or by the address they name, and nothing from outside the folder."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.domain.material.page import Page, PageState
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pages.folder import FolderEntry, FolderProblem, entries, page_of
from tests.exchange.pages.page_server import ARTICLE, HereWorker
from tests.exchange.texts.test_documents import pdf
from tests.systems import links

SAVED = f'<link rel="canonical" href="https://a.example/saved/"><title>Saved</title><p>{ARTICLE}'
pytestmark = pytest.mark.anyio


def written(folder: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        path = folder / name.replace("_", ".")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


async def pages_of(folder: Path) -> tuple[list[Page], list[str]]:
    found, problems = entries(folder)
    came = [await page_of(entry, HereWorker()) for entry in found]
    words = [str(one) for one in (*problems, *(one for one in came if isinstance(one, FolderProblem)))]
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
    assert [page.url for page in pages] == ["arxiv:2401.01234", "https://b.example/x,y", "https://c.example"]
    assert [page.title for page in pages] == ["Saved", "Rain", ""]
    assert [page.text.strip() for page in pages] == [ARTICLE.strip(), "Rain falls", "words"]
    assert pages[1].fetched_at == datetime(2026, 1, 31, 8, tzinfo=UTC)
    assert pages[2].fetched_at == datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "tree",
    [{"https://a.example": "a.txt"}, [{"url": "https://a.example", "file": "a.txt", "other": 1}]],
)
async def test_an_index_may_be_json(tmp_path: Path, tree: object) -> None:
    written(tmp_path, pages_json=json.dumps(tree), a_txt="words")
    (page,), problems = await pages_of(tmp_path)
    assert (page.url, page.text, page.state, problems) == ("https://a.example", "words", PageState.OK, [])


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


async def test_what_a_person_could_read_is_no_paywall(tmp_path: Path) -> None:
    written(
        tmp_path, pages_csv="url,file\nhttps://a.example,a.txt", a_txt="All. Subscribe to continue reading."
    )
    (page,), _ = await pages_of(tmp_path)
    assert page.state is PageState.OK


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
    folder = tmp_path / "folder"
    folder.mkdir()
    written(tmp_path, outside_txt="secret")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    written(folder, pages_json=json.dumps({"https://a.example": name}))
    pages, (problem,) = await pages_of(folder)
    assert pages == []
    assert "is no file in this folder" in problem


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
    with pytest.raises(Refusal, match=words):
        entries(written(tmp_path, **files))


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="is not a folder"):
        entries(tmp_path / "nowhere")


async def test_a_file_too_large_or_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.exchange.pages.folder.LARGEST", 100)
    written(tmp_path, a_txt="x" * 101)
    large = await page_of(FolderEntry("a", tmp_path / "a.txt", "https://a.example"), HereWorker())
    gone = await page_of(FolderEntry("b", tmp_path / "b.txt", "https://b.example"), HereWorker())
    assert isinstance(large, Page)
    assert (large.state, large.text) == (PageState.TOO_LONG, "")
    assert isinstance(gone, FolderProblem)
    assert "cannot be read" in gone.reason
