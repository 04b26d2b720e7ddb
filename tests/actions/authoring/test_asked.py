"""Which question is asked, which document reports are judged by, and what is known of drafts."""

import asyncio
import json
import zipfile
from collections.abc import Iterator
from contextlib import closing as closed
from pathlib import Path

import pytest
from sqlalchemy import insert

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.agreement import agreement_figures, agreement_report
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.judges.judges import WriterSettings
from annotator.actions.material import model_drafts, responding
from annotator.actions.material.model_drafts import proposals, take
from annotator.actions.parcels import tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project, wording_hash
from annotator.actions.releases import checking, releases
from annotator.actions.results import overview
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import DraftSource, Kind, State, chain
from annotator.domain.kinds.documents import Query, Wording
from annotator.domain.texts.canonical import canonical_json, now
from annotator.domain.texts.words import counted
from annotator.storage.tables import ARTIFACT, REVISION
from tests.judging.odd_server import OddServer
from tests.material.bundles import change_json, found, without_manifest
from tests.material.sent_apart import annotators, coordinated, task_for
from tests.projects import pairs_project as pairs
from tests.projects.adra_project import adra_project, answer
from tests.projects.authoring_project import PAPER
from tests.projects.pairs_project import (
    item,
    letter_of,
    opened,
    pairs_project,
    person,
    rubric,
    rubrics_project,
    work_as,
)
from tests.projects.refusals import expect_refusal
from tests.servers.drafting_server import JUDGE, drafting
from tests.servers.writing_server import writing
from tests.storage import sql

TITLE = "Question 1: how is evidence attributed?"
FIRST = "How do long answers say which passage bears out which claim?"
SECOND = "Which ways of attributing evidence do experts trust, and why?"


def query(*wordings: str, prefix: str) -> Query:
    return Query(units=tuple(Wording(id=f"{prefix}{n}", text=text) for n, text in enumerate(wordings)))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One item that a report was written on before both experts put its query."""
    project = pairs.pairs_project(tmp_path)
    pairs.add_report(project)
    pairs.submit(project, {"Ada": query(FIRST, prefix="a"), "Ben": query(SECOND, prefix="b")})
    return project


def settle(project: Project, keep: str) -> None:
    stage = pairs.opened(project, Stage.QUERY)
    for row in adjudicating.sheet(project, stage).rows:
        letter = next((letter for letter, unit in row.units.items() if unit.text == keep), None)
        ruling.rule(project, row.ruling.id, letter or "drop", reason=Reason.WORDING)
    ruling.close(project, stage)
    pairs.work_as(project, "Cora")


def test_letter_1_a_settled_query_is_the_question_and_another_keeps_the_working_title(
    project: Project,
) -> None:
    result = items.read(project, pairs.item(project))
    assert (result.question, result.working_title) == (TITLE, "")
    assert annotating.answered_otherwise(project) == []
    settle(project, FIRST)
    ruling.reopen(project, pairs.opened(project, Stage.QUERY), "The other is broader.")
    settle(project, SECOND)
    result = items.read(project, pairs.item(project))
    assert (result.question, result.working_title) == (SECOND, TITLE)
    assert sql.rows(project, "SELECT asked FROM response") == [(wording_hash(TITLE),)]
    assert items.ids(project, items.Filter(words="trust")) == [result.id]
    assert checking.check(project).problems == []
    expect_refusal("query of item 1 is settled", items.change, project, result.id, question="Something else?")


def test_letter_1_a_response_to_another_wording_is_flagged_in_the_results(tmp_path: Path) -> None:
    with closed(adra_project(tmp_path, questions=2)) as project:
        answer(project, items.ids(project)[0], "Beta", latency_s=2.0)
        items.change(project, items.ids(project)[1], question="What do reports leave out?")
        told = [words for sheet in overview.sheets(overview.report(project)) for words in sheet.notes]
        assert [words for words in told if "another wording" in words] == [
            "1 response to another wording of the question than is asked now: item 2 (Alpha)."
        ]
        history.undo(project)
        assert annotating.answered_otherwise(project) == []


def test_letter_1_a_model_is_sent_the_settled_wording_and_its_report_says_so(project: Project) -> None:
    settle(project, SECOND)
    with writing() as server:
        writer = judges.prepared(project, "Scribe", WriterSettings(base_url=server.url, model="test-model"))
        order = RunRequest(writer.name, responding.protocol_name(), systems=("Scribe",), timeout_s=5.0)
        asyncio.run(responding.run(project, order))
        sent = str(server.bodies[0]["messages"])
    assert SECOND in sent
    assert TITLE not in sent
    of_system = "SELECT asked FROM response r JOIN system s ON s.id = r.system_id WHERE s.name = 'Scribe'"
    assert sql.rows(project, of_system) == [(wording_hash(SECOND),)]
    assert {one.system for one in annotating.answered_otherwise(project)} == {"Canary-System-9000"}


def test_letter_1_a_release_asks_the_wording_and_comes_back_to_the_byte(
    project: Project, tmp_path: Path
) -> None:
    settle(project, SECOND)
    releases.export(project, tmp_path / "one")
    path = tmp_path / "one" / "items.json"
    (item,) = json.loads(path.read_text("utf-8"))
    assert (item["question"], item["working_title"]) == (SECOND, TITLE)
    imports.run(project, "goldsmith", [tmp_path / "one"])
    with closed(people.new_project(tmp_path / "again.goldsmith", project.title)) as again:
        imports.run(again, "goldsmith", [tmp_path / "one"])
        releases.export(again, tmp_path / "two")
        assert len(annotating.answered_otherwise(again)) == 1
    assert found(tmp_path / "one") == found(tmp_path / "two")
    # An older release with a settled query has the working title for its question.
    without_manifest(tmp_path / "one")
    change_json(path, lambda tree: tree[0].update(question=TITLE, working_title=""))
    with closed(people.new_project(tmp_path / "older.goldsmith")) as older:
        imports.run(older, "goldsmith", [tmp_path / "one"])
        (result,) = (items.read(older, item_id) for item_id in items.ids(older))
    assert (result.question, result.working_title) == (SECOND, TITLE)


CANARY = "Canary of a draft"


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def asking(tmp_path: Path, server: OddServer) -> Project:
    """Ada and Ben may write the rubric of an item with a source; Cora works."""
    asking = work_as(pairs_project(tmp_path), "Cora")
    add_source(asking, tmp_path)
    judges.add(asking, JUDGE, base_url=server.url, model="test-model")
    return asking


def add_source(asking: Project, folder: Path) -> None:
    paper = folder / "paper.md"
    paper.write_text(PAPER, "utf-8")
    items.add_source(asking, items.ids(asking)[0], paper)


def drafted(asking: Project, units: int, kind: Kind = Kind.RUBRIC, judge: str = JUDGE) -> str:
    """Whoever works asks for a draft of the first item and takes so many units of it; the document's id."""
    key = items.read(asking, items.ids(asking)[0]).key
    asyncio.run(model_drafts.run(asking, RunRequest(judge, model_drafts.protocol_name(kind), items=(key,))))
    result = proposals(asking, items.ids(asking)[0], kind)[0]
    return take(asking, result.id, [unit.id for unit in result.document.units[:units]]).subject


