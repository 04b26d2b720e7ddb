"""A layout that nobody publishes in: the questions of its items in one file, and labels a line each."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from annotator.exchange.formats.layout import (
    ExistingItems,
    FileLayout,
    Files,
    HasNumber,
    LabelEntry,
    LabelFileContent,
    LabelLayout,
    Labelled,
)
from annotator.exchange.release.bundle import Bundle, Problem
from annotator.exchange.release.records import ItemRecord

NAME, ITEMS, LABELS = "planted", "planted.json", "labels.planted"


def numbers(items: Iterable[HasNumber]) -> Mapping[str, int]:
    return {item.id: int(item.key) for item in items if item.dataset == NAME and item.key.isdigit()}


def read(paths: Sequence[Path], known: ExistingItems) -> tuple[Bundle, list[Problem]]:
    bundle = Bundle()
    for number, question in json.loads((paths[0] / ITEMS).read_text("utf-8")).items():
        record = ItemRecord(id=f"{NAME}-{number}", key=number, dataset=NAME, question=question)
        bundle.items.append(record)
        bundle.places["items", record.id] = (ITEMS, int(number))
    return bundle, []


def files(bundle: Bundle) -> Files:
    asked = {str(place): item.question for place, item in enumerate(bundle.items)}
    return {ITEMS: json.dumps(asked).encode()}, []


def labels_in(path: Path) -> list[Path]:
    return sorted(path.glob(LABELS)) if path.is_dir() else []


def read_labels(paths: Sequence[Path]) -> LabelFileContent:
    lines = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    return LabelFileContent(
        [LabelEntry(file=LABELS, row=row, peer=True, **line) for row, line in enumerate(lines, 1)]
    )


def write_labels(labelled: Labelled) -> Files:
    lines = []
    for label in labelled.people:
        report = labelled.reports[label.report_id]
        lines.append({
            "item_id": report.item.id, "system": report.system, "unit_id": label.unit_id, "rater": label.rater,
            "rater_id": label.rater_id, "value": label.value or "unsure",
        })  # fmt: skip
    return {LABELS: "\n".join(map(json.dumps, lines)).encode()}, []


PLANTED = FileLayout(
    NAME, "Planted bench", f"one file {ITEMS}", read=read, files=files, numbers=numbers,
    labels=LabelLayout("planted.stance", LABELS, labels_in, read_labels, write_labels),
)  # fmt: skip
