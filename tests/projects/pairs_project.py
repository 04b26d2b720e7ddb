"""Projects in which several people answer the same items: in one file, by a judge that pairs, or each in their own."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.consensus import ruling_rows
from annotator.actions.items import items
from annotator.actions.parcels import packing, tasking, tray
from annotator.actions.parcels.known_keys import SIGNING_KEY
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.common import new_id
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Person, Role, Stage
from annotator.domain.kinds.artifact import Document, Kind, State
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import Label, Labels, label_id
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.storage.tables import ASSIGNMENT
from tests.common import COVERAGE, once
from tests.judging.odd_server import Odd, OddServer, at_work, completion
from tests.projects import small_projects
from tests.servers.served import add_judge
from tests.storage import sql

ROLES = {
    "Cora": Role.COORDINATOR,
    "Ada": Role.ANNOTATOR,
    "Ben": Role.ANNOTATOR,
    "Cleo": Role.ADJUDICATOR,
    "Dan": Role.ANNOTATOR,
}
# Four of these mean the same as one of Ben's: the first is the same, the second differs in words and weight, the
# third in weight, the fourth in words.
ADA = (
    ("Explains how attribution ties each claim to a source", 3),
    ("Compares synthetic questions with questions written by experts", 2),
    ("Names at least one dataset of long answers", 1),
    ("Describes how citation accuracy is measured", 2),
    ("Discusses the cost of verification by people", 1),
)
BEN = (
    ("Explains how attribution ties each claim to a source", 3),
    ("Compares synthetic questions with questions that experts wrote", 3),
    ("Names at least one dataset of long answers", 2),
    ("Describes the way citation accuracy is measured", 2),
    ("Identifies open problems in multilingual evaluation", 2),
    ("Outlines future directions for retrieval", 1),
)


# Of each type that the program ships, the dimensions in their order.
DIMENSIONS = {one.name: tuple(each.name for each in one.dimensions) for one in settings.shipped_types()}
TYPE, ORIGINS = "Literature Review", ("laboratory", "interviews", "forum")


@once
def pairs_project(folder: Path, questions: int = 1) -> Project:
    """The people and so many items, nothing answered yet; Cora works."""
    project = Project.create(folder / "pairs.goldsmith")
    for name, role in ROLES.items():
        people.add_person(project, name, (role,))
    work_as(project, "Cora")
    for number in range(1, questions + 1):
        items.add(project, f"Question {number}: how is evidence attributed?")
    return project


@once
def rubrics_project(folder: Path) -> Project:
    """One item with both rubrics sealed and their agreement frozen; Cleo works."""
    project = pairs_project(folder)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")})
    return work_as(project, "Cleo")


@once
def opened_project(folder: Path) -> Project:
    project = rubrics_project(folder)
    opened(project)
    return project


def candidates(project: Project, *given: tuple[int, int] | None) -> list[str]:
    """Questions of the three origins in turn, each rated by two people, the same on every dimension."""
    made = []
    for number, ratings in enumerate(given):
        more = {"origin": ORIGINS[number % 3], "contributor": "K", "collected": "2025-03"}
        made.append(items.add(project, f"Question {number}?", TYPE, "AI", more=more).subject)
        for name, rating in zip(("Ada", "Ben"), ratings or (), strict=False):
            work_as(project, name)
            units = tuple(DimensionRating(text=text, rating=rating) for text in DIMENSIONS[TYPE])
            document = Selection(units=units)
            assignments.seal(project, artifacts.start(project, made[-1], Selection.KIND, document).subject)
        work_as(project, "Cora")
    return made


def person(project: Project, name: str) -> Person:
    return next(each for each in people.people(project) if each.name == name)


def who(project: Project, name: str) -> str:
    return person(project, name).id


def work_as(project: Project, name: str) -> Project:
    project.work_as(person(project, name))
    return project


def item(project: Project, place: int = 0) -> str:
    return items.ids(project)[place]


def submit(project: Project, documents: dict[str, Document[Any]], place: int = 0) -> dict[str, str]:
    """Everybody begins and then seals a document of one kind for an item; name → artifact's id."""
    made = {}
    for name, document in documents.items():
        work_as(project, name)
        made[name] = artifacts.start(project, item(project, place), document.KIND, document).subject
    for name, artifact_id in made.items():
        assignments.seal(work_as(project, name), artifact_id)
    return made


def rubric(criteria: tuple[tuple[str, int], ...], prefix: str) -> Rubric:
    """A rubric whose units are named prefix1, prefix2 …"""
    units = (
        Criterion(id=f"{prefix}{n}", text=text, weight=weight) for n, (text, weight) in enumerate(criteria, 1)
    )  # type: ignore[arg-type]
    return Rubric(units=tuple(units))


