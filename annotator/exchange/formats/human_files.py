"""ResearcherBench's files of human labels, read and written: one file per question and annotator.

Its meta-evaluation (§4.3) reads `Q<number>_result_<annotator>.json` with `rubric_eval`, a list of points that are
covered or not; the judge's side is a file with `detailed_results`, and the weights come from `rubric.json`. A file
names no system, so those of each system are in a folder of their own.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from annotator.domain.common import Refusal, counted, nested
from annotator.domain.judges.judge import NO, YES
from annotator.exchange.folders import pretty, read_json, slugs
from annotator.exchange.formats.layout import (
    LONGEST_CELL,
    MAPPING,
    EntryTrouble,
    Files,
    GivenLabel,
    LabelEntry,
    LabelFileContent,
    LabelLayout,
    Labelled,
    LabelledReport,
    LabelledUnit,
    too_long,
    unreadable,
    wrong,
)
from annotator.exchange.formats.researcherbench import (
    DATASET,
    RUBRICS,
    MappedItem,
    Numbering,
    mapped,
    numbered,
)
from annotator.exchange.release.bundle import Problem, fitting
from annotator.protocols.researcherbench.coverage import COVERAGE

JUDGED = "meta_eval.json"
# The only run of a system that the layout has a place for.
_RUN = (1, "end-to-end")
# From this share of common words on, its meta-evaluation treats two points as the same.
ITS_LIKENESS = 0.3
_NAME = re.compile(r"Q(?P<number>-?\d{1,18})_result_(?P<annotator>.+)\.json")


def files_of(path: Path) -> list[Path]:
    """The files of this layout: the path itself, or those in a folder and its subfolders."""
    if path.is_dir():
        result = [*path.glob("Q*_result_*.json"), *path.glob("*/Q*_result_*.json")]
        return sorted(file for file in result if _NAME.fullmatch(file.name))
    return [path] if _NAME.fullmatch(path.name) else []


def read(files: Sequence[Path]) -> LabelFileContent:
    """The labels of some files of this layout; each line of `rubric_eval` is an entry."""
    result = LabelFileContent()
    mapped = cache(_mapping)
    for file in files:
        try:
            result.add(_read_one(file, mapped(file.parent) or mapped(file.parent.parent)))
        except Refusal as refusal:
            result.add(unreadable(_shown(file), refusal))
    return result


def _shown(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def _mapping(folder: Path) -> dict[int, MappedItem]:
    """The item of each number, if our own file beside them lists them."""
    if not (folder / MAPPING).is_file():
        return {}
    tree = read_json(folder / MAPPING)
    numbering = fitting(Numbering, tree, f"“{MAPPING}”", "Correct the file, or take it away.")
    return {item.id: item for item in numbering.items}


def _read_one(file: Path, numbering: Mapping[int, MappedItem]) -> LabelFileContent:
    named = _NAME.fullmatch(file.name)
    tree = read_json(file, _shown(file))
    lines = tree.get("rubric_eval") if isinstance(tree, dict) else None
    if named is None or not isinstance(lines, list):
        raise Refusal(f"“{_shown(file)}” has no list “rubric_eval”.", "Choose files of human labels.")
    number, result = int(named["number"]), LabelFileContent()
    item = numbering.get(number)
    about: dict[str, Any] = {
        "file": _shown(file),
        "item": str(number),
        "item_id": item.item_id if item else "",
        "dataset": "" if item else DATASET,
        "system": _text(tree, "model"),
        "rater": _text(tree, "annotator") or named["annotator"],
        "rater_id": _text(tree, "annotator_id"),
        "peer": True,
    }
    for place, raw in enumerate(lines, 1):
        made = _line(raw, about, place)
        if isinstance(made, LabelEntry):
            result.entries.append(made)
        else:
            result.problems.append(made)
    return result


def _text(tree: Mapping[str, Any], name: str) -> str:
    value = tree.get(name)
    return value.strip() if isinstance(value, str) else ""


def _line(raw: Any, about: Mapping[str, Any], row: int) -> LabelEntry | Problem:
    file = about["file"]
    point = raw.get("point") if isinstance(raw, dict) else None
    if not isinstance(point, str) or not point.strip():
        return wrong(EntryTrouble.UNREADABLE, file, row, "it has no “point”")
    if len(point) > LONGEST_CELL:
        return wrong(EntryTrouble.UNREADABLE, file, row, f"its point {too_long(point)}")
    covered = raw.get("covered")
    if not isinstance(covered, bool):
        # Its own reading treats a missing value as not covered.
        return wrong(EntryTrouble.BAD_VALUE, file, row, "“covered” is neither true nor false")
    return LabelEntry(row=row, value=YES if covered else NO, unit=point.strip(), number=row, **about)


@dataclass(frozen=True, slots=True)
class AnnotatorSheet:
    """The labels of one annotator, or the judge, on one report of a question with that number, by unit's id."""

    number: int
    report: LabelledReport
    rater: str
    rater_id: str
    labels: Mapping[str, GivenLabel]

    def ratings(self) -> list[tuple[LabelledUnit, GivenLabel]]:
        """The labelled units in the order of the rubric."""
        return [(unit, self.labels[unit.id]) for unit in self.report.units if unit.id in self.labels]


