"""What a model drafted is told of wherever the work goes: in agreement, in a release, in packages; the draft stays."""

import asyncio
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudicating, adjudication_sheets, closing, ruling
from annotator.actions.agreement import agreement_figures, agreement_words
from annotator.actions.assignments import agreements, submitting
from annotator.actions.authoring import artifacts, draft_provenance
from annotator.actions.items import items, sources
from annotator.actions.judges import judges
from annotator.actions.material import draft_runs
from annotator.actions.material.drafting_by_model import proposals, take
from annotator.actions.parcels import returning, tasking, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.adjudication import Reason
from annotator.domain.kinds.artifact import DraftSource, Kind
from annotator.domain.texts.counting import counted
from tests.judging.odd_server import OddServer
from tests.material.sent_apart import annotators, coordinated, task_for
from tests.projects.authoring_project import PAPER
from tests.projects.pairs_project import item, letter_of, opened, pairs_project, person, work_as
from tests.servers.drafting_server import JUDGE, drafting
from tests.storage import sql

CANARY = "Canary of a draft"


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    """Ada and Ben may write the rubric of an item with a source; Cora works."""
    project = work_as(pairs_project(tmp_path), "Cora")
    add_source(project, tmp_path)
    judges.add(project, JUDGE, base_url=server.url, model="test-model")
    yield project
    project.close()


def add_source(project: Project, folder: Path) -> None:
    paper = folder / "paper.md"
    paper.write_text(PAPER, "utf-8")
    sources.add_source(project, items.ids(project)[0], paper)


def drafted(project: Project, units: int, kind: Kind = Kind.RUBRIC, judge: str = JUDGE) -> str:
    """Whoever works asks for a draft of the first item and takes so many units of it; the document's id."""
    key = items.read(project, items.ids(project)[0]).key
    asyncio.run(draft_runs.run(project, RunRequest(judge, draft_runs.protocol_name(kind), items=(key,))))
    found = proposals(project, items.ids(project)[0], kind)[0]
    return take(project, found.id, [unit.id for unit in found.document.units[:units]]).subject


def both_submit(project: Project, ada: int = 2, ben: int = 1) -> None:
    """Ada takes so many units and adds one of her own; so does Ben."""
    made = {}
    for name, units in (("Ada", ada), ("Ben", ben)):
        made[name] = drafted(work_as(project, name), units)
        artifacts.add_unit(project, made[name], text=f"Discusses what {name} alone has thought of.")
    for name, artifact_id in made.items():
        submitting.seal(work_as(project, name), artifact_id)
    work_as(project, "Cora")


def frozen_notes(project: Project) -> set[str]:
    (agreement,) = agreements.of_item(project, item(project))
    return {one.note for pair in agreement.pairs for one in pair.figures}


# Agreement


def test_agreement_says_when_one_model_drafted_for_both(project: Project) -> None:
    both_submit(project)
    # Ada is A or B as her id happens to be lower or not.
    ada_first = person(project, "Ada").id < person(project, "Ben").id
    a, b = (2, 1) if ada_first else (1, 2)
    words = f"{counted(a, 'unit')} of A and {b} of B came from one model's drafts (test-model)"
    assert all(note.endswith(words) for note in frozen_notes(project))
    row = next(row for row in agreement_figures.rows(project) if row.field == "units")
    said = agreement_words.remarks(row.figures[0])
    assert "on 1 item units of two raters came from one model's drafts" in said


def test_agreement_says_nothing_where_only_one_of_them_took_any(project: Project) -> None:
    first = drafted(work_as(project, "Ada"), 2)
    second = artifacts.start(work_as(project, "Ben"), item(project), Kind.RUBRIC).subject
    artifacts.add_unit(project, second, text="Explains why deep plain networks train badly.")
    for name, artifact_id in (("Ada", first), ("Ben", second)):
        submitting.seal(work_as(project, name), artifact_id)
    assert not any(draft_provenance.COMMON in note for note in frozen_notes(project))


def test_the_adjudicator_is_not_told_who_took_what(project: Project) -> None:
    both_submit(project)
    opened(project)
    told = repr(adjudication_sheets.sheet(project, adjudicating.queue(project)[0].adjudication_id))
    assert draft_provenance.COMMON not in told
    assert "test-model" not in told


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ({}, {"u": DraftSource("d", "j", "m")}, ""),
        ({"t": DraftSource("d1", "j", "m1")}, {"u": DraftSource("d2", "k", "m2")}, ""),
        (
            {"t": DraftSource("d", "j", "m")},
            {"u": DraftSource("d", "j", "m"), "v": DraftSource("e", "j", "m")},
            "1 unit of A and 1 of B came from one model's draft, the same for both",
        ),
        (
            {"t": DraftSource("d1", "j", "")},
            {"u": DraftSource("d2", "j", "")},
            "1 unit of A and 1 of B came from one model's drafts (j)",
        ),
    ],
    ids=["one side", "two models", "one draft", "the baseline"],
)
def test_the_note_tells_one_draft_from_two_of_one_model(
    a: dict[str, DraftSource], b: dict[str, DraftSource], words: str
) -> None:
    assert draft_provenance.note(a, b) == words


