"""Which biases show in what judges said: by hand, over judges that lean as they are told to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.attacks import biases, families
from annotator.actions.attacks.biases import FAMILY, LENGTH, POSITION, Bias
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.actions.undo import history
from annotator.actions.validation import validation_views
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import JUDGEMENT
from tests.projects.attacked_project import attacked
from tests.projects.validation_project import judge_says, person, person_says, validation_project

CLAUDE, GPT = "Claude Research", "GPT Researcher"
# Judges compare reports by several protocols, so that each bias names its own.
OF_PAIRS = " (Which of two reports is better)"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Four items with two criteria and two systems, of which the second by name writes the longer reports."""
    project = validation_project(tmp_path, systems=(CLAUDE, GPT))
    yield project
    project.close()


def labelled(project: Project) -> None:
    """One person says yes to the first criterion of every report, and no to the second."""
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8, test_share=0.0))
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes" if at[2] == 1 else "no")
    validation_sets.lock(project, "Spring")


def found(project: Project, about: str, judge: str = "") -> dict[str, Bias]:
    return {one.name: one for one in biases.report(project, judge=judge) if one.about == about}


def kind_to(system: str):
    """A judge that goes with people, but says yes to everything of one system."""
    return lambda at: "yes" if at[2] == 1 or at[1] == system else "no"


@pytest.mark.usefixtures("small_cases")
def test_who_says_yes_to_longer_reports_leans_to_them(project: Project) -> None:
    labelled(project)
    judge_says(project, "long", kind_to(GPT))
    told = found(project, LENGTH)
    # On longer reports one of two verdicts is a yes too many, on shorter ones none is.
    assert told["Leans to longer reports"].figure.value == pytest.approx(0.5)
    assert told["Errs more on longer reports"].figure.value == pytest.approx(0.5)
    assert told["“yes” where people disagree"].figure.value == pytest.approx(1.0)
    assert told["Not “yes” where people say so"].figure.value == pytest.approx(0.0)
    assert biases.verdict(told["Leans to longer reports"]) == "above it"


def test_who_goes_with_people_leans_nowhere(project: Project) -> None:
    labelled(project)
    judge_says(project, "fair", lambda at: "yes" if at[2] == 1 else "no")
    assert {one.figure.value for one in found(project, LENGTH).values()} == {0.0}


def test_who_is_kind_to_its_own_family_leans_to_it(project: Project) -> None:
    labelled(project)
    judge_says(project, "gpt-5", kind_to(GPT))
    judge_says(project, "claude-4", kind_to(GPT))
    own = {one.judge: one.figure.value for one in biases.report(project) if one.about == FAMILY}
    assert own == {"gpt-5": pytest.approx(0.5), "claude-4": pytest.approx(-0.5)}


def test_a_family_can_be_told_otherwise_and_taken_back(project: Project) -> None:
    labelled(project)
    judge_says(project, "house judge", kind_to(GPT))
    before = found(project, FAMILY)["Leans to its own family"].figure
    assert (before.value, before.note) == (None, "the judge is of no known family")
    families.set_family(project, "house judge", "OpenAI")
    assert found(project, FAMILY)["Leans to its own family"].figure.value == pytest.approx(0.5)
    history.undo(project)
    assert found(project, FAMILY)["Leans to its own family"].figure.value is None
    families.set_family(project, GPT, "none")
    (gpt,) = [one for one in families.members(project) if one.name == GPT]
    assert (gpt.family, gpt.said) == ("", True)
    families.set_family(project, GPT, "")
    (gpt,) = [one for one in families.members(project) if one.name == GPT]
    assert (gpt.family, gpt.said) == ("OpenAI", False)


def test_a_family_of_nobody_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="no system and no judge"):
        families.set_family(project, "Nobody", "OpenAI")