def write(
    sheets: Sequence[AnnotatorSheet],
    judged: Sequence[AnnotatorSheet],
    rubrics: Mapping[int, AnnotatorSheet],
    items: Sequence[MappedItem],
) -> dict[str, bytes]:
    """The files by path: people's sheets and the judge's by system, the weights of all questions, the numbering.

    Missing labels are left out, for its own reading would treat them as not covered.
    """
    systems = slugs(sorted({sheet.report.system for sheet in (*sheets, *judged)}))
    aliases = slugs(sorted({_without_underscores(sheet.rater) for sheet in sheets}))
    made = {RUBRICS: pretty([_rubric(rubrics[number]) for number in sorted(rubrics)])}
    for sheet in sheets:
        alias = aliases[_without_underscores(sheet.rater)]
        covered = [{"point": unit.words, "covered": label.value == YES} for unit, label in sheet.ratings()]
        made[f"{systems[sheet.report.system]}/Q{sheet.number}_result_{alias}.json"] = pretty(
            {
                "id": sheet.number,
                "question": sheet.report.item.question,
                "model": sheet.report.system,
                "annotator": sheet.rater,
                "annotator_id": sheet.rater_id,
                "rubric_eval": covered,
            }
        )
    for system in sorted({sheet.report.system for sheet in judged}):
        own = [_judge(sheet) for sheet in judged if sheet.report.system == system]
        made[f"{systems[system]}/{JUDGED}"] = pretty({"detailed_results": own})
    if items:
        made[MAPPING] = pretty(Numbering(items=list(items)).model_dump(mode="json"))
    return made


def _without_underscores(rater: str) -> str:
    """The name without underscores, which would end it when the benchmark's own reader parses a file's name."""
    return rater.replace("_", "\x1f")


def _rubric(sheet: AnnotatorSheet) -> dict[str, Any]:
    lines = [{"point": unit.words, "weight": _weight(unit)} for unit in sheet.report.units]
    return {"id": sheet.number, "question": sheet.report.item.question, "rubric": lines}


def _weight(unit: LabelledUnit) -> float:
    return int(unit.weight) if unit.weight.is_integer() else unit.weight


def _judge(sheet: AnnotatorSheet) -> dict[str, Any]:
    total = sum(max(_weight(unit), 0) for unit, _ in sheet.ratings())
    covered = sum(_weight(unit) for unit, label in sheet.ratings() if label.value == YES)
    return {
        "id": sheet.number,
        "model": sheet.report.system,
        "evaluator": sheet.rater,
        "result": {
            "m_weighted": covered,
            "total_weight": total,
            "recall": round(covered / total, 4) if total else None,
            "coverage_results": [
                {
                    "point": unit.words, "weight": _weight(unit), "covered": label.value == YES,
                    "justification": label.why,
                }
                for unit, label in sheet.ratings()
            ],
        },
    }  # fmt: skip


