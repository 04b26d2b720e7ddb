"""ResearcherBench's files: read with every fault named, written so that reading gives the same content."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.kinds.artifact import Kind, State
from annotator.exchange import folders
from annotator.exchange.formats import researcherbench
from annotator.exchange.formats.layout import ExistingItems, KnownItem
from annotator.exchange.formats.researcherbench import read
from annotator.exchange.release.bundle import Bundle
from tests.material.bundles import REAL, peer_files, rich_bundle, write_peer
from tests.projects.refusals import expect_refusal

needs_real_data = pytest.mark.skipif(not REAL.is_dir(), reason="the public ResearcherBench data is not there")


def write(bundle: Bundle, folder: Path) -> list[str]:
    made, notes = researcherbench.files(bundle)
    folders.write(folder, folders.with_sums(made))
    return notes


def content(bundle: Bundle) -> Any:
    keys = {
        item.id: (item.dataset, item.key, item.question, item.question_type, item.subject)
        for item in bundle.items
    }
    systems = {system.id: system.name for system in bundle.systems}
    rubrics = {
        keys[a.item_id]: [(unit["text"], unit["weight"]) for unit in a.document["units"]]
        for a in bundle.artifacts
        if a.kind is Kind.RUBRIC
    }
    return (
        list(keys.values()),
        rubrics,
        {(keys[r.item_id], systems[r.system_id]): r.text for r in bundle.responses},
    )


@needs_real_data
def test_the_published_data_has_the_published_figures() -> None:
    bundle, problems = read([REAL])
    weights = Counter(unit["weight"] for artifact in bundle.artifacts for unit in artifact.document["units"])
    # ResearcherBench, Table 10: 931 criteria, 35.45 % ones, 50.91 % twos, 13.64 % threes.
    assert (len(bundle.items), weights) == (65, {1: 330, 2: 474, 3: 127})
    assert (len(bundle.systems), len(bundle.responses)) == (5, 325)
    assert all(problem.note for problem in problems)


@needs_real_data
def test_the_published_data_comes_back_as_it_was(tmp_path: Path) -> None:
    bundle, _ = read([REAL])
    assert write(bundle, tmp_path / "out") == []
    again, problems = read([tmp_path / "out"])
    assert (problems, content(again)) == ([], content(bundle))
    for path in ("questions.json", "rubric.json"):
        assert json.loads((tmp_path / "out" / path).read_text("utf-8")) == json.loads(
            (REAL / path).read_text("utf-8")
        )


def test_reading_twice_gives_gold_without_author(tmp_path: Path) -> None:
    folder = write_peer(tmp_path)
    first, second = read([folder])[0], read([folder])[0]
    for thing in ("items", "systems", "responses", "artifacts"):
        assert [r.id for r in getattr(first, thing)] == [r.id for r in getattr(second, thing)]
    units, again = (
        [unit["id"] for artifact in bundle.artifacts for unit in artifact.document["units"]]
        for bundle in (first, second)
    )
    assert (units, len(set(units))) == (again, 4)
    gold = {(a.kind, a.state, a.author_id, a.revision) for a in first.artifacts}
    assert gold == {(Kind.RUBRIC, State.CONSENSUS, "", 1)}
    assert [item.dataset for item in first.items] == ["researcherbench"] * 2
    bundle, problems = read([folder / "rubric.json", folder / "responses" / "Sys.json"])
    assert (bundle.counts()["items"], bundle.counts()["responses"], problems) == (2, 2, [])
    assert bundle.systems[0].name == "Sys"


Fault = tuple[str, Callable[[Any], Any], str, str]
FAULTS: dict[str, Fault] = {
    "no id": ("questions.json", lambda t: t[1].pop("id"), "questions.json[1]", "“id” is missing"),
    "text as id": (
        "questions.json",
        lambda t: t[1].update(id="2"),
        "questions.json[1]",
        "“id” should be a valid integer",
    ),
    "true as id": (
        "rubric.json",
        lambda t: t[0].update(id=True),
        "rubric.json[0]",
        "“id” should be a valid integer",
    ),
    "repeated id": (
        "questions.json",
        lambda t: t[1].update(id=1),
        "questions.json[1]",
        "was used before, by entry [0]",
    ),
    "empty question": (
        "questions.json",
        lambda t: t[0].update(question=" "),
        "questions.json[0]",
        "“question” is empty",
    ),
    "no category": (
        "questions.json",
        lambda t: t[0].pop("category"),
        "questions.json[0]",
        "“category” is missing",
    ),
    "foreign field": (
        "questions.json",
        lambda t: t[0].update(__class__="os"),
        "questions.json[0]",
        "“__class__” is not a field",
    ),
    "text as weight": (
        "rubric.json",
        lambda t: t[1]["rubric"][0].update(weight="1"),
        "rubric.json[1]",
        "(id 2) criterion 1: “weight” should be a valid number",
    ),
    "true as weight": (
        "rubric.json",
        lambda t: t[1]["rubric"][0].update(weight=True),
        "rubric.json[1]",
        "should be a valid number",
    ),
    "empty point": (
        "rubric.json",
        lambda t: t[1]["rubric"][0].update(point=""),
        "rubric.json[1]",
        "(id 2) criterion 1: “point”",
    ),
    "no criteria": ("rubric.json", lambda t: t[1].update(rubric=[]), "rubric.json[1]", "“rubric”"),
    "rubric of no question": (
        "rubric.json",
        lambda t: t[1].update(id=9),
        "rubric.json[1]",
        "no question with the id 9",
    ),
    "response to no question": (
        "responses/Sys.json",
        lambda t: t[0].update(id=9),
        "responses/Sys.json[0]",
        "no question with the id 9",
    ),
    "number as response": (
        "responses/Sys.json",
        lambda t: t[1].update(response=5),
        "responses/Sys.json[1]",
        "“response” should be",
    ),
    "entry of another shape": ("rubric.json", lambda t: t.append(7), "rubric.json[2]", "should be"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_entry_is_listed_by_file_index_and_reason(tmp_path: Path, name: str) -> None:
    path, spoil, place, reason = FAULTS[name]
    files = peer_files()
    spoil(files[path])
    _, problems = read([write_peer(tmp_path, files)])
    (problem,) = [one for one in problems if f"{one.file}[{one.index}]" == place]
    assert reason in str(problem)


def test_every_fault_of_every_file_is_listed_at_once(tmp_path: Path) -> None:
    files = peer_files()
    files["questions.json"][0].pop("Subject")
    files["rubric.json"][1]["rubric"][0]["weight"] = "7"
    folder = write_peer(tmp_path, files)
    (folder / "responses" / "Sys.json").write_text("[{", "utf-8")
    _, problems = read([folder])
    assert {problem.file for problem in problems} == {"questions.json", "rubric.json", "responses/Sys.json"}


def test_another_wording_of_a_question_is_only_noted(tmp_path: Path) -> None:
    files = peer_files()
    files["responses/Sys.json"][0]["question"] += "\n"
    bundle, problems = read([write_peer(tmp_path, files)])
    assert [(p.file, p.index, p.note) for p in problems] == [("responses/Sys.json", 0, True)]
    assert len(bundle.responses) == 2


def test_responses_alone_find_the_questions_the_project_knows(tmp_path: Path) -> None:
    folder = write_peer(tmp_path)
    known = ExistingItems({1: KnownItem("mine", "What is known?")}, {"Sys": "system-9"})
    bundle, problems = read([folder / "responses" / "Sys.json"], known)
    assert [(r.item_id, r.system_id) for r in bundle.responses] == [("mine", "system-9")]
    assert [str(p) for p in problems] == ["responses/Sys.json[1]: there is no question with the id 2"]


def test_a_folder_without_any_of_the_files_is_refused(tmp_path: Path) -> None:
    expect_refusal("neither", read, [tmp_path])


def test_items_of_other_origin_get_running_numbers_and_come_back_as_themselves(tmp_path: Path) -> None:
    bundle = rich_bundle()
    bundle.systems[0] = bundle.systems[0].model_copy(update={"name": "Alpha/β"})
    notes = write(bundle, tmp_path / "out")
    questions = json.loads((tmp_path / "out" / "questions.json").read_text("utf-8"))
    assert ([entry["id"] for entry in questions], notes) == ([1, 2], [])
    again, problems = read([tmp_path / "out"])
    known = [(item.id, item.dataset, item.key) for item in again.items]
    assert (problems, known) == ([], [("item-1", "", "one"), ("item-2", "d", "two")])
    assert sorted(system.name for system in again.systems) == ["Alpha/β", "NUL"]
    assert content(again)[1:] == content(bundle)[1:]


def test_numbers_of_the_benchmark_are_kept_and_others_follow_them() -> None:
    bundle = rich_bundle()
    bundle.items[1] = bundle.items[1].model_copy(update={"dataset": "researcherbench", "key": "65"})
    made, _ = researcherbench.files(bundle)
    assert [entry["id"] for entry in json.loads(made["questions.json"])] == [66, 65]


def test_what_the_layout_cannot_hold_is_said(tmp_path: Path) -> None:
    bundle = rich_bundle()
    bundle.responses[1] = bundle.responses[1].model_copy(update={"trial": 2})
    rubric = bundle.artifacts[0].model_copy(update={"state": State.SEALED, "author_id": "person-1"})
    bundle.artifacts = [rubric, rubric.model_copy(update={"id": "other", "author_id": "person-2"})]
    notes = write(bundle, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "rubric.json").read_text("utf-8")) == []
    assert [note.split()[0] for note in notes] == ["Item", "1"]


def test_the_consensus_of_an_adjudicator_leaves_before_one_that_was_imported() -> None:
    bundle = rich_bundle()
    imported = bundle.artifacts[0]
    document = {**imported.document, "units": imported.document["units"][:1]}
    agreed = {"id": "z", "author_id": "person-2", "document": document}
    bundle.artifacts.append(imported.model_copy(update=agreed))
    (rubric,) = json.loads(researcherbench.files(bundle)[0]["rubric.json"])
    assert [line["point"] for line in rubric["rubric"]] == ["Names the cause"]
