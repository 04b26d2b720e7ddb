"""Projects of ADRA's kind, made by hand: gold plans, evidence and statements, what systems gave, what papers print."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash, response_hash
from annotator.domain.common import derived_id, now
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import IMPORT, INJECTION, ISOLATED
from annotator.storage import tables
from annotator.storage.tables import JUDGEMENT, RESPONSE, SYSTEM
from tests.common import once
from tests.material import drawn_extracts
from tests.projects.small_projects import seal

JUDGE = "judge-of-tests"
GOLD_PLAN = ("Frame the question", "Search the literature", "Compare the methods", "Name the open problems")
GOLD_WORKS = (
    ("10.1000/one", "A study of retrieval in long answers"),
    ("arXiv:2401.00002v2", "Planning with language models"),
    ("", "On the evaluation of reports by experts"),
)
STATEMENTS = (
    ("Retrieval helps", True, Aspect.BACKGROUND),
    ("Plans are always right", False, Aspect.PROBLEM),
    ("Reports are long", True, Aspect.RESULTS),
    ("Experts agree fully", False, Aspect.RESULTS),
)


@once
def adra_project(folder: Path, questions: int = 1, systems: Sequence[str] = ("Alpha",)) -> Project:
    """Items with gold of every kind, each answered once by each system; one judge, who has said nothing yet."""
    project = people.new_project(folder / "adra.goldsmith", "ADRA")
    people.someone(project)
    for number in range(1, questions + 1):
        item_id = items.add(
            project, f"Question {number}?", "Technical Details", "NLP" if number % 2 else "Vision"
        ).subject
        for document in gold():
            assignments.seal(project, artifacts.start(project, item_id, document.KIND, document).subject)
        for system in systems:
            answer(project, item_id, system)
    add_judge(project)
    return project


def add_judge(project: Project, judge_id: str = JUDGE, name: str = "tested") -> None:
    """A judge that is asked nothing; what it says is written by `say`."""
    with project.store.write() as db:
        db.execute(
            insert(tables.JUDGE).values(
                id=judge_id, name=name, kind=JudgeKind.ENDPOINT.value, base_url="http://localhost:1/v1", model="m",
                key_env="", parameters="{}", retired=False,
            )
        )  # fmt: skip


def gold() -> tuple[Document, ...]:  # type: ignore[type-arg]
    """The gold plan, evidence and statements; units are named g1, w1, s1 …"""
    return (
        Plan(units=tuple(Subtask(id=f"g{n}", text=text) for n, text in enumerate(GOLD_PLAN, start=1))),
        Evidence(units=works(GOLD_WORKS)),
        Diagnostics(
            units=tuple(
                Statement(id=f"s{n}", text=text, label=label, aspect=aspect)
                for n, (text, label, aspect) in enumerate(STATEMENTS, start=1)
            )
        ),
    )


def works(pairs: Sequence[tuple[str, str]]) -> tuple[Reference, ...]:
    """References of (identifier, title), named w1, w2 …"""
    return tuple(
        Reference(id=f"w{n}", identifier=i, text=title) for n, (i, title) in enumerate(pairs, start=1)
    )


def answer(
    project: Project,
    item_id: str,
    system: str,
    trial: int = 1,
    mode: str = "end-to-end",
    text: str = "",
    **took: float | date,
) -> str:
    """A system's response, the system being added when it is new; the response's id."""
    system_id = derived_id("system", system)
    response_id = derived_id("response", item_id, system, trial, mode)
    words = text or f"# {system}\n\nRetrieval helps. Reports are long."
    with project.store.write() as db:
        db.execute(insert(SYSTEM).prefix_with("OR IGNORE").values(id=system_id, name=system, notes=""))
        row = {"id": response_id, "item_id": item_id, "system_id": system_id, "text": words, "trial": trial}
        db.execute(insert(RESPONSE).values(**row, mode=mode, sha256=response_hash(words), **took))
    return response_id


def response_of(item_id: str, system: str = "Alpha", trial: int = 1, mode: str = "end-to-end") -> str:
    return derived_id("response", item_id, system, trial, mode)


def give(project: Project, item_id: str, response_id: str, part: ResponsePart, document: Document) -> None:  # type: ignore[type-arg]
    drawn_extracts.keep(project, (item_id, response_id), part, document, IMPORT)


def plan(texts: Sequence[str]) -> Plan:
    """A predicted plan; its sub-tasks are named p1, p2 …"""
    return Plan(units=tuple(Subtask(id=f"p{n}", text=text) for n, text in enumerate(texts, start=1)))


def say(
    project: Project,
    protocol: str,
    item_id: str,
    response_id: str,
    values: Mapping[str, str | None],
    **more: object,
) -> None:
    """What the judge says of the units of a response; None is a judgement that did not come."""
    rows = []
    for unit_id, value in values.items():
        row = {
            "id": derived_id(JUDGE, protocol, response_id, unit_id, *map(str, more.values())), "protocol": protocol,
            "item_id": item_id, "response_id": response_id, "artifact_id": "", "unit_id": unit_id, "trial": 1,
            "rater_kind": "judge", "rater_id": JUDGE, "at": now(), "value": value, "rationale": "", "quote": "",
            "status": "ok" if value is not None else "timeout", "note": "", "flags": "", "cause": "",
            "quote_start": None, "quote_end": None, "run_id": None, "call_id": None, "seconds": None, **more,
        }  # fmt: skip
        rows.append(row | {"sha256": judgement_hash(row)})
    with project.store.write() as db:
        db.execute(insert(JUDGEMENT), rows)


def fill_matrix(
    project: Project, item_id: str, response_id: str, rows: Sequence[Sequence[int | None]]
) -> None:
    """A plan with a sub-task for each row, and the judge's matrix against the gold plan; None is missing."""
    give(
        project,
        item_id,
        response_id,
        ResponsePart.PLAN,
        plan([f"Step {n}" for n, _ in enumerate(rows, start=1)]),
    )
    words = {1: "relevant", 0: "not", None: None}
    values = {
        f"p{i}~g{j}": words[cell]
        for i, row in enumerate(rows, start=1)
        for j, cell in enumerate(row, start=1)
    }
    say(project, "adra.plan", item_id, response_id, values)