def both_submit(asking: Project, ada: int = 2, ben: int = 1) -> None:
    """Ada takes so many units and adds one of her own; so does Ben."""
    made = {}
    for name, units in (("Ada", ada), ("Ben", ben)):
        made[name] = drafted(work_as(asking, name), units)
        artifacts.add_unit(asking, made[name], text=f"Discusses what {name} alone has thought of.")
    for name, artifact_id in made.items():
        assignments.seal(work_as(asking, name), artifact_id)
    work_as(asking, "Cora")


def test_agreement_says_when_one_model_drafted_for_both_and_the_adjudicator_is_not_told(
    asking: Project,
) -> None:
    both_submit(asking)
    # Ada is A or B as her id happens to be lower or not.
    a, b = (2, 1) if person(asking, "Ada").id < person(asking, "Ben").id else (1, 2)
    words = f"{counted(a, 'unit')} of A and {b} of B came from one model's drafts (test-model)"
    (agreement,) = assignments.of_item(asking, item(asking))
    assert all(one.note.endswith(words) for pair in agreement.pairs for one in pair.figures)
    row = next(row for row in agreement_figures.rows(asking) if row.field == "units")
    said = agreement_report.remarks(row.figures[0])
    assert "on 1 item units of two raters came from one model's drafts" in said
    told = repr(adjudicating.sheet(asking, opened(asking)))
    assert artifacts.COMMON not in told
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
    assert artifacts.note(a, b) == words


def test_a_release_says_how_many_units_of_each_document_were_drafted(asking: Project, tmp_path: Path) -> None:
    both_submit(asking)
    adjudication = opened(asking)
    ada = letter_of(asking, adjudication, "Ada")
    for row in adjudicating.sheet(asking, adjudication).rows:
        said = "both" if row.ruling.unanimous else ada if ada in row.units else "drop"
        ruling.rule(asking, row.ruling.id, said, reason=Reason.SCOPE, rationale="So.")
    ruling.close(asking, adjudication)
    releases.export(work_as(asking, "Cora"), tmp_path / "out")
    rubrics = json.loads((tmp_path / "out/artifacts/rubric.json").read_text("utf-8"))
    of = {one["id"]: (one["state"], len(one["document"]["units"])) for one in rubrics}
    counts = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))["drafted"]
    # Ada took 2 of her 3, Ben 1 of his 2; the consensus has the one both took and Ada's other two.
    drafted = {of[name]: count for name, count in counts.items()}
    assert drafted == {("consensus", 3): 2, ("sealed", 2): 1, ("sealed", 3): 2}
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "5 units of 3 documents came from a model's draft" in card
    assert "Models: test-model." in card
    assert "| rubric | consensus | 2 | 3 |" in card


