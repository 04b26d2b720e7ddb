"""What judges a project has: added, named, retired and brought back, and where their keys lie."""

import pytest

from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import derived_judges
from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal

URL = "http://127.0.0.1:1/v1"


def add(project: Project, name: str) -> str:
    return judges.add(project, name, base_url=URL, model="m").subject


def test_a_name_stays_with_a_judge_that_was_retired(project: Project) -> None:
    judges.retire(project, add(project, "a"))
    with pytest.raises(Refusal, match="A retired judge is already named “a”") as refused:
        add(project, "a")
    assert "restore that judge" in refused.value.todo


def test_no_judge_is_given_the_name_of_another(project: Project) -> None:
    first = add(project, "a")
    add(project, "b")
    with pytest.raises(Refusal, match="A judge named “b” already exists"):
        judges.change(project, first, {"name": "b"})
    judges.change(project, first, {"name": "a", "model": "n"})
    assert judges.named(project, "a").model == "n"


@pytest.mark.parametrize("in_file", [False, True])
def test_the_baseline_alone_is_called_so(project: Project, in_file: bool) -> None:
    if in_file:
        judges.kept(project, judges.BASELINE)
    with pytest.raises(Refusal, match="A judge named “baseline” already exists"):
        add(project, "baseline")
    with pytest.raises(Refusal, match="A judge named “baseline” already exists"):
        derived_judges.add(project, "baseline", ["baseline"])
    assert judges.kept(project, judges.BASELINE) == judges.named(project, "baseline")


def test_a_setting_that_does_not_fit_is_named_and_nothing_is_changed(project: Project) -> None:
    first = add(project, "a")
    with pytest.raises(Refusal, match="The judge's name does not fit") as refused:
        judges.change(project, first, {"name": ""})
    assert refused.value.todo == "Correct it; nothing was changed."
    assert [judge.name for judge in judges.all_of(project)] == ["baseline", "a"]


@pytest.mark.parametrize(
    "address",
    ["https://me:sk-canary-9911@host/v1", "me:sk-canary-9911@host/v1", "https://host/v1?key=sk-canary-9911"],
)
def test_an_address_with_a_password_is_neither_kept_nor_repeated(project: Project, address: str) -> None:
    first = add(project, "a")
    for act in (
        lambda: judges.add(project, "b", base_url=address, model="m"),
        lambda: judges.change(project, first, {"base_url": address}),
    ):
        with pytest.raises(Refusal) as refused:
            act()
        assert "sk-canary" not in str(refused.value)
    assert b"sk-canary" not in project.path.read_bytes()


def test_a_retired_judge_comes_back(project: Project) -> None:
    judges.add(project, "a", base_url=URL, model="m")
    judge = judges.named(project, "a")
    judges.retire(project, judge.id)
    with pytest.raises(Refusal):
        judges.named(project, "a")
    judges.bring_back(project, judge.id)
    assert judges.named(project, "a") == judge


def test_where_a_key_lies_is_told_and_never_the_key(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges.add(project, "keyed", base_url=URL, model="m", key_env="GOLDSMITH_TEST_KEY")
    judge = judges.named(project, "keyed")
    assert kept_keys.key_place(project, judge).startswith("No key is stored")
    kept_keys.remember_key(project, "keyed", "sk-canary-5566", session_only=True)
    assert kept_keys.key_place(project, judge) == "The key is kept until Goldsmith is closed."
    monkeypatch.setenv("GOLDSMITH_TEST_KEY", "sk-canary-7788")
    assert kept_keys.key_place(project, judge) == "The key is in the environment variable GOLDSMITH_TEST_KEY."
    kept_keys.forget_key(project, "keyed")
    monkeypatch.delenv("GOLDSMITH_TEST_KEY")
    assert kept_keys.key_place(project, judge).startswith("No key is stored")
