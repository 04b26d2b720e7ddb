"""What a project uses: chosen, imported or held."""

from contextlib import closing

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import USES, Project
from annotator.actions.project.profile import choose, extractions, kinds, profile, protocols, stages
from annotator.domain.kinds.artifact import Kind, Stage
from annotator.domain.material.item import ItemRole
from annotator.protocols import PROTOCOLS, profiles
from tests.projects.labelling_project import labelling_project
from tests.projects.refusals import expect_refusal


def test_every_choice_names_protocols_that_there_are_with_the_kinds_that_they_need():
    for choice in profiles.CHOICES:
        used = profiles.parsed(choice.name)
        assert used.protocols <= PROTOCOLS.keys()
        needed = {kind for name in used.protocols for kind in PROTOCOLS[name].needs}
        assert needed <= used.kinds


def test_a_kind_brings_what_judges_by_it_and_a_protocol_what_it_needs():
    usual, chosen = profiles.parsed(profiles.USUAL), profiles.parsed("nuggets, adra.plan")
    assert (usual.kinds, usual.judges("adra.plan")) == ({Kind.RUBRIC}, False)
    assert chosen.kinds == {Kind.NUGGETS, Kind.PLAN}
    assert chosen.judges("deepscholar.nuggets")
    assert chosen.judges("adra.plan")
    refused = expect_refusal("poems", profiles.parsed, "rubrics, poems")
    assert "related-work" in refused.todo


def test_what_a_project_holds_stays_in_use(tmp_path):
    with closing(people.new_project(tmp_path / "p.goldsmith", uses="rubrics")) as project:
        assert profile(project) is profile(project)
        items.add(project, "Why?")
        artifacts.start(project, items.ids(project)[0], Kind.PLAN)
        assert profile(project).kinds == {Kind.RUBRIC, Kind.PLAN}
        assert kinds(project) == (Kind.PLAN, Kind.RUBRIC)
        assert kinds(project, ItemRole.SEMINAR) == (Kind.INSPIRATIONS, Kind.TASKS)
        assert {"adra.plan", "adra.efficiency"} <= set(protocols(project))
        choose(project, "related-work")
        assert profile(project).kinds == {Kind.NUGGETS, Kind.EVIDENCE, Kind.PLAN}


def test_an_older_project_uses_what_it_holds(tmp_path):
    with closing(Project.create(tmp_path / "p.goldsmith")) as project:
        people.someone(project)
        project.set(USES, None)
        assert profile(project).kinds == {Kind.RUBRIC}


def test_labels_and_runs_of_another_protocol_are_in_use(tmp_path):
    with closing(labelling_project(tmp_path)) as project:
        project.set(USES, "nuggets")
        assert "researcherbench.coverage" in protocols(project)
        assert "researcherbench.pairwise" not in protocols(project)
        first = label_tasks.queue(project)[0]
        labels.set_label(project, first.response_id, f"{first.item_id}/c1", "yes")
        assert "researcherbench.coverage" in profile(project).protocols
        assert "researcherbench.claims.extract" not in extractions(project)
        assert stages(project) == (Stage.RUBRIC, Stage.NUGGETS, Stage.LABELLING)