# Releases


def test_a_release_says_how_many_units_of_each_document_were_drafted(
    project: Project, tmp_path: Path
) -> None:
    both_submit(project)
    adjudication = opened(project)
    ada = letter_of(project, adjudication, "Ada")
    for row in adjudication_sheets.sheet(project, adjudication).rows:
        said = "both" if row.ruling.unanimous else ada if ada in row.units else "drop"
        ruling.rule(project, row.ruling.id, said, reason=Reason.SCOPE, rationale="So.")
    closing.close(project, adjudication)
    releases.export(work_as(project, "Cora"), tmp_path / "out")
    rubrics = json.loads((tmp_path / "out/artifacts/rubric.json").read_text("utf-8"))
    of = {one["id"]: (one["state"], len(one["document"]["units"])) for one in rubrics}
    counts = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))["drafted"]
    # Ada took 2 of her 3, Ben 1 of his 2; the consensus has the one both took and Ada's other two.
    assert sorted((of[name], count) for name, count in counts.items()) == [
        (("consensus", 3), 2),
        (("sealed", 2), 1),
        (("sealed", 3), 2),
    ]
    card = (tmp_path / "out/data_card.md").read_text("utf-8")
    assert "5 units of 3 documents came from a model's draft" in card
    assert "Models: test-model." in card
    assert "| rubric | consensus | 2 | 3 |" in card


def test_a_release_without_drafts_says_nothing_of_them(project: Project, tmp_path: Path) -> None:
    releases.export(project, tmp_path / "out")
    assert "drafted" not in json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
    assert "model's draft" not in (tmp_path / "out/data_card.md").read_text("utf-8")


def test_a_draft_itself_never_leaves_with_a_release(project: Project, tmp_path: Path) -> None:
    submitting.seal(project, drafted(work_as(project, "Ada"), 1))
    releases.export(work_as(project, "Cora"), tmp_path / "out")
    left = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"Explains why deep plain networks" in left
    # The units that nobody took.
    assert b"adds to its output" not in left


# Packages


def held(path: Path) -> bytes:
    """All that a package holds, unpacked and as it lies in the file."""
    with zipfile.ZipFile(path) as package:
        return b"".join(package.read(name) for name in package.namelist()) + path.read_bytes()


def test_a_task_holds_no_draft_of_anybodys(tmp_path: Path, server: OddServer) -> None:
    project = coordinated(tmp_path / "home")
    add_source(project, tmp_path)
    judges.add(project, JUDGE, base_url=server.url, model=CANARY)
    people_ = annotators(project)
    for whoever in (people.someone(project), *people_):
        project.work_as(whoever)
        drafted(project, 1)
    project.work_as(next(one for one in people.people(project) if one not in people_))
    for one in people_:
        content = held(task_for(project, one.id, tmp_path / one.alias))
        assert PAPER.splitlines()[0].encode() in content
        assert CANARY.encode() not in content
        assert "Explains why deep plain" not in content.decode("utf-8", "replace")
        assert "残差连接如何" not in content.decode("utf-8", "replace")
    project.close()


def test_what_was_drafted_on_an_annotators_computer_is_known_when_it_comes_back(
    tmp_path: Path, server: OddServer
) -> None:
    project = coordinated(tmp_path / "home")
    add_source(project, tmp_path)
    ana, _ = annotators(project)
    theirs = tasking.take_task(task_for(project, ana.id, tmp_path / "ana")).project
    judges.add(theirs, JUDGE, base_url=server.url, model="test-model")
    artifact_id = drafted(theirs, 2)
    submitting.seal(theirs, artifact_id)
    path = returning.work(theirs).path
    theirs.close()
    content = held(path)
    assert "Explains why deep plain" in content.decode("utf-8", "replace")
    # What she did not take stays with her.
    assert "残差连接如何" not in content.decode("utf-8", "replace")
    for _ in range(2):
        unpacking.take_in(project, [path])
    with project.store.read() as db:
        (units,) = draft_provenance.of_artifacts(db).values()
    assert sorted(source.model for source in units.values()) == ["test-model", "test-model"]
    takes = sql.first(project, "SELECT count(*) FROM audit WHERE verb LIKE 'from a model%'")
    assert takes == (1,)
    project.close()
