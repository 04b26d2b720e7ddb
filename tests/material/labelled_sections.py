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
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.change import now
from tests.material import drawn_extracts
from tests.projects.labelled_protocols import seal
from tests.projects.labelling_project import SYSTEMS, add_report, project_with
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
