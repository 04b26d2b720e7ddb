"""What judges can be asked for, and what is lacking for it in words."""

from pathlib import Path

from annotator.actions.items import items
from annotator.actions.items.extracts import NewExtract
from annotator.actions.judging import judge_offers
from annotator.actions.judging.judge_offers import ProtocolOffer
from annotator.actions.material import draft_runs
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.material.extract import IMPORT
from annotator.domain.material.part import Claim, Claims, ResponsePart
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from tests.material import drawn_extracts
from tests.servers.said_by_judges import places


def offer(project: Project, name: str) -> ProtocolOffer:
    return next(one for one in judge_offers.offers(project) if one.name == name)


def test_every_protocol_is_offered_in_order(project: Project) -> None:
    found = judge_offers.offers(project)
    assert [one.name for one in found] == [name for name, shape in PROTOCOLS.items() if not shape.by_people]
    assert [one.name for one in found if not one.asked] == [
        "adra.retrieval",
        "adra.efficiency",
        "deepscholar.references",
        "arena.references",
        "arena.leakage",
    ]
    assert {one.name for one in found if one.together} == {
        "researcherbench.coverage",
        "adra.reasoning",
        "deepscholar.nuggets",
        "arena.checklist",
        "arena.keypoints",
        "arena.keypoints.common",
    }


def test_what_is_there_is_said_and_what_is_lacking_too(project: Project) -> None:
    assert offer(project, "researcherbench.coverage").words() == "All 2 items are ready."
    plan = offer(project, "adra.plan")
    assert plan.words() == "0 of 2 items are ready."
    assert plan.lacks == ("All 2 items lack a plan.", "All 2 items lack the plan of a response.")


def test_items_that_lack_something_are_counted(project: Project) -> None:
    items.add(project, "A third question without anything?")
    found = offer(project, "researcherbench.pairwise")
    assert (found.ready, found.items, found.lacks) == (2, 3, ("1 of 3 items lacks a response.",))


def test_a_lacking_part_offers_the_step_that_draws_it(project: Project) -> None:
    (step,) = offer(project, "researcherbench.claims").steps
    assert (step.extraction, step.part, step.missing, step.alone) == (
        "researcherbench.claims.extract", ResponsePart.CLAIMS, 4, True,
    )  # fmt: skip
    assert step.words() == "4 of 4 reports are without their claims."


def test_what_was_drawn_is_no_longer_missing(project: Project) -> None:
    item, response, _ = places(project)[0]
    claims = Claims(units=(Claim(text="Depth helps.", url="https://example.org/a"),))
    drawn_extracts.keep(project, NewExtract(item, response, ResponsePart.CLAIMS, claims, IMPORT))
    found = offer(project, "researcherbench.claims")
    assert found.steps[0].missing == 3
    # The item's other report has none yet.
    assert found.ready == 0


def test_every_extraction_is_offered_with_what_it_has_not_drawn(project: Project) -> None:
    item, response, _ = places(project)[0]
    claims = Claims(units=(Claim(text="Depth helps.", url="https://example.org/a"),))
    drawn_extracts.keep(project, NewExtract(item, response, ResponsePart.CLAIMS, claims, IMPORT))
    found = {one.name: one for one in judge_offers.drawings(project)}
    assert list(found) == list(EXTRACTIONS)
    assert found["researcherbench.claims.extract"].words() == "3 of 4 reports are without their claims."
    assert found["researcherbench.insights"].words() == "No item has a source with its text yet."


def test_an_empty_project_says_so(tmp_path: Path) -> None:
    empty = new_project(tmp_path / "empty.goldsmith")
    assert {one.words() for one in judge_offers.offers(empty)} == {"There are no items yet."}
    empty.close()


DRAFTED = [draft_runs.protocol_name(kind) for kind in draft_runs.OFFERED]


def test_everything_that_runs_has_a_title() -> None:
    names = [*PROTOCOLS, *EXTRACTIONS, "respond.isolated", "contest|rounds=3", *DRAFTED]
    assert all(judge_offers.title(name) != name for name in names)
    assert judge_offers.title("gone.protocol") == "gone.protocol"
