"""How labels are laid out for ResearcherBench's own meta-evaluation: a file for each system, question and person."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from annotator.actions.imports.label_matching import AskedUnit, asked_units
from annotator.actions.items.items import ITEM
from annotator.actions.items.materials import RESPONSE, SYSTEM
from annotator.actions.judges import judges
from annotator.actions.labelling.label_rows import JUDGEMENT
from annotator.actions.project.file import Project
from annotator.domain.judges.judgement import NO, YES, Status
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats import human_files
from annotator.exchange.formats.human_files import Point, Sheet
from annotator.exchange.formats.researcherbench_layout import MappedItem
from annotator.exchange.formats.researcherbench_numbers import mapped, numbered
from annotator.exchange.release.records import ItemRecord
from annotator.protocols.researcherbench.coverage import COVERAGE

# Of a system's runs the only one that the layout has a place for.
_TRIAL, _MODE = 1, "end-to-end"


class Leaving(NamedTuple):
    """A label that leaves, the unit that it is of (None when that is gone), how final it is, and its file if any."""

    row: Row[Any]
    unit: AskedUnit | None
    state: str
    origin: str = ""


def files(project: Project, labels: Iterable[Leaving], judge: str = "") -> tuple[dict[str, bytes], list[str]]:
    """The files by path, and what has no place in them; with a judge's name also what it says of the same reports."""
    numbers, items = _numbers(project)
    layout = _Layout(project, numbers)
    said: dict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    left: Counter[str] = Counter()
    for row, unit, *_ in labels:
        if unit is None or (row.report_trial, row.mode) != (_TRIAL, _MODE):
            left["of a further run, or of a unit that is gone"] += 1
        elif row.status == Status.UNCLEAR.value:
            left["unsure, which is neither covered nor not"] += 1
        else:
            said[row.response_id, row.alias, row.rater_id][row.unit_id] = row.value == YES
    sheets = [
        layout.sheet(response, alias, rater, values) for (response, alias, rater), values in said.items()
    ]
    judged = list(layout.judged(judge, {response for response, _, _ in said})) if judge else []
    rubrics = {sheet.number: sheet for sheet in sheets}
    notes = [f"{counted(number, 'label')} left out: {why}" for why, number in left.items()]
    if not sheets:
        raise Refusal(
            f"None of these labels has a place in this layout: {'; '.join(notes)}.", "Choose csv or json."
        )
    return human_files.write(sheets, judged, rubrics, items), [*notes, *_mistaken(rubrics.values())]


def _mistaken(rubrics: Iterable[Sheet]) -> list[str]:
    """How often its own meta-evaluation, which pairs criteria by words in common, would take one for another."""
    places = [
        f"Q{sheet.number}: {place + 1} for {taken + 1}"
        for sheet in rubrics
        for place, taken in human_files.mistaken([point.text for point in sheet.points])
    ]
    if not places:
        return []
    some = ", ".join(places[:5]) + (" …" if len(places) > 5 else "")
    return [
        f"ResearcherBench's meta-evaluation pairs criteria by the words they share, and would take "
        f"{counted(len(places), 'criterion', 'criteria')} for another of the same rubric ({some}): its figures may "
        "differ from ours by that"
    ]


def _numbers(project: Project) -> tuple[dict[str, int], list[MappedItem]]:
    """Item → its number in this layout, as a release has it, and the items whose number says nothing by itself."""
    listed = select(ITEM).where(ITEM.c.retired.is_(False)).order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    with project.store.read() as db:
        rows = db.execute(listed).all()
    records = [ItemRecord(id=row.id, key=row.key, dataset=row.dataset, question=row.question) for row in rows]
    numbers = dict(numbered(records))
    return numbers, mapped(records, numbers)


class _Layout:
    """What the sheets of this layout are made of: each report's question, system and criteria."""

    def __init__(self, project: Project, numbers: Mapping[str, int]) -> None:
        self._project = project
        ids = list(numbers)
        self._criteria = dict(asked_units(project, COVERAGE, ids))
        question = (
            select(RESPONSE.c.id, ITEM.c.id.label("item_id"), ITEM.c.question, SYSTEM.c.name)
            .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
            .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        )
        with project.store.read() as db:
            self._about = {row.id: row for row in db.execute(question)}
        self._numbers = numbers

    def sheet(
        self,
        response_id: str,
        rater: str,
        rater_id: str,
        said: Mapping[str, bool],
        why: Mapping[str, str] = {},
    ) -> Sheet:
        """What one rater said of one report, criterion by criterion in the order of the rubric."""
        about = self._about[response_id]
        points = tuple(
            Point(unit.words, int(unit.weight), said.get(unit.id), why.get(unit.id, ""))
            for unit in self._criteria[response_id]
        )
        return Sheet(self._numbers[about.item_id], about.question, about.name, rater, rater_id, points)

    def judged(self, name: str, responses: set[str]) -> Iterator[Sheet]:
        """What the judge says of the reports that people labelled."""
        judge = judges.named(self._project, name)
        j = JUDGEMENT.c
        question = select(j.response_id, j.unit_id, j.value, j.rationale).where(
            j.protocol == COVERAGE.name, j.rater_id == judge.id, j.trial == 1, j.value.in_((YES, NO))
        )
        said: dict[str, dict[str, bool]] = defaultdict(dict)
        why: dict[str, dict[str, str]] = defaultdict(dict)
        with self._project.store.read() as db:
            for row in db.execute(question):
                said[row.response_id][row.unit_id] = row.value == YES
                why[row.response_id][row.unit_id] = row.rationale
        for response_id in sorted(
            responses & said.keys(), key=lambda one: self._numbers[self._about[one].item_id]
        ):
            yield self.sheet(response_id, judge.name, "", said[response_id], why[response_id])