KINDS = ("Research", "Research", "Review", "Review")
LIMITED, UNTIL = "sources until 2025-03", date(2025, 3, 31)
TRUE, FALSE = "true", "false"
# Of the four statements s1 and s3 are true: all four right, half of them, none.
ALL_RIGHT = {"s1": TRUE, "s2": FALSE, "s3": TRUE, "s4": FALSE}
HALF_RIGHT = dict.fromkeys(ALL_RIGHT, TRUE)
NONE_RIGHT = {"s1": FALSE, "s2": TRUE, "s3": FALSE, "s4": TRUE}
# Three of four gold sub-tasks found by three, and one by one.
GOOD_PLAN, SHORT_PLAN = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], [[1, 0, 0, 0]]
PREFERRING = ("one", "other")
OTHER = ("10.1000/other", "Another work of some length")
PAGE = "https://example.org/page"


@once
def printed_project(folder: Path) -> Project:
    """Two papers and two reviews, answered by Alpha and Beta in every mode, Alpha three times."""
    project = adra_project(folder, 0)
    note = folder / "note.txt"
    note.write_text("What was found.", encoding="utf-8")
    for place, kind in enumerate(KINDS):
        item = items.add(project, f"Question {place}?", kind, "Biology" if place % 2 else "Finance").subject
        _gold(project, item, kind)
        items.add_source(project, item, note)
        _end_to_end(project, item)
        _given_gold(project, item, kind)
    _described(project)
    return project


def _gold(project: Project, item: str, kind: str) -> None:
    plan, _, diagnostics = gold()
    rubric = Rubric(units=tuple(Criterion(id=f"c{n}", text=f"Criterion {n}", weight=n) for n in (1, 2, 3)))
    evidence = Evidence(units=works(GOLD_WORKS[: 1 if kind == "Research" else None]))
    for document in (plan, diagnostics, rubric, evidence):
        seal(project, item, document)