def diagnostics(labels: tuple[bool, ...], prefix: str) -> Diagnostics:
    """Statements on five subjects with these labels, the words being the same for everybody."""
    subjects = ("attribution", "retrieval", "citation accuracy", "synthetic data", "human verification")
    return Diagnostics(
        units=tuple(
            Statement(
                id=f"{prefix}{n}", text=f"The paper measures {subject}.", label=label, aspect=Aspect.RESULTS
            )
            for n, (subject, label) in enumerate(zip(subjects, labels, strict=False), 1)
        )
    )


def add_report(project: Project, system: str = "Canary-System-9000", place: int = 0) -> str:
    """A system's report on an item; its id."""
    return small_projects.add_report(project, item(project, place), system, "It explains attribution.")


def labels(response_id: str, values: dict[str, str]) -> Labels:
    """One rater's labels of a report: unit judged by → value."""
    return Labels(
        units=tuple(
            Label(
                id=label_id(COVERAGE, response_id, unit), protocol=COVERAGE, response_id=response_id, unit_id=unit,
                value=value,
            )
            for unit, value in values.items()
        )
    )  # fmt: skip


def opened(project: Project, stage: Stage = Stage.RUBRIC, place: int = 0) -> str:
    """The adjudication of a stage, opened by Cleo; its id."""
    work_as(project, "Cleo")
    return adjudicating.open_(project, item(project, place), stage).id


def settled_labels(folder: Path) -> Project:
    """A report by two criteria of weights 3 and 1, of which adjudication settled a yes and a no; Cora works."""
    project = pairs_project(folder)
    submit(project, {"Cora": rubric((("Explains it", 3), ("Names it", 1)), "c")})
    report, values = add_report(project, "Alpha"), {"Ada": ("yes", "yes"), "Ben": ("yes", "no")}
    submit(
        project,
        {name: labels(report, dict(zip(("c1", "c2"), own, strict=True))) for name, own in values.items()},
    )
    adjudication_id = opened(project, Stage.LABELLING)
    first, second = adjudicating.sheet(project, adjudication_id).rows
    ruling.rule(project, first.ruling.id, "both")
    ruling.rule(project, second.ruling.id, letter_of(project, adjudication_id, "Ben"), reason=Reason.ERROR)
    ruling.close(project, adjudication_id)
    return work_as(project, "Cora")


def assign(project: Project, name: str, stage: Stage, place: int = 0, **more: object) -> None:
    """Put an assignment for an item into the file, whether or not who works might give it."""
    row = {
        "id": new_id(),
        "item_id": item(project, place),
        "person_id": who(project, name),
        "stage": stage,
        **more,
    }
    with project.store.write() as db:
        db.execute(insert(ASSIGNMENT).values(**row))


def adjudication(project: Project) -> str:
    return adjudicating.queue(project)[0].adjudication_id


def row(project: Project, unit_id: str) -> adjudicating.SheetRow:
    """The row of that adjudication that holds a unit; the unit's id is a1, b3 …"""
    rows = adjudicating.sheet(project, adjudication(project)).rows
    return next(each for each in rows if unit_id in each.ruling.members.values())


def letter_of(project: Project, adjudication_id: str, name: str) -> str:
    with project.store.read() as db:
        letters = ruling_rows.adjudication(db, adjudication_id).letters
    return next(letter for letter, result in letters.items() if result == person(project, name).id)


def kept(project: Project, kind: Kind, name: str) -> list[tuple[Any, ...]]:
    """Every stored value of a person's artifacts of a kind and of their revisions."""
    question = (
        "SELECT a.*, r.* FROM artifact a JOIN revision r ON r.artifact_id = a.id "
        "WHERE a.kind = ? AND a.author_id = ? ORDER BY a.id, r.number"
    )
    return sql.rows(project, question, [kind.value, person(project, name).id])


