"""Labels of a person as a file or a package brings them: many at once, submitted."""

from collections.abc import Callable, Collection

from sqlalchemy import insert

from annotator.actions.project.file import Project, judgement_hash
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.canonical import derived_id, now
from annotator.storage.tables import ARTIFACT, JUDGEMENT
from tests.projects.validation_project import COVERAGE, At, person, places


def labelled_at_once(
    project: Project, alias: str, says: Callable[[At], str], where: Collection[At] | None = None
) -> None:
    """What a person says, everywhere or there; their labels of every item are submitted."""
    who, every = person(project, alias).id, places(project)
    with project.store.write() as db:
        rubrics = dict(db.exec_driver_sql("SELECT item_id, id FROM artifact WHERE kind = 'rubric'").all())
        for item_id in rubrics:
            sealed = {
                "id": derived_id(who, item_id), "item_id": item_id, "kind": Kind.LABELS.value, "author_id": who,
                "state": State.SEALED.value, "revision": 1, "sealed_at": now(),
            }  # fmt: skip
            db.execute(insert(ARTIFACT).prefix_with("OR IGNORE").values(sealed))
        rows = []
        for at in every if where is None else where:
            item_id, response_id, unit_id = every[at]
            row = Judgement(
                id=derived_id(who, response_id, unit_id), protocol=COVERAGE, item_id=item_id,
                response_id=response_id, unit_id=unit_id, rater_kind=RaterKind.PERSON, rater_id=who, run_id=None,
                at=now(), value=says(at), status=Status.OK, artifact_id=rubrics[item_id],
            ).model_dump(mode="python")  # fmt: skip
            rows.append({**row, "sha256": judgement_hash(row)})
        db.execute(insert(JUDGEMENT), rows)
