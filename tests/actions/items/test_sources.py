"""Sources: put beside an item as they are, found again in order."""

from pathlib import Path

import pytest

from annotator.actions.items import sources
from annotator.actions.items.items import ids
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import source_hash
from annotator.domain.material.source import SourceFormat
from annotator.domain.texts.refusal import Refusal
from tests.exchange.texts.test_documents import pdf
from tests.projects.small_project import small_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return small_project(tmp_path)


def test_sources_come_back_in_order_with_their_format(project: Project, tmp_path: Path) -> None:
    (tmp_path / "Übersicht.md").write_text("# Rain", "utf-8")
    (tmp_path / "talk.txt").write_text("A: why?", "utf-8")
    (item_id, _) = ids(project)
    for name in ("Übersicht.md", "talk.txt"):
        sources.add_source(project, item_id, tmp_path / name)
    found = sources.sources(project, item_id)
    assert [(s.title, s.format, s.text, s.position) for s in found] == [
        ("Übersicht", SourceFormat.MARKDOWN, "# Rain", 0),
        ("talk", SourceFormat.PLAIN, "A: why?", 1),
    ]
    assert sources.file_bytes(project, found[0].id) is None


def test_a_pdf_is_kept_whole_with_its_words_beside_it(project: Project, tmp_path: Path) -> None:
    content = pdf("Rain falls")
    (tmp_path / "rain.PDF").write_bytes(content)
    item_id = ids(project)[0]
    change = sources.add_source(project, item_id, tmp_path / "rain.PDF")
    (source,) = sources.sources(project, item_id)
    assert (source.format, source.text.strip()) == (SourceFormat.PDF, "Rain falls")
    assert sources.file_bytes(project, change.subject) == content
    with project.store.read() as db:
        stored = db.exec_driver_sql("SELECT sha256 FROM source").scalar()
    assert stored == source_hash(source.text)


def test_a_damaged_pdf_is_refused_and_nothing_is_kept(project: Project, tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(pdf("Rain falls")[:200])
    item_id = ids(project)[0]
    with pytest.raises(Refusal, match="is damaged"):
        sources.add_source(project, item_id, tmp_path / "bad.pdf")
    assert sources.sources(project, item_id) == []


def test_a_source_of_no_item_is_a_bug(project: Project, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x", "utf-8")
    with pytest.raises(KeyError):
        sources.add_source(project, "nothing", tmp_path / "a.md")