def mistaken(points: Sequence[str]) -> list[tuple[int, int]]:
    """The indices (from 0) of points that its meta-evaluation confuses with an earlier one, and of that one.

    It goes through the judge's points in order, and takes the first that shares enough words.
    """
    words = [frozenset(point.lower().split()) for point in points]
    first = [next(place for place, other in enumerate(words) if _alike(own, other)) for own in words]
    return [(place, taken) for place, taken in enumerate(first) if taken != place]


def _alike(own: frozenset[str], other: frozenset[str]) -> bool:
    return own is other or len(own & other) / len(own | other) >= ITS_LIKENESS


def lay_out(labelled: Labelled) -> Files:
    """People's labels as files of this layout, and notes on those without a place in them; Refusal if none has one."""
    labels_of: dict[tuple[str, str, str], dict[str, GivenLabel]] = defaultdict(dict)
    left: Counter[str] = Counter()
    units_of = {
        (report_id, unit.id)
        for report_id, report in labelled.reports.items()
        if (report.trial, report.mode) == _RUN
        for unit in report.units
    }
    for label in labelled.people:
        if (label.report_id, label.unit_id) not in units_of:
            left["of a further run, or of a unit that is gone"] += 1
        elif label.value is None:
            left["unsure, which is neither covered nor not"] += 1
        else:
            labels_of[label.report_id, label.rater, label.rater_id][label.unit_id] = label
    notes = [f"{counted(number, 'label')} left out: {why}" for why, number in left.items()]
    if not labels_of:
        raise Refusal(
            f"None of these labels has a place in this layout: {'; '.join(notes)}.", "Choose csv or json."
        )
    numbers = dict(numbered(labelled.items))
    sheets = [
        AnnotatorSheet(numbers[labelled.reports[own].item.id], labelled.reports[own], rater, rater_id, labels)
        for (own, rater, rater_id), labels in labels_of.items()
    ]
    rubrics = {sheet.number: sheet for sheet in sheets}
    judged = _judged(labelled, numbers, {report_id for report_id, *_ in labels_of})
    return write(sheets, judged, rubrics, mapped(labelled.items, numbers)), [
        *notes,
        *_mistakes(rubrics.values()),
    ]


def _judged(labelled: Labelled, numbers: Mapping[str, int], report_ids: set[str]) -> list[AnnotatorSheet]:
    """The judge's labels on the reports that people labelled, question by question."""
    labels_of = nested(
        (label.report_id, label.unit_id, label)
        for label in labelled.judge
        if label.report_id in report_ids and label.value in (YES, NO)
    )
    sheets = [
        AnnotatorSheet(
            numbers[labelled.reports[own].item.id], labelled.reports[own], labelled.judge[0].rater, "", labels
        )
        for own, labels in labels_of.items()
    ]
    return sorted(sheets, key=lambda sheet: sheet.number)


def _mistakes(rubrics: Iterable[AnnotatorSheet]) -> list[str]:
    """A note on criteria that its own meta-evaluation, which pairs by common words, would confuse."""
    places = [
        f"Q{sheet.number}: {place + 1} for {taken + 1}"
        for sheet in rubrics
        for place, taken in mistaken([unit.words for unit in sheet.report.units])
    ]
    if not places:
        return []
    some = ", ".join(places[:5]) + (" …" if len(places) > 5 else "")
    return [
        f"ResearcherBench's meta-evaluation pairs criteria by the words they share, and would take "
        f"{counted(len(places), 'criterion', 'criteria')} for another of the same rubric ({some}): its figures may "
        "differ from ours by that"
    ]


LABELS = LabelLayout(COVERAGE.name, "Q1_result_A.json", files_of, read, lay_out)