def test_a_release_without_drafts_says_nothing_and_none_leaves(asking: Project, tmp_path: Path) -> None:
    releases.export(asking, tmp_path / "out")
    assert "drafted" not in json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
    assert "model's draft" not in (tmp_path / "out/README.md").read_text("utf-8")
    assignments.seal(asking, drafted(work_as(asking, "Ada"), 1))
    releases.export(work_as(asking, "Cora"), tmp_path / "out")
    left = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"Explains why deep plain networks" in left
    # The units that nobody took.
    assert b"adds to its output" not in left


def held(path: Path) -> bytes:
    """All that a package holds, unpacked and as it lies in the file."""
    with zipfile.ZipFile(path) as package:
        return b"".join(package.read(name) for name in package.namelist()) + path.read_bytes()


def test_a_task_holds_no_draft_of_anybodys(tmp_path: Path, server: OddServer) -> None:
    asking = coordinated(tmp_path / "home")
    add_source(asking, tmp_path)
    judges.add(asking, JUDGE, base_url=server.url, model=CANARY)
    coordinator, raters = asking.person, annotators(asking)
    for whoever in (coordinator, *raters):
        asking.work_as(whoever)
        drafted(asking, 1)
    asking.work_as(coordinator)
    for one in raters:
        content = held(task_for(asking, one.id, tmp_path / one.alias)).decode("utf-8", "replace")
        assert PAPER.splitlines()[0] in content
        assert not [
            words for words in (CANARY, "Explains why deep plain", "残差连接如何") if words in content
        ]


def test_what_was_drafted_on_an_annotators_computer_is_known_when_it_comes_back(
    tmp_path: Path, server: OddServer
) -> None:
    asking = coordinated(tmp_path / "home")
    add_source(asking, tmp_path)
    ana, _ = annotators(asking)
    theirs = tasking.take_task(task_for(asking, ana.id, tmp_path / "ana")).project
    judges.add(theirs, JUDGE, base_url=server.url, model="test-model")
    assignments.seal(theirs, drafted(theirs, 2))
    path = tray.work(theirs).path
    theirs.close()
    content = held(path)
    assert "Explains why deep plain" in content.decode("utf-8", "replace")
    # What she did not take stays with her.
    assert "残差连接如何" not in content.decode("utf-8", "replace")
    for _ in range(2):
        unpacking.take_in(asking, [path])
    with asking.store.read() as db:
        (units,) = artifacts.of_artifacts(db).values()
    assert sorted(source.model for source in units.values()) == ["test-model", "test-model"]
    assert sql.first(asking, "SELECT count(*) FROM audit WHERE verb LIKE 'from a model%'") == (1,)


def import_rubric(project: Project, state: State, words: str) -> str:
    """A rubric of nobody's for the first item, as an import leaves it; its id sorts before any other."""
    document = rubric(((words, 3),), "i")
    content, digest = canonical_json(document.tree()).decode(), document.sha256()
    row = {"id": "0", "item_id": item(project), "kind": "rubric", "author_id": "", "state": state.value}
    with project.store.write() as db:
        db.execute(insert(ARTIFACT).values(**row, revision=1))
        db.execute(
            insert(REVISION).values(
                id="0", artifact_id="0", number=1, content=content, sha256=digest, chain=chain("", digest),
                verb="import", by="", at=now(),
            )
        )  # fmt: skip
    return words


def judged(project: Project) -> str:
    """The words of the first criterion that the first item's reports are judged by."""
    with project.store.read() as db:
        row = annotating.judged_rows(db, Kind.RUBRIC)[item(project)]
    return str(json.loads(row.content)["units"][0]["text"])


def test_the_consensus_of_an_adjudicator_is_judged_by_before_one_that_was_imported(tmp_path: Path) -> None:
    project = rubrics_project(tmp_path)
    own = "Explains how attribution ties each claim to a source"
    project.set(annotating.UNADJUDICATED, True)
    assert judged(project) == own
    imported = import_rubric(project, State.SEALED, "Names what was imported")
    assert judged(project) == imported
    project.set(annotating.UNADJUDICATED, False)
    sql.alter(project, "UPDATE artifact SET state = 'consensus' WHERE id = '0'")
    assert judged(project) == imported
    adjudication = opened(project)
    for row in adjudicating.sheet(project, adjudication).rows:
        ruling.rule(project, row.ruling.id, min(row.units), reason=Reason.WORDING)
    ruling.close(project, adjudication)
    assert judged(project) == own