Criteria = tuple[tuple[str, int], ...]
# Line by line: the first three are the same, the fourth to the ninth the same but for words or weight, then each
# writes of things that the other leaves out, the last of Ada's being one of Ben's in other words.
LONG_ADA: Criteria = (
    ("Explains how attribution ties each claim in a long answer to the passage that supports it", 3),
    ("Names at least one public dataset of long-form answers with verified citations", 2),
    ("Describes how citation precision and citation recall are computed from sentence-level judgements", 2),
    ("Compares synthetic questions with questions written by domain experts in at least two respects", 2),
    ("Discusses why people disagree when they verify citations, and how much they disagree", 1),
    ("Identifies the cost of verification by people as the main limit on the size of benchmarks", 2),
    ("Explains that entailment models miss claims which several passages support only together", 3),
    ("Provides a figure for the share of generated statements that are fully supported", 2),
    ("Outlines how retrieval failures and generation failures can be told apart", 1),
    ("Analyzes whether longer answers are cited less accurately than shorter ones", 2),
    ("Mentions the licence under which the benchmark's passages may be redistributed", 1),
    ("Describes what a reader sees when a citation points to a page that has since changed", 1),
    ("Compares post-hoc attribution with attribution that is built in while writing", 3),
    ("Explains why a quotation that is copied exactly can still misrepresent its source", 2),
    ("Discusses multilingual sources: whether a claim in one language may cite another", 1),
)
LONG_BEN: Criteria = (
    LONG_ADA[0],
    LONG_ADA[1],
    LONG_ADA[2],
    ("Compares synthetic questions with questions that domain experts wrote, in at least two respects", 2),
    ("Discusses why people disagree when they verify citations, and how much they disagree", 3),
    ("Identifies the cost of human verification as the main limit on the size of benchmarks", 2),
    ("Explains that entailment models miss claims which several passages support only jointly", 2),
    ("Provides a number for the share of generated statements that are fully supported", 2),
    ("Outlines how failures of retrieval and failures of generation can be told apart", 2),
    ("Analyzes whether longer answers are cited less accurately than shorter ones", 1),
    ("States which passages of the corpus were withheld from the systems under test", 2),
    ("Identifies at least one system that refuses to answer when nothing supports an answer", 2),
    ("Contrasts adding references after the text is finished with citing during generation", 3),
    ("Describes how near-duplicate passages are handled when recall is computed", 1),
    ("Explains what happens to the score when a claim carries more citations than it needs", 2),
    ("Names the agreement statistic that was used between the people who verified", 1),
    ("Outlines one way in which automatic and human verification could be combined", 2),
)
CHINESE: tuple[Criteria, Criteria] = (
    (
        ("解释反渗透海水淡化的能耗主要来自哪些环节，并给出每立方米产水的典型能耗数值", 3),
        ("比较反渗透与多级闪蒸在能耗、投资和维护三个方面的差异", 2),
        ("说明浓盐水排放对近岸海洋生态的影响，并引用至少一项实地观测研究", 2),
        ("指出能量回收装置能够降低多少能耗", 1),
        ("讨论可再生能源供电的间歇性如何影响膜的寿命", 2),
    ),
    (
        ("解释反渗透海水淡化的能耗主要来自哪些环节，并给出每吨产水的典型能耗数值", 3),
        ("比较反渗透与多级闪蒸在能耗、投资和维护三个方面的差异", 2),
        ("说明浓盐水排放对近岸生态的影响，并引用至少两项实地观测研究", 3),
        ("描述预处理工艺的选择依据", 1),
    ),
)
ARABIC: tuple[Criteria, Criteria] = (
    (
        ("يشرح كيف تربط الإحالات كل ادعاء في الإجابة الطويلة بالمقطع الذي يدعمه", 3),
        ("يقارن بين الأسئلة المولدة آليا والأسئلة التي كتبها الخبراء من وجهين على الأقل", 2),
        ("يذكر مجموعة بيانات عامة واحدة على الأقل مثل ASQA أو ELI5", 1),
        ("يناقش كلفة التحقق البشري", 2),
    ),
    (
        ("يشرح كيف تربط المراجع كل ادعاء في الإجابة الطويلة بالفقرة التي تدعمه", 3),
        ("يقارن بين الأسئلة المولدة آليا والأسئلة التي كتبها خبراء المجال من وجهين على الأقل", 3),
        ("يذكر مجموعة بيانات عامة واحدة على الأقل مثل ASQA أو ELI5", 1),
    ),
)


def contested_project(folder: Path, questions: int = 1) -> Project:
    """An item of fifteen criteria against seventeen, sealed and frozen; Cleo works."""
    project = pairs_project(folder, questions)
    submit(project, pair(LONG_ADA, LONG_BEN))
    return work_as(project, "Cleo")


@once
def scripts_project(folder: Path) -> Project:
    """Three items: long English, Chinese and Arabic criteria; Cleo works."""
    project = pairs_project(folder, 3)
    submit(project, pair(LONG_ADA, LONG_BEN))
    submit(project, pair(*CHINESE), 1)
    submit(project, pair(*ARABIC), 2)
    return work_as(project, "Cleo")


