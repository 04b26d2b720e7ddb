"""What Goldsmith promises of match F1: a lower bound, and a model-assisted figure of its own after the frozen one."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.experts.adjudication import LOWER_BOUND
from tests.cli.commands import goldsmith, printed, told
from tests.judging.odd_server import OddServer
from tests.projects.pairs_project import AGREEMENT, F1, assisted_project, listed, pairing
from tests.servers.served import JUDGE

DONE, REFUSED, USAGE, NOT_ALL = range(4)
Printed = pytest.CaptureFixture[str]


def asked(file: Path, capsys: Printed, *words: str, code: int = DONE) -> dict[str, Any]:
    result: dict[str, Any] = told(capsys, "agreement", file, *words, code=code)
    return result


def assisted(file: Path, capsys: Printed, code: int = DONE) -> dict[str, Any]:
    return asked(file, capsys, "--assisted-by", JUDGE, code=code)


def test_judge_model_prompt_and_calls_are_named_the_model_gets_no_names_and_a_second_run_calls_nothing(
    tmp_path: Path, capsys: Printed
) -> None:
    with pairing() as server:
        file = made(tmp_path, server)
        first, kept = assisted(file, capsys), file.read_bytes()
        assert assisted(file, capsys)["rows"] == first["rows"]
        again = asked(file, capsys, "--assisted-by", JUDGE, "--estimate")["calls"]
        assert (len(server.bodies), again, file.read_bytes()) == (2, 0, kept)
    result = first["model_assisted"]
    assert [result[name] for name in ("judge", "model", "lists", "there")] == [JUDGE, "test-model", 2, 2]
    assert len(result["prompt_sha256"]) == 64
    assert (result["run"]["state"], result["run"]["calls"], result["run"]["failed"]) == ("done", 2, [])
    # Both are asked at once, in either order.
    sent = [listed(body) for body in server.bodies]
    assert [3, 4] in [sorted(map(len, lists)) for lists in sent]
    ada = ["Explains attribution of claims", "Names datasets", "Prices human labour"]
    assert any(ada in lists for lists in sent)
    words = json.dumps(server.bodies)
    assert not any(name in words for name in ("Ada", "Ben", "R1", "R2"))
    costs = told(capsys, "judge", "costs", file, "--by", "purpose")["costs"]
    assert [(one["name"], one["calls"]) for one in costs] == [("pairing", 2)]


def test_an_endpoint_that_is_gone_ends_with_3_and_the_frozen_figures_all_the_same(
    tmp_path: Path, capsys: Printed
) -> None:
    with pairing() as server:
        file = made(tmp_path, server)
    result = asked(file, capsys, "--assisted-by", JUDGE, "--timeout", "1", code=NOT_ALL)
    row, said = result["rows"][0], result["model_assisted"]
    assert (values(row), row["model_assisted"]) == ({"match_f1": 0}, None)
    assert (said["there"], said["run"]["judged"]) == (0, 0)


def values(row: dict[str, Any]) -> dict[str, float | None]:
    return {one["name"]: one["value"] for one in row["figures"]}


def rows(file: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as raw:
        return raw.execute(question).fetchall()


def made(folder: Path, server: OddServer, items: int = 2) -> Path:
    with closing(assisted_project(folder, server, items)) as project:
        return project.path


def test_other_words_have_a_frozen_f1_of_0_and_a_model_assisted_one_as_counted_by_hand(
    tmp_path: Path, capsys: Printed
) -> None:
    with pairing() as server:
        file = made(tmp_path, server)
        foreseen = asked(file, capsys, "--assisted-by", JUDGE, "--estimate")
        assert (foreseen["units"], foreseen["calls"], foreseen["total"], server.bodies) == (2, 2, 2, [])
        before = asked(file, capsys)
        kept = rows(file, "SELECT * FROM agreement ORDER BY id")
        result = assisted(file, capsys)
    assert [row | {"model_assisted": None} for row in result["rows"]] == before["rows"]
    assert rows(file, "SELECT * FROM agreement ORDER BY id") == kept
    units, weight = result["rows"]
    assert (values(units), units["figures"][0]["bound"]) == ({"match_f1": 0}, LOWER_BOUND)
    again = units["model_assisted"]
    assert values(again)["match_f1"] == pytest.approx(sum(F1) / 2)
    assert (again["figures"][0]["bound"], again["items"], again["n"]) == ("", ["1", "2"], 2)
    assert (values(weight["model_assisted"])["agreement"], weight["model_assisted"]["n"]) == (AGREEMENT, 4)


UNREAD = {
    "prose": ("The first two belong together, I think.", "the reply is not one JSON object and nothing else"),
    "twice": (
        '{"pairs": [{"first": 1, "second": 2}, {"first": 1, "second": 3}]}',
        "Of the first list the reply uses number 1 twice.",
    ),
    "unknown": (
        '{"pairs": [{"first": 1, "second": 2}, {"first": 2, "second": 9}]}',
        "Of the second list the reply names number 9, and it has",
    ),
}


@pytest.mark.parametrize("what", UNREAD)
def test_a_reply_that_does_not_fit_is_invalid_and_told_and_no_match_is_counted_for_it(
    what: str, tmp_path: Path, capsys: Printed
) -> None:
    content, cause = UNREAD[what]
    of_first_item = {"Explains attribution of claims", "Says where money goes"}
    with pairing(lambda entries: content if entries & of_first_item else "") as server:
        file = made(tmp_path, server)
        result = assisted(file, capsys, code=NOT_ALL)
        units, said = result["rows"][0], result["model_assisted"]
        # The second item alone: both of both.
        assert (values(units["model_assisted"])["match_f1"], units["model_assisted"]["items"]) == (1, ["2"])
        assert (values(units)["match_f1"], said["lists"], said["there"]) == (0, 2, 1)
        (failed,) = said["run"]["failed"]
        assert (failed["item"], failed["stage"], failed["status"]) == ("1", "rubric", "invalid")
        assert cause in failed["cause"]
        assert rows(file, "SELECT count(*) FROM assisted_pair") == [(1,)]
        calls = len(server.bodies)
        out = " ".join(printed(capsys, "agreement", file, "--assisted-by", JUDGE, code=NOT_ALL).split())
        # Only of the first item it was asked again.
        assert all(of_first_item & {*first, *second} for first, second in map(listed, server.bodies[calls:]))
        assert len(server.bodies) > calls
    assert [words in out for words in ("Item 1, rubric: invalid.", "(1 of 2 pairs of lists)")] == [True, True]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--assisted-by", "nobody"], REFUSED, "There is no judge “nobody”"),
        (["--assisted-by", "baseline"], REFUSED, "calls no model"),
        (["--assisted-by", JUDGE, "--stage", "labelling"], REFUSED, "there is nothing to pair by meaning"),
        (["--assisted-by", JUDGE, "--by", "moon"], REFUSED, "cannot be grouped by “moon”"),
        (["--estimate"], USAGE, "--assisted-by"),
        (["--assisted-by", JUDGE, "--concurrency", "0"], USAGE, "concurrency"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_written(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: Printed
) -> None:
    with pairing() as server:
        file = made(tmp_path, server)
        kept = file.read_bytes()
        ended, _, err = goldsmith(capsys, "agreement", file, *words)
    assert (ended, server.bodies, file.read_bytes()) == (code, [], kept)
    assert said in err