def _end_to_end(project: Project, item: str) -> None:
    alpha, second, third = (
        answer(project, item, "Alpha", trial, text="a" * 300, latency_s=100.0, tokens=1000, cost_usd=0.5)
        for trial in (1, 2, 3)
    )
    beta = answer(project, item, "Beta", text="b" * 100, latency_s=10.0, tokens=500)
    fill_matrix(project, item, alpha, GOOD_PLAN)
    fill_matrix(project, item, beta, SHORT_PLAN)
    for response, pairs in ((alpha, (*GOLD_WORKS[:1], OTHER)), (beta, (OTHER,))):
        give(project, item, response, ResponsePart.REFERENCES, Evidence(units=works(pairs)))
    said = ((alpha, HALF_RIGHT), (second, ALL_RIGHT), (third, NONE_RIGHT), (beta, NONE_RIGHT))
    for response, values in said:
        say(project, "adra.reasoning", item, response, values)
    _reports(project, item, alpha, beta)


def _reports(project: Project, item: str, alpha: str, beta: str) -> None:
    """Criteria, claims and comparisons of the two first reports, and what people said of them."""
    say(project, "researcherbench.coverage", item, alpha, {"c1": "no", "c2": "yes", "c3": "yes"})
    say(project, "researcherbench.coverage", item, beta, {"c1": "yes", "c2": "no", "c3": "no"})
    claims = Claims(
        units=tuple(Claim(id=f"k{n}", text=f"Claim {n}", url=PAGE if n < 4 else "") for n in range(1, 5))
    )
    give(project, item, alpha, ResponsePart.CLAIMS, claims)
    say(project, "researcherbench.claims", item, alpha, {"k1": "yes", "k2": "yes", "k3": "no"})
    say(project, "researcherbench.pairwise", item, alpha, {beta: "first"})
    say(project, "researcherbench.pairwise", item, beta, {alpha: "second"})
    by_me = {"rater_kind": "person", "rater_id": people.someone(project).id}
    say(project, "adra.preference", item, alpha, {beta: "first"}, **by_me)
    _preferred(project, item, alpha, beta)
    say(project, "researcherbench.misses", item, alpha, {"c1": "partial_missing"}, **by_me)
    say(
        project,
        "researcherbench.misses",
        item,
        beta,
        {"c2": "incompleteness", "c3": "incompleteness"},
        **by_me,
    )
    say(project, "researcherbench.citation_errors", item, alpha, {"k3": "unsupported_answer"}, **by_me)


def _preferred(project: Project, item: str, alpha: str, beta: str) -> None:
    """What two judges prefer in two runs: the same on every item, then the same on the first alone."""
    first = items.ids(project)[0] == item
    for name in PREFERRING if first else ():
        judges.add(project, name, base_url="http://localhost:9/v1", model=name)
    for trial, values in {1: ("first", "first"), 2: ("first", "first" if first else "second")}.items():
        for name, value in zip(PREFERRING, values, strict=True):
            judge = judges.named(project, name).id
            say(project, "adra.preference", item, alpha, {beta: value}, rater_id=judge, trial=trial)


def _given_gold(project: Project, item: str, kind: str) -> None:
    """With the gold plan Alpha is right on reviews; alone with gold Alpha is right on all, Beta on half."""
    given = answer(project, item, "Alpha", mode=INJECTION)
    say(project, "adra.reasoning", item, given, ALL_RIGHT if kind == "Review" else HALF_RIGHT)
    limited = answer(project, item, "Alpha", mode=LIMITED, cutoff=UNTIL)
    say(project, "adra.reasoning", item, limited, ALL_RIGHT if kind == "Research" else NONE_RIGHT)
    for system, values, plan in (("Alpha", ALL_RIGHT, GOOD_PLAN), ("Beta", HALF_RIGHT, SHORT_PLAN)):
        alone = answer(project, item, system, mode=ISOLATED)
        say(project, "adra.reasoning", item, alone, values)
        fill_matrix(project, item, alone, plan)


def _described(project: Project) -> None:
    groups = {"Alpha": ("deep research", "Asked in July."), "Beta": ("LLM + search", "")}
    systems = {materials.system_named(project, name): both for name, both in groups.items()}
    named = {system: {"group": group, "footnote": note} for system, (group, note) in systems.items()}
    materials.describe(project, materials.Thing.SYSTEM, named)
    of_items = zip(items.ids(project), KINDS, strict=True)
    told = {
        items.sources(project, item)[0].id: {
            "kind": kind.casefold(),
            "published": "2024-05-01" if kind == "Research" else "2025-04",
        }
        for item, kind in of_items
    }
    materials.describe(project, materials.Thing.SOURCE, told)
