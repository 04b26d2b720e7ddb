"""Which document reports are judged by: an adjudicator's consensus before one that was imported."""

import json
from pathlib import Path

from sqlalchemy import insert

from annotator.actions.adjudication import adjudication_sheets, closing, ruling
from annotator.actions.authoring import annotating, gold
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Reason
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import now
from annotator.storage.tables import ARTIFACT, REVISION
from tests.projects.pairs_project import item, opened, rubric, rubrics_project


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


def adjudicate(project: Project) -> str:
    """Take the same letter's wording everywhere; the first criterion of the consensus."""
    adjudication = opened(project)
    for row in adjudication_sheets.sheet(project, adjudication).rows:
        ruling.rule(project, row.ruling.id, min(row.units), reason=Reason.WORDING)
    closing.close(project, adjudication)
    return adjudication_sheets.sheet(project, adjudication).consensus.units[0].text


def test_the_consensus_of_an_adjudicator_is_judged_by_before_one_that_was_imported(tmp_path: Path) -> None:
    project = rubrics_project(tmp_path)
    imported = import_rubric(project, State.CONSENSUS, "Names what was imported")
    assert judged(project) == imported
    agreed = adjudicate(project)
    assert agreed == "Explains how attribution ties each claim to a source"
    assert judged(project) == agreed


def test_imported_gold_is_judged_by_before_a_single_annotators_document(tmp_path: Path) -> None:
    project = rubrics_project(tmp_path)
    project.set(gold.UNADJUDICATED, True)
    assert judged(project) == "Explains how attribution ties each claim to a source"
    assert import_rubric(project, State.SEALED, "Names what was imported") == judged(project)
