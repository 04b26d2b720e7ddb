"""A project of both papers' kind, made by hand, of which every printed table can be made and computed on paper."""

from datetime import date
from pathlib import Path

from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import INJECTION, ISOLATED
from tests.projects import adra_project as adra
from tests.projects.small_projects import seal
from tests.templates import once

KINDS = ("Research", "Research", "Review", "Review")
LIMITED, UNTIL = "sources until 2025-03", date(2025, 3, 31)
TRUE, FALSE = "true", "false"
# Of the four statements s1 and s3 are true: all four right, half of them, none.
ALL_RIGHT = {"s1": TRUE, "s2": FALSE, "s3": TRUE, "s4": FALSE}
HALF_RIGHT = dict.fromkeys(ALL_RIGHT, TRUE)
NONE_RIGHT = {"s1": FALSE, "s2": TRUE, "s3": FALSE, "s4": TRUE}
# Three of four gold sub-tasks found by three, and one by one.
GOOD_PLAN, SHORT_PLAN = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], [[1, 0, 0, 0]]
JUDGES = ("one", "other")
OTHER = ("10.1000/other", "Another work of some length")
PAGE = "https://example.org/page"


@once
def printed_project(folder: Path) -> Project:
    """Two papers and two reviews, answered by Alpha and Beta in every mode, Alpha three times."""
    project = adra.adra_project(folder, 0)
    note = folder / "note.txt"
    note.write_text("What was found.", encoding="utf-8")
    for place, kind in enumerate(KINDS):
        subject = "Biology" if place % 2 else "Finance"
        item = items.add(project, f"Question {place}?", kind, subject).subject
        _gold(project, item, kind)
        items.add_source(project, item, note)
        _end_to_end(project, item)
        _given_gold(project, item, kind)
    _described(project)
    return project


def _gold(project: Project, item: str, kind: str) -> None:
    plan, _, diagnostics = adra.gold()
    rubric = Rubric(units=tuple(Criterion(id=f"c{n}", text=f"Criterion {n}", weight=n) for n in (1, 2, 3)))
    evidence = adra.Evidence(units=adra.works(adra.GOLD_WORKS[: 1 if kind == "Research" else None]))
    for document in (plan, diagnostics, rubric, evidence):
        seal(project, item, document)


def _end_to_end(project: Project, item: str) -> None:
    alpha, second, third = (
        adra.answer(project, item, "Alpha", trial, text="a" * 300, latency_s=100.0, tokens=1000, cost_usd=0.5)
        for trial in (1, 2, 3)
    )
    beta = adra.answer(project, item, "Beta", text="b" * 100, latency_s=10.0, tokens=500)
    adra.fill_matrix(project, item, alpha, GOOD_PLAN)
    adra.fill_matrix(project, item, beta, SHORT_PLAN)
    for response, works in ((alpha, (*adra.GOLD_WORKS[:1], OTHER)), (beta, (OTHER,))):
        adra.give(project, item, response, ResponsePart.REFERENCES, adra.Evidence(units=adra.works(works)))
    said = ((alpha, HALF_RIGHT), (second, ALL_RIGHT), (third, NONE_RIGHT), (beta, NONE_RIGHT))
    for response, values in said:
        adra.say(project, "adra.reasoning", item, response, values)
    _reports(project, item, alpha, beta)


def _reports(project: Project, item: str, alpha: str, beta: str) -> None:
    """Criteria, claims and comparisons of the two first reports, and what people said of them."""
    adra.say(project, "researcherbench.coverage", item, alpha, {"c1": "no", "c2": "yes", "c3": "yes"})
    adra.say(project, "researcherbench.coverage", item, beta, {"c1": "yes", "c2": "no", "c3": "no"})
    claims = Claims(
        units=tuple(Claim(id=f"k{n}", text=f"Claim {n}", url=PAGE if n < 4 else "") for n in range(1, 5))
    )
    adra.give(project, item, alpha, ResponsePart.CLAIMS, claims)
    adra.say(project, "researcherbench.claims", item, alpha, {"k1": "yes", "k2": "yes", "k3": "no"})
    adra.say(project, "researcherbench.pairwise", item, alpha, {beta: "first"})
    adra.say(project, "researcherbench.pairwise", item, beta, {alpha: "second"})
    by_me = {"rater_kind": "person", "rater_id": people.someone(project).id}
    adra.say(project, "adra.preference", item, alpha, {beta: "first"}, **by_me)
    _preferred(project, item, alpha, beta)
    adra.say(project, "researcherbench.misses", item, alpha, {"c1": "partial_missing"}, **by_me)
    adra.say(
        project,
        "researcherbench.misses",
        item,
        beta,
        {"c2": "incompleteness", "c3": "incompleteness"},
        **by_me,
    )
    adra.say(project, "researcherbench.citation_errors", item, alpha, {"k3": "unsupported_answer"}, **by_me)


def _preferred(project: Project, item: str, alpha: str, beta: str) -> None:
    """What two judges prefer in two runs: the same on every item, then the same on the first alone."""
    first = items.ids(project)[0] == item
    for name in JUDGES if first else ():
        judges.add(project, name, base_url="http://localhost:9/v1", model=name)
    said = {1: ("first", "first"), 2: ("first", "first" if first else "second")}
    for trial, values in said.items():
        for name, value in zip(JUDGES, values, strict=True):
            judge = judges.named(project, name).id
            adra.say(project, "adra.preference", item, alpha, {beta: value}, rater_id=judge, trial=trial)


def _given_gold(project: Project, item: str, kind: str) -> None:
    """With the gold plan Alpha is right on reviews; alone with gold Alpha is right on all, Beta on half."""
    given = adra.answer(project, item, "Alpha", mode=INJECTION)
    adra.say(project, "adra.reasoning", item, given, ALL_RIGHT if kind == "Review" else HALF_RIGHT)
    limited = adra.answer(project, item, "Alpha", mode=LIMITED, cutoff=UNTIL)
    adra.say(project, "adra.reasoning", item, limited, ALL_RIGHT if kind == "Research" else NONE_RIGHT)
    for system, values, plan in (("Alpha", ALL_RIGHT, GOOD_PLAN), ("Beta", HALF_RIGHT, SHORT_PLAN)):
        alone = adra.answer(project, item, system, mode=ISOLATED)
        adra.say(project, "adra.reasoning", item, alone, values)
        adra.fill_matrix(project, item, alone, plan)


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
