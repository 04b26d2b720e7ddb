"""The work in pairs as tables: a line for each figure, each unit's origin and each objection, people by alias."""

from pathlib import Path

import pytest

from annotator.actions.releases import releases
from annotator.exchange.release import tables_csv
from annotator.exchange.release.bundle import Bundle
from tests.actions.releases.released_pairs import paired_project
from tests.material.bundles import rich_bundle


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return releases.gather(paired_project(tmp_path_factory.mktemp("pairs")))[0]


def test_every_frozen_figure_has_a_line(bundle: Bundle) -> None:
    lines = tables_csv.pair_tables(bundle)["agreement"]
    wanted = sum(len(pair.figures) for one in bundle.agreements for pair in one.pairs)
    assert len(lines) == wanted
    (f1,) = [line for line in lines if line["stage"] == "rubric" and line["figure"] == "match_f1"]
    # 4 pairs of 5 and 6 criteria.
    assert f1["value"] == pytest.approx(8 / 11)
    assert (sorted((f1["rater_a"], f1["rater_b"])), f1["item_key"], f1["matcher"]) == (["R2", "R3"], "1", "2")


def test_every_unit_of_every_version_has_a_line(bundle: Bundle) -> None:
    lines = tables_csv.pair_tables(bundle)["provenance"]
    assert [line["version"] for line in lines] == [1] * 6 + [2] * 7
    assert {line["adjudicator"] for line in lines} == {"R4"}
    (edited,) = [line for line in lines if line["origin"] == "edited"]
    assert (edited["written_by"], edited["wording_of"], edited["reason"]) == ("R2", "", "wording")
    assert {line["written_by"] for line in lines if line["origin"] == "both"} == {"R2 and R3"}


def test_an_objection_has_a_line_with_its_answer(bundle: Bundle) -> None:
    (line,) = tables_csv.pair_tables(bundle)["disputes"]
    assert (line["person"], line["version"], line["state"], line["answered_version"]) == (
        "R2",
        1,
        "answered",
        2,
    )


def test_the_tables_are_files_like_the_others_and_absent_where_there_is_nothing(bundle: Bundle) -> None:
    names = {"agreement.csv", "provenance.csv", "disputes.csv"}
    assert names <= tables_csv.files(bundle).keys()
    assert not names & tables_csv.files(rich_bundle()).keys()


def test_no_person_is_named_but_by_an_alias(bundle: Bundle, tmp_path: Path) -> None:
    ids = {person.id for person in bundle.people}
    tables = tables_csv.pair_tables(bundle)
    assert not any(
        str(value) in ids for lines in tables.values() for line in lines for value in line.values()
    )
