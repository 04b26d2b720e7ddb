"""ResearcherBench's files, read and written: questions.json, rubric.json and one file per system."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from annotator.domain.common import Refusal, Text, derived_id, grouped, now
from annotator.domain.kinds.artifact import USUAL, Kind, Weight
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.exchange.folders import LARGEST_NUMBER, pretty, read_json, slugs
from annotator.exchange.formats.layout import MAPPING, ExistingItems, HasNumber, LayoutEntry, MappedSystem
from annotator.exchange.release.bundle import Bundle, BundleReader, Problem, in_words, settled
from annotator.exchange.release.records import ArtifactRecord, ItemRecord, ResponseRecord, SystemRecord

# No project has had so many consecutive keys taken when a question was imported.
_REACH = 100_000

DATASET = "researcherbench"
QUESTIONS, RUBRICS, RESPONSES = "questions.json", "rubric.json", "responses"
# The names of folders and rubrics in the public repository's `data/`, and of its example of a system's file.
FOLDERS, RUBRICS_TOO, EXAMPLE = ("eval_data", "user_data"), "rubrics.json", "test.json"


def _spelled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


SpelledText = Annotated[Text, AfterValidator(_spelled)]
Number = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class Numbered(LayoutEntry):
    """The common fields of entries: the question's number and words."""

    id: Number
    question: Annotated[SpelledText, Field(max_length=200_000)]


class QuestionEntry(Numbered):
    """An entry of `questions.json`."""

    category: Annotated[Text, Field(max_length=120)]
    Subject: Annotated[Text, Field(max_length=200)]


class RubricPoint(LayoutEntry):
    """A line of a rubric. The published ones weigh 1 to 3; the project decides which others may be imported."""

    point: Annotated[SpelledText, Field(max_length=20_000)]
    weight: Weight


class RubricEntry(Numbered):
    """An entry of `rubric.json`; each line is a `RubricPoint`, or invalid by itself."""

    rubric: Annotated[list[Any], Field(min_length=1)]


class ResponseEntry(Numbered):
    """An entry of a system's file."""

    response: Text


class MappedItem(LayoutEntry):
    """The item of a number."""

    id: Number
    item_id: Annotated[Text, Field(min_length=1, max_length=36)]
    dataset: Annotated[Text, Field(max_length=120)]
    key: Annotated[Text, Field(min_length=1, max_length=120)]


class Numbering(LayoutEntry):
    """The content of `goldsmith.json`."""

    items: list[MappedItem] = []
    systems: list[MappedSystem] = []


def own_numbers(items: Iterable[HasNumber]) -> dict[str, int]:
    """Item → its question's number in the benchmark, for those that came from there.

    The id is derived from the number, which thus survives a key that had to be raised to a free one.
    """
    called = {item.id: int(item.key) for item in items if item.dataset == DATASET and is_number(item.key)}
    numbers: dict[str, int] = {}
    start = 0
    for number in sorted({key for item_id, key in called.items() if derived_id(DATASET, key) != item_id}):
        below = range(max(start, number - _REACH), number + 1)
        numbers |= {derived_id(DATASET, one): one for one in below}
        start = number + 1
    own = {item_id: numbers.get(item_id, key) for item_id, key in called.items()}
    ordered = sorted(own.items(), key=lambda one: derived_id(DATASET, one[1]) != one[0])
    first = {number: item_id for item_id, number in reversed(ordered)}
    return {item_id: number for item_id, number in own.items() if first[number] == item_id}


def numbered(items: Iterable[ItemRecord]) -> Iterator[tuple[str, int]]:
    """Each item's number: its own if it came from this benchmark, the next free one otherwise."""
    items = list(items)
    own = own_numbers(items)
    yield from own.items()
    yield from zip(
        (item.id for item in items if item.id not in own), count(max((0, *own.values())) + 1), strict=False
    )


