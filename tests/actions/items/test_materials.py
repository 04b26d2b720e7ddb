"""What is at hand about a response."""

from sqlalchemy import event, insert

from annotator.actions.items import items, materials
from annotator.actions.items.extracts import NewExtract
from annotator.actions.items.materials import MaterialAtHand, WantedMaterial
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.page import PageState
from annotator.domain.material.part import Claim, Claims, ResponsePart
from annotator.domain.texts.change import now
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import PageRow, SourceRow, table
from tests.material import drawn_extracts
from tests.projects.small_project import answer
from tests.storage import sql

URL = "https://example.org/paper"
BY_RUBRIC = WantedMaterial((Kind.RUBRIC,))


def at_hand(project: Project, wanted: WantedMaterial = BY_RUBRIC) -> list[MaterialAtHand]:
    return list(materials.each(project, wanted, materials.item_ids(project)))


def add_claims(project: Project, *urls: str) -> str:
    item_id, response_id = sql.first(project, "SELECT item_id, id FROM response")
    claims = Claims(units=tuple(Claim(text="It is so.", url=url) for url in urls))
    return drawn_extracts.keep(
        project, NewExtract(item_id, response_id, ResponsePart.CLAIMS, claims, "judge:j")
    ).subject


def add_page(project: Project, url: str) -> None:
    row = {"url": url, "state": "ok", "text": "It is so.", "fetched_at": now(), "sha256": "h"}
    with project.store.write() as db:
        db.execute(insert(table(PageRow)).values(row))


def test_an_item_comes_with_what_it_is_judged_by_and_its_responses_by_system(project: Project) -> None:
    first, second = at_hand(project)
    assert [first.item.key, second.item.key] == ["1", "2"]
    alpha, beta = first.responses
    assert alpha.response.text.startswith("# Alpha")
    assert [unit.weight for unit in alpha.units(Kind.RUBRIC)] == [3, 2, 1]
    assert alpha.artifact_ids == beta.artifact_ids != second.responses[0].artifact_ids


def test_the_others_are_the_same_items_responses_of_the_same_trial_and_mode(project: Project) -> None:
    answer(project, "Gamma")
    sql.alter(
        project,
        "UPDATE response SET mode = 'isolated' WHERE system_id = (SELECT id FROM system WHERE name = 'Gamma')",
    )
    alpha, beta, gamma = at_hand(project)[0].responses
    assert [other.id for other in alpha.others] == [beta.response.id]
    assert gamma.others == []


def test_without_their_words_responses_are_the_same_but_for_the_text(project: Project) -> None:
    (whole, _), (light, _) = at_hand(project), at_hand(project, WantedMaterial((Kind.RUBRIC,), texts=False))
    assert {one.response.text for one in light.responses} == {""}
    assert [one.response.id for one in light.responses] == [one.response.id for one in whole.responses]


def test_parts_come_with_their_ids_and_the_pages_that_they_cite(project: Project) -> None:
    drawn = add_claims(project, f"{URL}/#results", "https://example.org/never-fetched", "")
    add_page(project, URL)
    add_page(project, "https://example.org/of-others")
    alpha = at_hand(project, WantedMaterial((), pages=True))[0].responses[0]
    assert alpha.part_ids == {ResponsePart.CLAIMS: drawn}
    assert len(alpha.units(ResponsePart.CLAIMS)) == 3
    assert {url: page.state for url, page in alpha.pages.items()} == {URL: PageState.OK}
    assert at_hand(project)[0].responses[0].pages == {}


def test_an_item_by_itself_has_its_sources_and_no_response(project: Project) -> None:
    item_id = items.ids(project)[0]
    with project.store.write() as db:
        db.execute(
            insert(table(SourceRow)).values(
                id="s", item_id=item_id, title="A paper", format="plain", text="Depth helps.", sha256="h"
            )
        )
    own = at_hand(project, WantedMaterial((Kind.RUBRIC,), sources=True))[0].own
    assert [source.text for source in own.sources] == ["Depth helps."]
    assert (own.response.id, own.response.text, len(own.units(Kind.RUBRIC))) == ("", "", 3)


def test_items_set_aside_are_left_out_and_keys_choose(project: Project) -> None:
    assert materials.item_ids(project, ["2"]) == items.ids(project)[1:]
    sql.alter(project, "UPDATE item SET retired = 1 WHERE key = '1'")
    assert [one.item.key for one in at_hand(project)] == ["2"]


def test_many_items_take_as_few_questions_as_one(project: Project) -> None:
    for number in range(materials.STRETCH - 2):
        items.add(project, f"Question {number}")
    asked: list[str] = []
    engine = project.store.read
    with engine() as db:
        event.listen(db.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert len(at_hand(project)) == materials.STRETCH
    # Four of them say whose gold counts.
    assert len(asked) <= 9


def test_the_words_are_read_where_units_come_from_them(project: Project) -> None:
    coverage = PROTOCOLS["researcherbench.coverage"]
    assert materials.for_judging(coverage).texts
    assert not materials.for_counting(coverage).texts
