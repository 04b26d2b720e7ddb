"""What a project uses: chosen, imported or held."""

from contextlib import closing

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import USES, Project
from annotator.actions.project.profile import choose, profile
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS, profiles


def test_every_choice_names_protocols_that_there_are_with_the_kinds_that_they_need():
    for choice in profiles.CHOICES:
        used = profiles.parsed(choice.name)
        assert used.protocols <= PROTOCOLS.keys()
        needed = {kind for name in used.protocols for kind in PROTOCOLS[name].needs}
        assert needed <= used.kinds


def test_the_usual_project_has_one_kind_of_document():
    used = profiles.parsed(profiles.USUAL)
    assert used.kinds == {Kind.RUBRIC}
    assert not used.judges("adra.plan")


def test_a_kind_brings_what_judges_by_it_and_a_protocol_what_it_needs():
    used = profiles.parsed("nuggets, adra.plan")
    assert used.kinds == {Kind.NUGGETS, Kind.PLAN}
    assert used.judges("deepscholar.nuggets")
    assert used.judges("adra.plan")


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(Refusal) as refused:
        profiles.parsed("rubrics, poems")
    assert "poems" in refused.value.happened
    assert "related-work" in refused.value.todo


def test_what_a_project_holds_stays_in_use(tmp_path):
    with closing(people.new_project(tmp_path / "p.goldsmith", uses="rubrics")) as project:
        items.add(project, "Why?")
        (item_id,) = items.ids(project)
        artifacts.start(project, item_id, Kind.PLAN)
        assert profile(project).kinds == {Kind.RUBRIC, Kind.PLAN}
        choose(project, "related-work")
        assert profile(project).kinds == {Kind.NUGGETS, Kind.EVIDENCE, Kind.PLAN}


def test_an_older_project_uses_what_it_holds(tmp_path):
    with closing(Project.create(tmp_path / "p.goldsmith")) as project:
        people.someone(project)
        project.set(USES, None)
        assert profile(project).kinds == {Kind.RUBRIC}