def mapped(items: Iterable[ItemRecord], numbers: Mapping[str, int]) -> list[MappedItem]:
    return [
        MappedItem(id=numbers[item.id], item_id=item.id, dataset=item.dataset, key=item.key)
        for item in items
        if (item.id, item.key) != (derived_id(DATASET, numbers[item.id]), str(numbers[item.id]))
    ]


def is_number(key: str) -> bool:
    digits = key.isascii() and key.isdigit()
    return digits and str(int(key)) == key and int(key) <= LARGEST_NUMBER


N = TypeVar("N", bound=Numbered)


@dataclass(frozen=True, slots=True)
class _Numbers(Generic[N]):
    """The valid entries of a file by number, each with its index."""

    file: str
    entries: dict[int, tuple[int, N]]


def read(paths: Sequence[Path], known: ExistingItems | None = None) -> tuple[Bundle, list[Problem]]:
    """The content of a folder of this layout, or of some of its files, and all problems with them.

    The same files give the same ids every time. The files carry no dates: rubrics get the present one. Refusal if
    there is nothing of the layout at all.
    """
    return _Reader(known or ExistingItems(), now()).read(_given(paths))


def _given(paths: Sequence[Path]) -> Mapping[str, list[Path]]:
    """The files by what they hold, those of systems under RESPONSES; Refusal if there are none of the layout."""
    holds = {name: name for name in (QUESTIONS, MAPPING, RUBRICS)} | {RUBRICS_TOO: RUBRICS}
    result: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        files = _files_in(path) if path.is_dir() else [path]
        for file in files:
            what = RESPONSES if file.parent.name == RESPONSES else holds.get(file.name, RESPONSES)
            result[EXAMPLE if file.name == EXAMPLE and len(files) > 1 else what].append(file)
    if not (result[QUESTIONS] or result[RUBRICS] or result[RESPONSES]):
        raise Refusal(
            f"There is neither {QUESTIONS} nor {RUBRICS} nor a system's responses there.",
            "Choose the folder that holds them, or the files themselves.",
        )
    return result


def _files_in(folder: Path) -> list[Path]:
    parts = [folder / name for name in FOLDERS if (folder / name).is_dir()]
    if parts:
        return [file for part in parts for file in _files_in(part)]
    layout = (QUESTIONS, RUBRICS, RUBRICS_TOO, MAPPING)
    named = [folder / name for name in layout if (folder / name).is_file()]
    if not named:
        return sorted(folder.glob("*.json")) or sorted((folder / RESPONSES).glob("*.json"))
    # Reports are in a folder of their own, or beside the others if there is none.
    reports = folder / RESPONSES if (folder / RESPONSES).is_dir() else folder
    return named + sorted(file for file in reports.glob("*.json") if file not in named)