def test_without_labels_it_says_why_nothing_is_known(project: Project) -> None:
    judge_says(project, "small", lambda at: "yes")
    for about in (LENGTH, FAMILY):
        (one,) = found(project, about).values()
        assert one.figure.value is None
        assert "Nobody has submitted labels" in biases.verdict(one)


@pytest.mark.usefixtures("small_cases")
def test_the_order_of_a_pair_shows(project: Project) -> None:
    _compared(project)
    told = found(project, POSITION)
    # The first one shown wins on every item, in both orders.
    assert told[f"Verdict changes with the order{OF_PAIRS}"].figure.value == 1.0
    assert told[f"First one named{OF_PAIRS}"].figure.value == 1.0
    assert biases.verdict(told[f"First one named{OF_PAIRS}"]) in ("above it", biases.NO_BIAS)


def test_every_trial_that_was_judged_counts(project: Project) -> None:
    _compared(project)
    _compared(project, trial=2, value=lambda one, other: "first" if one < other else "second")
    told = found(project, POSITION)
    # Four pairs, each in both orders, twice: the order decides at the first trial alone, and the second names as many
    # that stand first as second.
    flips, first = (
        told[f"Verdict changes with the order{OF_PAIRS}"].figure,
        told[f"First one named{OF_PAIRS}"].figure,
    )
    assert (flips.value, flips.n, first.value, first.n) == (0.5, 8, 0.75, 16)


def _compared(project: Project, trial: int = 1, value=lambda one, other: "first") -> None:
    """A judge that prefers whatever stands first, unless told otherwise of two responses."""
    from sqlalchemy import insert

    from annotator.actions.project.hashing import judgement_hash
    from annotator.domain.judges.judgement import Judgement, RaterKind
    from annotator.domain.texts.change import derived_id, now

    if trial == 1:
        judges.add(project, "first", base_url="http://127.0.0.1:1/v1", model="m")
    judge_id = judges.named(project, "first").id
    with project.store.write() as db:
        rows = db.exec_driver_sql(
            "SELECT a.item_id, a.id, b.id FROM response a JOIN response b ON a.item_id = b.item_id AND a.id != b.id"
        ).all()
        for item, one, other in rows:
            row = Judgement(
                id=derived_id(one, other, str(trial)), protocol="researcherbench.pairwise", item_id=item,
                response_id=one, unit_id=other, trial=trial, rater_kind=RaterKind.JUDGE, rater_id=judge_id,
                at=now(), value=value(one, other),
            ).model_dump()  # fmt: skip
            db.execute(insert(JUDGEMENT).values(**row, sha256=judgement_hash(row)))
        db.exec_driver_sql(
            "INSERT OR IGNORE INTO run SELECT 'r1', id, 'researcherbench.pairwise', 'done', '{}', '{}', '', 0, 0, "
            "'2026-01-01 00:00:00', NULL, NULL, '' FROM judge WHERE name = 'first'"
        )


def test_the_panel_has_a_table_a_picture_and_the_families(project: Project) -> None:
    labelled(project)
    attacked_baseline(project)
    view = next(one for one in validation_views.VIEWS if one.name == "bias")
    sheets = view.sheets(view.report(project))
    titles = [sheet.title for sheet in sheets]
    assert titles == [
        "Attacks",
        "Biases that show",
        "Families",
        "By wording and place",
        "What the attacks do",
    ]
    assert [picture.title for picture in sheets[0].pictures] == ["Failure rate of baseline by attack"]
    for sheet in sheets:
        words = " ".join(cell.words for line in sheet.lines for cell in line.cells)
        assert "nan" not in words.lower()
        assert "inf" not in words.lower().split()


def attacked_baseline(project: Project) -> None:
    from tests.projects.attacked_project import judged

    judged(project, "baseline")
    attacked(project, "baseline", size=6)


def test_a_project_without_judges_shows_what_to_do(project: Project) -> None:
    view = next(one for one in validation_views.VIEWS if one.name == "bias")
    assert view.sheets(view.report(project)) == ()