@once
def labels_project(folder: Path, reports: int = 5, criteria: int = 15) -> Project:
    """Labels of so many reports by a sealed rubric, every fifth one contested; Cleo works."""
    project = pairs_project(folder)
    submit(project, pair(LONG_ADA[:criteria], LONG_ADA[:criteria]))
    said: dict[str, dict[str, str]] = {
        add_report(project, f"Canary-System-{number}"): {f"a{n}": "yes" for n in range(1, criteria + 1)}
        for number in range(reports)
    }
    other = {
        report: {unit: "no" if n % 5 == 0 else value for n, (unit, value) in enumerate(values.items())}
        for report, values in said.items()
    }
    submit(project, {"Ada": joined(said), "Ben": joined(other)})
    return work_as(project, "Cleo")


def joined(said: dict[str, dict[str, str]]):
    documents = [labels(report, values) for report, values in said.items()]
    return documents[0].with_units(tuple(unit for document in documents for unit in document.units))


def pair(first: Criteria, second: Criteria) -> dict[str, Rubric]:
    return {"Ada": rubric(first, "a"), "Ben": rubric(second, "b")}


# Item by item: Ada's list, Ben's list. Criteria with the same letter mean the same.
ADAS_LISTS = (
    (("Explains attribution of claims", 3), ("Names datasets", 2), ("Prices human labour", 1)),
    (("Discusses multilingual evaluation", 1), ("Outlines retrieval failures", 2)),
)
BENS_LISTS = (
    (("Says where money goes", 2), ("Ties sentences to passages", 3), ("Lists corpora", 1), ("Cites law", 2)),
    (("Shows why search goes wrong", 2), ("Covers several languages", 1)),
)
# Of the first item two of three and four are paired, F1 4/7; of the second both, F1 1.
SAME = {
    "Explains attribution of claims": "Ties sentences to passages",
    "Names datasets": "Lists corpora",
    "Discusses multilingual evaluation": "Covers several languages",
    "Outlines retrieval failures": "Shows why search goes wrong",
}
F1 = (4 / 7, 1.0)
# Weights of those pairs, Ada's first: 3 3, 2 1; 1 1, 2 2. Three of four agree.
AGREEMENT = 3 / 4


def assisted_project(folder: Path, server: OddServer, items: int = 2) -> Project:
    """So many items with both rubrics sealed and their agreement frozen; Cora works, and has a judge."""
    project = pairs_project(folder, items)
    for place in range(items):
        first, second = (each[place] for each in (ADAS_LISTS, BENS_LISTS))
        submit(project, {"Ada": rubric(first, "a"), "Ben": rubric(second, "b")}, place)
    work_as(project, "Cora")
    add_judge(project, server)
    return project


@contextmanager
def pairing(otherwise: Callable[[set[str]], str] = lambda _: "") -> Iterator[OddServer]:
    """A server that pairs what means the same; `otherwise` may say another thing of some entries."""
    with at_work(OddServer()) as server:
        server.answer = knowing(otherwise)
        yield server


def knowing(otherwise: Callable[[set[str]], str]) -> Callable[[dict[str, Any], int], Odd]:
    def answer(body: dict[str, Any], number: int) -> Odd:
        first, second = listed(body)
        said = otherwise({*first, *second})
        both = SAME | {there: here for here, there in SAME.items()}
        result = [
            {"first": place, "second": second.index(both[words]) + 1}
            for place, words in enumerate(first, start=1)
            if both.get(words) in second
        ]
        return completion(said or json.dumps({"pairs": result}))

    return answer


def listed(body: dict[str, Any]) -> tuple[list[str], list[str]]:
    first, _, second = body["messages"][1]["content"].partition("The second list:")
    entry = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
    return entry.findall(first), entry.findall(second)


# Sentences that no matcher takes for one another.
SENTENCES = (
    "Explains how residual connections carry gradients",
    "Names two public benchmarks of translation",
    "Compares the price of storing hydrogen with batteries",
    "Describes who funded the excavation at Ur",
    "Discusses whether coral reefs recover after bleaching",
    "Outlines the treaty on fishing quotas of 1995",
)


@once
def paired_project(path: Path, annotators: int = 2, questions: int = 1) -> Project:
    """A project of a coordinator “Me”, annotators with the aliases A, B, C …, and questions."""
    project = people.new_project(path / "pairs.goldsmith")
    for alias in "ABCDEFGH"[:annotators]:
        people.add_person(project, f"Expert {alias}", (Role.ANNOTATOR,), alias)
    for number in range(1, questions + 1):
        items.add(project, f"Question {number}?")
    return project