class _Reader(BundleReader):
    def __init__(self, known: ExistingItems, at: datetime) -> None:
        super().__init__()
        self.known = known
        self.at = at
        self.mapped: dict[int, MappedItem] = {}
        self.system_names: dict[str, str] = {}
        self.questions: dict[int, str] = {number: item.question for number, item in known.items.items()}

    def read(self, files: Mapping[str, list[Path]]) -> tuple[Bundle, list[Problem]]:
        for file in files[MAPPING]:
            with self.reporting(file.name):
                mapping = Numbering.model_validate(read_json(file))
                self.mapped = {item.id: item for item in mapping.items}
                self.system_names = {system.file: system.name for system in mapping.systems}
        for file in files[QUESTIONS]:
            questions = self._numbered(file, QuestionEntry)
            for index, entry in questions.entries.values():
                self._take_item(questions.file, index, entry, entry.category, entry.Subject)
        for file in files[RUBRICS]:
            self._take_rubrics(self._numbered(file, RubricEntry), items_too=not files[QUESTIONS])
        for file in files[RESPONSES]:
            self._take_responses(file)
        for file in files[EXAMPLE]:
            self.note(_shown(file), "is the layout's example and no system's file; it was left out")
        return self.bundle, self.problems

    def _numbered(self, file: Path, entry: type[N]) -> _Numbers[N]:
        numbers: _Numbers[N] = _Numbers(_shown(file), {})
        with self.reporting(numbers.file):
            tree = read_json(file, numbers.file)
            if not isinstance(tree, list):
                self.problem(numbers.file, None, "should be a list of entries")
            for index, raw in enumerate(tree if isinstance(tree, list) else ()):
                self._take_entry(numbers, index, raw, entry)
        return numbers

    def _take_entry(self, numbers: _Numbers[N], index: int, raw: Any, entry: type[N]) -> None:
        try:
            made = entry.model_validate(raw)
        except ValidationError as error:
            number = raw.get("id") if isinstance(raw, dict) else None
            named = f"(id {number}) " if isinstance(number, int) else ""
            self.problem(numbers.file, index, named + in_words(error))
            return
        if made.id in numbers.entries:
            first = numbers.entries[made.id][0]
            self.problem(numbers.file, index, f"the id {made.id} was used before, by entry [{first}]")
            return
        numbers.entries[made.id] = (index, made)

    def _take_item(self, file: str, index: int, entry: Numbered, category: str, subject: str) -> None:
        mapped = self.mapped.get(entry.id)
        record = ItemRecord(
            id=self._item_id(entry.id),
            key=mapped.key if mapped else str(entry.id),
            dataset=mapped.dataset if mapped else DATASET,
            question=entry.question,
            question_type=category,
            subject=subject,
            position=len(self.bundle.items),
        )
        self.questions[entry.id] = entry.question
        self.add("items", record, file, index)

    def _take_rubrics(self, rubrics: _Numbers[RubricEntry], *, items_too: bool) -> None:
        for number, (index, entry) in rubrics.entries.items():
            if items_too and number not in self.questions:
                self._take_item(rubrics.file, index, entry, "", "")
            criteria = tuple(self._criteria(rubrics.file, index, entry))
            if self._answers(rubrics.file, index, entry) and criteria:
                own, item_id = derived_id(*self._stem(number), "rubric"), self._item_id(number)
                record = ArtifactRecord.settled(own, item_id, Rubric(units=criteria), self.at)
                self.add("artifacts", record, rubrics.file, index)

    def _criteria(self, file: str, index: int, entry: RubricEntry) -> Iterator[Criterion]:
        """The criteria of a rubric; an invalid line is a problem of its own."""
        for place, raw in enumerate(entry.rubric):
            try:
                line = RubricPoint.model_validate(raw)
            except ValidationError as error:
                self.problem(file, index, f"(id {entry.id}) criterion {place + 1}: {in_words(error)}")
            else:
                own = derived_id(*self._stem(entry.id), place, line.point)
                yield Criterion(id=own, text=line.point, weight=line.weight)

    def _take_responses(self, file: Path) -> None:
        name = self.system_names.get(file.stem, file.stem)
        system_id = self.known.systems.get(name) or derived_id(DATASET, "system", name)
        numbers = self._numbered(file, ResponseEntry)
        if not numbers.entries:
            if all(problem.file != numbers.file for problem in self.problems):
                self.note(numbers.file, "holds no response; the system was left out")
            return
        if any(system.id == system_id for system in self.bundle.systems):
            self.problem(numbers.file, None, f"there is another file of the system “{name}”")
            return
        self.add("systems", SystemRecord(id=system_id, name=name), numbers.file, 0)
        for number, (index, entry) in numbers.entries.items():
            if self._answers(numbers.file, index, entry):
                record = ResponseRecord(
                    id=derived_id(*self._stem(number), "response", name),
                    item_id=self._item_id(number),
                    system_id=system_id,
                    text=entry.response,
                )
                self.add("responses", record, numbers.file, index)

    def _answers(self, file: str, index: int, entry: Numbered) -> bool:
        """Whether the entry belongs to a question; another wording of it is noted."""
        if entry.id not in self.questions:
            self.problem(file, index, f"there is no question with the id {entry.id}")
            return False
        if self.questions.get(entry.id, entry.question) != entry.question:
            reason = f"the wording of question {entry.id} differs from the question's own, which is kept"
            self.note(file, reason, index)
        return True

    def _item_id(self, number: int) -> str:
        if number in self.mapped:
            return self.mapped[number].item_id
        known = self.known.items.get(number)
        return known.id if known else derived_id(DATASET, number)

    def _stem(self, number: int) -> tuple[str | int, ...]:
        return (self.mapped[number].item_id,) if number in self.mapped else (DATASET, number)


