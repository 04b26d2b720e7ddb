"""A project with all that people label about related-work sections: two papers, two systems, and what people wrote."""

import asyncio
from pathlib import Path

from annotator.actions.items import items, pages
from annotator.actions.judges.judges import BASELINE
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import END_TO_END, EXEMPLAR, Page, PageState
from annotator.domain.texts.canonical import now
from annotator.domain.texts.identifier import work_named
from tests.material import drawn_extracts
from tests.projects import adra_project as adra
from tests.projects.small_projects import SYSTEMS, add_report, project_with, seal
from tests.templates import once

ORGANIZATION, NUGGETS, RELEVANCE = "deepscholar.organization", "deepscholar.nuggets", "deepscholar.relevance"
NUGGET, REFERENCE = "deepscholar.nugget_importance", "deepscholar.reference_importance"
PRECISION, COVERAGE = "deepscholar.precision", "deepscholar.coverage"
KINDS = (ORGANIZATION, NUGGETS, RELEVANCE, PRECISION, COVERAGE, NUGGET, REFERENCE)
PEOPLE = "Human-written exemplar"
SECTION = """Trees cool streets by 3.5 K [1]. Parks help too [2].

## References

[1] Ash, A. Trees and heat. 2019. arXiv:2001.00001

[2] Elm, B. Parks. 2020. A hand-out
"""
ABSTRACTS = {"arxiv:2001.00001": "Of trees and $T_{air}$.", "arxiv:2001.00002": "Of shade."}
FACTS = (("Trees cool streets.", "vital", "support"), ("Parks help.", "okay", "support"))


@once
def related_work_project(path: Path) -> Project:
    """Each item has two gold nuggets and one that does not count, two references, two reports and an exemplar."""
    project = project_with(path, 0)
    for number in (1, 2):
        item_id = items.add(project, f"Paper {number}: write the related-work section.").subject
        facts = (*FACTS, ("Nobody says so.", "okay", "not_support"))
        named = ("id", "text", "importance", "support")
        nuggets = [
            Nugget.model_validate(dict(zip(named, (f"n{number}{place}", *fact), strict=True)))
            for place, fact in enumerate(facts)
        ]
        seal(project, item_id, Nuggets(units=tuple(nuggets)))
        gold = (
            Reference(id=f"g{number}a", text="Trees and heat", identifier="arXiv:2001.00001"),
            Reference(id=f"g{number}b", text="Parks", authors="Elm, B."),
        )
        seal(project, item_id, Evidence(units=gold))
        for system in SYSTEMS[:2]:
            report = add_report(project, item_id, system, f"Trees cool streets [1]. {system}")
            work = Reference(
                id=f"{system[-8:]}{number}", text="Shade", identifier="arXiv:2001.00002v1", note="[1]"
            )
            drawn_extracts.write(project, report, ResponsePart.REFERENCES, Evidence(units=(work,)))
        add_report(project, item_id, PEOPLE, SECTION, EXEMPLAR)
    for url, text in ABSTRACTS.items():
        page = Page(url=url, state=PageState.OK, text=text, title="Of shade", fetched_at=now())
        pages.take_in(project, page)
    asyncio.run(extracting.run(project, RunRequest(BASELINE.name, "deepscholar.sentences")))
    return project


# Of two exemplars, each work that they cite: its identifier, whether it is important, and how often it is cited.
CITED = (
    (
        ("arXiv:2001.00001", "important", 10),
        ("arXiv:2001.00002", "important", 30),
        ("arXiv:2001.00003", "not_important", 1000),
        ("10.1000/parks", "important", 4),
    ),
    (("arXiv:2001.00004", "important", 100), ("", "", None)),
)
ORACLE = "oracle-arxiv"


@once
def cited_sections(path: Path) -> Project:
    """Two exemplars with what they cite, and a system that names one important work, given them all of them."""
    project = project_with(path, 0)
    for number, works in enumerate(CITED):
        item_id = items.add(project, f"Paper {number}: write the related-work section.").subject
        gold = tuple(
            Reference(id=f"g{number}{place}", text=f"Work {number}{place}", identifier=named, importance=said)
            for place, (named, said, _) in enumerate(works)
        )
        seal(project, item_id, Evidence(units=gold))
        add_report(project, item_id, PEOPLE, SECTION, EXEMPLAR)
        on_arxiv = [
            one for one in gold if one.importance == "important" and one.identifier.startswith("arXiv")
        ]
        for mode, given in ((END_TO_END, on_arxiv[:1]), (ORACLE, on_arxiv)):
            report = adra.answer(project, item_id, "Base", mode=mode)
            adra.give(project, item_id, report, ResponsePart.REFERENCES, Evidence(units=tuple(given)))
        for named, _, citations in works:
            url = str(work_named(named) or "")
            if url:
                page = Page(
                    url=url,
                    state=PageState.OK,
                    title=named,
                    text="Of it.",
                    citations=citations,
                    fetched_at=now(),
                )
                pages.take_in(project, page)
    return project
