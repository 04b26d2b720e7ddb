"""The files of the sample project, read once: their records, and who wrote what of them."""

import json
from pathlib import Path
from typing import Any

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.documents import document_of
from annotator.exchange.release.bundle import CLASSES
from annotator.exchange.release.records import LEFT_OUT_EMPTY, ArtifactRecord, Record, ResponseRecord
from annotator.places import resources

SAMPLE = resources() / "sample"
COVERAGE = "researcherbench.coverage"
# Reports have a file each, and documents one for each kind.
FILES: dict[Path, type[Record]] = {
    SAMPLE / record.FILE: record
    for record in CLASSES.values()
    if record.FILE.endswith(".json")
    and (record.FILE not in LEFT_OUT_EMPTY or (SAMPLE / record.FILE).exists())
}
# People's labels are judgements.
# The sample has no seminar.
WRITTEN = tuple(kind for kind in Kind if kind not in (Kind.LABELS, Kind.INSPIRATIONS, Kind.TASKS))
FILES |= {SAMPLE / "artifacts" / f"{kind}.json": ArtifactRecord for kind in WRITTEN}
FILES |= {path: ResponseRecord for path in sorted((SAMPLE / "responses").glob("*.json"))}


def read(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8")))


def records(cls: type[Record]) -> list[Any]:
    return [
        cls.model_validate(raw)
        for path, kind in FILES.items()
        if kind is cls and path.exists()
        for raw in read(path)
    ]


ALL = {thing: records(cls) for thing, cls in CLASSES.items()}
PEOPLE, ITEMS, SOURCES = ALL["people"], ALL["items"], ALL["sources"]
SYSTEMS, RESPONSES, ARTIFACTS = ALL["systems"], ALL["responses"], ALL["artifacts"]
JUDGEMENTS, RUNS = ALL["judgements"], ALL["runs"]
REVISIONS, AGREEMENTS = ALL["revisions"], ALL["agreements"]
ADJUDICATIONS = ALL["adjudications"]
OF_CRITERIA = [judgement for judgement in JUDGEMENTS if judgement.protocol == COVERAGE]
LABELS = [judgement for judgement in JUDGEMENTS if judgement.rater_kind == "person"]
TEXTS = {source.id: source.text for source in SOURCES} | {one.id: one.text for one in RESPONSES}
ALIASES = {person.id: person.alias for person in PEOPLE}
FIRST, SECOND, THIRD = (item.id for item in ITEMS)
SETTLED = (Kind.QUERY, Kind.RUBRIC, Kind.PLAN, Kind.EVIDENCE, Kind.DIAGNOSTICS)


def document(record: ArtifactRecord) -> Document[Any]:
    return document_of(record.kind, record.document)


def of(item_id: str, kind: Kind) -> dict[str, ArtifactRecord]:
    return {ALIASES[a.author_id]: a for a in ARTIFACTS if a.item_id == item_id and a.kind is kind}


def judged(item_id: str) -> ArtifactRecord:
    """The consensus where there is one, otherwise the sealed rubric of the lowest alias."""
    rubrics = of(item_id, Kind.RUBRIC)
    return rubrics.get("Adjudicator", rubrics[min(rubrics)])


def annotators(item_id: str) -> set[str]:
    return {"Annotator B", "Annotator C"} if item_id == THIRD else {"Annotator A", "Annotator B"}