def _shown(file: Path) -> str:
    named = file.name in (QUESTIONS, RUBRICS, RUBRICS_TOO)
    return file.name if named else f"{RESPONSES}/{file.name}"


def files(bundle: Bundle) -> tuple[dict[str, bytes], list[str]]:
    """The bundle in this layout, by path, and notes on what the layout cannot hold.

    An item without a whole number of this dataset gets the next free one; `goldsmith.json` then lists them.
    """
    return _Writer(bundle).files()


class _Writer:
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.notes: list[str] = []
        self.items = sorted(bundle.items, key=lambda item: (item.position, item.key, item.id))
        self.numbers = dict(numbered(self.items))
        self.systems = sorted(bundle.systems, key=lambda system: (system.name, system.id))
        self.stems = slugs(system.name for system in self.systems)

    def files(self) -> tuple[dict[str, bytes], list[str]]:
        questions = [
            {
                "id": self.numbers[item.id], "question": item.question, "category": item.question_type,
                "Subject": item.subject,
            }
            for item in self.items
        ]  # fmt: skip
        made = {QUESTIONS: pretty(questions)}
        made[RUBRICS] = pretty(list(self._rubrics()))
        for system in self.systems:
            made[f"{RESPONSES}/{self.stems[system.name]}.json"] = pretty(list(self._responses(system.id)))
        stems = [(self.stems[system.name], system.name) for system in self.systems]
        mapping = Numbering(
            items=mapped(self.items, self.numbers),
            systems=[MappedSystem(file=stem, name=name) for stem, name in stems if stem != name],
        )
        if mapping.items or mapping.systems:
            made[MAPPING] = pretty(mapping.model_dump(mode="json"))
        return made, self.notes

    def _rubrics(self) -> Iterator[dict[str, Any]]:
        if self.bundle.rubric_set:
            name = self.bundle.rubric_set
            self.notes.append(
                f"The rubrics are the experts' own, and not the set “{name}” that scores count."
            )
        rubrics = grouped(
            (artifact.item_id, artifact) for artifact in self.bundle.artifacts
            if artifact.kind is Kind.RUBRIC and artifact.document["units"]
        )  # fmt: skip
        for item in self.items:
            own = rubrics.get(item.id, [])
            chosen = settled(own)
            if own and chosen is None:
                self.notes.append(f"Item {item.key}: {len(own):,} sealed rubrics and no consensus; left out.")
            elif chosen and any(unit["weight"] not in USUAL.values for unit in chosen.document["units"]):
                why = "the layout holds weights of 1, 2 and 3 only"
                self.notes.append(f"Item {item.key}: {why}; its rubric is left out.")
            elif chosen:
                lines = [
                    {"point": unit["text"], "weight": unit["weight"]} for unit in chosen.document["units"]
                ]
                yield {"id": self.numbers[item.id], "question": item.question, "rubric": lines}

    def _responses(self, system_id: str) -> Iterator[dict[str, Any]]:
        questions = {item.id: item.question for item in self.items}
        order = {item.id: place for place, item in enumerate(self.items)}
        own = [response for response in self.bundle.responses if response.system_id == system_id]
        first = [response for response in own if response.trial == 1 and response.mode == "end-to-end"]
        if len(own) > len(first):
            self.notes.append(
                f"{len(own) - len(first):,} further runs of a system have no place in this layout."
            )
        for response in sorted(first, key=lambda response: order[response.item_id]):
            item_id = response.item_id
            yield {
                "id": self.numbers[item_id],
                "question": questions[item_id],
                "response": response.text,
            }