def person_of(project: Project, alias: str) -> Person:
    """The person of that alias; the coordinator has R1."""
    return next(result for result in people.people(project) if result.alias == alias)


def in_order(project: Project, first: Any, second: Any) -> tuple[Any, Any]:
    """What belongs to A and to B in the order in which a record names these two: the lower id first."""
    a, b = person_of(project, "A").id, person_of(project, "B").id
    return (first, second) if a < b else (second, first)


def sealed_by(project: Project, alias: str, document: Document[Any], item: int = 0) -> str:
    """The person writes the document for an item and seals it; afterwards the coordinator works again."""
    project.work_as(person_of(project, alias))
    artifact_id = artifacts.start(project, items.ids(project)[item], document.KIND, document).subject
    assignments.seal(project, artifact_id)
    project.work_as(person_of(project, "R1"))
    return artifact_id


def weighted_rubric(*weights: int, sentences: tuple[str, ...] = SENTENCES) -> Rubric:
    pairs = zip(sentences, weights, strict=False)
    return Rubric(units=tuple(Criterion(text=text, weight=weight) for text, weight in pairs))  # type: ignore[arg-type]


def signed_labels(*reports: str) -> Labels:
    """Labels report by report: y, n or ? (unsure) for the criteria c0, c1 …"""
    values = {"y": "yes", "n": "no", "?": "unsure"}
    return Labels(
        units=tuple(
            Label(
                id=label_id(COVERAGE, f"report {number}", f"c{place}"), protocol=COVERAGE,
                response_id=f"report {number}", unit_id=f"c{place}", value=values[letter],
            )
            for number, said in enumerate(reports)
            for place, letter in enumerate(said)
        )
    )  # fmt: skip


QUESTIONS = ("What do residual connections do?", "How is early warning of earthquakes judged?")
NAMES = ("Ana Silva", "李明")


@once
def coordinated(folder: Path, names: Sequence[str] = NAMES, questions: Sequence[str] = QUESTIONS) -> Project:
    """A coordinator's project in which each of these people is to write the rubric of each of these items."""
    folder.mkdir(parents=True, exist_ok=True)
    project = people.new_project(folder / "study.goldsmith", "Study of gold")
    people.someone(project)
    for question in questions:
        items.add(project, question, "Technical Details", "Deep learning")
    for name in names:
        people.add_person(project, name, (Role.ANNOTATOR,))
    for person in annotators(project):
        for item_id in items.ids(project):
            assignments.assign_one(project, item_id, person.id, Stage.RUBRIC)
    return project


def annotators(project: Project) -> list:
    return [person for person in people.people(project) if not person.has(Role.COORDINATOR)]


def task_for(project: Project, person_id: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return packing.task(project, person_id, folder).path


def write_rubric(project: Project, item_id: str, *texts: str, seal: bool = True) -> str:
    """A rubric of these criteria by the person working, sealed unless it is to stay a draft; its id."""
    units = tuple(Criterion(text=text, weight=2) for text in texts)
    artifact_id = artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject
    if seal:
        assignments.seal(project, artifact_id)
    return artifact_id


def settled(project: Project) -> list[str]:
    found = [one for one in artifacts_of(project, items.ids(project)[0]) if one.state is State.CONSENSUS]
    return [unit.text for one in found for unit in one.document.units]


def edit_rubric(project: Project, item_id: str, text: str) -> None:
    """Reopen the person's rubric, word its first criterion anew and seal it again."""
    own = next(a for a in artifacts_of(project, item_id) if a.kind is Kind.RUBRIC)
    assignments.reopen(project, own.id)
    artifacts.change_unit(project, own.id, own.document.units[0].id, text=text)
    assignments.seal(project, own.id)


def returned(
    project: Project, person_id: str, folder: Path, text: str = "Explains the weight of gold"
) -> Path:
    """What a person sends back after having written a rubric of one criterion for each of their items."""
    theirs = tasking.take_task(task_for(project, person_id, folder)).project
    for item_id in items.ids(theirs):
        write_rubric(theirs, item_id, text)
    path = tray.work(theirs).path
    theirs.close()
    return path


def second_copy(project: Project, person_id: str, first: Path, folder: Path) -> Project:
    """A second project of a person's task, open, with the key of the first, as if its file had been copied."""
    theirs = tasking.take_task(task_for(project, person_id, folder), folder / "second.goldsmith").project
    with closing(Project.open(first, readonly=True)) as known:
        theirs.set(SIGNING_KEY, known.get(SIGNING_KEY))
    return theirs


def project_in(folder: Path) -> Path:
    (result,) = folder.glob("*.goldsmith")
    return result
