"""Search in all texts: any language, one letter or many, and nothing that a person may not see."""

import pytest

from annotator.actions import search
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.item import SourceFormat


def hits(project: Project, typed: str) -> list[search.SearchHit]:
    return list(search.gather(project).hits(typed))


def found(project: Project, typed: str) -> list[tuple[str, str]]:
    return [(hit.kind, hit.title) for hit in hits(project, typed)]


def marked(hit: search.SearchHit) -> set[str]:
    return {hit.words[begin:end] for begin, end in hit.marks}


def test_all_words_must_be_met_in_one_text_in_whatever_capitals(project: Project) -> None:
    assert found(project, "DO residual") == [("Items", "1")]
    assert (found(project, "residual ocean"), found(project, "  ")) == ([], [])
    (hit,) = [hit for hit in hits(project, "STABILITY compares") if hit.title == "1 · criterion 2"]
    assert (hit.words, marked(hit)) == ("Compares training stability", {"Compares", "stability"})
    assert hit.page == "Author"
    assert hit.place["unit_id"]


@pytest.mark.parametrize(
    ("question", "typed"),
    [
        ("深度研究系统如何比较合金的密度？", "密度"),
        ("深度研究系统如何比较合金的密度？", "究"),
        ("ما هو الوزن الذري للذهب؟", "ذهب"),
        ("İstanbul'da kaç ağaç var?", "istanbul"),
        ("Ποιος είναι ο ρόλος;", "ΡΌΛΟΣ"),
        ("What does 🜚 stand for?", "🜚"),
    ],
)
def test_words_of_any_script_are_found_within_others_and_marked(
    project: Project, question: str, typed: str
) -> None:
    items.add(project, question)
    (hit,) = [hit for hit in hits(project, typed) if hit.kind == "Items"]
    assert hit.words == question
    assert {search.fold(word) for word in marked(hit)} == {search.fold(typed)}


def test_an_item_is_found_by_its_key_before_those_that_only_hold_it(project: Project) -> None:
    for number in range(20):
        items.add(project, f"What weighs {number} kg, and 1{number} g?")
    first = [title for kind, title in found(project, "17") if kind == "Items"]
    assert (first[0], len(first)) == ("17", len(set(first)))
    # One more than are shown tells that there are more.
    assert len([title for kind, title in found(project, "kg") if kind == "Items"]) == search.MOST + 1


def test_the_words_around_the_first_that_is_met_are_shown(project: Project) -> None:
    first = items.ids(project)[0]
    with project.store.write() as db:
        items.put(
            db,
            first,
            "Paper",
            f"{'before ' * 300}The\n\nlanthanum count. {'after ' * 300}",
            SourceFormat.PLAIN,
        )
    (hit,) = hits(project, "lanthanum")
    assert (hit.kind, hit.title, hit.page) == ("Sources", "1 · Paper", "Author")
    assert hit.words.startswith("… before before")
    assert "The lanthanum count. after" in hit.words
    assert marked(hit) == {"lanthanum"}


def test_a_change_is_found_at_once_and_what_is_retired_no_longer(project: Project) -> None:
    index = search.gather(project)
    assert not list(index.hits("zirconium"))
    assert index.moment == search.moment(project)
    added = items.add(project, "Where is zirconium mined?").subject
    assert index.moment != search.moment(project)
    assert [hit.place for hit in hits(project, "zirconium")] == [{"item_id": added}]
    items.change_all(project, {added: {"retired": True}})
    assert not hits(project, "zirconium")


def test_another_person_never_searches_in_what_was_gathered_for_the_first(project: Project) -> None:
    me, ada = people.someone(project), people.known(project, people.add_person(project, "Ada").subject)
    artifacts.start(
        project,
        items.add(project, "Which?").subject,
        Rubric.KIND,
        Rubric(units=(Criterion(text="Names iridium", note="osmium?"),)),
    )
    index = search.gather(project)
    assert found(project, "iridium") == [("Documents", "3 · criterion 1")]
    assert found(project, "osmium") == [("Notes", "3 · criterion 1")]
    assert found(project, "Ada") == [("People", ada.alias)]
    project.work_as(ada)
    assert index.moment != search.moment(project)
    assert not found(project, "iridium")
    assert not found(project, "osmium")
    # Names of people stand on a page for coordinators.
    assert not found(project, "Ada")
    project.work_as(me)
    assert index.moment == search.moment(project)


def test_reports_have_blind_names_where_they_are_labelled_and_no_system_is_ever_named(
    project: Project,
) -> None:
    ada = people.known(project, people.add_person(project, "Ada").subject)
    assignments.assign_one(project, items.ids(project)[0], ada.id, Stage.LABELLING)
    project.work_as(ada)
    # The other item was not handed out to her.
    assert sorted(found(project, "explains stability")) == [
        ("Reports", "1 · Report A"),
        ("Reports", "1 · Report B"),
    ]
    task = labels.queue(project)[0]
    unit = labels.sheet(project, task.response_id).units[0]
    labels.set_label(project, task.response_id, unit.id, "no")
    labels.set_note(project, task.response_id, unit.id, "Only rhenium.")
    (hit,) = hits(project, "rhenium")
    assert (hit.kind, hit.title, hit.page) == ("Notes", "1 · label", "Label")
    assert (hit.place["response_id"], hit.place["unit_id"]) == (task.response_id, unit.id)
    project.work_as(people.known(project, "R1"))
    assert not found(project, "rhenium")


def test_a_report_that_nobody_labels_is_shown_to_coordinators_alone_and_leads_to_material(
    project: Project,
) -> None:
    ada = people.known(project, people.add_person(project, "Ada").subject)
    assignments.assign_one(project, items.ids(project)[0], people.someone(project).id, Stage.LABELLING)
    pages = {(hit.title, hit.page) for hit in hits(project, "explains stability")}
    assert pages == {("1 · Report A", "Label"), ("1 · Report B", "Label"), ("2 · report", "Material")}
    assignments.assign_one(project, items.ids(project)[0], ada.id, Stage.PLAN)
    project.work_as(ada)
    assert not found(project, "explains stability")
